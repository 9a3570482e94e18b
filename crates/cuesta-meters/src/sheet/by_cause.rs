//! CPU time by cause: of samples (`cause/`), of what was traced (`exact/causes.rs`), or of both.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Figure;

/// CPU time of the interval, split by what it went into.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ByCause {
    /// Each cause by its name.
    pub causes: BTreeMap<String, Cause>,
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
    /// CPU seconds.
    pub seconds: Figure,
    /// How many: faults, calls, interrupts.
    pub count: Figure,
    /// Seconds each.
    pub average: Figure,
}
