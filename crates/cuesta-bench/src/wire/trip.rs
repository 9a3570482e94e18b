//! One load over the wire, and the figures of its window.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use cuesta_meters::traced::Depth;
use cuesta_meters::{Meter, MeterReport, MeterSpec, Roots, Subject};
use cuesta_record::clock;

use super::agent::Agents;
use super::namespaces::{Wire, packets};
use crate::job::{HostJob, Job};
use crate::outcome::Outcome;
use crate::process::{Part, wait_until};
use crate::table::median;
use crate::usage::cpu_nanos;

/// How long the background of the host's CPU is measured.
const QUIET: Duration = Duration::from_secs(2);

/// Who types at what.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    pub(super) host: HostJob,
    pub(super) users: u32,
    /// The hold time of TMux at both ends of the wire; without it lines are plain.
    pub(super) hold: Option<Duration>,
}

/// The figures of a window.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trip {
    /// Busy time of the host's CPU per key, in seconds, less its background.
    pub(super) host: f64,
    /// CPU time of the host's agent per key, in seconds.
    pub(super) agent: f64,
    /// Packets per key at the host's end of the wire, both ways.
    pub(super) packets: f64,
    /// Median echo time, in seconds.
    pub(super) echo: f64,
}

impl Load {
    /// Plays it, driven by the smallest driver on the CPU `drivers`.
    pub(super) fn play(self, drivers: usize) -> Result<Trip, Box<dyn Error>> {
        let wire = Wire::new((drivers, self.host.cpu))?;
        let host = HostJob { address: wire.host.address, cpu: wire.host.cpu, ..self.host };
        let (server, address) = Part::start_at(&wire.host, "server", &host)?.announced()?;
        let agents = self.hold.map(|hold| Agents::start(&wire, hold)).transpose()?;
        let agent = agents.as_ref().map(|agents| agents.host.id());
        let mut meter = traced(wire.host.cpu)?;
        let background = background(&mut meter)?;
        let job = Job::new(self.host.work, self.host.framing, self.users, address, drivers);
        let mut driver = Part::start_at(&wire.driver, "bare", &Job { cpu: wire.driver.cpu, ..job.clone() })?;
        let mut read = |at| -> Result<_, Box<dyn Error>> {
            wait_until(at)?;
            Ok((meter.report()?, agent.map_or(Ok(0), cpu_nanos)?, packets(server.id())?))
        };
        let (_, agent_before, packets_before) = read(job.window_start())?;
        let (report, agent_after, packets_after) = read(job.window_end())?;
        let outcome: Outcome = driver.answer()?;
        let keys = outcome.operations as f64;
        Ok(Trip {
            host: (busy(&report)? - background * report.seconds) / keys,
            agent: (agent_after - agent_before) as f64 / 1e9 / keys,
            packets: (packets_after - packets_before) as f64 / keys,
            echo: outcome.echo[0],
        })
    }
}

impl Trip {
    /// The median of each figure.
    pub(super) fn medians(trips: &[Self]) -> Self {
        Self {
            host: median(trips, |trip| trip.host),
            agent: median(trips, |trip| trip.agent),
            packets: median(trips, |trip| trip.packets),
            echo: median(trips, |trip| trip.echo),
        }
    }
}

impl fmt::Display for Trip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} us, {:.2} packets, echo {:.2} ms", self.host * 1e6, self.packets, self.echo * 1e3)
    }
}

fn traced(cpu: usize) -> Result<Meter, Box<dyn Error>> {
    let spec = MeterSpec { subject: Subject::Cpus(vec![cpu]), cpus: None, roots: Roots::default() };
    Ok(Meter::start(spec)?.with_tracer(Depth::Light))
}

/// The background of the metered CPU: the share of its time in which it is busy before the driver starts.
fn background(meter: &mut Meter) -> Result<f64, Box<dyn Error>> {
    meter.report()?;
    wait_until(clock::now() + QUIET)?;
    let report = meter.report()?;
    Ok(busy(&report)? / report.seconds)
}

/// Seconds in which the metered CPU was not idle.
fn busy(report: &MeterReport) -> Result<f64, Box<dyn Error>> {
    let idle = report.cpu.idle.with(&report.cpu.iowait, |idle, waiting| idle + waiting);
    let idle = idle.value().ok_or("the host's CPU is not metered")?;
    Ok((1.0 - idle / 100.0) * report.seconds)
}
