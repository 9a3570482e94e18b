//! The path of keys through the host, followed in the kernel: with the cargo feature `exact`.
//!
//! - [`Follower`]: the running programs; [`FollowSpec`]: which keys they follow. It gives rows of `paths.jsonl`.
//! - `path.bpf.c`: the programs, and what they share. `kernel.h`: what they know of the kernel. `spent.h`: what a task spends its time on.
//!   `connections.h`: which lines are followed. `keys.h`: who has a key, and by which visits. `reads.h`: for which lines a task writes.
//!   `contexts.h`: who is woken for a key. `segments.h`, `tasks.h`, `terminals.h`, `flows.h`, `echoes.h`: how keys come, are passed on
//!   and leave. `finished.h`: paths leave the kernel. `marks.h`: what spares most programs a look at tasks and terminals.
//! - `chain`: the bytes of a finished path → its hops. Pure.

use std::net::IpAddr;

#[cfg(not(feature = "exact"))]
mod absent;
#[cfg(feature = "exact")]
mod chain;
#[cfg(feature = "exact")]
mod follower;

#[cfg(not(feature = "exact"))]
pub use absent::Follower;
#[cfg(feature = "exact")]
pub use follower::Follower;
#[cfg(feature = "exact")]
pub(crate) use follower::PROGRAMS;

/// Which keys are followed: those of a driver's probe lines, which come from [`cuesta_record::FOLLOWED_PORTS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FollowSpec {
    /// Whether terminals of this machine are followed too whose masters are exclusive (`TIOCEXCL`).
    pub terminals: bool,
    /// The bastion that they come from instead, on connections of its own; it is traced, too.
    pub from: Option<IpAddr>,
    /// Whether every eighth key is left out, to tell what following costs.
    pub controls: bool,
}
