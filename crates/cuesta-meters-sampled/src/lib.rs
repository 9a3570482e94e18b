//! The sampled tier of the meters: a timer on each CPU finds the kind of work; CPU clocks give its amount.
//!
//! - [`perf`]: `perf_event_open(2)` and its rings.
//! - [`cause`]: CPU time by cause.
//! - [`profile`]: CPU time by location in programs and the kernel.

pub mod cause;
pub mod perf;
pub mod profile;
