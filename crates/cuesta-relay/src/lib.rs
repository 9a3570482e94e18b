//! A person's terminal on a line: keys go to the host, its output is shown, and both are recorded.
//!
//! - [`Relay`]: the handle of a session, which runs on a thread of its own.
//!
//! Inside: `terminal` is the person's own terminal, made raw and always put back; `session` passes characters on; `escape_key`
//! holds back the key that ends it; `cast_recorder` writes the session down, as a cast. Nothing is written to a disk here.

mod cast_recorder;
mod escape_key;
mod relay;
mod session;
mod terminal;

pub use relay::{Relay, RelayConfig, RelayError};
