//! What a user does: the operations of its program, one after another.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use cuesta_record::{Failure, Stamp, Transaction, UNKNOWN, WaitEnd, WaitSample, clock};
use cuesta_tape::{ExpectSource, KeySettings, Keys, Op, Pattern, Piece, TapePlace, WaitCondition};
use tokio::task;

use super::{LastAnswer, OpenTransaction, Stop, User};
use crate::group::ClassSeries;
use crate::response::Done;
use crate::session::{Pressed, Session, WaitOutcome};
use crate::terminal::KeyInput;
use crate::user_state::{Activity, AwaitedAnswer, WaitingFor};

/// At most this many keys may wait for their echo; more are skipped and counted.
const MOST_UNECHOED: usize = 256;
/// The rest of an answer that comes within this time is short, however short the response.
const SHORT_REST: Duration = Duration::from_millis(20);
/// The name of samples of answers behind which output went on.
const CONTINUED: &str = "continued";

impl User {
    /// Plays the operations of the program from one index up to another.
    pub(super) async fn play(&mut self, session: &mut Session, from: usize, to: usize) -> Result<(), Stop> {
        let shared = Rc::clone(&self.shared);
        let program = shared.program(self.group, self.program);
        let mut at = from;
        while at < to {
            self.at = at;
            match &program.ops[at] {
                Op::Keys { keys, settings } => self.keys(session, keys, settings).await?,
                Op::Pause(pause) => self.postpone_next_key(session, *pause).await?,
                Op::Think(distribution) => {
                    let pause = distribution.sample(&mut self.rng);
                    self.postpone_next_key(session, pause).await?;
                }
                Op::Wait { condition, timeout, place } => {
                    let waited = self.wait(session, *condition, place, *timeout).await;
                    if waited == Err(Stop::GaveUp) {
                        self.spend_pauses(session, &program.ops[at..to]).await?;
                    }
                    waited?;
                }
                Op::Expect { pattern, source, .. } => self.expect(session, pattern, *source).await,
                Op::Begin(class) => self.input.class = Some(*class),
                Op::Finish => self.finish(),
                Op::Loop(count) => self.loops.push(*count),
                Op::Again(start) => {
                    if self.repeats() {
                        at = *start;
                    }
                }
                Op::Barrier(number) => self.barrier(session, *number).await?,
            }
            at += 1;
        }
        self.at = to;
        Ok(())
    }

    async fn expect(&mut self, session: &mut Session, pattern: &Pattern, source: ExpectSource) {
        let found = match source {
            ExpectSource::Response => pattern.regex().is_match(session.text()),
            ExpectSource::Screen => session.shows(pattern.regex()).await,
        };
        if !found {
            self.fails(Failure::Expect, session, Duration::ZERO);
        }
    }

    /// Spends the pauses and think times left in a pass that was given up, so that a host that fails is not typed at faster.
    async fn spend_pauses(&mut self, session: &mut Session, rest: &[Op]) -> Result<(), Stop> {
        for op in rest {
            match op {
                Op::Pause(pause) => self.postpone_next_key(session, *pause).await?,
                Op::Think(distribution) => {
                    let pause = distribution.sample(&mut self.rng);
                    self.postpone_next_key(session, pause).await?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Begins another turn of the innermost loop, if one is left; says whether it does.
    fn repeats(&mut self) -> bool {
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

    /// Moves the next due time by a think time or a pause. `Think` itself does not wait: the next key waits for its due time.
    async fn postpone_next_key(&mut self, session: &mut Session, pause: Duration) -> Result<(), Stop> {
        self.shared.set_activity(self.slot, Activity::Thinking, self.next_due);
        self.next_due += pause;
        // Nothing is due before the next key, but a long pause must not outlive the run.
        if self.next_due >= self.shared.schedule().timeline.end() {
            return Err(self.until_the_end(session).await);
        }
        Ok(())
    }

    async fn keys(&mut self, session: &mut Session, keys: &Keys, settings: &KeySettings) -> Result<(), Stop> {
        match keys {
            Keys::Text(pieces) => {
                let text = text(pieces, self.shared.groups[self.group].row(self.rank));
                let secret = self.shared.groups[self.group].types_secret(pieces);
                let received = session.received();
                let mut rest = text.len();
                for key in text.split_inclusive(|_| true) {
                    rest -= key.len();
                    let ends_input = settings.ends_input && rest == 0;
                    self.key(session, KeyInput::Character(key), settings, ends_input, secret).await?;
                }
                // Without gaps no echo could have come yet.
                if !settings.gap.is_zero() && session.received() == received {
                    self.shared.groups[self.group].add_unechoed(pieces);
                }
            }
            Keys::Press { key, count } => {
                for left in (0..*count).rev() {
                    let ends_input = settings.ends_input && left == 0;
                    self.key(session, KeyInput::Key(key), settings, ends_input, false).await?;
                }
            }
            Keys::Paste(pieces) => {
                let text = text(pieces, self.shared.groups[self.group].row(self.rank));
                let secret = self.shared.groups[self.group].types_secret(pieces);
                let at_once = KeySettings { gap: Duration::ZERO, ..*settings };
                self.key(session, KeyInput::Paste(&text), &at_once, settings.ends_input, secret).await?;
            }
        }
        Ok(())
    }

    /// Types one key: its gap passes, then it is sent. A text without gaps takes turns with other users. `ends_input`: it is the last of
    /// those before the wait.
    async fn key(
        &mut self,
        session: &mut Session,
        key: KeyInput<'_>,
        settings: &KeySettings,
        ends_input: bool,
        secret: bool,
    ) -> Result<(), Stop> {
        task::consume_budget().await;
        if let Some((from, to)) = self.response_held.take() {
            self.next_due += to.since(self.next_due.max(from));
        }
        let keying_from = self.next_due.max(self.ready);
        self.next_due += settings.distribution.gap(settings.gap, &mut self.rng);
        self.keying_ends = self.next_due;
        let due = self.next_due;
        if due >= self.shared.schedule().timeline.end() {
            return Err(self.until_the_end(session).await);
        }
        // A line that is still busy with the keys before delays this key and the user; the due time does not move.
        let free = session.free_at();
        session.listen_until(due.max(free)).await?;
        if session.unechoed() > 0 {
            session.resolve_echoes(clock::now());
            session.give_up_echoes(clock::now() - self.program().patience);
            if session.unechoed() >= MOST_UNECHOED {
                self.shared.tally(|tally| tally.counts.skipped += 1);
                return Ok(());
            }
        }
        let can_send_from = due.max(self.ready).max(free);
        session.begin_next_at(can_send_from);
        let sent = match session.send(key, due, settings, ends_input, secret).await? {
            Pressed::Sent(sent) => {
                self.input.key = Some((due, sent));
                sent
            }
            Pressed::Kept(sent) => sent,
            Pressed::Refused => return Ok(()),
        };
        if ends_input {
            self.count_continued(session);
        }
        self.shared.set_activity(self.slot, Activity::Keying, keying_from);
        self.shared.is_at_work(self.slot);
        let lateness = sent.since(can_send_from);
        let series = &self.shared.groups[self.group].series;
        self.shared.tally(|tally| {
            tally.counts.keys += 1;
            tally.record(series.lateness, lateness);
        });
        Ok(())
    }

    /// Counts the output that has gone on behind the last answer, now that the last key of the next input is sent.
    fn count_continued(&mut self, session: &mut Session) {
        let continued = session.continued();
        let (Some((response, series, wait)), Some((continued, row))) = (self.answered.take(), continued) else {
            return;
        };
        let is_long = continued > (response / 4).max(SHORT_REST);
        self.shared.tally(|tally| {
            tally.record(series, continued);
            tally.counts.continued_long += u64::from(is_long);
        });
        if is_long {
            let row = |session: &Session| row.map(|row| session.shown(&row));
            self.shared.add_sample(CONTINUED, || WaitSample {
                row: row(session),
                ..self.sample(session, wait as usize, continued)
            });
        }
    }

    /// Waits for the complete response to what was typed.
    async fn wait(
        &mut self,
        session: &mut Session,
        condition: usize,
        place: &TapePlace,
        timeout: Duration,
    ) -> Result<(), Stop> {
        let key = self.input.key.take();
        let since = key.map_or_else(clock::now, |(_, sent)| sent);
        self.last_wait = (self.at, since);
        self.shared.set_activity(self.slot, Activity::Other, since);
        let awaited = key.map(|(due, sent)| self.awaited_answer(session, due, sent)).or_else(|| self.begun_answer());
        let waiting_for = awaited.map_or(WaitingFor::Prompt(since), WaitingFor::Answer);
        self.shared.set_waiting_for(self.slot, Some(waiting_for));
        let drained = self.shared.schedule().timeline.drained();
        let deadline = (since.max(self.ready) + timeout).min(drained);
        let announced = awaited.filter(|_| key.is_some());
        session.announce_wait(&self.program().conditions[condition], announced.map(|answer| answer.class));
        let waited = session.wait(condition, place, deadline).await;
        self.shared.set_waiting_for(self.slot, None);
        let end = match waited {
            Ok(WaitOutcome::TimedOut) if deadline < drained => Some(WaitEnd::TimedOut),
            Ok(WaitOutcome::Lost) | Err(_) => Some(WaitEnd::Lost),
            _ => None,
        };
        if let (Some(answer), Some(end)) = (awaited, end) {
            let answer = AwaitedAnswer { first: answer.first.or(session.first_sign()), ..answer };
            self.shared.count_unanswered(self.slot, &answer, end, clock::now());
        }
        match waited? {
            WaitOutcome::Done(done) => {
                self.host_has_answered = true;
                self.shared.is_at_work(self.slot);
                let knows = done.at + done.silence;
                self.ready = self.ready.max(knows + done.held_for);
                self.response_held = (!done.held_for.is_zero()).then(|| (knows, knows + done.held_for));
                self.next_due = self.next_due.max(knows);
                let shared = Rc::clone(&self.shared);
                let awaited = shared.program(self.group, self.program).awaited(Some(condition));
                self.hung_up = awaited[0] == WaitCondition::Disconnect;
                self.shared.set_activity(self.slot, Activity::Thinking, done.at);
                session.answer_ends(done.at, &awaited[0]);
                match key {
                    Some((due, sent)) => self.add_response(session, due, sent, done),
                    None => self.input.goes_on(done.at),
                }
                self.input.last = LastAnswer {
                    characters: session.characters(),
                    is_cut: awaited[0].may_end_early(),
                    silent: matches!(awaited[0], WaitCondition::Silence(_)) && !session.has_heard(),
                };
                if self.input.class.is_none() && awaited.len() == 1 {
                    self.finish();
                }
                Ok(())
            }
            WaitOutcome::TimedOut if end.is_none() => Err(Stop::Over),
            outcome => {
                // What was lost on the line is counted there.
                if outcome == WaitOutcome::TimedOut {
                    self.fails(Failure::Timeout, session, clock::now().since(since));
                    self.shared.gives_up(self.slot);
                }
                self.ready = clock::now();
                self.shared.set_activity(self.slot, Activity::Thinking, self.ready);
                self.next_due = self.next_due.max(self.ready);
                Err(Stop::GaveUp)
            }
        }
    }

    /// What a wait or check was for, and what the user sees.
    pub(super) fn sample(&self, session: &Session, op: usize, time: Duration) -> WaitSample {
        let program = self.program();
        let (condition, place) = program.condition_of(&program.ops[op]).unwrap_or_default();
        session.sample(condition, &place, time)
    }

    /// Counts a failure of the operation that is played.
    fn fails(&self, failure: Failure, session: &Session, time: Duration) {
        self.shared.tally(|tally| tally.counts.error(failure));
        self.shared.add_sample(failure.name(), || self.sample(session, self.at, time));
    }

    /// The response to an input that the user waits for from now on.
    fn awaited_answer(&self, session: &Session, due: Stamp, sent: Stamp) -> AwaitedAnswer {
        let classes = &self.shared.groups[self.group].series.classes;
        let class = self.input.class.unwrap_or(classes.len() - 1);
        AwaitedAnswer { class, due: due - self.delayed, sent, first: session.first_sign() }
    }

    /// The answer of which a part has come, as an earlier wait has told.
    fn begun_answer(&self) -> Option<AwaitedAnswer> {
        let Transaction { due, sent, first, .. } = self.input.transaction?;
        let classes = &self.shared.groups[self.group].series.classes;
        let class = self.input.class.unwrap_or(classes.len() - 1);
        Some(AwaitedAnswer { class, due: due - self.delayed, sent, first: Some(first) })
    }

    /// Adds the response to an input to its transaction.
    fn add_response(&mut self, session: &mut Session, due: Stamp, sent: Stamp, done: Done) {
        let input = &mut self.input;
        input.waited.0 += done.at.since(due);
        input.waited.1 += done.at.since(sent);
        input.end_answer();
        let classes = &self.shared.groups[self.group].series.classes;
        let class = input.class.unwrap_or(classes.len() - 1);
        let number = classes[class].response.of(WaitEnd::Answered).number();
        input.transaction =
            Some(Transaction { class: number, user: self.number, due, sent, first: done.first, done: done.at });
        self.compare_with_kernel(session);
    }

    /// Records the time from the last key to the first character of the response, by the kernel's stamps and by ours. Not to
    /// the end: on a line with a speed the kernel has the whole response long before it has come.
    fn compare_with_kernel(&self, session: &mut Session) {
        let Some((kernel, ours)) = session.stamped_times() else { return };
        let series = &self.shared.groups[self.group].series;
        self.shared.tally(|tally| {
            tally.record(series.kernel_response, kernel);
            tally.record(series.user_response, ours);
        });
    }

    /// Counts the transaction that is complete, if there is one.
    fn finish(&mut self) {
        let classes = &self.shared.groups[self.group].series.classes;
        let class = self.input.class.take().unwrap_or(classes.len() - 1);
        let mut input = std::mem::take(&mut self.input);
        let Some(mut transaction) = input.transaction else { return };
        input.end_answer();
        // A session that waited for its user counts from its arrival.
        let delayed = std::mem::take(&mut self.delayed);
        transaction.due = transaction.due - delayed;
        input.waited.0 += delayed;
        self.count(&transaction, classes[class], &input);
        self.answered = Some((transaction.response(), classes[class].continued, self.last_wait.0 as u32));
        self.shared.count_transaction(self.slot, transaction.response());
    }

    fn count(&self, transaction: &Transaction, series: ClassSeries, input: &OpenTransaction) {
        let log = self.shared.spec.log_transactions;
        let Transaction { due, sent, first, done, .. } = *transaction;
        self.shared.record_wait(series.response, WaitEnd::Answered, (due, done));
        self.shared.record_wait(series.response_from_sent, WaitEnd::Answered, (sent, done));
        self.shared.record_wait(series.first_response, WaitEnd::Answered, (due, first));
        self.shared.tally(|tally| {
            if !input.is_cut {
                tally.record_size(series.characters, input.characters);
            }
            tally.counts.transactions += 1;
            tally.counts.silent += u64::from(input.last.silent);
            let sums = &mut tally.counts.sums;
            sums.response += input.waited.0.as_secs_f64();
            sums.response_from_sent += input.waited.1.as_secs_f64();
            if log {
                tally.transactions.push(*transaction);
            }
        });
    }

    async fn barrier(&mut self, session: &mut Session, number: usize) -> Result<(), Stop> {
        // A pause before the barrier comes first.
        let arrives = self.next_due.max(self.ready);
        session.listen_until(arrives).await?;
        let barriers = std::sync::Arc::clone(&self.shared.groups[self.group].barriers);
        let step = self.step.unwrap_or(0);
        let schedule = self.shared.schedule();
        let wait = barriers[number].arrive(schedule.load(step, self.group).users, arrives);
        // The wait runs out only after all users have started.
        let settled = Some(schedule.timeline.steps[step].settled).filter(|settled| *settled != UNKNOWN);
        let started = settled.map_or(Stamp::ZERO, |settled| schedule.timeline.at(settled));
        let deadline = started.max(clock::now()) + self.program().patience;
        let go_on = session.listen_at(wait, deadline).await?.unwrap_or_else(|| {
            let now = clock::now();
            self.fails(Failure::Barrier, session, now.since(arrives));
            now
        });
        self.next_due = self.next_due.max(go_on);
        self.ready = self.ready.max(go_on);
        Ok(())
    }
}

/// The text that a user types: each `${column}` is the cell of the user's row, or stays as it is if there is no such column.
fn text<'a>(pieces: &'a [Piece], row: Option<&BTreeMap<String, String>>) -> Cow<'a, str> {
    if let [Piece::Literal(text)] = pieces {
        return Cow::Borrowed(text);
    }
    let typed = pieces.iter().map(|piece| match piece {
        Piece::Literal(text) => text.clone(),
        Piece::Column(name) => row.and_then(|row| row.get(name)).cloned().unwrap_or_else(|| format!("${{{name}}}")),
    });
    typed.collect()
}
