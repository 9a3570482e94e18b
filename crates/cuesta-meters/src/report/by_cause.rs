//! CPU time by cause: of samples (`cause/`), of what was traced (`exact/causes.rs`), or of both.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Figure;
use super::network::unsampled;

/// CPU time of the interval, split by what it went into.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ByCause {
    /// Each cause by its name.
    pub causes: BTreeMap<String, Cause>,
    /// Causes that sampling would have seen and that no sample met: each had at most `bound`.
    #[serde(default)]
    pub unmet: Vec<String>,
    /// The upper end of the 95 % interval of a cause that no sample met; percent of the subject's CPUs.
    #[serde(default = "unsampled")]
    pub bound: Figure,
    /// Share of samples that no class was found for; percent.
    pub unclassified: f64,
    /// What else there is to say: samples taken and lost, constants, the sampler's own cost.
    pub about: BTreeMap<String, Figure>,
}

/// One cause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// Percent of the subject's CPUs.
    pub percent: Figure,
    /// One standard error of `percent`, by what so many samples can tell; likewise of the subject's CPUs.
    #[serde(default = "unsampled")]
    pub standard_error: Figure,
    /// What of it is because the constants of the calibration are not better known: it is the same in every interval.
    #[serde(default = "unsampled")]
    pub calibration_error: Figure,
    /// The 95 % interval of `percent`.
    #[serde(default = "unsampled")]
    pub interval: Figure<[f64; 2]>,
    /// Samples that met it.
    #[serde(default = "unsampled")]
    pub samples: Figure,
    /// CPU seconds.
    pub seconds: Figure,
    /// How many: faults, calls, interrupts.
    pub count: Figure,
    /// Seconds each.
    pub average: Figure,
}

impl Cause {
    /// Makes another share of it, errors included: the rest of the CPU time is somebody else's.
    #[cfg(feature = "exact")]
    pub(crate) fn scale(&mut self, by: f64) {
        let own = [&mut self.percent, &mut self.standard_error, &mut self.calibration_error];
        for figure in own.into_iter().chain([&mut self.seconds, &mut self.average]) {
            *figure = figure.map(|value| value * by);
        }
        self.interval = self.interval.map(|limits| limits.map(|limit| limit * by));
    }

    /// A cause that was not sampled: nothing of it is left to chance.
    #[cfg(feature = "exact")]
    pub(crate) fn traced(percent: Figure, seconds: Figure, count: Figure, average: Figure) -> Self {
        let (standard_error, calibration_error, samples) = (unsampled(), unsampled(), unsampled());
        Self { percent, standard_error, calibration_error, interval: unsampled(), samples, seconds, count, average }
    }
}
