//! When each part of a run begins and ends. Every thread, agent and reader computes the same timeline.

use std::time::Duration;

use serde::Serialize;

use crate::{Stamp, record};

/// The steps of a run, as offsets from its start.
///
/// Steps may be added while the run goes on. A step's load lasts until the next step begins, or until the load ends. The time
/// from the end of a step's measurement interval to the begin of the next step counts to the settling of the next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeline {
    /// The instant zero.
    pub start_at: Stamp,
    /// Load steps, one after another.
    pub steps: Vec<StepTimes>,
    /// When the load ends, in ns; [`UNKNOWN`] while steps may be added.
    pub load_end: u64,
    /// Longest wait for pending answers after the load's end, in ns.
    pub drain: u64,
}

record! {
    /// One load step. The next one begins at its end; in a search some seconds later, and the load goes on until then.
    #[derive(Copy, Eq)]
    StepTimes {
        /// users begin to be added, or to leave
        begin: u64 = Nanoseconds;
        /// the measurement interval begins
        settled: u64 = Nanoseconds;
        /// the measurement interval ends
        end: u64 = Nanoseconds;
    }
}

/// An offset that is not known yet, of a step's interval or the load's end.
pub const UNKNOWN: u64 = u64::MAX;

/// A phase of a load step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Users are added and the host settles.
    Settle,
    /// The measurement interval.
    Measure,
    /// No more keys are sent; answers under way are waited for.
    Drain,
}

/// One interval of the time series: a second; at the bound of a phase up to half a second more or less, or all of a shorter phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    /// Begin, in ns from the start of the segment.
    pub begin: u64,
    /// End, in ns from the start of the segment.
    pub end: u64,
    /// Number of the load step.
    pub step: usize,
    /// The phase that it belongs to.
    pub phase: Phase,
    /// Whether the load step ends with it.
    pub ends_step: bool,
}

const SECOND: u64 = 1_000_000_000;

impl Timeline {
    /// The instant at an offset.
    pub fn at(&self, offset: u64) -> Stamp {
        self.start_at + Duration::from_nanos(offset)
    }

    /// When the load ends: no key is due from then on. [`Stamp::FAR`] while steps may be added.
    pub fn end(&self) -> Stamp {
        self.at(self.load_end)
    }

    /// When the drain phase ends.
    pub fn drained(&self) -> Stamp {
        self.end() + Duration::from_nanos(self.drain)
    }

    /// The step whose load applies at an instant; the last one after the end.
    pub fn step_at(&self, at: Stamp) -> usize {
        let offset = at.since(self.start_at).as_nanos() as u64;
        self.steps.partition_point(|step| step.begin <= offset).saturating_sub(1)
    }

    /// When the load of a step ends.
    pub fn end_of_load(&self, step: usize) -> Stamp {
        self.steps.get(step + 1).map_or(self.end(), |next| self.at(next.begin))
    }

    /// The step whose measurement interval holds an instant.
    pub fn measured_at(&self, at: Stamp) -> Option<usize> {
        self.steps.iter().position(|step| self.at(step.settled) <= at && at < self.at(step.end))
    }

    /// The interval that begins at an offset, at which the one before it ended; `None` at the end of the run. Intervals are cut at
    /// whole seconds and at the bounds of phases. A remainder of less than half a second joins its neighbour. So a bound that
    /// becomes known two seconds ahead cuts the intervals of all threads alike.
    pub fn interval_from(&self, begin: u64) -> Option<Interval> {
        let after = |step: &StepTimes| step.end <= begin;
        let step = self.steps.partition_point(after);
        let (phase, to, step) = match self.steps.get(step) {
            Some(times) if begin < times.settled => (Phase::Settle, times.settled, step),
            Some(times) => (Phase::Measure, times.end, step),
            None if begin < self.load_end => (Phase::Settle, self.load_end, step),
            None => (Phase::Drain, self.load_end.saturating_add(self.drain), step.saturating_sub(1)),
        };
        let to = if phase == Phase::Drain { to } else { to.min(self.load_end) };
        (begin < to).then(|| {
            let end = cut(begin, to);
            Interval { begin, end, step, phase, ends_step: phase == Phase::Measure && end == to }
        })
    }

    /// All intervals of a run to which no step is added.
    pub fn intervals(&self) -> impl Iterator<Item = Interval> + '_ {
        std::iter::successors(self.interval_from(0), |before| self.interval_from(before.end))
    }
}

/// The end of an interval that begins at an offset, in a phase that ends at `to`.
fn cut(begin: u64, to: u64) -> u64 {
    let second = (begin / SECOND + 1) * SECOND;
    let next = if second - begin < SECOND / 2 { second + SECOND } else { second };
    if next.saturating_add(SECOND / 2) > to { to } else { next }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline() -> Timeline {
        let ms = 1_000_000;
        Timeline {
            start_at: Stamp::from_nanos(5),
            steps: vec![
                StepTimes { begin: 0, settled: 1_700 * ms, end: 4_000 * ms },
                StepTimes { begin: 4_000 * ms, settled: 4_000 * ms, end: 5_200 * ms },
            ],
            load_end: 5_200 * ms,
            drain: 300 * ms,
        }
    }

    #[test]
    fn intervals_cover_the_run_and_respect_its_phases() {
        let rows: Vec<_> = timeline()
            .intervals()
            .map(|i| (i.begin / 1_000_000, i.end / 1_000_000, i.step, i.phase, i.ends_step))
            .collect();
        assert_eq!(
            rows,
            [
                (0, 1000, 0, Phase::Settle, false),
                (1000, 1700, 0, Phase::Settle, false),
                (1700, 3000, 0, Phase::Measure, false),
                (3000, 4000, 0, Phase::Measure, true),
                (4000, 5200, 1, Phase::Measure, true),
                (5200, 5500, 1, Phase::Drain, false),
            ]
        );
    }

    #[test]
    fn a_bound_that_is_told_two_seconds_ahead_changes_no_interval_before_it() {
        let ms = 1_000_000;
        let open = Timeline {
            steps: vec![StepTimes { begin: 0, settled: 2_000 * ms, end: 4_000 * ms }],
            load_end: UNKNOWN,
            ..timeline()
        };
        let mut told = open.clone();
        told.steps.push(StepTimes { begin: 6_300 * ms, settled: UNKNOWN, end: UNKNOWN });
        told.steps[1] = StepTimes { begin: 6_300 * ms, settled: 8_300 * ms, end: 9_000 * ms };
        told.load_end = 11_200 * ms;
        let bounds = |timeline: &Timeline, count: usize| {
            let row = |i: Interval| (i.begin / ms, i.end / ms, i.step, i.phase, i.ends_step);
            timeline.intervals().take(count).map(row).collect::<Vec<_>>()
        };
        assert_eq!(bounds(&open, 6), bounds(&told, 6));
        assert_eq!(
            bounds(&told, 20)[4..],
            [
                (4000, 5000, 1, Phase::Settle, false),
                (5000, 6000, 1, Phase::Settle, false),
                (6000, 7000, 1, Phase::Settle, false),
                (7000, 8300, 1, Phase::Settle, false),
                (8300, 9000, 1, Phase::Measure, true),
                (9000, 10000, 2, Phase::Settle, false),
                (10000, 11200, 2, Phase::Settle, false),
                (11200, 11500, 1, Phase::Drain, false),
            ]
        );
    }

    #[test]
    fn the_load_of_a_step_lasts_until_the_next_begins() {
        let mut timeline = timeline();
        timeline.steps[1].begin = 4_500_000_000;
        assert_eq!(timeline.step_at(timeline.at(4_499_999_999)), 0);
        assert_eq!(timeline.end_of_load(0), timeline.at(4_500_000_000));
        assert_eq!(timeline.end_of_load(1), timeline.end());
    }

    #[test]
    fn steps_are_found_by_instant() {
        let timeline = timeline();
        assert_eq!(timeline.step_at(Stamp::ZERO), 0);
        assert_eq!(timeline.step_at(timeline.at(4_000_000_000)), 1);
        assert_eq!(timeline.step_at(Stamp::FAR), 1);
        let measured =
            [0, 1_699, 1_700, 3_999, 4_000, 5_199, 5_200].map(|ms| timeline.measured_at(timeline.at(ms * 1_000_000)));
        assert_eq!(measured, [None, None, Some(0), Some(0), Some(1), Some(1), None]);
    }
}
