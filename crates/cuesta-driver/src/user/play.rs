//! What a user does: the operations of its program, one after another.

use std::rc::Rc;
use std::time::Duration;

use cuesta_record::{Stamp, Transaction, clock};
use cuesta_tape::Sight;

use super::{Input, Stop, User};
use crate::answer::{Done, Rule};
use crate::crew::{Spending, Waits};
use crate::group::ClassSeries;
use crate::program::{self, Op, Program, Typing};
use crate::terminal::{Awaited, Stroke, Terminal, Waited};

/// So many keys may wait for their echo; what is due beyond them is skipped and counted.
const MOST_UNECHOED: usize = 256;

/// How keys are pressed.
#[derive(Debug, Clone, Copy)]
struct Press<'a> {
    stroke: program::Stroke,
    /// What will be waited for next.
    rule: Option<&'a Rc<Rule>>,
    /// Whether that may be before any other key.
    last: bool,
    /// Whether it is part of a secret.
    secret: bool,
}

impl User {
    /// Plays a stretch of the program.
    pub(super) async fn play(&mut self, terminal: &mut Terminal, from: usize, to: usize) -> Result<(), Stop> {
        let program = Rc::clone(&self.program);
        let program = &*program;
        let mut at = from;
        while at < to {
            match &program.ops[at] {
                Op::Keys { keys, stroke, rule, last } => {
                    let press = Press { stroke: *stroke, rule: rule.as_ref(), last: *last, secret: false };
                    self.keys(terminal, program, keys, press).await?;
                }
                Op::Pause(pause) => self.pause(terminal, *pause).await?,
                Op::Think(distribution) => {
                    let pause = distribution.sample(&mut self.rng);
                    self.pause(terminal, pause).await?;
                }
                Op::Wait { rule, timeout } => {
                    let waited = self.wait(terminal, rule, *timeout).await;
                    if waited == Err(Stop::GaveUp) {
                        self.only_think(terminal, &program.ops[at..to]).await?;
                    }
                    waited?;
                }
                Op::Expect(pattern, of) => {
                    let found = match of {
                        Sight::Answer => pattern.is_match(terminal.text()),
                        Sight::Screen => terminal.shows(pattern).await,
                    };
                    if !found {
                        self.crew.tally(|tally| tally.counts.error("expect"));
                    }
                }
                Op::Begin(class) => self.input.class = Some(*class),
                Op::Finish => self.finish(),
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

    /// The pass is given up, but not the time that the user would have thought: a host that fails is not typed at faster.
    async fn only_think(&mut self, terminal: &mut Terminal, rest: &[Op]) -> Result<(), Stop> {
        for op in rest {
            match op {
                Op::Pause(pause) => self.pause(terminal, *pause).await?,
                Op::Think(distribution) => {
                    let pause = distribution.sample(&mut self.rng);
                    self.pause(terminal, pause).await?;
                }
                _ => {}
            }
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
        press: Press<'_>,
    ) -> Result<(), Stop> {
        match keys {
            Typing::Text(pieces) => {
                let text = self.crew.groups[self.group].text(pieces, self.rank);
                let secret = self.crew.groups[self.group].is_secret(pieces);
                let mut rest = text.len();
                for key in text.split_inclusive(|_| true) {
                    rest -= key.len();
                    let press = Press { last: press.last && rest == 0, secret, ..press };
                    self.key(terminal, program, Stroke::Character(key), press).await?;
                }
            }
            Typing::Press(key, count) => {
                for left in (0..*count).rev() {
                    let press = Press { last: press.last && left == 0, ..press };
                    self.key(terminal, program, Stroke::Key(key), press).await?;
                }
            }
            Typing::Paste(pieces) => {
                let text = self.crew.groups[self.group].text(pieces, self.rank);
                let at_once = program::Stroke { gap: Duration::ZERO, ..press.stroke };
                let secret = self.crew.groups[self.group].is_secret(pieces);
                self.key(terminal, program, Stroke::Paste(&text), Press { stroke: at_once, secret, ..press }).await?;
            }
        }
        Ok(())
    }

    /// Types one key: it takes its gap, then it goes.
    async fn key(
        &mut self,
        terminal: &mut Terminal,
        program: &Program,
        key: Stroke<'_>,
        Press { stroke, rule, last, secret }: Press<'_>,
    ) -> Result<(), Stop> {
        if let Some((from, to)) = self.kept.take() {
            self.plan += to.since(self.plan.max(from));
        }
        let began = self.plan.max(self.ready);
        self.plan += stroke.distribution.gap(stroke.gap, &mut self.rng);
        self.keyed = self.plan;
        let due = self.plan;
        if due >= self.crew.timeline.end() {
            return Err(self.until_the_end(terminal).await);
        }
        // A line that is still busy with the keys before holds this one back, and the user with it; due it is all the same.
        let free = terminal.free_at();
        terminal.listen_until(due.max(free)).await?;
        if terminal.unechoed() > 0 {
            terminal.settle_echoes(clock::now());
            terminal.give_up_echoes(clock::now() - program.patience);
        }
        if terminal.unechoed() >= MOST_UNECHOED {
            self.crew.tally(|tally| tally.counts.skipped += 1);
            return Ok(());
        }
        let awaited = Awaited { due, echo: stroke.echo, secret };
        let begins = due.max(self.ready).max(free);
        terminal.begin_next_at(begins);
        let sent = terminal.send(key, awaited, rule, last, program).await?;
        self.crew.turns(self.seat, Spending::Keying, began);
        self.input.key = Some((due, sent));
        let lateness = sent.since(begins);
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
        let since = key.map_or_else(clock::now, |(_, sent)| sent);
        self.crew.turns(self.seat, Spending::Other, since);
        let awaited = key.map_or(Waits::Prompt(since), |(due, _)| Waits::Answer(due - self.delayed));
        self.crew.waits(self.seat, Some(awaited));
        let deadline = (since.max(self.ready) + timeout).min(self.crew.timeline.drained());
        let waited = terminal.wait(rule, deadline).await;
        self.crew.waits(self.seat, None);
        let given_up = matches!(waited, Ok(Waited::TimedOut)) && deadline < self.crew.timeline.drained();
        if key.is_some() && (given_up || waited.is_err()) {
            self.crew.unanswered(self.seat);
        }
        match waited? {
            Waited::Done(done) => {
                self.heard = true;
                let knows = done.at + done.silence;
                self.ready = self.ready.max(knows + done.held);
                self.kept = (!done.held.is_zero()).then(|| (knows, knows + done.held));
                self.plan = self.plan.max(knows);
                self.hung_up = matches!(**rule, Rule::Disconnect);
                self.crew.turns(self.seat, Spending::Thinking, done.at);
                if let Some((due, sent)) = key {
                    self.input.silent = matches!(**rule, Rule::Silence(_)) && !terminal.has_heard();
                    self.answered(terminal, due, sent, done);
                }
                Ok(())
            }
            Waited::TimedOut if !given_up => Err(Stop::Over),
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
        self.compare_with_kernel(terminal);
        if self.input.class.is_none() {
            self.finish();
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
    fn finish(&mut self) {
        let classes = &self.crew.groups[self.group].series.classes;
        let class = self.input.class.take().unwrap_or(classes.len() - 1);
        let mut input = std::mem::take(&mut self.input);
        let Some(mut transaction) = input.answered else { return };
        // Who comes to an occupied terminal waits from when it came.
        let delayed = std::mem::take(&mut self.delayed);
        transaction.due = transaction.due - delayed;
        input.waited.0 += delayed;
        self.count(&transaction, classes[class], &input);
        self.crew.answered(self.seat, transaction.response());
    }

    fn count(&self, transaction: &Transaction, series: ClassSeries, input: &Input) {
        let log = self.crew.spec.log_transactions;
        self.crew.tally(|tally| {
            tally.record(series.response, transaction.response());
            tally.record(series.response_from_sent, transaction.response_from_sent());
            tally.record(series.first_response, transaction.first_response());
            tally.counts.transactions += 1;
            tally.counts.silent += u64::from(input.silent);
            let sums = &mut tally.counts.sums;
            sums.response += input.waited.0.as_secs_f64();
            sums.response_from_sent += input.waited.1.as_secs_f64();
            if log {
                tally.transactions.push(*transaction);
            }
        });
    }

    async fn meet(&mut self, terminal: &mut Terminal, program: &Program, number: usize) -> Result<(), Stop> {
        // Who is to pause first arrives after it.
        let arrives = self.plan.max(self.ready);
        terminal.listen_until(arrives).await?;
        let barriers = std::sync::Arc::clone(&self.crew.groups[self.group].barriers);
        let step = self.step.unwrap_or(0);
        let meet = barriers[number].arrive(self.crew.load(step, self.group).users, arrives);
        // Nobody is late before all have started.
        let settled = self.crew.timeline.at(self.crew.timeline.steps[step].settled);
        let deadline = settled.max(clock::now()) + program.patience;
        let go_on = terminal.listen_at(meet, deadline).await?.unwrap_or_else(|| {
            self.crew.tally(|tally| tally.counts.error("barrier"));
            clock::now()
        });
        self.plan = self.plan.max(go_on);
        self.ready = self.ready.max(go_on);
        Ok(())
    }
}
