//! The kernel's sampler (`perf_event_open`, CPU clock): records in order of time, not their meaning.
//!
//! - [`Event`]: its settings, the system call, and the memory that it fills. All unsafe code of this room is here.
//! - [`record`]: bytes of a ring → records. Pure.
//! - `rings`: one ring for each CPU; it follows CPUs that go on- and offline, and gives all records in order of time.
//! - [`allowed`]: what this process may sample, and how to allow more.

pub mod allowed;
mod event;
pub mod record;
mod rings;

pub use event::Event;
pub(crate) use event::{EventConfig, FREQUENCY, Ring, Scope};
pub(crate) use rings::{RingTarget, Rings};
