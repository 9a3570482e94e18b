//! Virtual users on lines, on time.
//!
//! The driver plays scripts as people would: each user types at its rate, waits for the host by a stated rule, thinks.
//! It measures and writes down; it derives nothing and knows nothing of plans or reports.
//!
//! From the outside in:
//! - [`Run`]: threads of users, and a handle on them; [`simulate`]: the same in virtual time.
//! - [`RunSpec`]: what a run is asked to do.
//! - `worker`: one thread's work; `thread_state`: its users and what they share; `group`: users of one kind.
//! - `user`: one user, straight-line code; `terminal`: the line it sits at.
//! - `program`: a script made ready for playing; `pacing`: when the next input is due; `barrier`: where users meet.
//! - `connect`: how users come by their lines; `opening`: what opening one took.
//! - `echo`, `answer`, `text`: what has come, and what it means; `view`: what a user sees of it. Pure.
//! - `cast`: one user's session as a cast, to be watched.
//! - `self_meter`, `memory`: the driver watches itself.

mod barrier;
mod cast_writer;
mod connect;
mod echo_matcher;
mod group;
mod memory;
mod opening;
mod pacing;
mod pending_screen;
mod program;
mod response;
mod run;
mod self_meter;
mod session;
mod spec;
mod text;
mod thread_state;
mod user;
mod worker;

pub use barrier::{BarrierRelease, BarrierStatus};
pub use connect::{Connect, ConnectError, prepare};
pub use program::ProgramError;
pub use run::{Run, RunError, Scripts, simulate};
pub use spec::{ArrivalKind, GroupSpec, Load, LoadKind, RunSpec, StepSpec};
