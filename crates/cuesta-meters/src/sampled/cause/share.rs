//! The share of one cause: its size, its error and its interval. Pure.

use super::interval::{DEVIATIONS, interval};
use super::kind::Cause;
use super::sampler::Visibility;
use super::tally::SampleTally;

/// CPU time of one cause.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// CPU time: seconds.
    pub seconds: f64,
    /// Percent of the subject's CPU time.
    pub percent: f64,
    /// One standard error of `percent`, from the number of samples and the error of the constants.
    pub error: f64,
    /// The part of `error` that comes from the constants. It is the same in every interval, so longer runs do not reduce it.
    pub calibration: f64,
    /// The 95 % interval of `percent`.
    pub interval: [f64; 2],
    /// Samples, before corrections.
    pub samples: u64,
}

/// Estimates shares from a tally.
pub(super) struct ShareEstimator<'a> {
    tally: &'a SampleTally,
    /// Samples of the subject's CPU time.
    samples: f64,
    /// CPU time: seconds.
    cpu: f64,
    /// Seconds that a sampled nanosecond stands for.
    each: f64,
}

impl<'a> ShareEstimator<'a> {
    pub(super) fn new(tally: &'a SampleTally, visibility: Visibility, cpu: f64) -> Self {
        let busy = tally.busy_time();
        let each = if visibility == Visibility::UserOnly { 1e-9 } else { cpu / busy.max(1.0) };
        Self { tally, samples: samples_taken(tally, visibility, cpu), cpu, each }
    }

    fn part(&self, seconds: f64) -> f64 {
        if self.cpu > 0.0 { (seconds / self.cpu).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// The share of a cause with so many seconds; `unsure` is one standard deviation of the moved time.
    pub(super) fn share(&self, cause: Cause, seconds: f64, unsure: f64) -> Share {
        let (samples, part, calibration) = (self.tally.of(cause), self.part(seconds), self.part(unsure));
        let met = if cause == Cause::Kernel { part } else { self.part(self.tally.time_of(cause) as f64 * self.each) };
        let chance = (met * (1.0 - met) / self.samples.max(1.0)).sqrt();
        let moved = DEVIATIONS * calibration;
        let [lower, upper] = interval(met, self.samples).map(|limit| limit - met);
        let limits = [part - lower.hypot(moved), part + upper.hypot(moved)];
        Share {
            seconds,
            percent: 100.0 * part,
            error: 100.0 * chance.hypot(calibration),
            calibration: 100.0 * calibration,
            interval: limits.map(|limit| 100.0 * limit.clamp(0.0, 1.0)),
            samples,
        }
    }
}

/// Number of samples of the subject's CPU time, including those that the kernel dropped.
pub(super) fn samples_taken(tally: &SampleTally, visibility: Visibility, cpu: f64) -> f64 {
    match visibility {
        Visibility::UserOnly if tally.period() > 0.0 => (cpu / (tally.period() * 1e-9)).max(tally.busy() as f64),
        _ => tally.effective(),
    }
}
