//! CPU time by cause: MPL-17's split of 1969, today.
//!
//! **Exact clocks say how much, samples say what kind.** A sampler looks at each CPU 997 times a second; each look is given
//! to one [`Cause`]; the shares multiply CPU time that the scheduler counted exactly. Four things a timer cannot see are
//! known and dealt with: idle (never taken from samples), the ways out of calls (seen at the instruction behind the call),
//! the ways out of page faults (a constant measured at the start, times the counted faults), hard interrupts (said).
//!
//! - [`Sampler`]: starts, is cut at intervals, says what it could not do. [`Cut`]: what came of an interval.
//! - [`Split`]: all of it together, for a report.
//! - [`Tally`] × [`Exact`] × [`Constants`] → [`Causes`]; `rows`: these as a report has them.
//! - [`interval`]: what so many samples can tell of a share.
//! - `kallsyms`, `marks`, `classify`: a kernel stack → a cause. Pure.
//! - `maps`, `crossing`: a user's address → what is there.
//! - `watch`, `reader`: whose sample; counting. `pace`: how often each CPU is sampled.
//! - `calibrate`, `pages`: the constants.

mod calibrate;
mod causes;
mod classify;
mod crossing;
mod interval;
mod kallsyms;
mod kind;
mod maps;
mod marks;
mod pace;
mod pages;
mod reader;
mod rows;
mod sampler;
mod split;
mod tally;
mod watch;

pub use calibrate::{Constants, calibrate};
pub use causes::{Causes, Corrections, Exact, Overhead, Share};
pub use classify::{Call, Ground, Place, Verdict, Whose, classify};
#[cfg(feature = "exact")]
pub(crate) use crossing::call_of;
pub use interval::{bound, interval};
pub use kallsyms::{Function, Kallsyms};
pub use kind::Cause;
pub use maps::{Maps, Module, Modules, Spot, executable, is_linker};
pub use marks::{Mark, Marks, mark};
pub use sampler::{Cut, NotSampled, Options, Sampler, Sight};
pub use split::Split;
pub use tally::Tally;
