//! Meters of a Linux host: CPU clocks say how much, samples say what kind.
//!
//! Nothing here drives anything, and nothing is printed: a [`MeterReport`] has the figures of an interval.
//!
//! - [`Subject`]: what is metered. [`Roots`]: where the kernel's files are.
//! - [`Meter`]: a subject that is read again and again; it makes one report from what the three tiers have.
//! - [`report`]: the figures of an interval and their schema. A [`Figure`] has its [`Tier`] or the reason why it is missing.
//!
//! The tiers; a tier uses the ones above it. All but the last are crates of their own:
//!
//! - [`plain`]: files and counters of the kernel.
//! - [`sampled`]: a timer's samples, scaled to exact CPU time.
//! - [`traced`]: programs in the kernel, with the cargo feature `exact`. Beside it [`path`]: the way of single keys through the host.

mod meter;
pub mod path;
pub mod traced;

pub use cuesta_meters_plain as plain;
pub use cuesta_meters_report as report;
pub use cuesta_meters_sampled as sampled;

pub use meter::{Meter, MeterSpec, NoMeter};
pub use plain::{CounterSnapshot, Delta, Incomparable, NoMetrics, Roots};
pub use report::{
    ByCause, CauseRow, Closure, Count, Counts, Cpu, Device, Figure, Idle, Interface, MeterReport, Network, NoSubject,
    OrEmpty, Own, Quantiles, Sampling, Source, Subject, Tier, TimeRow, Traffic,
};
