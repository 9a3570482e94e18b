//! Simulations: events a second of CPU time beside those of Ciw (Palmer and others 2019) on the same closed network, and the memory
//! of many users.
//!
//! The network: users who press a key, wait for one exponential server and think. An event is a service: of the server, or of the
//! user, who thinks and presses a key. Both sides count them so, over the same seconds, each on a core of its own.

use std::env;
use std::error::Error;
use std::process::Command;

use cuesta_driver::Scripts;
use cuesta_simulation::simulate;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::process::{self, Part};
use crate::table::ResultRow;
use crate::usage::resident;

/// What to simulate. Times in seconds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SimulationJob {
    users: u32,
    /// Mean think time.
    think: f64,
    /// Mean service.
    service: f64,
    /// How long.
    seconds: f64,
    cpu: usize,
}

/// What a simulation took.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct SimulationOutcome {
    events: u64,
    /// CPU time in seconds.
    cpu: f64,
    /// Largest memory of the process, in bytes.
    memory: f64,
}

impl SimulationJob {
    /// Users who keep half of a server busy for as long as about `events` events take.
    fn new(users: u32, events: f64, cpu: usize) -> Self {
        let think = 10.0;
        let per_user = think / f64::from(users);
        Self { users, think, service: per_user / 2.0, seconds: events / 2.0 * per_user, cpu }
    }
}

/// How much longer ours runs, so that both take about as long.
const LONGER: f64 = 100.0;

/// Events a second beside Ciw. `ratio`: the least that is wanted, if any is.
pub(crate) fn beside_ciw(
    users: u32,
    ratio: Option<f64>,
    (ours, limit): (usize, usize),
) -> Result<ResultRow, Box<dyn Error>> {
    // Ciw looks at every customer for each event, so it gets fewer events where there are many customers.
    let events = (4e6 / f64::from(users)).clamp(2e4, 1e5);
    let name = format!("events a second beside Ciw, {users} users");
    let Some(mut ciw) = start_ciw(&SimulationJob::new(users, events, limit))? else {
        return Ok(ResultRow::with_target(&name, "no Ciw: it could not be installed".into(), "at least 100 x", false));
    };
    let mut simulation = Part::start("simulation", &SimulationJob::new(users, events * LONGER, ours))?;
    let (ours, limit): (SimulationOutcome, SimulationOutcome) = (simulation.answer()?, ciw.answer()?);
    let speed = |outcome: SimulationOutcome| outcome.events as f64 / outcome.cpu;
    let measured = speed(ours) / speed(limit);
    let text = format!("{measured:.0} x   ({:.0} k beside {:.1} k)", speed(ours) / 1e3, speed(limit) / 1e3);
    Ok(match ratio {
        Some(ratio) => ResultRow::with_target(&name, text, &format!("at least {ratio:.0} x"), measured >= ratio),
        None => ResultRow::without_target(&name, text, 0),
    })
}

/// Starts a simulation in Ciw; `None` without it. `CUESTA_BENCH_CIW` names the Python that has it.
fn start_ciw(job: &SimulationJob) -> Result<Option<Part>, Box<dyn Error>> {
    let Some(python) = env::var_os("CUESTA_BENCH_CIW") else { return Ok(None) };
    let script = ["-c", include_str!("ciw.py")];
    Part::run(Command::new(python).args(script).arg(serde_json::to_string(job)?)).map(Some)
}

/// The memory of a user among many.
pub(crate) fn crowd(users: u32, memory: f64, cpu: usize) -> Result<ResultRow, Box<dyn Error>> {
    let job = SimulationJob::new(users, f64::from(users) * 4.0, cpu);
    let outcome: SimulationOutcome = Part::start("simulation", &job)?.answer()?;
    let size = outcome.memory / f64::from(users);
    let speed = outcome.events as f64 / outcome.cpu / 1e3;
    let measured = format!("{size:.0} bytes, {speed:.0} k events a second");
    let target = format!("at most {memory:.0} bytes");
    Ok(ResultRow::with_target(&format!("memory a user, simulation of {users}"), measured, &target, size <= memory))
}

/// Runs a job and prints its outcome.
pub(crate) fn play(job: &str) -> Result<(), Box<dyn Error>> {
    let job: SimulationJob = serde_json::from_str(job)?;
    process::pin(job.cpu)?;
    let before = resident("self")?;
    let tape = format!("Set TypingSpeed 0ms\nEnter\nWait+Bytes 1\nThink exp {}s\n", job.think);
    let tape = cuesta_tape::parse(&tape, "bench", &|_| Err("no files".into()))?;
    let load = json!({"users": job.users, "stagger": 0, "load": {"kind": "closed"}});
    let spec = serde_json::from_value(json!({
        "run": {
            "seed": 1,
            "drain": 0,
            "groups": [{"name": "users", "script": "bench", "target": "loopback"}],
            "steps": [{"settle": 0, "measure": (job.seconds * 1e9) as u64, "groups": [load]}],
        },
        "host": {"stations": [{"name": "server", "demand": job.service}]},
    }))?;
    let simulated = simulate(spec, &Scripts::from([("bench".to_owned(), tape.script)]))?;
    process::print_answer(&SimulationOutcome {
        events: simulated.figures.events,
        cpu: simulated.figures.cpu,
        memory: largest_resident()?.saturating_sub(before) as f64,
    })
}

/// The largest resident memory of this process so far, in bytes. Linux: `VmHWM` of `/proc/self/status`.
fn largest_resident() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let row = status.lines().find_map(|row| row.strip_prefix("VmHWM:")).ok_or("no VmHWM in /proc/self/status")?;
    Ok(row.trim().trim_end_matches("kB").trim().parse::<u64>()? * 1024)
}
