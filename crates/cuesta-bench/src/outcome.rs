//! The result of a driver for its measurement window.

use std::fs;
use std::io::{self, Write};

use cuesta_record::clock;
use serde::{Deserialize, Serialize};

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
    /// What the driver itself adds to an echo, by the kernel's stamps: p50 and p99.
    #[serde(default)]
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
    /// CPU time per operation, in seconds.
    pub(crate) fn cost(&self) -> f64 {
        self.cpu / self.operations as f64
    }

    /// Prints it as JSON for the parent process.
    pub(crate) fn print(&self) -> io::Result<()> {
        writeln!(io::stdout(), "{}", serde_json::to_string(self)?)
    }
}

/// CPU time and run-queue delay so far, in seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Used {
    pub(crate) cpu: f64,
    /// Run-queue delay of the calling thread. Linux: `/proc/thread-self/schedstat`.
    pub(crate) run_wait: f64,
}

impl Used {
    pub(crate) fn now() -> Self {
        let schedstat = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        let run_wait: Option<f64> = schedstat.split_ascii_whitespace().nth(1).and_then(|nanos| nanos.parse().ok());
        Self { cpu: clock::process_cpu().as_secs_f64(), run_wait: run_wait.unwrap_or(0.0) / 1e9 }
    }
}

/// Resident memory of this process, in bytes. Linux: `/proc/self/statm`.
pub(crate) fn resident() -> u64 {
    let statm = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split_ascii_whitespace().nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0_u64);
    pages * rustix::param::page_size() as u64
}
