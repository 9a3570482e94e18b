//! A virtual user: opens a line, types, waits, thinks. Straight-line code, one task.
//!
//! The user carries its *plan*: the instant up to which what it does is laid down. Each step moves the plan on from where
//! it was, never from when the step was really done; so a late driver shows as lateness and not as a slower user.

use std::rc::Rc;
use std::time::Duration;

use cuesta_laws::Stream;
use cuesta_record::{Stamp, Transaction, clock};
use tokio::task;

use crate::crew::{Crew, Spending};
use crate::pacing::{Pacer, begin_in_cycle, next_in_cycle};
use crate::program::Program;
use crate::spec::{Arrivals, LoadKind};
use crate::terminal::{Lost, Terminal};

mod play;

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
    /// The host has closed the line, as the script expected.
    hung_up: bool,
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
            hung_up: false,
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
            let played = self.play(&mut terminal, 0, self.program.ops.len()).await;
            self.leave();
            return played.or_else(|stop| if stop == Stop::GaveUp { Ok(()) } else { Err(stop) });
        }
        match self.login(&mut terminal).await {
            Err(Stop::GaveUp) => return Err(Stop::Lost("login")),
            other => other?,
        }
        loop {
            self.next_pass(&mut terminal).await?;
            match self.play(&mut terminal, self.program.pass, self.program.ops.len()).await {
                Err(Stop::GaveUp) => self.forget_input(),
                other => other?,
            }
            if self.hung_up {
                self.leave();
                return Ok(());
            }
            terminal.count_crossed();
            // A program that neither waits nor pauses must not keep the thread to itself.
            task::consume_budget().await;
        }
    }

    async fn open(&mut self) -> Result<Terminal, Stop> {
        clock::sleep_until(self.plan.min(self.crew.timeline.end())).await;
        if clock::now() >= self.crew.timeline.end() {
            return Err(Stop::Over);
        }
        let asked = self.plan.max(self.ready);
        let connect = Rc::clone(&self.crew.connect);
        let line = connect(self.group, self.number).await.map_err(Stop::Lost)?;
        let now = clock::now();
        self.crew.record(self.crew.groups[self.group].series.connect, now.since(asked));
        self.crew.connects(self.seat);
        self.hung_up = false;
        self.plan = self.plan.max(now);
        self.ready = now;
        self.forget_input();
        Ok(Terminal::new(line, Rc::clone(&self.crew), self.group, &self.program))
    }

    fn lose(&mut self, name: &'static str) {
        self.crew.disconnects(self.seat, Some(name));
        self.rest();
    }

    /// The line is closed because its work is done.
    fn leave(&mut self) {
        self.crew.disconnects(self.seat, None);
        self.rest();
    }

    fn rest(&mut self) {
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
        let login = self.play(terminal, 0, self.program.pass).await;
        if let Pacer::Paced { next, cycle } = &mut self.pacer {
            begin_in_cycle(next, *cycle, self.plan);
        }
        login
    }

    /// Waits, listening, until the next pass is due, and moves the plan there.
    async fn next_pass(&mut self, terminal: &mut Terminal) -> Result<(), Stop> {
        let now = self.follow_steps(terminal).await?;
        match &mut self.pacer {
            Pacer::Closed => {}
            Pacer::Paced { next, cycle } => {
                let (due, skipped) = next_in_cycle(next, *cycle, now);
                self.plan = due;
                self.crew.tally(|tally| tally.counts.skipped += skipped);
                if due <= now {
                    // Behind: whoever else is behind has its turn first.
                    task::yield_now().await;
                }
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

    /// Enters the step that it is now, or waits for one that wants this user; gives the instant that it is.
    async fn follow_steps(&mut self, terminal: &mut Terminal) -> Result<Stamp, Stop> {
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
            return Ok(now);
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
        if self.hung_up {
            clock::sleep_until(self.crew.timeline.end()).await;
            return Stop::Over;
        }
        match terminal.listen_until(self.crew.timeline.end()).await {
            Ok(()) => Stop::Over,
            Err(lost) => lost.into(),
        }
    }
}
