//! One driver with as many users as a core carries, its host on the other core: whether the run is valid, and the memory of a
//! user; and the same for the limit.

use std::error::Error;
use std::time::Duration;

use crate::job::{CYCLE, Framing, HostJob, Job, Work};
use crate::outcome::Outcome;
use crate::process::Part;

/// Time between two keys of a user over ssh.
const SSH_CYCLE: Duration = Duration::from_secs(2);
const SETTLE: Duration = Duration::from_secs(2);
const MEASURE: Duration = Duration::from_secs(6);

// A plan's default thresholds of validity: `tests/plan/test_schema.py` compares them with the schema's.
const LATENESS_P99: f64 = 0.010;
const DRIVER_CPU: f64 = 0.9;
const RUN_WAIT: f64 = 0.2;
const ECHO_MISMATCHES: f64 = 0.001;

/// A large number of users, and the outcome.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crowd {
    pub(crate) users: u32,
    pub(crate) outcome: Outcome,
    /// The outcome of the limit, which ran the same afterwards.
    pub(crate) limit: Outcome,
}

impl Crowd {
    /// Runs this number of typists.
    pub(crate) fn run(framing: Framing, users: u32, cpus: (usize, usize)) -> Result<Self, Box<dyn Error>> {
        let cycle = if framing == Framing::Ssh { SSH_CYCLE } else { CYCLE };
        Self::of(framing, users, cycle, framing.stagger(), cpus)
    }

    /// Runs this number of typists, with a cycle of their own.
    pub(crate) fn of(
        framing: Framing,
        users: u32,
        cycle: Duration,
        stagger: Duration,
        (drivers, hosts): (usize, usize),
    ) -> Result<Self, Box<dyn Error>> {
        let work = Work::Typists;
        let built_in = framing != Framing::Ssh;
        let play = |framing, start: fn(&Job) -> Result<Part, Box<dyn Error>>| {
            let job = HostJob { built_in, ..HostJob::small(work, framing, hosts) };
            let (_hosts, addresses) = Part::hosts(job, users)?;
            let usual = Job::new(work, framing, users, String::new(), drivers).at(addresses);
            start(&Job { cycle, stagger, settle: SETTLE, measure: MEASURE, ..usual })?.outcome()
        };
        // The limit does not speak telnet: it gets tcp lines.
        let bare = if framing == Framing::Ssh { framing } else { Framing::Tcp };
        Ok(Self { users, outcome: play(framing, Part::driver)?, limit: play(bare, Part::bare)? })
    }

    /// Share of the core that the driver used, and that the limit used.
    pub(crate) fn cpu(&self) -> [f64; 2] {
        [self.outcome, self.limit].map(|outcome| outcome.cpu / MEASURE.as_secs_f64())
    }

    /// The reasons why the run is not valid.
    pub(crate) fn doubts(&self) -> Vec<String> {
        let outcome = &self.outcome;
        let [cpu, _] = self.cpu();
        let failed = outcome.errors as f64 / outcome.operations.max(1) as f64;
        [
            (outcome.lateness[1] > LATENESS_P99, format!("lateness p99 {:.1} ms", outcome.lateness[1] * 1e3)),
            (cpu > DRIVER_CPU, format!("driver CPU {:.0} %", cpu * 1e2)),
            (outcome.run_wait > RUN_WAIT, format!("run wait {:.0} %", outcome.run_wait * 1e2)),
            (failed > ECHO_MISMATCHES, format!("{} failures", outcome.errors)),
        ]
        .into_iter()
        .filter_map(|(is_beyond, doubt)| is_beyond.then_some(doubt))
        .collect()
    }
}
