//! The tracers beside what the kernel counts itself and what programs know. Needs root, and a kernel that describes its types.
//!
//! - `program`: a program that does what it is told; `running`: it ends with its test. `counts`: to the unit. `time`: whose, into what; the account closes.
//! - `distributions`: how long tasks were off their CPUs. `whose`: subjects of other kinds. `idle`: why the subject did not run. `nobody`: without privileges.
//! - `relocatable`: what is loaded fits any kernel.

#![allow(clippy::unwrap_used)] // What breaks here breaks the test.

mod counts;
mod distributions;
mod idle;
mod nobody;
mod program;
mod relocatable;
#[path = "../running/mod.rs"]
mod running;
mod time;
mod whose;
