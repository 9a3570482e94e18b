//! A person at a line: what is typed goes to the host, what comes is shown, and all of it is noted.
//!
//! - [`Relay`]: a handle on it; it runs on a thread of its own, and is looked at and stopped from outside.
//!
//! Inside: `terminal` is the person's own terminal, made raw and always put back; `session` passes characters on; `escape_key`
//! holds back the key that ends it; `cast_recorder` writes the session down, as a cast. Nothing is written to a disk here.

mod cast_recorder;
mod escape_key;
mod relay;
mod session;
mod terminal;
mod watch;

pub use relay::{Relay, RelayConfig, RelayError};
