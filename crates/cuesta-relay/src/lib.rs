//! A person at a line: what is typed goes to the host, what comes is shown, and all of it is noted.
//!
//! - [`Relay`]: a handle on it; it runs on a thread of its own, and is looked at and stopped from outside.
//!
//! Inside: `terminal` is the person's own terminal, made raw and always put back; `session` passes characters on; `leave`
//! holds back the key that ends it; `notes` is what is kept, as a cast. Nothing is written to a disk here.

mod leave;
mod notes;
mod relay;
mod session;
mod terminal;
mod watch;

pub use relay::{Relay, RelayError, Wanted};
