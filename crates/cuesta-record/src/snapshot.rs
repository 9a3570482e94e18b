//! The state of a run, for displays. Reading it does not disturb the run.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::{Interval, Phase, SeriesNames, Tally, Timeline, UNKNOWN, WaitSample, WaitingCounts};

/// The state of a run as of its last interval.
#[derive(Debug, Clone, Serialize)]
pub struct Snapshot {
    /// Seconds from the start of the run to the end of the last interval.
    pub seconds: f64,
    /// Seconds from the start to the end of the load; `None` while steps may be added.
    pub total: Option<f64>,
    /// The load step, from 0.
    pub step: usize,
    /// How many load steps there are.
    pub steps: usize,
    /// The phase of the last interval.
    pub phase: Option<Phase>,
    /// Users with a line.
    pub users: u64,
    /// Transactions in the last interval.
    pub transactions: u64,
    /// Those of them that ended by silence although the host had sent nothing.
    pub silent: u64,
    /// Keys in the last interval.
    pub keys: u64,
    /// Length of the last interval in seconds.
    pub length: f64,
    /// Errors since the start.
    pub errors: u64,
    /// Response since due in the last interval, in seconds: p50 and p99.
    pub response: Option<[f64; 2]>,
    /// Echo since due in the last interval: p50 and p99, in seconds.
    pub echo: Option<[f64; 2]>,
    /// Lateness in the last interval: p50 and p99, in seconds.
    pub lateness: Option<[f64; 2]>,
    /// Users who wait for the host at the end of the last interval.
    pub waiting: WaitingCounts,
    /// The longest wait, with the cursor's row.
    pub long_wait: Option<WaitSample>,
    /// Whether all is written.
    pub finished: bool,
}

impl Snapshot {
    pub(crate) fn new(timeline: &Timeline) -> Self {
        Self {
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
            waiting: WaitingCounts::default(),
            long_wait: None,
            finished: false,
        }
    }

    pub(crate) fn absorb(&mut self, interval: &Interval, tally: &Tally, series_names: &SeriesNames) {
        self.seconds = Duration::from_nanos(interval.end).as_secs_f64();
        self.step = interval.step;
        self.phase = Some(interval.phase);
        self.length = Duration::from_nanos(interval.end - interval.begin).as_secs_f64();
        self.users = tally.counts.users;
        self.transactions = tally.counts.transactions;
        self.silent = tally.counts.silent;
        self.keys = tally.counts.keys;
        self.errors += tally.counts.errors.values().sum::<u64>();
        self.response = quantiles(tally, series_names, "/response");
        self.echo = quantiles(tally, series_names, "/echo");
        self.lateness = quantiles(tally, series_names, "/lateness");
        self.waiting = tally.counts.waiting;
        self.long_wait.clone_from(&tally.long_wait);
    }
}

/// p50 and p99 over all series of a figure, in seconds.
fn quantiles(tally: &Tally, series_names: &SeriesNames, figure: &str) -> Option<[f64; 2]> {
    let mut all = Histogram::<u64>::new(3).expect("3 digits are permitted");
    for (_, histogram) in tally.histograms().filter(|(index, _)| series_names.tags()[*index].ends_with(figure)) {
        all.add(histogram).expect("it resizes itself");
    }
    (!all.is_empty()).then(|| [0.5, 0.99].map(|q| all.value_at_quantile(q) as f64 / 1e9))
}
