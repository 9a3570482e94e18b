//! Typists over a wire between two network namespaces: what a key costs the host's CPU.
//!
//! The host's CPU is all that runs on it, less what runs when nobody types: the server, its programs, agents, receiving. Its idle time is
//! traced.
//!
//! - `namespaces`: the two ends. `trip`: one load, and the figures of its window.
//! - `tmux`: loads through TMux beside plain ones; `agent`: an agent of TMux. `kernel_path`: the in-kernel path of the built-in host
//!   beside its user path.

mod agent;
mod kernel_path;
mod namespaces;
mod tmux;
mod trip;

pub(crate) use agent::{AgentJob, serve};
pub(crate) use namespaces::Side;

/// Measures the in-kernel path.
pub(crate) use kernel_path::measure as measure_kernel_path;
/// Measures TMux.
pub(crate) use tmux::measure as measure_tmux;
