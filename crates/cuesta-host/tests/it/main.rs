//! The built-in host. (A test that takes all descriptors of its process is a file beside this folder.)

mod programs;
mod user;

mod exact;
mod form;
mod hostile;
#[cfg(feature = "kernel-path")]
mod kernel_path;
mod network;
mod pressure;
mod shell;
mod socket;
mod theory;
