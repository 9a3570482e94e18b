//! Framings: pure state machines, bytes in, bytes out. No socket, no clock; both roles in one file.

pub mod bisync;
mod options;
pub mod telnet;
pub mod tn3270;
