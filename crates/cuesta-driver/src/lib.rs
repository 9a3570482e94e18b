//! Virtual users on lines, on time.
//!
//! The driver plays scripts as people would: each user types at its rate, waits for the host by a stated rule, thinks.
//! It measures and writes down; it derives nothing and knows nothing of plans or reports.
//!
//! From the outside in:
//! - [`Run`]: threads of users, and a handle on them; [`simulate`]: the same in virtual time.
//! - [`Spec`]: what a run is asked to do.
//! - `shift`: one thread's work; `crew`: its users and what they share; `group`: users of one kind.
//! - `user`: one user, straight-line code; `terminal`: the line it sits at.
//! - `program`: a script made ready for playing; `pacing`: when the next input is due; `barrier`: where users meet.
//! - `connect`: how users come by their lines; `opening`: what opening one took.
//! - `echo`, `answer`, `text`: what has come, and what it means; `view`: what a user sees of it. Pure.
//! - `film`: one user's session as a cast, to be watched.
//! - `self_meter`, `memory`: the driver watches itself.

mod answer;
mod barrier;
mod connect;
mod crew;
mod echo;
mod film;
mod group;
mod memory;
mod opening;
mod pacing;
mod program;
mod run;
mod self_meter;
mod shift;
mod spec;
mod terminal;
mod text;
mod user;
mod view;

pub use barrier::{Release, Standing};
pub use connect::{Connect, Refused, prepare};
pub use program::ProgramError;
pub use run::{Run, RunError, Scripts, simulate};
pub use spec::{Arrivals, GroupSpec, Load, LoadKind, Spec, StepSpec};
