//! Framings: pure state machines, bytes in, bytes out. No socket, no clock; both roles in one file.

pub mod bisync;
pub(crate) mod exchange;
mod options;
pub mod telnet;
pub mod tn3270;
