//! The share of one cause: its size, its error and its interval. Pure.

use super::interval::{DEVIATIONS, interval};
use super::kind::Cause;
use super::sampler::Visibility;
use super::tally::SampleTally;

/// One cause.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// CPU time: seconds.
    pub seconds: f64,
    /// Of the subject's CPU time.
    pub percent: f64,
    /// One standard error of `percent`, from the numbers of samples here and at the calibration.
    pub error: f64,
    /// What of it is because the constants are not better known: the same in every interval, so that no sum evens it out.
    pub calibration: f64,
    /// The 95 % interval of `percent`.
    pub interval: [f64; 2],
    /// Samples, before corrections.
    pub samples: u64,
}

/// What the samples tell of the shares.
pub(super) struct ShareEstimator<'a> {
    tally: &'a SampleTally,
    /// How many samples of the subject's CPU time were taken.
    samples: f64,
    /// CPU time: seconds.
    cpu: f64,
    /// What a sampled nanosecond stands for: seconds.
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

    /// A cause of so many seconds, of which `unsure` is one standard deviation of what was moved.
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

/// How many samples of the subject's CPU time were taken, those included that the kernel dropped.
pub(super) fn samples_taken(tally: &SampleTally, visibility: Visibility, cpu: f64) -> f64 {
    match visibility {
        Visibility::UserOnly if tally.period() > 0.0 => (cpu / (tally.period() * 1e-9)).max(tally.busy() as f64),
        _ => tally.effective(),
    }
}
