//! Framings: pure state machines, bytes in, bytes out. No socket, no clock; both roles in one file.

pub mod telnet;
