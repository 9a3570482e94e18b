//! A virtual user: opens a line, types, waits, thinks. Straight-line code, one task.
//!
//! The user carries its *plan*: the instant up to which what it does is laid down. Each step moves the plan on from where
//! it was, never from when the step was really done; so a late driver shows as lateness and not as a slower user.

use std::rc::Rc;
use std::time::Duration;

use cuesta_laws::Stream;
use cuesta_record::{Stamp, Transaction, clock};

use crate::answer::{Done, Rule};
use crate::crew::{Crew, Spending};
use crate::group::ClassSeries;
use crate::pacing::{MOST_BEHIND, Pacer, begin_in_cycle, next_in_cycle};
use crate::program::{Op, Program, Stroke, Typing};
use crate::spec::{Arrivals, LoadKind};
use crate::terminal::{Lost, Terminal, Waited};

/// One virtual user.
pub(crate) struct User {
    crew: Rc<Crew>,
    seat: usize,
    number: u32,
    group: usize,
    rank: u32,
    stream: Stream,
    step: usize,
    program: Rc<Program>,
    pacer: Pacer,
    /// Up to when what this user does is laid down.
    plan: Stamp,
    /// When the host let the user go: no key can go before, and that is not the driver's fault.
    ready: Stamp,
    input: Input,
    /// Times left of each loop that the program is in.
    loops: Vec<u32>,
    /// Whether the kernel stamps this user's line.
    stamped: bool,
}

/// What the user has done since the last transaction was counted.
#[derive(Debug, Default)]
struct Input {
    /// In a named transaction: which.
    class: Option<usize>,
    /// The last key's instants, while no answer to it has been waited for.
    key: Option<(Stamp, Stamp)>,
    /// Sums of the waits, from due and from sent.
    waited: (Duration, Duration),
    answered: Option<Transaction>,
}

/// Why a user does not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// The run is over.
    Over,
    /// The line is gone.
    Lost(&'static str),
    /// What was waited for did not come: the pass is given up, the next begins.
    GaveUp,
}

impl From<Lost> for Stop {
    fn from(lost: Lost) -> Self {
        Self::Lost(lost.0)
    }
}

/// How long a user waits before it tries to open a line again, at first and at most.
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LAST_RETRY: Duration = Duration::from_secs(30);

impl User {
    pub(crate) fn new(crew: Rc<Crew>, seat: usize) -> Self {
        let (number, group, rank) = crew.seat(seat, |seat| (seat.user, seat.group, seat.rank));
        let program = Rc::clone(&crew.groups[group].programs[0]);
        let stamps = crew.spec.stamps;
        Self {
            stream: Stream::new(crew.spec.seed, u64::from(number)),
            stamped: stamps > 0 && number % stamps == 0,
            seat,
            number,
            group,
            rank,
            step: 0,
            program,
            pacer: Pacer::Closed,
            plan: crew.timeline.start_at,
            ready: crew.timeline.start_at,
            input: Input::default(),
            loops: Vec::new(),
            crew,
        }
    }

    /// Lives until the run is over: session after session.
    pub(crate) async fn live(mut self) {
        let Some((step, offset)) = self.crew.spec.start_of(self.group, self.rank) else { return };
        let start = self.crew.timeline.at(self.crew.timeline.steps[step].begin) + offset;
        clock::sleep_until(start).await;
        self.plan = start;
        self.enter(step, start);
        let mut retry = FIRST_RETRY;
        loop {
            match self.session(&mut retry).await {
                Ok(()) => retry = FIRST_RETRY,
                Err(Stop::Lost(name)) => {
                    self.crew.tally(|tally| tally.counts.error(name));
                    self.lose(name);
                    clock::sleep_until(clock::now() + retry).await;
                    retry = (retry * 2).min(LAST_RETRY);
                    self.plan = clock::now();
                }
                Err(Stop::Over | Stop::GaveUp) => break,
            }
        }
        self.crew.waits(self.seat, None);
    }

    /// From the opening of a line to its end.
    async fn session(&mut self, retry: &mut Duration) -> Result<(), Stop> {
        let of_its_own = match (self.load(), &self.pacer) {
            (LoadKind::Open { arrivals: Arrivals::Sessions, .. }, Pacer::Open(arrivals)) => {
                let arrivals = Rc::clone(arrivals);
                self.plan = arrivals.next().await;
                true
            }
            _ => false,
        };
        let mut terminal = self.open().await?;
        *retry = FIRST_RETRY;
        if of_its_own {
            let played = self.play(&mut terminal, 0).await;
            self.leave();
            return played.or_else(|stop| if stop == Stop::GaveUp { Ok(()) } else { Err(stop) });
        }
        match self.login(&mut terminal).await {
            Err(Stop::GaveUp) => return Err(Stop::Lost("login")),
            other => other?,
        }
        loop {
            self.next_pass(&mut terminal).await?;
            let pass = self.program.pass;
            match self.play(&mut terminal, pass).await {
                Err(Stop::GaveUp) => self.forget_input(),
                other => other?,
            }
            terminal.count_crossed();
            // A program that neither waits nor pauses must not keep the thread to itself.
            if self.plan <= clock::now() {
                tokio::task::yield_now().await;
            }
        }
    }

    async fn open(&mut self) -> Result<Terminal, Stop> {
        if clock::now() >= self.crew.timeline.end() {
            return Err(Stop::Over);
        }
        let asked = self.plan.max(self.ready);
        let connect = Rc::clone(&self.crew.connect);
        let line = connect(self.group, self.number).await.map_err(Stop::Lost)?;
        let now = clock::now();
        self.crew.record(self.crew.groups[self.group].series.connect, now.since(asked));
        self.crew.connected(self.seat, Ok(()));
        self.plan = self.plan.max(now);
        self.ready = now;
        self.forget_input();
        Ok(Terminal::new(line, Rc::clone(&self.crew), self.group, &self.program))
    }

    fn lose(&mut self, name: &'static str) {
        self.crew.connected(self.seat, Err(name));
        self.crew.turns(self.seat, Spending::Other, clock::now());
        self.crew.waits(self.seat, None);
        self.forget_input();
    }

    /// The line is closed because its work is done.
    fn leave(&mut self) {
        self.crew.connected(self.seat, Err("left"));
        self.crew.turns(self.seat, Spending::Other, clock::now());
        self.crew.waits(self.seat, None);
        self.forget_input();
    }

    fn forget_input(&mut self) {
        self.input = Input::default();
        self.loops.clear();
    }

    /// What is done once in a session.
    async fn login(&mut self, terminal: &mut Terminal) -> Result<(), Stop> {
        let program = Rc::clone(&self.program);
        let login = self.play_range(terminal, &program, 0, program.pass).await;
        if let Pacer::Paced { next, cycle } = &mut self.pacer {
            begin_in_cycle(next, *cycle, self.plan);
        }
        login
    }

    /// Waits, listening, until the next pass is due, and moves the plan there.
    async fn next_pass(&mut self, terminal: &mut Terminal) -> Result<(), Stop> {
        self.follow_steps(terminal).await?;
        match &mut self.pacer {
            Pacer::Closed => {}
            Pacer::Paced { next, cycle } => {
                let (due, skipped) = next_in_cycle(next, *cycle, clock::now());
                self.plan = due;
                self.crew.tally(|tally| tally.counts.skipped += skipped);
            }
            Pacer::Open(arrivals) => {
                let arrivals = Rc::clone(arrivals);
                let ends = self.step_end();
                // None: the step ends before anything arrives.
                self.plan = terminal.listen_for(&arrivals, ends).await?.unwrap_or(ends);
                if self.plan >= ends {
                    Box::pin(self.next_pass(terminal)).await?;
                }
            }
        }
        Ok(())
    }

    /// Enters the step that it is now, or waits for one that wants this user.
    async fn follow_steps(&mut self, terminal: &mut Terminal) -> Result<(), Stop> {
        loop {
            let now = self.plan.max(clock::now());
            if now >= self.crew.timeline.end() {
                return Err(self.until_the_end(terminal).await);
            }
            let step = self.crew.timeline.step_at(now);
            if self.rank >= self.crew.load(step, self.group).users {
                self.crew.turns(self.seat, Spending::Other, now);
                terminal.listen_until(self.crew.timeline.at(self.crew.timeline.steps[step].end)).await?;
                self.plan = clock::now();
                continue;
            }
            if step != self.step {
                self.enter(step, self.crew.timeline.at(self.crew.timeline.steps[step].begin));
                terminal.play(&self.program);
            }
            return Ok(());
        }
    }

    /// Takes on what a step wants, from an instant laid down in advance.
    fn enter(&mut self, step: usize, from: Stamp) {
        let changed = step == 0 || self.load() != self.crew.load(step, self.group).load;
        self.step = step;
        self.program = Rc::clone(&self.crew.groups[self.group].programs[step]);
        if changed {
            self.pacer = match self.load() {
                LoadKind::Closed => Pacer::Closed,
                LoadKind::Paced { cycle } => Pacer::paced(from, Duration::from_nanos(cycle), &mut self.stream),
                LoadKind::Open { .. } => Pacer::Open(self.crew.seat(self.seat, |seat| Rc::clone(&seat.arrivals))),
            };
        }
    }

    fn load(&self) -> LoadKind {
        self.crew.load(self.step, self.group).load
    }

    fn step_end(&self) -> Stamp {
        self.crew.timeline.at(self.crew.timeline.steps[self.step].end)
    }

    /// Nothing more is due: keeps the line open until the measurement has ended.
    async fn until_the_end(&self, terminal: &mut Terminal) -> Stop {
        match terminal.listen_until(self.crew.timeline.end()).await {
            Ok(()) => Stop::Over,
            Err(lost) => lost.into(),
        }
    }

    async fn play(&mut self, terminal: &mut Terminal, from: usize) -> Result<(), Stop> {
        let program = Rc::clone(&self.program);
        self.play_range(terminal, &program, from, program.ops.len()).await
    }

    async fn play_range(
        &mut self,
        terminal: &mut Terminal,
        program: &Program,
        from: usize,
        to: usize,
    ) -> Result<(), Stop> {
        let mut at = from;
        while at < to {
            match &program.ops[at] {
                Op::Keys { keys, stroke, rule } => self.keys(terminal, program, keys, *stroke, rule.as_ref()).await?,
                Op::Pause(pause) => self.pause(terminal, *pause).await?,
                Op::Think(law) => {
                    let pause = law.sample(&mut self.stream);
                    self.pause(terminal, pause).await?;
                }
                Op::Wait { rule, timeout } => self.wait(terminal, rule, *timeout).await?,
                Op::Expect(pattern) => {
                    if !pattern.is_match(terminal.text()) {
                        self.crew.tally(|tally| tally.counts.error("expect"));
                    }
                }
                Op::Begin(class) => self.input.class = Some(*class),
                Op::Finish => self.finish(terminal),
                Op::Loop(count) => self.loops.push(*count),
                Op::Again(start) => {
                    if self.goes_round() {
                        at = *start;
                    }
                }
                Op::Barrier(number) => self.meet(terminal, program, *number).await?,
            }
            at += 1;
        }
        Ok(())
    }

    /// Whether the innermost loop is done once more.
    fn goes_round(&mut self) -> bool {
        match self.loops.last_mut() {
            Some(left) if *left > 1 => {
                *left -= 1;
                true
            }
            _ => {
                self.loops.pop();
                false
            }
        }
    }

    async fn pause(&mut self, terminal: &mut Terminal, pause: Duration) -> Result<(), Stop> {
        self.crew.turns(self.seat, Spending::Thinking, self.plan);
        self.plan += pause;
        // Up to the next key nothing has to happen on time; but a long pause must not outlive the run.
        if self.plan >= self.crew.timeline.end() {
            return Err(self.until_the_end(terminal).await);
        }
        Ok(())
    }

    async fn keys(
        &mut self,
        terminal: &mut Terminal,
        program: &Program,
        keys: &Typing,
        stroke: Stroke,
        rule: Option<&Rc<Rule>>,
    ) -> Result<(), Stop> {
        match keys {
            Typing::Text(pieces) => {
                let text = self.crew.groups[self.group].text(pieces, self.rank);
                for key in text.split_inclusive(|_| true) {
                    self.key(terminal, program, key.as_bytes(), stroke, rule).await?;
                }
            }
            Typing::Press(key, count) => {
                for _ in 0..*count {
                    self.key(terminal, program, key, stroke, rule).await?;
                }
            }
            Typing::Paste(pieces) => {
                let text = self.crew.groups[self.group].text(pieces, self.rank);
                let at_once = Stroke { gap: Duration::ZERO, ..stroke };
                self.key(terminal, program, text.as_bytes(), at_once, rule).await?;
            }
        }
        Ok(())
    }

    /// Types one key: it takes its gap, then it goes.
    async fn key(
        &mut self,
        terminal: &mut Terminal,
        program: &Program,
        key: &[u8],
        stroke: Stroke,
        rule: Option<&Rc<Rule>>,
    ) -> Result<(), Stop> {
        let began = self.plan;
        self.plan += stroke.law.gap(stroke.gap, &mut self.stream);
        let due = self.plan.max(terminal.free_at());
        if due >= self.crew.timeline.end() {
            return Err(self.until_the_end(terminal).await);
        }
        terminal.listen_until(due).await?;
        if terminal.unechoed() > 0 {
            terminal.give_up_echoes(clock::now() - program.patience);
        }
        if terminal.unechoed() as u64 >= MOST_BEHIND {
            self.crew.tally(|tally| tally.counts.skipped += 1);
            return Ok(());
        }
        let sent = terminal.send(key, stroke.echoed.then_some(due), rule, program).await?;
        if self.input.key.is_none() {
            self.crew.turns(self.seat, Spending::Keying, began);
        }
        self.input.key = Some((due, sent));
        let lateness = sent.since(due.max(self.ready));
        let series = &self.crew.groups[self.group].series;
        self.crew.tally(|tally| {
            tally.counts.keys += 1;
            tally.record(series.lateness, lateness);
        });
        Ok(())
    }

    /// Waits for the complete answer to what was typed.
    async fn wait(&mut self, terminal: &mut Terminal, rule: &Rc<Rule>, timeout: Duration) -> Result<(), Stop> {
        let key = self.input.key.take();
        let since = key.map_or(clock::now(), |(_, sent)| sent);
        self.crew.turns(self.seat, Spending::Other, since);
        self.crew.waits(self.seat, key.map(|(due, _)| due));
        let deadline = (since.max(self.ready) + timeout).min(self.crew.timeline.drained());
        let waited = terminal.wait(rule, deadline).await;
        self.crew.waits(self.seat, None);
        match waited? {
            Waited::Done(done) => {
                let knows = done.at + done.silence;
                self.ready = self.ready.max(knows);
                self.plan = self.plan.max(knows);
                self.crew.turns(self.seat, Spending::Thinking, done.at);
                if let Some((due, sent)) = key {
                    self.answered(terminal, due, sent, done);
                }
                Ok(())
            }
            Waited::TimedOut if deadline >= self.crew.timeline.drained() => Err(Stop::Over),
            Waited::TimedOut => {
                self.crew.tally(|tally| tally.counts.error("timeout"));
                self.ready = clock::now();
                self.crew.turns(self.seat, Spending::Thinking, self.ready);
                self.plan = self.plan.max(self.ready);
                Err(Stop::GaveUp)
            }
        }
    }

    /// An input has its answer.
    fn answered(&mut self, terminal: &mut Terminal, due: Stamp, sent: Stamp, done: Done) {
        let input = &mut self.input;
        input.waited.0 += done.at.since(due);
        input.waited.1 += done.at.since(sent);
        let classes = &self.crew.groups[self.group].series.classes;
        let class = input.class.unwrap_or(classes.len() - 1);
        let number = classes[class].response.number();
        input.answered =
            Some(Transaction { class: number, user: self.number, due, sent, first: done.first, done: done.at });
        if self.stamped {
            self.compare_with_kernel(terminal);
        }
        if self.input.class.is_none() {
            self.finish(terminal);
        }
    }

    /// From the last key to the first sign of an answer, by the kernel's clock at the device and by ours. Not to the end of
    /// the answer: on a line with a speed that is long in the kernel before it has come.
    fn compare_with_kernel(&self, terminal: &mut Terminal) {
        let Some((sent, came)) = terminal.stamped() else { return };
        let series = &self.crew.groups[self.group].series;
        self.crew.tally(|tally| {
            tally.record(series.kernel_response, Duration::from_nanos(came.kernel.saturating_sub(sent.kernel)));
            tally.record(series.user_response, came.ours.since(sent.ours));
        });
    }

    /// The transaction is complete.
    fn finish(&mut self, terminal: &mut Terminal) {
        let classes = &self.crew.groups[self.group].series.classes;
        let class = self.input.class.take().unwrap_or(classes.len() - 1);
        let input = std::mem::take(&mut self.input);
        let Some(transaction) = input.answered else { return };
        self.count(&transaction, classes[class], &input);
        self.crew.answered(self.seat, transaction.response());
        terminal.count_crossed();
    }

    fn count(&self, transaction: &Transaction, series: ClassSeries, input: &Input) {
        let log = self.crew.spec.log_transactions;
        self.crew.tally(|tally| {
            tally.record(series.response, transaction.response());
            tally.record(series.response_from_sent, transaction.response_from_sent());
            tally.record(series.first_response, transaction.first_response());
            tally.counts.transactions += 1;
            let sums = &mut tally.counts.sums;
            sums.response += input.waited.0.as_secs_f64();
            sums.response_from_sent += input.waited.1.as_secs_f64();
            if log {
                tally.transactions.push(*transaction);
            }
        });
    }

    async fn meet(&mut self, terminal: &mut Terminal, program: &Program, number: usize) -> Result<(), Stop> {
        let barriers = std::sync::Arc::clone(&self.crew.groups[self.group].barriers);
        let meet = barriers[number].arrive(self.crew.parties(self.step, self.group));
        let all_came = terminal.listen_at(meet, clock::now() + program.patience).await?;
        if !all_came {
            self.crew.tally(|tally| tally.counts.error("barrier"));
        }
        self.plan = self.plan.max(clock::now());
        self.ready = self.ready.max(clock::now());
        Ok(())
    }
}
