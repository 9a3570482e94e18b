//! The result of a driver for its measurement window.

use serde::{Deserialize, Serialize};

use crate::job::Job;
use crate::usage::Used;

/// The figures of the window. Times in seconds.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// Keys of typists, transactions of closed users.
    pub(crate) operations: u64,
    /// CPU time of the process.
    pub(crate) cpu: f64,
    /// Lateness of the keys: p50 and p99.
    pub(crate) lateness: [f64; 2],
    /// Echo time since due: p50 and p99.
    pub(crate) echo: [f64; 2],
    /// What the driver itself adds to an echo, by the kernel's stamps: p50 and p99. The limit has none.
    pub(crate) own: [f64; 2],
    /// CPU time of the process from the first line until the window opened.
    pub(crate) opening: f64,
    /// Growth of the process since before the first user, per user; bytes.
    pub(crate) memory: f64,
    /// Run-queue delay of the driving thread, as a share of the window.
    pub(crate) run_wait: f64,
    /// Operations that failed, were skipped or unechoed, and users without a line.
    pub(crate) errors: u64,
}

impl Outcome {
    /// What a process and its thread used from the opening of the window to its close, and by how many bytes it had grown.
    pub(crate) fn of_window(job: &Job, opened: Used, closed: Used, grown: u64) -> Self {
        Self {
            cpu: closed.cpu - opened.cpu,
            run_wait: (closed.run_wait - opened.run_wait) / job.measure.as_secs_f64(),
            memory: grown as f64 / f64::from(job.own_users()),
            ..Self::default()
        }
    }

    /// CPU time per operation, in seconds.
    pub(crate) fn cost(&self) -> f64 {
        self.cpu / self.operations as f64
    }
}
