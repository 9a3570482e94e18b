//! What a user does: the operations of its program, one after another.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use cuesta_record::{Failure, Stamp, UNKNOWN, WaitSample, clock};
use cuesta_tape::{ExpectSource, KeySettings, Keys, Op, Pattern, Piece};
use tokio::task;

use super::{Stop, User};
use crate::session::{Pressed, Session};
use crate::terminal::Keystroke;
use crate::user_state::Activity;

/// At most this many keys may wait for their echo; more are left out and counted.
const MOST_UNECHOED: usize = 256;

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
                op @ (Op::Pause(_) | Op::Think(_)) => self.pause(session, op).await?,
                Op::Wait { condition, timeout, place } => {
                    let waited = self.wait(session, *condition, place, *timeout).await;
                    if waited == Err(Stop::GaveUp) {
                        // The pauses of the rest of the pass: a host that fails is not typed at faster.
                        for op in &program.ops[at..to] {
                            self.pause(session, op).await?;
                        }
                    }
                    waited?;
                }
                Op::Ready { probe, timeout, .. } => self.wait_until_ready(session, probe, *timeout).await?,
                Op::Expect { pattern, source, .. } => self.expect(session, pattern, *source).await,
                Op::Begin(class) => self.input.class = Some(*class),
                Op::Finish => self.finish(session),
                Op::Loop(count) => self.loops.push(*count),
                Op::Again(start) => {
                    if self.end_turn() {
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
        let is_met = match source {
            ExpectSource::Response => pattern.regex().is_match(session.text()),
            ExpectSource::Screen => session.shows(pattern.regex()).await,
        };
        if !is_met {
            self.fails(Failure::Expect, session, Duration::ZERO);
        }
    }

    /// Plays a pause or a think time; other operations are ignored.
    async fn pause(&mut self, session: &mut Session, op: &Op) -> Result<(), Stop> {
        let pause = match op {
            Op::Pause(pause) => *pause,
            Op::Think(distribution) => distribution.sample(&mut self.rng),
            _ => return Ok(()),
        };
        self.postpone_next_key(session, pause).await
    }

    /// Ends a turn of the innermost loop; says whether another one follows.
    fn end_turn(&mut self) -> bool {
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
        while self.next_due >= self.shared.schedule().timeline.end() {
            self.stay_until_the_end(session).await?;
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
                    self.key(session, Keystroke::Character(key), settings, ends_input, secret).await?;
                }
                // Without gaps no echo could have come yet.
                if !settings.gap.is_zero() && session.received() == received {
                    self.shared.groups[self.group].add_unechoed(pieces);
                }
            }
            Keys::Press { key, count } => {
                for left in (0..*count).rev() {
                    let ends_input = settings.ends_input && left == 0;
                    self.key(session, Keystroke::Key(key), settings, ends_input, false).await?;
                }
            }
            Keys::Paste(pieces) => {
                let text = text(pieces, self.shared.groups[self.group].row(self.rank));
                let secret = self.shared.groups[self.group].types_secret(pieces);
                let at_once = KeySettings { gap: Duration::ZERO, ..*settings };
                self.key(session, Keystroke::Paste(&text), &at_once, settings.ends_input, secret).await?;
            }
        }
        Ok(())
    }

    /// Types one key: waits for its gap, then sends it. A text without gaps takes turns with other users. `ends_input`: it is the last key
    /// before the wait.
    async fn key(
        &mut self,
        session: &mut Session,
        key: Keystroke<'_>,
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
        // A line that is still busy with the keys before delays this key and the user; the due time does not move.
        let free = self.listen_until_due(session, due).await?;
        if session.unechoed() > 0 {
            session.resolve_echoes(clock::now());
            session.give_up_echoes(clock::now() - self.program().patience);
            if session.unechoed() >= MOST_UNECHOED {
                self.shared.count_left_out(1);
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
            Pressed::Local(sent) => sent,
            Pressed::Refused => return Ok(()),
        };
        if ends_input {
            self.count_continued(session);
        }
        self.shared.set_activity(self.slot, Activity::Keying, keying_from);
        self.keys_of_pass = self.keys_of_pass.saturating_add(1);
        self.shared.user(self.slot, |user| user.at_work = true);
        let lateness = sent.since(can_send_from);
        let series = &self.shared.groups[self.group].series;
        self.shared.tally(|tally| {
            tally.counts.keys += 1;
            tally.record(series.lateness, lateness);
        });
        Ok(())
    }

    /// A sample of an operation that went wrong: what it waited or looked for, and what the user sees.
    pub(super) fn sample(&self, session: &Session, op: usize, time: Duration) -> WaitSample {
        let program = self.program();
        let (condition, place) = program.condition_of(&program.ops[op]).unwrap_or_default();
        session.sample(condition, &place, time)
    }

    /// Counts a failure of the operation that is played.
    pub(super) fn fails(&self, failure: Failure, session: &Session, time: Duration) {
        self.shared.tally(|tally| tally.counts.count_failure(failure));
        self.shared.add_sample(failure.name(), || self.sample(session, self.at, time));
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
