//! Distributions of durations: text in, seeded samples out.
//!
//! A distribution says how long something takes when it does not always take the same time: think time, service time, the gap
//! between two keys. This crate reads distributions (`exp 5s`), shows them again, samples them and knows their means. It opens
//! no files (a caller's loader does), reads no clock and sleeps nowhere.
//!
//! - [`Distribution`]: a distribution of durations, `fixed`, `exp`, `uniform`, `lognormal`, `loglogistic`, `empirical`.
//! - [`KeyDistribution`]: the shape of the gaps between keys, with a mean of one; the key gap scales it.
//! - [`SeededRng`]: the seeded numbers that one user draws from.
//! - [`duration`]: `200ms`, `15m`, `1h30m`: the one place that reads and shows durations.

mod distribution;
pub mod duration;
mod error;
mod key_distribution;
mod mean;
mod read;
mod seeded_rng;
mod words;

pub use distribution::Distribution;
pub use error::DistributionError;
pub use key_distribution::KeyDistribution;
pub use seeded_rng::SeededRng;
