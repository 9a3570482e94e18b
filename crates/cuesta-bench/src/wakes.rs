//! Measures how late the machine wakes a thread that only sleeps. No host and no driver can be less late.

use std::io;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use cuesta_record::clock;
use rustix::thread::{ClockId, clock_nanosleep_absolute, set_current_timer_slack};
use rustix::time::Timespec;

use crate::process;

/// From one wake to the next.
const PERIOD: Duration = Duration::from_millis(2);

/// A thread that sleeps periodically and records how late it wakes.
#[derive(Debug)]
pub(crate) struct Wakes {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<io::Result<Vec<f64>>>,
}

impl Wakes {
    /// Starts the thread on a CPU.
    pub(crate) fn on(cpu: usize) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stop_thread = Arc::clone(&stop);
        Self { stop, thread: thread::spawn(move || sleep(cpu, &stop_thread)) }
    }

    /// Stops the thread, and returns the p99 of its lateness, in seconds.
    pub(crate) fn p99_lateness(self) -> io::Result<f64> {
        self.stop.store(true, Ordering::Relaxed);
        let mut late = self.thread.join().expect("it does not panic")?;
        late.sort_by(f64::total_cmp);
        Ok(late.get(late.len() * 99 / 100).copied().unwrap_or(0.0))
    }
}

#[expect(clippy::disallowed_methods, reason = "this measures the kernel's sleep, not our clock's")]
fn sleep(cpu: usize, stop: &AtomicBool) -> io::Result<Vec<f64>> {
    process::pin(cpu)?;
    set_current_timer_slack(NonZero::new(1))?;
    let mut late = Vec::new();
    let mut due = clock::now();
    while !stop.load(Ordering::Relaxed) {
        due += PERIOD;
        let nanos = due.as_nanos().cast_signed();
        let until = Timespec { tv_sec: nanos / 1_000_000_000, tv_nsec: nanos % 1_000_000_000 };
        clock_nanosleep_absolute(ClockId::Monotonic, &until)?;
        late.push(clock::now().since(due).as_secs_f64());
    }
    Ok(late)
}
