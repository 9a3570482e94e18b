//! The state of a run, for displays. Reading it does not disturb the run.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};

use crate::{
    CharacterCounts, Doing, Failure, Interval, Phase, SeriesNames, Tally, Timeline, UNKNOWN, UserGlimpse, WaitSample,
    WaitingCounts, record,
};

record! {
    /// The state of one agent as of its last interval. Those of several agents are merged exactly: counts are added, and so are
    /// histograms, each an HdrHistogram of nanoseconds (V2, compressed, base64), null where nothing was counted.
    Snapshot {
        /// from the start of the segment to the end of the last interval
        seconds: f64 = Seconds;
        /// from the start of the segment to the end of its load; null while steps may be added
        total: Option<f64> = Seconds;
        /// the load step, from 0: an agent says that of the segment, an observer is told that of the run
        step: usize = Unitless;
        /// how many load steps there are, of the segment or of the run
        steps: usize = Number;
        /// the phase of the last interval; null until the first interval has ended
        phase: Option<Phase> = Unitless;
        /// users with a line
        users: u64 = Number;
        /// transactions in the last interval
        transactions: u64 = Number;
        /// those of them that ended by silence although the host had sent nothing
        silent: u64 = Number | 0;
        /// keys in the last interval
        keys: u64 = Number | 0;
        /// length of the last interval
        length: f64 = Seconds;
        /// failures since the start of the segment
        errors: u64 = Number;
        /// response times since due in the last interval
        response: Option<String> = Unitless;
        /// times to echoes since due in the last interval
        echo: Option<String> = Unitless | none;
        /// lateness in the last interval
        lateness: Option<String> = Unitless | none;
        /// CPU time of the driver's threads in the last interval; waiting awake is not counted
        cpu: f64 = Seconds | 0.0;
        /// number of the agent
        agent: u32 = Unitless | 0;
        /// each time series since the start of the segment, by its tag, `GROUP/SOURCE/SERIES`; none unless somebody asks for them
        series: BTreeMap<String, String> = Unitless | {};
        /// what was counted since the start of the segment; null unless somebody asks for them
        totals: Option<CountTotals> = Unitless | none;
        /// users who wait for the host at the end of the last interval
        waiting: WaitingCounts = Unitless;
        /// the longest wait, with the cursor's row
        long_wait: Option<WaitSample> = Unitless;
        /// how many of the step's users do what then; empty unless somebody looks at users
        doing: BTreeMap<Doing, u64> = Number | {};
        /// the slowest users, typical ones, and some that have failed; none unless somebody looks at users
        glimpses: Vec<UserGlimpse> = Unitless | [];
        /// whether all is written
        finished: bool = Unitless | false;
    }
}

record! {
    /// What one agent has counted since the start of a segment.
    CountTotals {
        /// transactions completed
        transactions: u64 = Number;
        /// keys sent
        keys: u64 = Number;
        /// characters each way
        characters: CharacterCounts = Unitless;
        /// failures of the host or the line, by name
        errors: BTreeMap<Failure, u64> = Number;
    }
}

impl CountTotals {
    fn from_tally(tally: &Tally) -> Self {
        let counts = &tally.counts;
        Self {
            transactions: counts.transactions,
            keys: counts.keys,
            characters: counts.characters,
            errors: counts.errors.clone(),
        }
    }
}

impl Snapshot {
    pub(crate) fn new(timeline: &Timeline, agent: u32) -> Self {
        Self {
            agent,
            seconds: 0.0,
            total: (timeline.load_end != UNKNOWN).then(|| Duration::from_nanos(timeline.load_end).as_secs_f64()),
            step: 0,
            steps: timeline.steps.len(),
            phase: None,
            users: 0,
            transactions: 0,
            silent: 0,
            keys: 0,
            length: 0.0,
            errors: 0,
            response: None,
            echo: None,
            lateness: None,
            cpu: 0.0,
            series: BTreeMap::new(),
            totals: None,
            waiting: WaitingCounts::default(),
            long_wait: None,
            doing: BTreeMap::new(),
            glimpses: Vec::new(),
            finished: false,
        }
    }

    /// Tells the steps and the length of a timeline that has changed.
    pub fn follow(&mut self, timeline: &Timeline) {
        *self = Self { total: Self::new(timeline, self.agent).total, steps: timeline.steps.len(), ..self.clone() };
    }

    /// The state at the end of the interval after this one. `totals`: what was counted since the start, if each series is asked for.
    pub(crate) fn next(
        &self,
        interval: &Interval,
        tally: &Tally,
        totals: Option<&Tally>,
        series_names: &SeriesNames,
    ) -> Self {
        let encoded = |figure| sum_of(tally, series_names, figure).map(|sum| encode(&sum));
        let each = totals.into_iter().flat_map(Tally::histograms);
        let mut glimpses = tally.glimpses.clone();
        UserGlimpse::select(&mut glimpses);
        Self {
            agent: self.agent,
            seconds: Duration::from_nanos(interval.end).as_secs_f64(),
            total: self.total,
            step: interval.step,
            steps: self.steps,
            phase: Some(interval.phase),
            users: tally.counts.users,
            transactions: tally.counts.transactions,
            silent: tally.counts.silent,
            keys: tally.counts.keys,
            length: Duration::from_nanos(interval.end - interval.begin).as_secs_f64(),
            errors: self.errors + tally.counts.errors.values().sum::<u64>(),
            response: encoded("/response"),
            echo: encoded("/echo"),
            lateness: encoded("/lateness"),
            cpu: tally.counts.cpu - tally.counts.spun,
            series: each.map(|(index, histogram)| (series_names.tags()[index].clone(), encode(histogram))).collect(),
            totals: totals.map(CountTotals::from_tally),
            waiting: tally.counts.waiting,
            long_wait: tally.long_wait.clone(),
            doing: tally.doing.clone(),
            glimpses,
            finished: false,
        }
    }
}

/// The histogram of a figure over all its series; none where it is empty.
fn sum_of(tally: &Tally, series_names: &SeriesNames, figure: &str) -> Option<Histogram<u64>> {
    let mut all = Histogram::<u64>::new(3).expect("3 digits are permitted");
    for (_, histogram) in tally.histograms().filter(|(index, _)| series_names.tags()[*index].ends_with(figure)) {
        all.add(histogram).expect("it resizes itself");
    }
    (!all.is_empty()).then_some(all)
}

fn encode(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(histogram, &mut bytes).expect("a vector takes all");
    STANDARD.encode(bytes)
}
