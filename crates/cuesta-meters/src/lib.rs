//! Meters of a Linux host: exact clocks say how much, samples say what kind.
//!
//! Nothing here drives anything, and nothing is printed: a [`Sheet`] is what came of an interval.
//!
//! - [`Subject`]: what is metered.
//! - [`kernel`]: the kernel's interfaces, one file each: text in, numbers out.
//! - [`Sheet`]: everything that is printed of an interval; a [`Figure`] has its [`Tier`] or says why it is missing.

pub mod kernel;
mod sheet;
mod subject;

pub use sheet::{
    ByCause, Cause, Closure, Count, Counts, Cpu, Device, Figure, Idle, Own, Sheet, Tier, TimeRow, Traffic,
};
pub use subject::{NoSubject, Subject};
