//! The counters and histograms of one thread in one interval. Memory grows with the number of series, never with records.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::{Failure, SeriesId, Stamp, Transaction, WaitEnd, WaitSeries};

/// Longer durations are recorded as this: nothing interactive takes a day.
const LONGEST: Duration = Duration::from_secs(86_400);

/// All that one thread counts in one interval.
#[derive(Debug, Default)]
pub struct Tally {
    /// By number of series; made when first needed.
    histograms: Vec<Option<Histogram<u64>>>,
    /// Everything that is a sum.
    pub counts: Counts,
    /// Every transaction, when a full log is asked for.
    pub transactions: Vec<Transaction>,
    /// A row for each user, in the last interval of a step; empty otherwise.
    pub users: Vec<UserRow>,
    /// The longest wait, for displays.
    pub long_wait: Option<WaitSample>,
}

/// Users who have waited long for the same condition with the same text in the cursor's row. Rows with secrets are hidden.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WaitSample {
    /// How many users.
    pub users: u64,
    /// The longest of their waits, in seconds.
    pub seconds: f64,
    /// The wait, as a tape writes it.
    pub condition: String,
    /// Where the wait stands: `row 7 of work`; empty outside of a tape.
    pub place: String,
    /// The text of the cursor's row; none without a screen.
    pub row: Option<String>,
    /// The rows of the screen that are not blank, or without a screen the last ones that came.
    pub screen: Vec<String>,
}

impl WaitSample {
    /// The longer of two waits. If condition and row are the same, their users are added.
    #[must_use]
    pub fn longer(self, other: Self) -> Self {
        let alike = self.condition == other.condition && self.row == other.row;
        let (longer, shorter) = if other.seconds > self.seconds { (other, self) } else { (self, other) };
        Self { users: longer.users + if alike { shorter.users } else { 0 }, ..longer }
    }
}

impl Tally {
    /// Counts one duration.
    pub fn record(&mut self, series: SeriesId, duration: Duration) {
        self.record_size(series, duration.min(LONGEST).as_nanos() as u64);
    }

    /// Counts one number, such as the characters of an answer.
    pub fn record_size(&mut self, series: SeriesId, size: u64) {
        let index = series.number() as usize;
        if index >= self.histograms.len() {
            self.histograms.resize_with(index + 1, || None);
        }
        let histogram =
            self.histograms[index].get_or_insert_with(|| Histogram::new(3).expect("3 digits are permitted"));
        histogram.record(size.min(LONGEST.as_nanos() as u64)).expect("it resizes itself");
    }

    /// Counts a wait from one instant to another. `measuring_since`: when the measurement began that goes on, if one does; a wait
    /// that ends in it and began before is counted by its age then, too.
    pub fn record_wait(
        &mut self,
        series: WaitSeries,
        end: WaitEnd,
        (from, to): (Stamp, Stamp),
        measuring_since: Stamp,
    ) {
        self.record(series.of(end), to.since(from));
        if end != WaitEnd::Unfinished && from < measuring_since && measuring_since < to {
            self.record(series.begun_before(), measuring_since.since(from));
        }
    }

    /// The non-empty histograms (of nanoseconds) with the number of their series.
    pub fn histograms(&self) -> impl Iterator<Item = (usize, &Histogram<u64>)> {
        let all = self.histograms.iter().enumerate();
        all.filter_map(|(index, histogram)| Some((index, histogram.as_ref()?))).filter(|(_, h)| !h.is_empty())
    }

    /// Adds the counts of `other`, without loss of precision.
    pub fn absorb(&mut self, other: &mut Self) {
        if self.histograms.len() < other.histograms.len() {
            self.histograms.resize_with(other.histograms.len(), || None);
        }
        for (mine, theirs) in self.histograms.iter_mut().zip(&other.histograms) {
            if let Some(theirs) = theirs.as_ref().filter(|h| !h.is_empty()) {
                let mine = mine.get_or_insert_with(|| Histogram::new(3).expect("3 digits are permitted"));
                mine.add(theirs).expect("it resizes itself");
            }
        }
        self.counts.absorb(&other.counts);
        self.transactions.append(&mut other.transactions);
        self.users.append(&mut other.users);
        self.long_wait = self.long_wait.take().into_iter().chain(other.long_wait.take()).reduce(WaitSample::longer);
    }

    /// Resets all counts, and keeps the memory for the next interval.
    pub fn clear(&mut self) {
        self.histograms.iter_mut().flatten().for_each(Histogram::reset);
        self.counts = Counts::default();
        self.transactions.clear();
        self.users.clear();
        self.long_wait = None;
    }
}

/// Sums of one interval.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Counts {
    /// Users with an open line, at the end of the interval.
    pub users: u64,
    /// Those of them that the step wants active.
    pub active: u64,
    /// Transactions completed.
    pub transactions: u64,
    /// Passes of the tape, or sessions of an open load, that ended: played to the end, or given up.
    pub passes: u64,
    /// Keys sent.
    pub keys: u64,
    /// Characters each way.
    pub characters: CharacterCounts,
    /// How often each failure of the host or the line happened.
    pub errors: BTreeMap<Failure, u64>,
    /// Details of the first of each failure: why a line could not be opened, how its program ended.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub said: BTreeMap<Failure, String>,
    /// The first wait of each kind that went wrong: by the name of the failure that ended it; `continued` if output went on behind its
    /// answer; `unfinished` is the longest that goes on at the end of a step.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub samples: BTreeMap<&'static str, WaitSample>,
    /// Transactions whose answer did not come: it took too long, or the line was lost first.
    pub unanswered: u64,
    /// Transactions that a silence rule ended although the host had sent nothing since the last key, not even an echo.
    pub silent: u64,
    /// Actions that were due and not done, because too many were under way.
    pub skipped: u64,
    /// Transactions behind whose answer output went on for more than a quarter of the response, and 20 ms.
    pub continued_long: u64,
    /// Keys without a figure: the text to which they belong could not be followed, or it could not be told which frame shows them.
    pub unfollowed: u64,
    /// Most cells of a screen that changed by themselves and were set aside, where keys were timed to the first frame that differs.
    pub set_aside: u64,
    /// Characters that were not an echo although only an echo could come.
    pub stray: u64,
    /// Received bytes that are no character of the line's character set.
    pub undecoded: u64,
    /// Time that users spent by activity, in seconds.
    pub sums: TimeSums,
    /// Transactions under way at the end of the interval.
    pub unfinished: u64,
    /// Age of the oldest of them since it was due, in seconds.
    pub oldest: f64,
    /// Users who wait for the host at the end of the interval.
    pub waiting: WaitingCounts,
    /// Outcome of the arrivals that were due in the measurement interval so far; none without an open load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due: Option<ArrivalCounts>,
    /// CPU time of the driver's threads, in seconds.
    pub cpu: f64,
    /// Run-queue delay of the driver's threads, in seconds.
    pub run_wait: f64,
    /// Time in which the driver's threads spun, in seconds; part of `cpu`.
    pub spun: f64,
    /// Number of the driver's threads.
    pub threads: u64,
    /// The screens of users that look at one; left out where there are none.
    #[serde(skip_serializing_if = "ScreenCounts::is_empty")]
    pub screens: ScreenCounts,
}

/// Users who wait for the host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct WaitingCounts {
    /// Users whose transaction is under way.
    pub answers: u64,
    /// Users who wait and have typed nothing, for a first prompt for example.
    pub prompts: u64,
    /// Users whose keys are not all echoed.
    pub echoes: u64,
    /// Keys that wait for their echo.
    pub keys: u64,
    /// The longest wait so far, in seconds.
    pub oldest: f64,
}

impl WaitingCounts {
    fn absorb(&mut self, other: Self) {
        self.answers += other.answers;
        self.prompts += other.prompts;
        self.echoes += other.echoes;
        self.keys += other.keys;
        self.oldest = self.oldest.max(other.oldest);
    }
}

/// Outcome of the passes or sessions of an open load that were due in a measurement interval. `done`, `under_way`,
/// `waiting` and `skipped` add up to `count`; each is counted where it happens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ArrivalCounts {
    /// How many arrived.
    pub count: u64,
    /// Begun and over.
    pub done: u64,
    /// Those of `done` that were given up, lost their line or got none.
    pub failed: u64,
    /// Begun and not over.
    pub under_way: u64,
    /// Not begun: no user was free.
    pub waiting: u64,
    /// Not begun, and never will be, because too many were waiting.
    pub skipped: u64,
}

impl ArrivalCounts {
    fn absorb(&mut self, other: Self) {
        self.count += other.count;
        self.done += other.done;
        self.failed += other.failed;
        self.under_way += other.under_way;
        self.waiting += other.waiting;
        self.skipped += other.skipped;
    }
}

/// Users' screens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct ScreenCounts {
    /// How many there are, at the end of the interval.
    pub count: u64,
    /// Their memory then, in bytes.
    pub bytes: u64,
    /// Time spent drawing on them, in seconds, estimated from a sample of the drawings.
    pub drawing: f64,
    /// The part of it that was drawn for users who waited for an answer: their response contains it.
    pub awaited: f64,
}

impl ScreenCounts {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn absorb(&mut self, other: Self) {
        self.count += other.count;
        self.bytes += other.bytes;
        self.drawing += other.drawing;
        self.awaited += other.awaited;
    }
}

/// Characters, counted on the user's side and on the wire.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct CharacterCounts {
    /// Typed by users.
    #[serde(rename = "in")]
    pub sent: u64,
    /// Shown to users.
    #[serde(rename = "out")]
    pub received: u64,
    /// Sent over the lines, negotiation and escapes included.
    pub line_in: u64,
    /// Received over the lines, negotiation and escapes included.
    pub line_out: u64,
}

/// Time that users spent, in seconds. Thinking and keying count in the interval where they happen, responses where they end.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct TimeSums {
    /// Thinking within the interval.
    pub think: f64,
    /// Keying within the interval, from the end of thinking to the last key.
    pub keying: f64,
    /// Response time of the transactions completed, since the last key was due.
    pub response: f64,
    /// Their response time since the last key was sent.
    pub response_from_sent: f64,
}

impl Counts {
    /// Counts a failure.
    pub fn error(&mut self, failure: Failure) {
        self.add_errors(failure, 1);
    }

    /// Adds `times` failures of one kind. If `times` is 0, the kind is not listed.
    pub fn add_errors(&mut self, failure: Failure, times: u64) {
        if times > 0 {
            *self.errors.entry(failure).or_default() += times;
        }
    }

    fn absorb(&mut self, other: &Self) {
        self.users += other.users;
        self.active += other.active;
        self.transactions += other.transactions;
        self.passes += other.passes;
        self.keys += other.keys;
        self.characters.sent += other.characters.sent;
        self.characters.received += other.characters.received;
        self.characters.line_in += other.characters.line_in;
        self.characters.line_out += other.characters.line_out;
        for (failure, times) in &other.errors {
            self.add_errors(*failure, *times);
        }
        for (failure, said) in &other.said {
            self.said.entry(*failure).or_insert_with(|| said.clone());
        }
        for (kind, sample) in &other.samples {
            self.samples.entry(*kind).or_insert_with(|| sample.clone());
        }
        self.unanswered += other.unanswered;
        self.silent += other.silent;
        self.skipped += other.skipped;
        self.continued_long += other.continued_long;
        self.unfollowed += other.unfollowed;
        self.set_aside = self.set_aside.max(other.set_aside);
        self.stray += other.stray;
        self.undecoded += other.undecoded;
        self.sums.think += other.sums.think;
        self.sums.keying += other.sums.keying;
        self.sums.response += other.sums.response;
        self.sums.response_from_sent += other.sums.response_from_sent;
        self.unfinished += other.unfinished;
        self.oldest = self.oldest.max(other.oldest);
        self.waiting.absorb(other.waiting);
        if let Some(due) = other.due {
            self.due.get_or_insert_default().absorb(due);
        }
        self.cpu += other.cpu;
        self.run_wait += other.run_wait;
        self.spun += other.spun;
        self.threads += other.threads;
        self.screens.absorb(other.screens);
    }
}

/// Figures of one user in the measurement interval of one step.
#[derive(Debug, Clone, Serialize)]
pub struct UserRow {
    /// Which step.
    pub step: usize,
    /// Name of the group.
    pub group: String,
    /// Number of the user, over all groups.
    pub user: u32,
    /// Transactions completed.
    pub transactions: u64,
    /// Mean response since due, in seconds.
    pub mean: f64,
    /// Largest response since due, in seconds.
    pub max: f64,
    /// Transactions that were given up: the answer took too long, or the line was lost.
    pub unanswered: u64,
    /// The wait that was pending at the end: for an `answer`, or a `prompt` that the host shows by itself; none if it did not wait.
    pub waits: Option<&'static str>,
    /// How long it had waited, in seconds.
    pub waited: f64,
    /// Why the user had no line at the end; none if it had.
    pub lost: Option<Failure>,
    /// Whether it sent a key, or a wait of it was met.
    pub at_work: bool,
    /// Whether a wait of it was given up.
    pub gave_up: bool,
    /// What the user's bisync line carried, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bisync: Option<BTreeMap<&'static str, u64>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeriesNames;

    #[test]
    fn a_wait_that_began_before_the_measurement_is_counted_by_its_age_then() {
        let mut series_names = SeriesNames::default();
        let series = series_names.wait_series("g", "t", "response");
        let at = |ms| Stamp::ZERO + Duration::from_millis(ms);
        let mut tally = Tally::default();
        tally.record_wait(series, WaitEnd::Answered, (at(90), at(150)), at(100));
        tally.record_wait(series, WaitEnd::TimedOut, (at(100), at(140)), at(100));
        tally.record_wait(series, WaitEnd::Unfinished, (at(80), at(200)), at(100));
        let recorded = tally.histograms().map(|(index, histogram)| {
            (series_names.tags()[index].as_str(), histogram.len(), histogram.min() / 1_000_000)
        });
        let expected = [
            ("g/t/response", 1, 59),
            ("g/t/response_timed_out", 1, 39),
            ("g/t/response_unfinished", 1, 119),
            ("g/t/response_begun_before", 1, 9),
        ];
        assert_eq!(recorded.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn merged_tallies_equal_one_of_all_values() {
        let mut series_names = SeriesNames::default();
        let series = series_names.series("g", "t", "response");
        let (mut pooled, mut one, mut two) = (Tally::default(), Tally::default(), Tally::default());
        for n in 0..1000_u64 {
            let duration = Duration::from_nanos(n * n * 7919 + 1);
            pooled.record(series, duration);
            if n % 3 == 0 { &mut one } else { &mut two }.record(series, duration);
        }
        one.counts.error(Failure::Reset);
        two.counts.error(Failure::Reset);
        one.absorb(&mut two);
        let histogram = |tally: &Tally| tally.histograms().next().map(|(_, h)| h.clone());
        assert_eq!(histogram(&one), histogram(&pooled));
        assert_eq!(one.counts.errors[&Failure::Reset], 2);
        one.clear();
        assert_eq!(one.histograms().count(), 0);
    }
}
