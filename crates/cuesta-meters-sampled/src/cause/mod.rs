//! CPU time by cause: MPL-17's split of 1969, on Linux.
//!
//! **CPU clocks give the amount, samples give the kind.** A timer samples each CPU 997 times a second; each sample has one
//! [`Cause`]; the shares multiply CPU time that the scheduler counted exactly. A timer cannot see four things. Idle never comes
//! from samples. Returns from system calls show at the instruction after the call. Returns from page faults are a constant,
//! measured at the start, times the counted faults. The timer sees only a part of hard interrupts, and the report says so.
//!
//! - [`Sampler`]: a running sampler and its limits.
//! - [`CpuAccounting`]: all parts together, for a report.
//! - [`SampleTally`]: the samples of a subject; [`SampleWindow`]: those of an interval.
//! - [`SampleTally`] × [`ClockedCpu`] × [`Constants`] → [`CauseShares`], each a [`Share`] with its confidence [`interval()`] → the
//!   rows of a report.
//! - `kallsyms`, `symbol_classes`, `classify`: a kernel stack → a cause. Pure.
//! - `maps`, `syscall_return`: a user's address → its file, and whether a system call returns there.
//! - `reader`: chooses and counts the subject's samples. `pace`: the rate of each CPU.
//! - `calibrate`, `pages`: the constants.

mod accounting;
mod calibrate;
mod causes;
mod classify;
mod kallsyms;
mod maps;
mod pace;
mod pages;
mod reader;
mod sampler;
mod share;
mod symbol_classes;
mod syscall_return;
mod tally;

pub use accounting::{CpuAccounting, SampledFigures};
pub use calibrate::{Constants, calibrate};
pub use causes::{Cause, CauseShares, ClockedCpu};
pub use classify::{CallKind, CodeOwner, SampleClass, StackBase, SymbolClass, UserCode, classify};
pub use kallsyms::{Function, Kallsyms};
pub use maps::{FileOffset, Maps, Module, Modules, executable, is_linker};
pub use sampler::{NotSampled, Sampler, SamplerOptions};
pub use share::{Share, bound, interval};
pub use symbol_classes::class_of;
pub use syscall_return::call_of;
pub use tally::{SampleTally, SampleWindow, Visibility};
