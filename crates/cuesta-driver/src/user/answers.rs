//! What a user waits for, and what becomes of its transactions.

use std::rc::Rc;
use std::time::Duration;

use cuesta_record::{Failure, FollowedKind, Stamp, Transaction, WaitEnd, WaitSample, clock};
use cuesta_tape::{TapePlace, WaitCondition};

use super::{Stop, User};
use crate::group::ClassSeries;
use crate::response::Done;
use crate::session::{Session, WaitOutcome};
use crate::user_state::{Activity, AnswerSigns, AwaitedAnswer, WaitingFor};

/// The rest of an answer that comes within this time is short, however short the response.
const SHORT_REST: Duration = Duration::from_millis(20);
/// The name of samples of answers behind which output went on.
const CONTINUED: &str = "continued";

/// The transaction that is not complete yet.
#[derive(Debug, Default)]
pub(super) struct OpenTransaction {
    /// Its class, if it is named.
    pub(super) class: Option<usize>,
    /// When the last key was due and sent, until its response has been waited for.
    pub(super) key: Option<(Stamp, Stamp)>,
    /// Sums of the waits, from due and from sent.
    waited: (Duration, Duration),
    transaction: Option<Transaction>,
    /// Characters of its answers except the last, and whether one of these waits may have ended before the whole answer had come.
    characters: u64,
    is_cut: bool,
    last: LastAnswer,
}

/// What had come since the last key when the last wait ended.
#[derive(Debug, Clone, Copy, Default)]
struct LastAnswer {
    characters: u64,
    /// The wait may have ended before the whole answer had come.
    is_cut: bool,
    /// Silence ended the wait, and the host has sent nothing at all since the last key.
    silent: bool,
}

impl OpenTransaction {
    /// Another wait for the same answer, with no key in between, has ended at `done`.
    fn goes_on(&mut self, done: Stamp) {
        let Some(transaction) = &mut self.transaction else { return };
        let more = done.since(transaction.done);
        transaction.done = transaction.done.max(done);
        self.waited = (self.waited.0 + more, self.waited.1 + more);
    }

    /// Adds the last answer, for which no other wait follows, to the sums.
    fn end_answer(&mut self) {
        self.characters += self.last.characters;
        self.is_cut |= self.last.is_cut;
    }
}

impl User {
    /// Waits for the complete response to what was typed.
    pub(super) async fn wait(
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
        let awaited =
            key.map(|(due, sent)| self.awaited_answer(session, due, sent)).or_else(|| self.unfinished_answer());
        let waiting_for = awaited.map_or(WaitingFor::Prompt(since), WaitingFor::Answer);
        self.shared.user(self.slot, |user| user.wait_for(Some(waiting_for)));
        let announced = awaited.filter(|_| key.is_some());
        session.announce_wait(&self.program().conditions[condition], announced.map(|answer| answer.class));
        let (waited, is_over) = self.wait_in_time(session, condition, place, since.max(self.ready) + timeout).await;
        self.shared.user(self.slot, |user| user.wait_for(None));
        let end = match waited {
            Ok(WaitOutcome::TimedOut) if !is_over => Some(WaitEnd::TimedOut),
            Ok(WaitOutcome::Lost) | Err(_) => Some(WaitEnd::Lost),
            _ => None,
        };
        if let (Some(answer), Some(end)) = (awaited, end) {
            let signs = session.answer_signs();
            let first = answer.signs.first.or(signs.first);
            let answer = AwaitedAnswer { signs: AnswerSigns { first, ..signs }, ..answer };
            self.shared.count_unanswered(self.slot, &answer, end, clock::now());
        }
        match waited? {
            WaitOutcome::Done(done) => {
                self.host_has_answered = true;
                self.shared.user(self.slot, |user| user.at_work = true);
                let knows = done.at + done.silence;
                self.ready = self.ready.max(knows + done.held_for);
                self.response_held = (!done.held_for.is_zero()).then(|| (knows, knows + done.held_for));
                self.next_due = self.next_due.max(knows);
                let shared = Rc::clone(&self.shared);
                let awaited = shared.program(self.group, self.program).awaited(Some(condition));
                self.hung_up = awaited[0] == WaitCondition::Disconnect;
                self.shared.set_activity(self.slot, Activity::Thinking, done.at);
                session.answer_ends(done.at, &awaited[0]);
                if let Some((due, sent)) = key {
                    self.add_response(session, due, sent, done);
                } else {
                    self.input.goes_on(done.at);
                    session.follow_login(Some(done.at));
                }
                self.input.last = LastAnswer {
                    characters: session.characters(),
                    is_cut: awaited[0].may_end_early(),
                    silent: matches!(awaited[0], WaitCondition::Silence(_)) && !session.has_received_anything(),
                };
                if self.input.class.is_none() && awaited.len() == 1 {
                    self.finish(session);
                }
                Ok(())
            }
            WaitOutcome::TimedOut if end.is_none() => Err(Stop::Over),
            outcome => {
                // The line itself counts lost messages.
                if outcome == WaitOutcome::TimedOut {
                    self.fails(Failure::Timeout, session, clock::now().since(since));
                    self.shared.user(self.slot, |user| user.gave_up = true);
                }
                self.ready = clock::now();
                self.shared.set_activity(self.slot, Activity::Thinking, self.ready);
                self.next_due = self.next_due.max(self.ready);
                Err(Stop::GaveUp)
            }
        }
    }

    /// Waits until the deadline, or until the drain phase ends, as says the second value. If a cut has moved that end, it waits on.
    async fn wait_in_time(
        &self,
        session: &mut Session,
        condition: usize,
        place: &TapePlace,
        deadline: Stamp,
    ) -> (Result<WaitOutcome, Failure>, bool) {
        loop {
            let drained = self.shared.schedule().timeline.drained();
            let waited = session.wait(condition, place, deadline.min(drained)).await;
            let is_moved = self.shared.schedule().timeline.drained() > drained;
            if waited != Ok(WaitOutcome::TimedOut) || deadline < drained || !is_moved {
                return (waited, deadline >= drained);
            }
        }
    }

    /// The response to an input that the user waits for from now on.
    fn awaited_answer(&self, session: &Session, due: Stamp, sent: Stamp) -> AwaitedAnswer {
        AwaitedAnswer { class: self.class(), due: due - self.delayed, sent, signs: session.answer_signs() }
    }

    /// The class of the input's transaction, by number in the group: the last is for transactions without a name.
    fn class(&self) -> usize {
        self.input.class.unwrap_or(self.shared.groups[self.group].series.classes.len() - 1)
    }

    /// The answer that an earlier wait of the same input has seen begin.
    fn unfinished_answer(&self) -> Option<AwaitedAnswer> {
        let Transaction { due, sent, first, .. } = self.input.transaction?;
        let signs = AnswerSigns { first: Some(first), complete: None };
        Some(AwaitedAnswer { class: self.class(), due: due - self.delayed, sent, signs })
    }

    /// Adds the response to an input to its transaction.
    fn add_response(&mut self, session: &mut Session, due: Stamp, sent: Stamp, done: Done) {
        let class = &self.shared.groups[self.group].series.classes[self.class()];
        let number = class.response.ended(WaitEnd::Answered).number();
        let input = &mut self.input;
        input.waited.0 += done.at.since(due);
        input.waited.1 += done.at.since(sent);
        input.end_answer();
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
    pub(super) fn finish(&mut self, session: &Session) {
        let class = self.shared.groups[self.group].series.classes[self.class()];
        let mut input = std::mem::take(&mut self.input);
        let Some(mut transaction) = input.transaction else { return };
        input.end_answer();
        // A session that waited for its user counts from its arrival.
        let delayed = std::mem::take(&mut self.delayed);
        transaction.due = transaction.due - delayed;
        input.waited.0 += delayed;
        self.count(&transaction, class, &input);
        session.follow_end(FollowedKind::Answer, transaction.sent, transaction.done);
        self.answered = Some((transaction.response(), class.continued, self.last_wait.0 as u32));
        self.shared.user(self.slot, |user| user.count_transaction(transaction.response()));
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

    /// Counts the output that has gone on behind the last answer, now that the last key of the next input is sent.
    pub(super) fn count_continued(&mut self, session: &mut Session) {
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
            let row = |session: &Session| row.map(|row| session.write_row(&row));
            self.shared.add_sample(CONTINUED, || WaitSample {
                row: row(session),
                ..self.sample(session, wait as usize, continued)
            });
        }
    }
}
