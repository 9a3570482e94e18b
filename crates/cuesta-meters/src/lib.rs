//! Meters of a Linux host: CPU clocks say how much, samples say what kind.
//!
//! Nothing here drives anything, and nothing is printed: a [`MeterReport`] has the figures of an interval.
//!
//! - [`Subject`]: what is metered. [`Roots`]: where the kernel's files are.
//! - [`Meter`]: a subject that is read again and again; it makes one report from what the three tiers have.
//! - [`report`]: the figures of an interval and their schema. A [`Figure`] has its [`Tier`] or the reason why it is missing.
//!
//! The tiers, each a room; a tier uses the ones above it and none below:
//!
//! - [`plain`]: files and counters of the kernel.
//! - [`sampled`]: a timer's samples, scaled to exact CPU time.
//! - [`traced`]: programs in the kernel, with the cargo feature `exact`.

mod meter;
pub mod plain;
pub mod report;
mod roots;
pub mod sampled;
mod subject;
pub mod traced;

pub use meter::{Meter, MeterSpec, NoMeter};
pub use plain::{CounterSnapshot, Delta, Incomparable, NoMetrics};
pub use report::{
    ByCause, CauseRow, Closure, Count, Counts, Cpu, Device, Figure, Idle, Interface, MeterReport, Network, OrEmpty,
    Own, Quantiles, Sampling, Source, Tier, TimeRow, Traffic,
};
pub use roots::Roots;
pub use subject::{NoSubject, Subject};
