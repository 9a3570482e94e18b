//! CPU time by cause: MPL-17's split of 1969, today.
//!
//! **Exact clocks say how much, samples say what kind.** A timer samples each CPU 997 times a second; each sample has one
//! [`Cause`]; the shares multiply CPU time that the scheduler counted exactly. Four things that a timer cannot see are
//! accounted for: idle (never taken from samples), the ways out of calls (seen at the instruction behind the call),
//! the ways out of page faults (a constant measured at the start, times the counted faults), hard interrupts (said).
//!
//! - [`Sampler`]: starts, gives windows, says what it could not do. [`SampleWindow`]: the samples of an interval.
//! - [`CpuAccounting`]: all of it together, for a report.
//! - [`SampleTally`] × [`ExactCpu`] × [`Constants`] → [`CauseShares`]; `rows`: these as a report has them.
//! - [`interval`]: what so many samples can tell of a share.
//! - `kallsyms`, `symbol_classes`, `classify`: a kernel stack → a cause. Pure.
//! - `maps`, `syscall_return`: a user's address → what is there.
//! - `subject_filter`, `reader`: whether a sample is the subject's, and counting. `pace`: how often each CPU is sampled.
//! - `calibrate`, `pages`: the constants; `calibration_cache`: those of the last hour.

mod accounting;
mod calibrate;
mod calibration_cache;
mod causes;
mod classify;
mod interval;
mod kallsyms;
mod kind;
mod maps;
mod pace;
mod pages;
mod reader;
mod rows;
mod sampler;
mod share;
mod subject_filter;
mod symbol_classes;
mod syscall_return;
mod tally;

pub use accounting::CpuAccounting;
pub(crate) use accounting::Sampled;
pub use calibrate::{Constants, calibrate};
pub use causes::{CauseShares, Corrections, ExactCpu, Overhead};
pub use classify::{CallKind, CodeOwner, SampleClass, StackBase, UserCode, classify};
pub use interval::{bound, interval};
pub use kallsyms::{Function, Kallsyms};
pub use kind::Cause;
pub use maps::{FileOffset, Maps, Module, Modules, executable, is_linker};
pub use sampler::{NotSampled, SampleWindow, Sampler, SamplerOptions, Visibility};
pub use share::Share;
pub use symbol_classes::{SymbolClass, SymbolClasses, mark};
#[cfg(feature = "exact")]
pub(crate) use syscall_return::call_of;
pub use tally::SampleTally;
