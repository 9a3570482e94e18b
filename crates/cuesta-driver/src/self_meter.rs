//! The driver measures itself: each thread's CPU time and run-queue wait, and the memory that a user takes.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use cuesta_record::{DriverCounts, Stamp, clock};

/// One thread's own meter. Linux: `/proc/thread-self/schedstat` (Documentation/scheduler/sched-stats).
#[derive(Debug)]
pub(crate) struct SelfMeter {
    schedstat: Option<File>,
    cpu: Duration,
    run_wait: Duration,
    spun: Duration,
}

impl SelfMeter {
    /// Begins now, for the calling thread.
    pub(crate) fn new() -> Self {
        // The magic link is resolved on opening, so the file stays this thread's.
        let mut meter = Self {
            schedstat: File::open("/proc/thread-self/schedstat").ok(),
            cpu: Duration::ZERO,
            run_wait: Duration::ZERO,
            spun: clock::spun(),
        };
        meter.usage_since_last_call();
        meter
    }

    /// CPU time and run-queue wait since the last call.
    pub(crate) fn usage_since_last_call(&mut self) -> (Duration, Duration) {
        let cpu = clock::thread_cpu();
        let run_wait = self.run_wait().unwrap_or(self.run_wait);
        let since = (cpu.saturating_sub(self.cpu), run_wait.saturating_sub(self.run_wait));
        (self.cpu, self.run_wait) = (cpu, run_wait);
        since
    }

    /// Counts what the thread has used since the last call.
    pub(crate) fn count(&mut self, counts: &mut DriverCounts) {
        let (cpu, run_wait) = self.usage_since_last_call();
        let before = std::mem::replace(&mut self.spun, clock::spun());
        (counts.cpu, counts.run_wait, counts.threads) = (cpu.as_secs_f64(), run_wait.as_secs_f64(), 1);
        // Interrupts, and what a hypervisor takes, are in the time spun and not in the CPU time.
        counts.spun = self.spun.saturating_sub(before).min(cpu).as_secs_f64();
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

/// A thread that waits for a CPU for more than one part in this many of the time has no CPU time to spare.
const LEAST_WAIT_SHARE: u32 = 20;
/// The interval over which its waits are measured.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);
/// How long such a thread then counts as busy.
const BUSY_FOR: Duration = Duration::from_secs(1);

/// Whether other threads want the CPU that the calling thread runs on.
#[derive(Debug)]
pub(crate) struct SpareCpu {
    meter: SelfMeter,
    checked_at: Stamp,
    busy_until: Stamp,
}

impl SpareCpu {
    pub(crate) fn new() -> Self {
        Self { meter: SelfMeter::new(), checked_at: Stamp::ZERO, busy_until: Stamp::ZERO }
    }

    /// Whether there is CPU time to spare at `now`, by the thread's waits so far.
    pub(crate) fn is_available(&mut self, now: Stamp) -> bool {
        let since_check = now.since(self.checked_at);
        if since_check >= CHECK_INTERVAL {
            let (_, waited) = self.meter.usage_since_last_call();
            self.checked_at = now;
            if waited * LEAST_WAIT_SHARE > since_check {
                self.busy_until = now + BUSY_FOR;
            }
        }
        now >= self.busy_until
    }
}

/// From this many users on, the growth per user is meaningful.
const LEAST_USERS: u64 = 1000;

/// Resident memory of this process, before any user was there and at the end of a step. Linux: `/proc/self/statm`.
#[derive(Debug)]
pub(crate) struct MemoryMeter {
    before_users: u64,
    with_users: AtomicU64,
}

impl MemoryMeter {
    pub(crate) fn begin() -> Self {
        Self { before_users: resident().unwrap_or(0), with_users: AtomicU64::new(0) }
    }

    /// Measures at the end of a step, when all its users are there.
    pub(crate) fn sample(&self) {
        self.with_users.fetch_max(resident().unwrap_or(0), Ordering::Relaxed);
    }

    /// Growth over the number of the agent's users, in bytes; `None` where they are so few that what all share would be most of
    /// it, or where memory cannot be read. The kernel's part is not in it.
    pub(crate) fn per_user(&self, users: u64) -> Option<u64> {
        let growth = self.with_users.load(Ordering::Relaxed).checked_sub(self.before_users)?;
        (users >= LEAST_USERS && self.before_users > 0).then(|| growth / users)
    }
}

fn resident() -> Option<u64> {
    let statm = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_file_is_no_number() {
        assert_eq!(second_number(b"123 456 7\n"), Some(456));
        assert_eq!(second_number(b"123"), None);
        assert_eq!(second_number(b"\xff x"), None);
    }
}
