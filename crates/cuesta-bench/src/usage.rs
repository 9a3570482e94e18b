//! CPU time and memory of processes, as the kernel counts them.

use std::error::Error;
use std::fs;

use cuesta_record::clock;

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

/// Resident memory of a process, by its number or `self`; bytes. Linux: `/proc/PID/statm`.
pub(crate) fn resident(process: &str) -> Result<u64, Box<dyn Error>> {
    let statm = fs::read_to_string(format!("/proc/{process}/statm"))?;
    let pages: u64 = statm.split_ascii_whitespace().nth(1).ok_or("an empty statm")?.parse()?;
    Ok(pages * rustix::param::page_size() as u64)
}

/// CPU time of the living threads of a process so far; nanoseconds. Linux: `/proc/PID/task/TID/schedstat`.
pub(crate) fn cpu_nanos(process: u32) -> Result<u64, Box<dyn Error>> {
    let mut nanos = 0;
    for task in fs::read_dir(format!("/proc/{process}/task"))? {
        let schedstat = fs::read_to_string(task?.path().join("schedstat"))?;
        nanos += schedstat.split_ascii_whitespace().next().ok_or("an empty schedstat")?.parse::<u64>()?;
    }
    Ok(nanos)
}
