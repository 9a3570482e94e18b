//! The kernel's own sampler: `perf_event_open`, CPU clock. What was sampled, in order of time; nothing of what it means.
//!
//! - `event_config`: what is asked of the kernel, on which CPUs and tasks.
//! - `event`, `ring`: the system call and the memory that it fills; all that is unsafe here.
//! - [`record`]: bytes of a ring → records. Pure.
//! - `merge`: records of several rings in the order of their instants. Pure.
//! - `rings`: one ring for each CPU, also when CPUs come and go.
//! - [`allowed`]: what we may sample, and how more is allowed.

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
