//! How a program ended.

use std::fmt;

use rustix::process::WaitIdStatus;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitStatus {
    /// With a status.
    Exited(i32),
    /// By a signal.
    Killed(i32),
}

impl ExitStatus {
    pub(super) fn from_wait(status: &WaitIdStatus) -> Option<Self> {
        status.exit_status().map(Self::Exited).or_else(|| status.terminating_signal().map(Self::Killed))
    }
}

impl fmt::Display for ExitStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(status) => write!(f, "exited with status {status}"),
            Self::Killed(signal) => write!(f, "was killed by signal {signal}{}", signal_name(*signal)),
        }
    }
}

/// The names of the signals that usually end a program.
fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGHUP => " (hang-up)",
        libc::SIGINT => " (interrupt)",
        libc::SIGILL => " (illegal instruction)",
        libc::SIGABRT => " (abort)",
        libc::SIGFPE => " (arithmetic)",
        libc::SIGKILL => " (kill)",
        libc::SIGSEGV => " (segmentation fault)",
        libc::SIGPIPE => " (broken pipe)",
        libc::SIGTERM => " (terminate)",
        _ => "",
    }
}
