//! Lines of all kinds but ssh. (Tests that need a process of their own are files beside this folder.)

#[path = "../real/mod.rs"]
mod real;

mod bisync;
mod doubles;
mod kernel_stamps;
mod pipe;
mod pty;
mod serial;
mod speed;
mod tcp;
mod telnet_framing;
