//! The kernel's sampler (`perf_event_open`, CPU clock): records in order of time, not their meaning.
//!
//! - `event_config`: the settings of an event.
//! - `event`, `ring`: the system call and the memory that it fills. All unsafe code of this room is here.
//! - [`record`]: bytes of a ring → records. Pure.
//! - `merge`: records of several rings in the order of their instants. Pure.
//! - `rings`: one ring for each CPU; it follows CPUs that go on- and offline.
//! - [`allowed`]: what this process may sample, and how to allow more.

pub mod allowed;
mod event;
mod event_config;
mod merge;
pub mod record;
mod ring;
mod rings;

pub(crate) use event::Event;
pub(crate) use event_config::{EventConfig, FREQUENCY, Scope};
pub(crate) use merge::Merge;
pub(crate) use ring::Ring;
pub(crate) use rings::{RingTarget, Rings};
