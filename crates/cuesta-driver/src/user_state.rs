//! What a thread knows of one user, and the user's counts of a step.

use std::ops::Range;
use std::rc::Rc;
use std::task::Waker;
use std::time::Duration;

use cuesta_lines::BisyncTotals;
use cuesta_record::{DriverCounts, Failure, Stamp, Tally, TimeSums, UserRow, WaitEnd, WaitSample, clock};

use crate::group::{ClassSeries, GroupSeries};
use crate::pacing::ArrivalQueue;

/// What a user spends time on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Activity {
    Thinking,
    Keying,
    /// Waiting for a response, whose time is counted when it comes; or not at work.
    #[default]
    Other,
}

/// What a user waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitingFor {
    /// The response to an input.
    Answer(AwaitedAnswer),
    /// Output that no key of the user asked for, such as a first prompt; waited for since this instant.
    Prompt(Stamp),
    /// A program that takes keys; counted as a prompt.
    Ready(Stamp),
}

impl WaitingFor {
    /// When the wait began.
    pub(crate) fn since(self) -> Stamp {
        match self {
            Self::Answer(answer) => answer.due,
            Self::Prompt(since) | Self::Ready(since) => since,
        }
    }
}

/// A transaction under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AwaitedAnswer {
    /// Its class, by number in the group.
    pub(crate) class: usize,
    /// When its last key was due.
    pub(crate) due: Stamp,
    /// When its last key was sent.
    pub(crate) sent: Stamp,
    pub(crate) signs: AnswerSigns,
}

/// What has come of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct AnswerSigns {
    /// When its first character came.
    pub(crate) first: Option<Stamp>,
    /// When it was complete, if nothing more comes: the line must still stay silent for a while, or what is seen may be an echo.
    pub(crate) complete: Option<Stamp>,
}

impl AwaitedAnswer {
    /// Records the wait of a transaction that has no answer by an instant, although the first sign of one may have come. At the end of a step,
    /// an answer that may be complete counts up to the instant at which it would have been.
    pub(crate) fn record(
        &self,
        tally: &mut Tally,
        series: ClassSeries,
        end: WaitEnd,
        at: Stamp,
        measuring_since: Stamp,
    ) {
        let until = self.signs.complete.filter(|_| end == WaitEnd::Unfinished).map_or(at, |complete| complete.min(at));
        tally.record_wait(series.response, end, (self.due, until), measuring_since);
        tally.record_wait(series.response_from_sent, end, (self.sent, until), measuring_since);
        match self.signs.first {
            // Its first sign is recorded when the transaction ends.
            Some(_) if end == WaitEnd::Unfinished => {}
            Some(first) => {
                tally.record_wait(series.first_response, WaitEnd::Answered, (self.due, first), measuring_since);
            }
            None => tally.record_wait(series.first_response, end, (self.due, at), measuring_since),
        }
    }
}

/// Keys that wait for their echo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unechoed {
    /// When the oldest was due.
    pub(crate) oldest: Stamp,
    /// When the newest had been sent.
    pub(crate) newest: Stamp,
    pub(crate) keys: usize,
    /// How many of them are timed by what the screen shows.
    pub(crate) on_screen: usize,
}

/// What a thread knows of one user.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // They do not depend on one another.
pub(crate) struct UserState {
    pub(crate) user: u32,
    pub(crate) group: usize,
    /// Number within the group.
    pub(crate) rank: u32,
    /// Its arrivals, if it has had an open load. Few users have.
    arrivals: Option<Rc<ArrivalQueue>>,
    /// Its activity, and up to when that is counted.
    pub(crate) activity: (Activity, Stamp),
    /// When its current input was due, if that arrived by an open load.
    pub(crate) arrived: Option<Stamp>,
    pub(crate) waiting_for: Option<WaitingFor>,
    /// A sample of that wait, if it is long.
    pub(crate) long_wait: Option<Box<WaitSample>>,
    pub(crate) unechoed: Option<Unechoed>,
    /// When the line was due that is being opened.
    pub(crate) opening: Option<Stamp>,
    /// It has sent a key, or a wait of it was met, in this step.
    pub(crate) at_work: bool,
    /// A wait of it was given up in this step.
    pub(crate) gave_up: bool,
    /// Why it has no line.
    pub(crate) lost: Option<Failure>,
    pub(crate) connected: bool,
    /// People look at its screen.
    pub(crate) is_watched: bool,
    /// Its screen is to be shown when its task is polled next.
    pub(crate) shows_next: bool,
    /// Wakes its task.
    pub(crate) waker: Option<Waker>,
    /// How many of its lines were followed.
    probe_lines: u32,
    /// Transactions that were given up.
    pub(crate) unanswered: u64,
    transactions: u64,
    response_sum: Duration,
    longest_response: Duration,
    /// What its bisync lines have carried, since the run began and before this step. Boxed, because few users have such lines.
    bisync: Option<Box<(BisyncTotals, BisyncTotals)>>,
}

impl UserState {
    pub(crate) fn new(user: u32, group: usize, rank: u32) -> Self {
        Self { user, group, rank, ..Self::default() }
    }

    /// The queue of its arrivals, for an open load.
    pub(crate) fn arrivals(&mut self) -> Rc<ArrivalQueue> {
        Rc::clone(self.arrivals.get_or_insert_default())
    }

    /// How many of its arrivals that were due in an interval wait.
    pub(crate) fn waiting_arrivals(&self, interval: &Range<Stamp>) -> u64 {
        self.arrivals.as_ref().map_or(0, |arrivals| arrivals.waiting(interval))
    }

    /// Its line is open.
    pub(crate) fn connects(&mut self) {
        (self.connected, self.opening, self.lost) = (true, None, None);
    }

    /// It has lost its line, or could open none; `lost` says why, unless the line was to end.
    pub(crate) fn disconnects(&mut self, lost: Option<Failure>) {
        (self.connected, self.opening, self.lost) = (false, None, lost);
    }

    /// What it waits for from now on, if anything.
    pub(crate) fn wait_for(&mut self, what: Option<WaitingFor>) {
        (self.waiting_for, self.long_wait) = (what, None);
    }

    /// More of the answer that it waits for may have come.
    pub(crate) fn set_answer_signs(&mut self, signs: AnswerSigns) {
        if let Some(WaitingFor::Answer(answer)) = &mut self.waiting_for {
            answer.signs = signs;
        }
    }

    /// It waits for the echoes of `keys` keys, the first of which was due at `since`; or for none. The screen is to show `on_screen` of
    /// them.
    pub(crate) fn wait_for_echoes(&mut self, since: Option<Stamp>, keys: usize, on_screen: usize) {
        let before = self.unechoed.filter(|before| keys <= before.keys);
        self.unechoed = since.map(|oldest| {
            let newest = before.map_or_else(clock::now, |before| before.newest);
            Unechoed { oldest, newest, keys, on_screen }
        });
    }

    /// Its bisync line has carried more.
    pub(crate) fn count_bisync(&mut self, growth: &BisyncTotals) {
        self.bisync.get_or_insert_default().0.add(growth);
    }

    /// Another line of the user is followed; returns how many were before.
    pub(crate) fn count_probe_line(&mut self) -> u32 {
        self.probe_lines += 1;
        self.probe_lines - 1
    }

    /// A transaction is complete.
    pub(crate) fn count_transaction(&mut self, response: Duration) {
        self.transactions += 1;
        self.response_sum += response;
        self.longest_response = self.longest_response.max(response);
    }

    /// How many transactions are complete in this step.
    pub(crate) fn transactions(&self) -> u64 {
        self.transactions
    }

    /// Their mean response time, in seconds; 0 before the first.
    pub(crate) fn mean_response(&self) -> f64 {
        self.response_sum.as_secs_f64() / self.transactions.max(1) as f64
    }

    /// The user's row of a step that ends at `end`; its counts begin again.
    pub(crate) fn row(&mut self, step: usize, group: &str, end: Stamp) -> UserRow {
        let waits = match self.waiting_for {
            Some(WaitingFor::Answer(answer)) if answer.due < end => Some(("answer", answer.due)),
            Some(WaitingFor::Prompt(since) | WaitingFor::Ready(since)) if since < end => Some(("prompt", since)),
            _ => None,
        };
        let mean = self.mean_response();
        let row = UserRow {
            step,
            group: group.to_owned(),
            user: self.user,
            transactions: self.transactions,
            mean,
            max: self.longest_response.as_secs_f64(),
            unanswered: self.unanswered,
            waits: waits.map(|(what, _)| what),
            waited: waits.map_or(0.0, |(_, since)| end.since(since).as_secs_f64()),
            lost: self.lost,
            at_work: self.at_work,
            gave_up: self.gave_up,
            bisync: self.bisync.as_deref().map(|(now, before)| {
                let figures = now.since(before).figures().into_iter();
                figures.chain([("sequence", now.sent)]).collect()
            }),
        };
        self.reset_counts();
        row
    }

    /// Counts what the user waits for at the end of a measurement: it is not known how much longer.
    pub(crate) fn record_unfinished(&self, tally: &mut Tally, series: &GroupSeries, end: Stamp) {
        let unfinished = WaitEnd::Unfinished;
        if let Some(WaitingFor::Answer(answer)) = self.waiting_for.filter(|wait| wait.since() < end) {
            answer.record(tally, series.classes[answer.class], unfinished, end, Stamp::ZERO);
        }
        if let Some(due) = self.opening.filter(|due| *due < end) {
            tally.record_wait(series.line.last, unfinished, (due, end), Stamp::ZERO);
        }
        let unechoed = self.unechoed.filter(|unechoed| unechoed.oldest < end);
        if let Some(Unechoed { oldest, newest, keys, on_screen }) = unechoed {
            for (number, since) in std::iter::once(oldest).chain(std::iter::repeat_n(newest, keys - 1)).enumerate() {
                if number < on_screen {
                    tally.record_wait(series.frame, unfinished, (since, end), Stamp::ZERO);
                }
                tally.record_wait(series.echo, unfinished, (since, end), Stamp::ZERO);
                tally.record_wait(series.echo_from_sent, unfinished, (since, end), Stamp::ZERO);
            }
        }
    }

    /// Counts the time up to an instant to the current activity. The instant may lie before one already counted up to,
    /// because a user reports its keying when it sends, from the scheduled beginning: that time is taken back.
    pub(crate) fn spend_until(&mut self, at: Stamp, sums: &mut TimeSums) {
        let (activity, since) = self.activity;
        let spent = (at.as_nanos() as f64 - since.as_nanos() as f64) / 1e9;
        match activity {
            Activity::Thinking => sums.think += spent,
            Activity::Keying => sums.keying += spent,
            Activity::Other => {}
        }
        self.activity.1 = at;
    }

    /// Begins the counts of another step.
    pub(crate) fn reset_counts(&mut self) {
        (self.transactions, self.unanswered) = (0, 0);
        (self.at_work, self.gave_up) = (false, false);
        (self.response_sum, self.longest_response) = (Duration::ZERO, Duration::ZERO);
        if let Some((now, before)) = self.bisync.as_deref_mut() {
            *before = *now;
        }
    }
}

pub(crate) fn count_waiting(users: &[UserState], end: Stamp, counts: &mut DriverCounts) {
    let age = |since: Stamp| end.since(since).as_secs_f64();
    for slot in users {
        match slot.waiting_for {
            Some(WaitingFor::Answer(answer)) if answer.due < end => {
                counts.waiting.answers += 1;
                counts.oldest = counts.oldest.max(age(answer.due));
            }
            Some(WaitingFor::Prompt(since) | WaitingFor::Ready(since)) if since < end => {
                counts.waiting.prompts += 1;
                counts.waiting.oldest = counts.waiting.oldest.max(age(since));
            }
            _ => {}
        }
        if let Some(unechoed) = slot.unechoed.filter(|unechoed| unechoed.oldest < end) {
            counts.waiting.echoes += 1;
            counts.waiting.keys += unechoed.keys as u64;
            counts.oldest = counts.oldest.max(age(unechoed.oldest));
        }
    }
    counts.unfinished = counts.waiting.answers + counts.waiting.echoes;
    counts.waiting.oldest = counts.waiting.oldest.max(counts.oldest);
}

/// The sample of the longest wait, at the end of an interval.
pub(crate) fn longest_wait(users: &[UserState], end: Stamp) -> Option<WaitSample> {
    let wait = |user: &UserState| {
        let sample = *user.long_wait.clone()?;
        Some(WaitSample { seconds: end.since(user.waiting_for?.since()).as_secs_f64(), ..sample })
    };
    users.iter().filter_map(wait).reduce(WaitSample::longer)
}
