//! Lines of every kind. Each test has a process of its own (nextest), so tests may count what their process has open.

mod real;

mod bisync;
mod doubles;
mod kernel_stamps;
mod nothing_left;
mod pipe;
mod pty;
mod serial;
mod speed;
mod ssh;
mod tcp;
mod tls;
mod web;
