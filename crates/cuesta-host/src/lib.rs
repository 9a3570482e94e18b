//! The front-end terminal server: the built-in host under test.
//!
//! It serves many terminal lines from a thread per core, as the front ends of 1979 did: it collects input, echoes,
//! hands messages to a service, holds output in a bounded pool until the line takes it, and meters all of this itself.
//! Its capacity is known: a distribution of service times, a number of servers, an exact delay and a stall window are settings,
//! so that a driver's measurements can be checked against theory. It runs no users and reads no tapes.
//!
//! - [`Spec`]: the host's specification, as JSON.
//! - [`Host`]: the server on threads of its own, until it is stopped.
//! - [`FrontEnd`] and [`serve`]: one line on the current thread, for tests that join a driver and a host in virtual time.
//! - `terminal`: a line with its line discipline, its echo and its waiting output; services use it.
//! - `services`: `bsc_loop`, echo, form, output, shell, socket, transaction; one file each, all of one shape.
//! - `kernel_path`: characters between a line and its program within the kernel.
//! - `meters`: cheap counters, and [`HostSeriesRow`], the figures made from them.

mod error;
mod front_end;
mod host;
mod input;
mod kernel_path;
mod meters;
mod output;
mod pool;
mod servers;
mod services;
mod settings;
mod spec;
mod terminal;

pub use error::HostError;
pub use front_end::FrontEnd;
pub use host::Host;
pub use meters::row::HostSeriesRow;
pub use services::serve;
pub use spec::{InputMode, OutputStart, Path, Service, Spec, Stall};
