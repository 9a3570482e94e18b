//! A person's terminal on a line: keys go to the host, its output is shown, and both are recorded.
//!
//! - [`Relay`]: the handle of a session, which runs on a thread of its own.
//!
//! Inside: `terminal` makes the person's own terminal raw and always restores it; `session` passes characters on; `escape_key`
//! holds back the key that ends the session; `cast_recorder` records the session as a cast. Nothing is written to a disk here.

mod cast_recorder;
mod escape_key;
mod relay;
mod session;
mod terminal;

pub use relay::{Relay, RelayConfig, RelayError};
