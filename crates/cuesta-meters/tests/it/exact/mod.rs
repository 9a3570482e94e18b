//! Compares the tracers with the kernel's own counts and with programs' own figures. Needs root and a kernel with BTF.
//!
//! - `program`: a program that runs commands.
//! - `counts`: counts agree exactly. `time`: owner and causes of CPU time; the account closes. `distributions`: times off the CPU
//!   and in run queues. `idle`: why the subject did not run.
//! - `subjects`: drivers, control groups and CPUs as subjects. `unprivileged`: tracing without privileges.
//! - `relocatable`: the compiled tracers fit any kernel.

#![allow(clippy::unwrap_used)] // A failed unwrap fails the test.

mod counts;
mod distributions;
mod idle;
mod program;
mod relocatable;
mod subjects;
mod time;
mod unprivileged;
