//! The built-in host. Each test has a process of its own (nextest), so tests may measure their process or take its descriptors.

mod programs;
mod user;

mod descriptors;
mod exact;
mod form;
mod hostile;
mod idle_lines;
#[cfg(feature = "kernel-path")]
mod kernel_path;
mod network;
mod pressure;
mod shell;
mod socket;
