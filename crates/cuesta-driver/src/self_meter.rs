//! The driver watches itself: the CPU time of a thread, and the time that it was ready to run and did not.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use cuesta_record::clock;

/// One thread's own meter. Linux: `/proc/thread-self/schedstat` (Documentation/scheduler/sched-stats).
#[derive(Debug)]
pub(crate) struct SelfMeter {
    schedstat: Option<File>,
    cpu: Duration,
    run_wait: Duration,
}

impl SelfMeter {
    /// Begins now, for the calling thread.
    pub(crate) fn new() -> Self {
        // The magic link is resolved on opening, so the file stays this thread's.
        let mut meter = Self {
            schedstat: File::open("/proc/thread-self/schedstat").ok(),
            cpu: Duration::ZERO,
            run_wait: Duration::ZERO,
        };
        meter.since_last();
        meter
    }

    /// CPU time and run-queue wait since the last call.
    pub(crate) fn since_last(&mut self) -> (Duration, Duration) {
        let cpu = clock::thread_cpu();
        let run_wait = self.run_wait().unwrap_or(self.run_wait);
        let since = (cpu.saturating_sub(self.cpu), run_wait.saturating_sub(self.run_wait));
        (self.cpu, self.run_wait) = (cpu, run_wait);
        since
    }

    fn run_wait(&self) -> Option<Duration> {
        let mut text = [0; 96];
        let len = self.schedstat.as_ref()?.read_at(&mut text, 0).ok()?;
        second_number(&text[..len]).map(Duration::from_nanos)
    }
}

fn second_number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_shows_as_cpu_time() {
        let mut meter = SelfMeter::new();
        let until = clock::thread_cpu() + Duration::from_millis(20);
        while clock::thread_cpu() < until {}
        assert!(meter.since_last().0 >= Duration::from_millis(20));
    }

    #[test]
    fn a_damaged_file_is_no_number() {
        assert_eq!(second_number(b"123 456 7\n"), Some(456));
        assert_eq!(second_number(b"123"), None);
        assert_eq!(second_number(b"\xff x"), None);
    }
}
