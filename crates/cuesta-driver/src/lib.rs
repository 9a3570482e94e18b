//! Virtual users on lines, on time.
//!
//! The driver plays scripts as people would: each user types at its rate, waits for the host by a stated rule, thinks.
//! It measures and writes down; it derives nothing and knows nothing of plans or reports.
//!
//! From the outside in; each imports only from those below it:
//! - [`Run`]: threads of users, and a handle on them; [`simulate`]: the same in virtual time; [`simulate_host`]: in virtual time,
//!   at a host that is a model, without a run folder.
//! - `worker`: runs one thread's users and hands each interval's counts to the recorder.
//! - `user`: one user, straight-line code that plays a [`cuesta_tape::Program`].
//! - `session`: the line that a user sits at, from its opening to its end.
//! - `thread_state`: what the users of a thread share; `user_state`: what is known of each of them.
//! - `cast_writer`: one user's session as a cast; `cast_frames`: a cast as screens over time; `connect`: how users get their lines.
//! - `group`: users of one kind, with their programs and the series that they count in; `opening`: what opening a line took.
//! - `priority`: a driving thread beside programs that fill its CPUs.
//! - `schedule`: which load applies when; `pacing`: when the next input is due; `barrier`: where users wait for one another;
//!   `progress`: whether simulated users take time.
//! - `watch`: whose screens people look at while the run goes on.
//! - `terminal`: a user's keyboard and display, drawn after the line is read; `echoes`: which output echoes which key;
//!   `response`: whether the response is complete; `readiness`: whether the program takes keys; `text`: the received text as rows. Pure.
//! - [`find_mismatch`]: why a program cannot be played at a target.
//! - [`RunSpec`]: what a run is asked to do; `error`: why it cannot; `self_meter`: the driver measures itself.
//! - `messages`: what an agent, which is a process around a [`Run`], and the engine tell each other.

mod barrier;
mod cast_frames;
mod cast_writer;
mod connect;
mod echoes;
mod error;
mod followed_keys;
mod group;
mod messages;
mod opening;
mod pacing;
mod priority;
mod progress;
mod readiness;
mod response;
mod run;
mod schedule;
mod secret_columns;
mod self_meter;
mod session;
mod shown;
mod simulation;
mod spec;
mod terminal;
mod text;
mod thread_state;
mod user;
mod user_state;
mod watch;
mod worker;

pub use barrier::{BarrierRelease, BarrierStatus};
pub use cast_frames::CastFrames;
pub use connect::{Connect, prepare};
pub use error::RunError;
pub use messages::{AgentMessage, EngineMessage};
pub use run::{Run, simulate};
pub use schedule::Announcement;
pub use simulation::{Batch, Simulation, simulate_host};
pub use spec::{ArrivalKind, GroupSpec, Load, LoadKind, RunSpec, Scripts, StepSpec};
pub use terminal::find_mismatch;
pub use watch::{UserScreen, WatchOrder};
