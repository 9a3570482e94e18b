//! A thread's CPU time, read from outside the thread.

use std::fs;
use std::path::PathBuf;

/// A thread of this process.
#[derive(Debug)]
pub(crate) struct Task {
    schedstat: PathBuf,
}

/// CPU time of a thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TaskTime {
    /// On a CPU; nanoseconds.
    pub(crate) run_nanos: u64,
    /// Runnable without a CPU; nanoseconds.
    pub(crate) wait_nanos: u64,
}

impl Task {
    pub(crate) fn of_this_thread() -> Self {
        let thread = rustix::thread::gettid().as_raw_nonzero();
        Self { schedstat: format!("/proc/self/task/{thread}/schedstat").into() }
    }

    /// None when the thread has ended, or the kernel has no `schedstat`.
    pub(crate) fn time(&self) -> Option<TaskTime> {
        parse(&fs::read_to_string(&self.schedstat).ok()?)
    }
}

/// `schedstat`: time run, time waited, slices.
fn parse(text: &str) -> Option<TaskTime> {
    let mut fields = text.split_ascii_whitespace().map(str::parse);
    Some(TaskTime { run_nanos: fields.next()?.ok()?, wait_nanos: fields.next()?.ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_kernel_writes() {
        assert_eq!(parse("371213 1204 5\n"), Some(TaskTime { run_nanos: 371_213, wait_nanos: 1204 }));
        for text in ["", "1", "x 1", "1 x", "-1 2"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
        assert!(Task::of_this_thread().time().is_some());
    }
}
