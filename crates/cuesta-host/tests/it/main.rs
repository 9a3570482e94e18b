//! The built-in host. (A test that takes all descriptors of its process is a file beside this folder.)

mod programs;
mod user;

mod exact;
mod hostile;
mod network;
mod pressure;
mod shell;
mod socket;
mod theory;
