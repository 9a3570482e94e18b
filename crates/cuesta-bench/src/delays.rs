//! Checks that a known delay of the host is measured exactly.

use std::error::Error;
use std::time::Duration;

use crate::job::{Framing, HostJob, Job, Work};
use crate::outcome::Outcome;
use crate::process::{self, Part};
use crate::wakes::Wakes;

const USERS: u32 = 100;
const SETTLE: Duration = Duration::from_secs(1);
const MEASURE: Duration = Duration::from_secs(5);

/// A known delay, and the outcome.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DelayCheck {
    pub(crate) delay: Duration,
    outcome: Outcome,
    /// p99 of the lateness of a thread that only sleeps, measured at the same time, in seconds.
    pub(crate) sleep_lateness: f64,
}

impl DelayCheck {
    /// Runs typists at the built-in host, on another core, which delays each echo by `delay`.
    pub(crate) fn run(delay: Duration, (drivers, hosts): (usize, usize)) -> Result<Self, Box<dyn Error>> {
        let (work, framing) = (Work::Typists, Framing::Tcp);
        let (_host, address) = Part::host(HostJob { built_in: true, delay, ..HostJob::small(work, framing, hosts) })?;
        let _awake = process::stay_awake();
        let usual = Job::new(work, framing, USERS, address, drivers);
        let job = Job { stamps: 1, spin: true, settle: SETTLE, measure: MEASURE, ..usual };
        let wakes = Wakes::on(hosts);
        let outcome = Part::driver(&job)?.outcome()?;
        Ok(Self { delay, outcome, sleep_lateness: wakes.p99_lateness()? })
    }

    /// Echo time beyond the delay, in seconds: p50 and p99.
    pub(crate) fn excess(&self) -> [f64; 2] {
        self.outcome.echo.map(|echo| echo - self.delay.as_secs_f64())
    }

    /// What the driver itself added to an echo, in seconds: p50 and p99.
    pub(crate) fn own(&self) -> [f64; 2] {
        self.outcome.own
    }

    /// Share of the core that the driver used.
    pub(crate) fn cpu(&self) -> f64 {
        self.outcome.cpu / MEASURE.as_secs_f64()
    }

    /// Keys that failed.
    pub(crate) fn errors(&self) -> u64 {
        self.outcome.errors
    }
}
