//! A distribution of durations.

use serde::{Deserialize, Serialize};

/// How long something took that came often; seconds. Percentiles and the largest are known within 6 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// How often it came.
    pub count: u64,
    /// All of it together, exactly.
    pub sum: f64,
    /// Half took at most this.
    pub p50: f64,
    /// Nine in ten.
    pub p90: f64,
    /// Ninety-nine in a hundred.
    pub p99: f64,
    /// The longest.
    pub max: f64,
}
