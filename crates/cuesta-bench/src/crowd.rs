//! One driver with as many users as a core carries, its host on the other core: whether the run is valid, and the memory of a
//! user; and the same for the limit.

use std::error::Error;
use std::time::Duration;

use crate::job::{CYCLE, Framing, HostJob, Job, Work};
use crate::outcome::Outcome;
use crate::process::{Part, Start};
use crate::table::ResultRow;

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

/// The rows of this number of typists, each of whom takes at most `memory` bytes.
pub(crate) fn measure(
    name: &str,
    framing: Framing,
    users: u32,
    memory: f64,
    cpus: (usize, usize),
) -> Result<Vec<ResultRow>, Box<dyn Error>> {
    let cycle = if framing == Framing::Ssh { SSH_CYCLE } else { CYCLE };
    let crowd = Crowd::run(framing, users, cycle, framing.stagger(), cpus)?;
    let [p50, p99] = crowd.outcome.lateness.map(|seconds| seconds * 1e6);
    let [cpu, limit] = crowd.cpu().map(|share| share * 1e2);
    let wait = crowd.outcome.run_wait * 1e2;
    let measured = format!(
        "lateness p50 {p50:.0} us, p99 {p99:.0} us; driver CPU {cpu:.0} % (a bare loop {limit:.0} %); run wait {wait:.1} %"
    );
    let (size, bare) = (crowd.outcome.memory, crowd.limit.memory);
    let target = format!("at most {memory:.0} bytes");
    Ok(vec![
        crowd.validity_row(name, measured),
        ResultRow::with_target(
            "  memory a user",
            format!("{size:.0} bytes (a bare loop {bare:.0})"),
            &target,
            size <= memory,
        ),
    ])
}

impl Crowd {
    /// Runs this number of typists, once with Cuesta and once with the limit.
    pub(crate) fn run(
        framing: Framing,
        users: u32,
        cycle: Duration,
        stagger: Duration,
        (drivers, hosts): (usize, usize),
    ) -> Result<Self, Box<dyn Error>> {
        let work = Work::Typists;
        let built_in = framing != Framing::Ssh;
        let play = |framing, start: Start| -> Result<Outcome, Box<dyn Error>> {
            let job = HostJob { built_in, ..HostJob::small(work, framing, hosts) };
            let (_hosts, addresses) = Part::hosts(job, users)?;
            let usual = Job::new(work, framing, users, String::new(), drivers).at(addresses);
            start(&Job { cycle, stagger, settle: SETTLE, measure: MEASURE, ..usual })?.answer()
        };
        // The limit does not speak telnet: it gets tcp lines.
        let bare = if framing.is_telnet() { Framing::Tcp } else { framing };
        Ok(Self { users, outcome: play(framing, Part::driver)?, limit: play(bare, Part::bare)? })
    }

    /// Share of the core that the driver used, and that the limit used.
    pub(crate) fn cpu(&self) -> [f64; 2] {
        [self.outcome, self.limit].map(|outcome| outcome.cpu / MEASURE.as_secs_f64())
    }

    /// A row whose target is that the run is valid.
    pub(crate) fn validity_row(&self, name: &str, measured: String) -> ResultRow {
        let doubts = self.doubts();
        let measured = if doubts.is_empty() { measured } else { format!("{measured}; doubts: {}", doubts.join(", ")) };
        ResultRow::with_target(name, measured, "valid", doubts.is_empty())
    }

    /// The reasons why the run is not valid.
    fn doubts(&self) -> Vec<String> {
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
