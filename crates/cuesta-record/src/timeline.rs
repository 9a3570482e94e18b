//! When each part of a run begins and ends. Every thread, agent and reader computes the same timeline.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Stamp;

/// The steps of a run, as offsets from its start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    /// The instant zero.
    pub start_at: Stamp,
    /// Load steps, one after another; each begins where the one before it ends.
    pub steps: Vec<StepTimes>,
    /// Longest wait for pending answers after the last step, in ns.
    pub drain: u64,
}

/// The instants of one load step, in ns from the start of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepTimes {
    /// Users begin to be added.
    pub begin: u64,
    /// The measurement interval begins.
    pub settled: u64,
    /// The measurement interval, and the step, end.
    pub end: u64,
}

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

/// One interval of the time series: a second, or less at the bound of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    /// Begin, in ns from the start of the run.
    pub begin: u64,
    /// End, in ns from the start of the run.
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

    /// When the last step ends: no key is due from then on.
    pub fn end(&self) -> Stamp {
        self.at(self.steps.last().map_or(0, |step| step.end))
    }

    /// When the drain phase ends.
    pub fn drained(&self) -> Stamp {
        self.end() + Duration::from_nanos(self.drain)
    }

    /// The step at an instant; the last one after its end.
    pub fn step_at(&self, at: Stamp) -> usize {
        let offset = at.since(self.start_at).as_nanos() as u64;
        self.steps.iter().position(|step| offset < step.end).unwrap_or(self.steps.len().saturating_sub(1))
    }

    /// The step whose measurement interval holds an instant.
    pub fn measured_at(&self, at: Stamp) -> Option<usize> {
        self.steps.iter().position(|step| self.at(step.settled) <= at && at < self.at(step.end))
    }

    /// The intervals of the run: one a second, cut at the bounds of phases as well.
    pub fn intervals(&self) -> impl Iterator<Item = Interval> + '_ {
        let last = self.steps.len().saturating_sub(1);
        let end = self.steps.last().map_or(0, |step| step.end);
        let phases = self.steps.iter().enumerate().flat_map(|(step, times)| {
            [
                (step, Phase::Settle, times.begin, times.settled, false),
                (step, Phase::Measure, times.settled, times.end, true),
            ]
        });
        phases.chain([(last, Phase::Drain, end, end + self.drain, false)]).flat_map(
            |(step, phase, from, to, ends_step)| {
                seconds(from, to).map(move |(begin, end)| Interval {
                    begin,
                    end,
                    step,
                    phase,
                    ends_step: ends_step && end == to,
                })
            },
        )
    }
}

/// The range cut at whole seconds; a remainder of less than half a second joins its neighbour.
fn seconds(from: u64, to: u64) -> impl Iterator<Item = (u64, u64)> {
    let mut begin = from;
    std::iter::from_fn(move || {
        if begin >= to {
            return None;
        }
        let next = (begin / SECOND + 1) * SECOND;
        let next = if next - begin < SECOND / 2 { next + SECOND } else { next };
        let end = if next + SECOND / 2 > to { to } else { next };
        let interval = (begin, end);
        begin = end;
        Some(interval)
    })
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
