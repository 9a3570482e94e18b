//! The counters and histograms of one thread in one interval. Memory grows with the number of series, never with records.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::schema::Merge;
use crate::{EchoedKey, Failure, FollowedKey, KeyFrame, SeriesId, Stamp, Transaction, WaitEnd, WaitSeries, record};
use hdrhistogram::Histogram;
use serde::Serialize;

/// Longer durations are recorded as this: nothing interactive takes a day.
const LONGEST: Duration = Duration::from_secs(86_400);

/// All that one thread counts in one interval.
#[derive(Debug, Default)]
pub struct Tally {
    /// By number of series; made when first needed.
    histograms: Vec<Option<Histogram<u64>>>,
    /// All other counts, sums and maxima.
    pub counts: DriverCounts,
    /// Every transaction, when a full log is asked for.
    pub transactions: Vec<Transaction>,
    /// Every key that was echoed, when a full log is asked for.
    pub keys: Vec<EchoedKey>,
    /// The keys of probe lines.
    pub followed: Vec<FollowedKey>,
    /// A row for each user, in the last interval of a step; empty otherwise.
    pub users: Vec<UserRow>,
    /// The longest wait, for displays.
    pub long_wait: Option<WaitSample>,
    /// How many users do what at the end of the interval, for displays.
    pub doing: BTreeMap<Doing, u64>,
    /// Some users, for displays.
    pub glimpses: Vec<UserGlimpse>,
}

record! {
    /// Users who have waited long for the same condition with the same text in the cursor's row. Rows with secrets are hidden.
    WaitSample {
        /// how many users waited alike
        users: u64 = Number | 1;
        /// the longest of their waits; of `continued`: how long output went on
        seconds: f64 = Seconds;
        /// the wait, as a tape writes it
        condition: String = Unitless;
        /// where the wait stands: `row 7 of work`; empty outside of a tape
        place: String = Unitless | "";
        /// the text of the cursor's row, of `continued` when the answer seemed complete; null without a screen
        row: Option<String> = Unitless | none;
        /// the rows of the screen that are not blank, or without a screen the last ones that came
        screen: Vec<String> = Unitless | [];
    }
}

/// What a user does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Doing {
    /// It has not started.
    Unstarted,
    /// Its line is being opened.
    Opening,
    /// It waits for an answer.
    AwaitingAnswer,
    /// It waits for a prompt.
    AwaitingPrompt,
    Keying,
    Thinking,
    /// It waits for other users or for its next pass, or listens.
    Idle,
    /// It has lost its line, or could open none.
    Lost,
}

record! {
    /// One user at the end of an interval.
    UserGlimpse {
        /// number of the user, over all groups
        user: u32 = Unitless;
        /// name of the group
        group: String = Unitless;
        /// why this one: it is of the `slowest`, it is `typical`, or it has `failed`
        because: &'static str = Unitless;
        /// what it does
        doing: Doing = Unitless;
        /// how long it has waited; 0 if it does not wait
        waited: f64 = Seconds;
        /// what it waits for, as a tape writes it; null unless it has waited long
        condition: Option<String> = Unitless | none;
        /// the text of the cursor's row then; null without a screen
        row: Option<String> = Unitless | none;
        /// transactions completed in this step
        transactions: u64 = Number;
        /// their mean response time
        mean: f64 = Seconds;
        /// why it has no line; null if it has, or has not started
        lost: Option<Failure> = Unitless | none;
    }
}

impl UserGlimpse {
    /// By what users are slow: how long they wait now, or waited for their answers so far.
    fn slowness(&self) -> f64 {
        self.waited.max(self.mean)
    }

    /// The most of each kind that are shown.
    pub const MOST: usize = 5;

    /// Keeps the slowest and a few of the others.
    pub(crate) fn select(glimpses: &mut Vec<Self>) {
        glimpses.sort_by(|one, other| other.slowness().total_cmp(&one.slowness()));
        let mut kept = BTreeMap::<&str, usize>::new();
        glimpses.retain(|glimpse| {
            let kept = kept.entry(glimpse.because).or_default();
            *kept += 1;
            *kept <= Self::MOST
        });
    }
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

    /// Counts a wait from one instant to another. `measuring_since`: the begin of the last measurement, zero before the first; a wait
    /// that began before it and ends in it is also counted by its age at that begin.
    pub fn record_wait(
        &mut self,
        series: WaitSeries,
        end: WaitEnd,
        (from, to): (Stamp, Stamp),
        measuring_since: Stamp,
    ) {
        self.record(series.ended(end), to.since(from));
        if end != WaitEnd::Unfinished && from < measuring_since && measuring_since < to {
            self.record(series.ended(WaitEnd::BegunBefore), measuring_since.since(from));
        }
    }

    /// The non-empty histograms (of nanoseconds) with the number of their series.
    pub fn histograms(&self) -> impl Iterator<Item = (usize, &Histogram<u64>)> {
        let all = self.histograms.iter().enumerate();
        all.filter_map(|(index, histogram)| Some((index, histogram.as_ref()?))).filter(|(_, h)| !h.is_empty())
    }

    /// Adds the counts of `other`, without loss of precision.
    pub fn merge(&mut self, other: &mut Self) {
        self.add(other);
        self.transactions.append(&mut other.transactions);
        self.keys.append(&mut other.keys);
        self.followed.append(&mut other.followed);
        self.users.append(&mut other.users);
        self.long_wait = self.long_wait.take().into_iter().chain(other.long_wait.take()).reduce(WaitSample::longer);
        Merge::merge(&mut self.doing, &other.doing);
        self.glimpses.append(&mut other.glimpses);
    }

    /// Adds the counts and the histograms of `other`, but no rows and samples.
    pub(crate) fn add(&mut self, other: &Self) {
        self.counts.merge(&other.counts);
        if self.histograms.len() < other.histograms.len() {
            self.histograms.resize_with(other.histograms.len(), || None);
        }
        for (mine, theirs) in self.histograms.iter_mut().zip(&other.histograms) {
            if let Some(theirs) = theirs.as_ref().filter(|h| !h.is_empty()) {
                let mine = mine.get_or_insert_with(|| Histogram::new(3).expect("3 digits are permitted"));
                mine.add(theirs).expect("it resizes itself");
            }
        }
    }

    /// Resets all counts, and keeps the memory for the next interval.
    pub fn clear(&mut self) {
        self.histograms.iter_mut().flatten().for_each(Histogram::reset);
        self.counts = DriverCounts::default();
        self.transactions.clear();
        self.keys.clear();
        self.followed.clear();
        self.users.clear();
        self.long_wait = None;
        self.doing.clear();
        self.glimpses.clear();
    }
}

record! {
    /// What is counted in one interval.
    #[derive(Default)]
    DriverCounts: Merge {
        /// users with a line at the end of the interval
        users: u64 = Number;
        /// those of them that the step has work for
        active: u64 = Number;
        /// transactions completed
        transactions: u64 = Number;
        /// passes of the tape that ended, or sessions of an open load: played to the end, or given up
        passes: u64 = Number | 0;
        /// keys sent
        keys: u64 = Number;
        /// characters each way
        characters: CharacterCounts = Unitless;
        /// failures of the host or the line, by name
        errors: BTreeMap<Failure, u64> = Number;
        /// details of the first failure of each name, if known: why a line could not be opened, or how the program on it ended and what
        /// the host sent last
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        said: BTreeMap<Failure, String> = Unitless, first | {};
        /// the first wait of each kind that went wrong: by the name of the failure that ended it; `continued` if output went on behind
        /// its answer; `unfinished` is the longest that goes on at the end of a step
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        samples: BTreeMap<&'static str, WaitSample> = Unitless, first | {};
        /// transactions without a complete answer: the wait timed out, or the line was lost
        unanswered: u64 = Number | 0;
        /// transactions that ended by silence, although the host had sent nothing since the last key, not even an echo
        silent: u64 = Number | 0;
        /// passes or sessions that were due and not begun, because too many were under way
        skipped: u64 = Number | 0;
        /// transactions behind whose answer output went on for over a quarter of the response time, and over 20 ms
        continued_long: u64 = Number | 0;
        /// timed keys without a figure, because the text to which they belong could not be followed, or it could not be told which frame
        /// shows them
        unfollowed: u64 = Number | 0;
        /// probe lines (the plan's `path`) that the host's tracer cannot know: through a proxy or a jump host, of a kind that it does not follow, or
        /// opened while no port of 20000 to 21999 was free
        unmarked: u64 = Number | 0;
        /// the largest number of cells of a user's screen that changed without keys, where keys are timed to the first frame that differs
        /// (`Set Echo change`)
        set_aside: u64 = Number, max | 0;
        /// the frames that show keys, of users whose keys are timed by what the screen shows
        #[serde(skip_serializing_if = "FrameCounts::is_empty")]
        frames: FrameCounts = Unitless | none;
        /// characters that arrived in place of an expected echo
        stray: u64 = Number | 0;
        /// received bytes that are no character of UTF-8, or of the set that the target names
        undecoded: u64 = Number | 0;
        /// time that users spent, by activity
        sums: TimeSums = Unitless;
        /// transactions under way at the end of the interval
        unfinished: u64 = Number;
        /// the age of the oldest of them, since it was due
        oldest: f64 = Seconds, max;
        /// users who wait for the host at the end of the interval
        waiting: WaitingCounts = Unitless | none;
        /// what became of the arrivals of an open load since the measurement began; only while one is measured
        #[serde(skip_serializing_if = "Option::is_none")]
        due: Option<ArrivalCounts> = Unitless | none;
        /// CPU time of the driver's threads
        cpu: f64 = Seconds;
        /// time in which they waited for a CPU
        run_wait: f64 = Seconds;
        /// the part of `cpu` in which they waited awake ([summary.md](summary.md#the-drivers-own-part))
        spun: f64 = Seconds | 0.0;
        /// number of the driver's threads
        threads: u64 = Number;
        /// the screens of users, if any user has one
        #[serde(skip_serializing_if = "ScreenCounts::is_empty")]
        screens: ScreenCounts = Unitless | none;
    }
}

record! {
    /// Users who wait for the host.
    #[derive(Copy, Default)]
    WaitingCounts: Merge {
        /// users who wait for an answer
        answers: u64 = Number | 0 { "users waiting for an answer" };
        /// users who wait and have typed nothing, for a first prompt for example
        prompts: u64 = Number | 0 { "users waiting for a prompt" };
        /// users who wait for the echo of keys
        echoes: u64 = Number | 0 { "users waiting for an echo" };
        /// keys that wait for their echo
        keys: u64 = Number | 0 { "keys waiting for their echo" };
        /// the longest wait so far
        oldest: f64 = Seconds, max { "longest wait at the end" };
    }
}

record! {
    /// What became of the passes or sessions of an open load that were due in a measurement interval. `done`, `under_way`,
    /// `waiting` and `skipped` add up to `count`; each is counted where it happens.
    #[derive(Copy, Eq, Default)]
    ArrivalCounts: Merge {
        /// passes or sessions that were due
        count: u64 = Number { "due by the load" };
        /// those that ended
        done: u64 = Number { "due and done" };
        /// those of `done` that were given up, lost their line or got none
        failed: u64 = Number { "due and failed" };
        /// those that a user was playing at the end
        under_way: u64 = Number { "due, under way" };
        /// those that waited for a free user at the end
        waiting: u64 = Number { "due, waiting for a user" };
        /// those that were skipped because too many were waiting
        skipped: u64 = Number { "due and skipped" };
    }
}

record! {
    /// Users' screens.
    #[derive(Copy, Default)]
    ScreenCounts: Merge {
        /// how many there are, at the end of the interval
        count: u64 = Number;
        /// their memory then
        bytes: u64 = Bytes;
        /// time spent drawing on them, estimated by timing one drawing in 61
        drawing: f64 = Seconds;
        /// the part of it that was drawn for users who waited for an answer: their response contains it
        awaited: f64 = Seconds | none;
    }
}

impl ScreenCounts {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

record! {
    /// Frames that show timed keys. A frame ends at the mark of its end (mode 2026), else when nothing has come for a moment.
    #[derive(Copy, Eq, Default)]
    FrameCounts: Merge {
        /// frames that showed a timed key
        count: u64 = Number;
        /// their bytes
        bytes: u64 = Bytes;
        /// keys that they showed
        keys: u64 = Number;
        /// those of `keys` in a frame that showed others as well
        shared: u64 = Number;
        /// timed keys for which all frames were counted
        followed: u64 = Number;
        /// frames that began after one of `followed` was sent and before the next key, while a key waited or soon after
        drawn: u64 = Number;
        /// bytes of `drawn`
        drawn_bytes: u64 = Bytes | none;
    }
}

impl FrameCounts {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// A key was shown. `is_first`: no other key of its frame was counted before.
    pub fn count_key(&mut self, frame: &KeyFrame, is_first: bool) {
        self.count += u64::from(is_first);
        self.bytes += if is_first { frame.bytes } else { 0 };
        self.keys += 1;
        self.shared += u64::from(frame.keys > 1);
    }

    /// Counts the frames that were drawn for a key, and their bytes together.
    pub fn count_drawn(&mut self, frames: u32, bytes: u64) {
        self.followed += 1;
        self.drawn += u64::from(frames);
        self.drawn_bytes += bytes;
    }
}

record! {
    /// Characters, counted on the user's side and on the line.
    #[derive(Copy, Default)]
    CharacterCounts: Merge {
        /// typed by users
        r#in: u64 = Number | 0;
        /// shown to users
        out: u64 = Number | 0;
        /// bytes sent over the lines, negotiation and escapes included
        line_in: u64 = Number | 0;
        /// bytes received over the lines, negotiation and escapes included
        line_out: u64 = Number | 0;
    }
}

record! {
    /// Time that users spent. Thinking and keying count in the interval where they happen, responses where they end.
    #[derive(Copy, Default)]
    TimeSums: Merge {
        /// thinking
        think: f64 = Seconds;
        /// keying, from the end of thinking to the last key
        keying: f64 = Seconds;
        /// response time of the transactions completed, since the last key was due
        response: f64 = Seconds;
        /// the same since the last key was sent
        response_from_sent: f64 = Seconds;
    }
}

impl DriverCounts {
    pub fn count_failure(&mut self, failure: Failure) {
        self.count_failures(failure, 1);
    }

    /// Adds `times` failures of one kind. If `times` is 0, the kind is not listed.
    pub fn count_failures(&mut self, failure: Failure, times: u64) {
        if times > 0 {
            *self.errors.entry(failure).or_default() += times;
        }
    }
}

record! {
    /// One user in the measurement interval of one step. Response times are from due.
    UserRow {
        /// the step, from 0 within the segment
        step: usize = Unitless;
        /// name of the group
        group: String = Unitless;
        /// number of the user, over all groups
        user: u32 = Unitless;
        /// transactions completed
        transactions: u64 = Number;
        /// mean response time
        mean: f64 = Seconds;
        /// largest response time
        max: f64 = Seconds;
        /// transactions that were given up: the answer took too long, or the line was lost
        unanswered: u64 = Number | 0;
        /// what it waited for at the end: an `answer`, or a `prompt` that the host shows by itself; null if it did not wait
        waits: Option<&'static str> = Unitless | none;
        /// for how long
        waited: f64 = Seconds | 0.0;
        /// why it had no line at the end; null if it had
        lost: Option<Failure> = Unitless;
        /// whether it sent a key, or a wait of it was met
        at_work: bool = Unitless | true;
        /// whether a wait of it was given up
        gave_up: bool = Unitless | false;
        /// what its bisync line carried and its station counted in the interval, by name
        #[serde(skip_serializing_if = "Option::is_none")]
        bisync: Option<BTreeMap<&'static str, u64>> = Number | none;
    }
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
        one.counts.count_failure(Failure::Reset);
        two.counts.count_failure(Failure::Reset);
        one.merge(&mut two);
        let histogram = |tally: &Tally| tally.histograms().next().map(|(_, h)| h.clone());
        assert_eq!(histogram(&one), histogram(&pooled));
        assert_eq!(one.counts.errors[&Failure::Reset], 2);
        one.clear();
        assert_eq!(one.histograms().count(), 0);
    }
}
