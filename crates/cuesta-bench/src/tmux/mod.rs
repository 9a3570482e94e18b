//! Typists over a wire between two network namespaces, plain and through TMux: what a key costs the host's CPU, and what of that
//! is TMux's agent.
//!
//! The host's CPU is all that runs on it: the server, the agent, the kernel's receive processing. Its idle time is traced.

mod agent;
mod namespaces;

use std::error::Error;
use std::fmt;
use std::fs;
use std::time::Duration;

use cuesta_meters::traced::Depth;
use cuesta_meters::{Meter, MeterReport, MeterSpec, Roots, Subject};
use cuesta_record::Stamp;
use cuesta_record::clock::{self, Time};

use crate::job::{Framing, HostJob, Job, Work};
use crate::process::Part;
use crate::table::{ResultRow, Spread};
use agent::Agents;
use namespaces::{Wire, packets};

pub(crate) use agent::{AgentJob, serve};
pub(crate) use namespaces::Side;

/// Rounds: in each, every setting is played once, in turn.
const ROUNDS: usize = 3;
/// Typists, and the settings that are played beside plain lines.
const LOADS: [(u32, &[Setting]); 3] = [
    (25, &[Setting::new(20_000, None, None)]),
    (
        400,
        &[
            Setting::new(0, None, Some(0.67)),
            Setting::new(1_250, None, None),
            Setting::new(5_000, Some(0.71), Some(0.24)),
            Setting::new(20_000, Some(0.51), Some(0.16)),
        ],
    ),
    (2_000, &[Setting::new(5_000, None, None), Setting::new(20_000, None, None)]),
];

/// A hold time, and its targets: the largest CPU time a key of the host and of its agent, over that of the host with plain lines.
/// They are what a prototype took (the host), and half of that (the agent).
#[derive(Debug, Clone, Copy)]
struct Setting {
    hold: Duration,
    host: Option<f64>,
    agent: Option<f64>,
}

/// The figures of a window.
#[derive(Debug, Clone, Copy)]
struct Trip {
    /// Busy time of the host's CPU per key, in seconds.
    host: f64,
    /// CPU time of the host's agent per key, in seconds.
    agent: f64,
    /// Packets per key at the host's end of the wire, both ways.
    packets: f64,
    /// Median echo time, in seconds.
    echo: f64,
}

impl Setting {
    const fn new(micros: u64, host: Option<f64>, agent: Option<f64>) -> Self {
        Self { hold: Duration::from_micros(micros), host, agent }
    }

    /// The rows beside the plain trips of the same rounds.
    fn rows(&self, users: u32, plain: &[Trip], tmux: &[Trip]) -> [ResultRow; 2] {
        let beside =
            |of: fn(&Trip) -> f64| Spread::of(tmux.iter().zip(plain).map(|(tmux, plain)| of(tmux) / plain.host));
        let [host, agent] = [beside(|trip| trip.host), beside(|trip| trip.agent)];
        let [before, after] = [plain, tmux].map(Trip::medians);
        let name = format!("host CPU per key through TMux, {users} ports, hold {:?}", self.hold);
        let share = format!("{agent} of the plain host's   ({:.1} us)", after.agent * 1e6);
        [
            ResultRow::at_most(&name, format!("{host} x   ({after} beside {before})"), host.median, self.host),
            ResultRow::at_most("  its agent's CPU per key", share, agent.median, self.agent),
        ]
    }
}

/// Measures all loads.
pub(crate) fn measure(cpus: (usize, usize)) -> Result<Vec<ResultRow>, Box<dyn Error>> {
    let mut rows = Vec::new();
    for (users, settings) in LOADS {
        let (mut plain, mut tmux) = (Vec::new(), vec![Vec::new(); settings.len()]);
        for _ in 0..ROUNDS {
            plain.push(Trip::play(users, None, cpus)?);
            for (setting, trips) in settings.iter().zip(&mut tmux) {
                trips.push(Trip::play(users, Some(setting.hold), cpus)?);
            }
        }
        rows.extend(settings.iter().zip(&tmux).flat_map(|(setting, tmux)| setting.rows(users, &plain, tmux)));
    }
    Ok(rows)
}

impl Trip {
    /// Plays one load, with TMux at both ends of the wire if there is a hold time.
    fn play(users: u32, hold: Option<Duration>, cpus: (usize, usize)) -> Result<Self, Box<dyn Error>> {
        let wire = Wire::new(cpus)?;
        let (work, framing) = (Work::Typists, Framing::Tcp);
        let (server, address) = Part::host_at(&wire.host, HostJob::small(work, framing, wire.host.cpu))?;
        let agents = hold.map(|hold| Agents::start(&wire, hold)).transpose()?;
        let agent = agents.as_ref().map(|agents| agents.host.id());
        let mut meter = traced(wire.host.cpu)?;
        let job = Job::new(work, framing, users, address, wire.driver.cpu);
        let mut driver = Part::bare_at(&wire.driver, &job)?;
        let mut read = |at| -> Result<_, Box<dyn Error>> {
            wait_until(at)?;
            Ok((meter.report()?, agent.map_or(Ok(0.0), cpu_seconds)?, packets(server.id())?))
        };
        let (_, agent_before, packets_before) = read(job.from())?;
        let (report, agent_after, packets_after) = read(job.until())?;
        let outcome = driver.outcome()?;
        let keys = outcome.operations as f64;
        Ok(Self {
            host: busy(&report)? / keys,
            agent: (agent_after - agent_before) / keys,
            packets: (packets_after - packets_before) as f64 / keys,
            echo: outcome.echo[0],
        })
    }

    fn medians(trips: &[Self]) -> Self {
        let median = |of: fn(&Self) -> f64| Spread::of(trips.iter().map(of)).median;
        Self {
            host: median(|trip| trip.host),
            agent: median(|trip| trip.agent),
            packets: median(|trip| trip.packets),
            echo: median(|trip| trip.echo),
        }
    }
}

impl fmt::Display for Trip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} us, {:.2} packets, echo {:.2} ms", self.host * 1e6, self.packets, self.echo * 1e3)
    }
}

/// A meter that traces a CPU.
fn traced(cpu: usize) -> Result<Meter, Box<dyn Error>> {
    let spec = MeterSpec { subject: Subject::Cpus(vec![cpu]), cpus: None, roots: Roots::default() };
    Ok(Meter::start(spec)?.with_tracer(Depth::Light))
}

/// Seconds in which the metered CPU was not idle.
fn busy(report: &MeterReport) -> Result<f64, Box<dyn Error>> {
    let idle = report.cpu.idle.with(&report.cpu.iowait, |idle, waiting| idle + waiting);
    let idle = idle.value().ok_or("the host's CPU is not metered")?;
    Ok((1.0 - idle / 100.0) * report.seconds)
}

/// CPU time of all threads of a process so far, in seconds. Linux: `/proc/PID/task/TID/schedstat`.
fn cpu_seconds(pid: u32) -> Result<f64, Box<dyn Error>> {
    let mut nanos = 0;
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        let schedstat = fs::read_to_string(task?.path().join("schedstat"))?;
        let run = schedstat.split_ascii_whitespace().next().ok_or("an empty schedstat")?;
        nanos += run.parse::<u64>()?;
    }
    Ok(nanos as f64 / 1e9)
}

fn wait_until(at: Stamp) -> Result<(), Box<dyn Error>> {
    Ok(clock::run(Time::Real, clock::sleep_until(at))?)
}
