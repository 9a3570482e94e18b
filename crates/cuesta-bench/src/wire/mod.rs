//! Typists over a wire between two network namespaces: what a key costs the host's CPU.
//!
//! The cost is the busy time of the host's CPU, traced, less its background: the busy time that it had before the driver started. So it
//! contains the server, its programs, agents, and the kernel's receive processing.
//!
//! - `namespaces`: the two ends. `trip`: one load, and the figures of its window.
//! - `tmux`: loads through TMux beside plain ones; `agent`: an agent of TMux. `kernel_path`: the in-kernel path of the built-in host
//!   beside its user path.

mod agent;
mod kernel_path;
mod namespaces;
mod tmux;
mod trip;

pub(crate) use agent::serve;
pub(crate) use namespaces::Side;

pub(crate) use kernel_path::measure as measure_kernel_path;
pub(crate) use tmux::measure as measure_tmux;
