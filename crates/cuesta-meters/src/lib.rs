//! Meters of a Linux host: exact clocks say how much, samples say what kind.
//!
//! Nothing here drives anything, and nothing is printed: a [`MeterReport`] is what came of an interval.
//!
//! - [`Subject`]: what is metered. [`Roots`]: where the kernel's files are.
//! - [`kernel`]: the kernel's interfaces, one file each: text in, numbers out.
//! - [`CounterSnapshot`]: its counters at an instant; [`Delta`]: what two snapshots differ by.
//! - [`Meter`]: a subject that is read again and again.
//! - [`perf`]: the kernel's sampler. [`cause`]: CPU time by cause, sampled. [`profile`]: by location.
//! - [`exact`]: what only tracers in the kernel tell.
//! - [`MeterReport`]: everything that is printed of an interval; a [`Figure`] has its [`Tier`] or says why it is missing.

pub mod cause;
mod delta;
pub mod exact;
pub mod kernel;
mod meter;
mod node_exporter;
pub mod perf;
pub mod profile;
mod report;
mod roots;
mod snapshot;
mod subject;
mod task_exits;

pub use delta::{Delta, Incomparable};
pub use meter::{Meter, MeterSpec, NoMeter};
pub use node_exporter::NoMetrics;
pub use report::{
    ByCause, Cause, Closure, Count, Counts, Cpu, Device, Distribution, Figure, Idle, MeterReport, Network, Own, Source,
    Tier, TimeRow, Traffic,
};
pub use roots::Roots;
pub use snapshot::CounterSnapshot;
pub use subject::{NoSubject, Subject};
