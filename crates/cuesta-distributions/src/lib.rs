//! Distributions of durations: text in, seeded samples out.
//!
//! Think times, service times and the gaps between keys vary; a distribution describes how. This crate reads distributions
//! (`exp 5s`), writes them, samples them and computes their means. It opens no files (the caller passes a loader), reads no clock
//! and never sleeps.
//!
//! - [`Distribution`]: a distribution of durations, `fixed`, `exp`, `uniform`, `lognormal`, `loglogistic`, `empirical`.
//! - [`KeyDistribution`]: the shape of the gaps between keys, with a mean of one; the mean key gap scales it.
//! - [`SeededRng`]: the seeded random numbers of one user.
//! - [`duration`]: reads and writes durations (`200ms`, `15m`, `1h30m`) for all crates.

mod distribution;
pub mod duration;
mod key_distribution;
mod read;
mod seeded_rng;

pub use distribution::Distribution;
pub use key_distribution::KeyDistribution;
pub use read::DistributionError;
pub use seeded_rng::SeededRng;
