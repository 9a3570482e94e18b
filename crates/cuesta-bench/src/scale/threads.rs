//! Throughput of two threads, and of two processes that share the users as agents do, over that of one thread.
//!
//! With two CPUs there is no third for the host, so each CPU has a driver and a host of its own, and the drivers may take only
//! [`QUOTA`] of each CPU: they are what limits the throughput, and one driver has exactly half of what two have. A host gets the
//! lines that were opened on its CPU. All run under `SCHED_BATCH`, so that a driver is not interrupted for each input that it sends:
//! how often that happens differs from play to play, and is most of what would be measured.

use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;

use super::batch::Batch;
use super::cpu_limit::CpuLimit;
use crate::job::{Framing, HostJob, Job, Work};
use crate::outcome::Outcome;
use crate::process::{Part, Start};
use crate::table::{ResultRow, Spread, median};

/// The share of each CPU that its driver may take. Host and driver together take less than all of it.
const QUOTA: f64 = 0.3;
/// Users of each CPU: 13 characters in, 150 out, no think time.
const USERS: u32 = 96;
const ROUNDS: usize = 4;
const MEASURE: Duration = Duration::from_secs(4);
/// The least share of its quota that a driver must take, or something else limits it.
const USED: f64 = 0.95;

/// Drivers and their CPUs.
#[derive(Debug, Clone, Copy)]
enum Drivers {
    One(usize),
    Threads(usize, usize),
    Processes(usize, usize),
}

/// The transactions of a window.
#[derive(Debug, Clone, Copy, Default)]
struct Throughput {
    /// Transactions a second.
    rate: f64,
    /// CPU time as a share of what the drivers may take.
    used: f64,
    errors: u64,
}

/// Two threads and two processes of Cuesta, and two processes of the limit, over the mean of one on each CPU. `least`: the least
/// that is wanted.
pub(super) fn measure(least: f64, (first, second): (usize, usize)) -> Result<Vec<ResultRow>, Box<dyn Error>> {
    let (threads, processes) = (Drivers::Threads(first, second), Drivers::Processes(first, second));
    let plays: [(Drivers, Start); 7] = [
        (Drivers::One(first), Part::driver),
        (threads, Part::driver),
        (processes, Part::driver),
        (Drivers::One(second), Part::driver),
        (Drivers::One(first), Part::bare),
        (processes, Part::bare),
        (Drivers::One(second), Part::bare),
    ];
    let _batch = Batch::begin()?;
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let round = plays.iter().map(|(drivers, start)| drivers.play(*start));
        rounds.push(round.collect::<Result<Vec<_>, _>>()?);
    }
    Ok(vec![
        row("throughput of two threads over one", &rounds, [0, 3], 1, Some(least)),
        row("throughput of two processes over one", &rounds, [0, 3], 2, Some(least)),
        row("throughput of two bare loops over one", &rounds, [4, 6], 5, None),
    ])
}

impl Drivers {
    fn cpus(self) -> Vec<usize> {
        match self {
            Self::One(cpu) => vec![cpu],
            Self::Threads(first, second) | Self::Processes(first, second) => vec![first, second],
        }
    }

    fn play(self, start: Start) -> Result<Throughput, Box<dyn Error>> {
        let cpus = self.cpus();
        let limit = CpuLimit::new(0, QUOTA * cpus.len() as f64)?;
        let (_hosts, address) = hosts(&cpus)?;
        let job = Job { measure: MEASURE, ..Job::new(Work::Closed, Framing::Tcp, USERS, address, cpus[0]) };
        let mut drivers = Vec::new();
        for job in self.jobs(&job) {
            let driver = start(&job)?;
            limit.add(driver.id())?;
            drivers.push(driver);
        }
        let mut sum = Throughput::default();
        for driver in &mut drivers {
            let outcome: Outcome = driver.answer()?;
            sum.rate += outcome.operations as f64 / MEASURE.as_secs_f64();
            sum.used += outcome.cpu / (MEASURE.as_secs_f64() * QUOTA * cpus.len() as f64);
            sum.errors += outcome.errors;
        }
        Ok(sum)
    }

    /// A job for each process.
    fn jobs(self, one: &Job) -> Vec<Job> {
        let both = Job { users: 2 * USERS, ..one.clone() };
        match self {
            Self::One(_) => vec![one.clone()],
            Self::Threads(_, second) => vec![Job { further_cpus: vec![second], ..both }],
            Self::Processes(first, second) => {
                vec![Job { cpu: first, agent: (0, 2), ..both.clone() }, Job { cpu: second, agent: (1, 2), ..both }]
            }
        }
    }
}

/// Starts a host on each CPU, at one port.
fn hosts(cpus: &[usize]) -> Result<(Vec<Part>, String), Box<dyn Error>> {
    let mut hosts = Vec::new();
    let (mut port, mut address) = (0, String::new());
    for cpu in cpus {
        let job = HostJob { shared_port: Some(port), ..HostJob::small(Work::Closed, Framing::Tcp, *cpu) };
        let (host, listens_at) = Part::host(job)?;
        port = listens_at.parse::<SocketAddr>()?.port();
        address = listens_at;
        hosts.push(host);
    }
    Ok((hosts, address))
}

/// A row: the play `both` of each round over the mean of the plays `ones`.
fn row(name: &str, rounds: &[Vec<Throughput>], ones: [usize; 2], both: usize, least: Option<f64>) -> ResultRow {
    let one = |round: &Vec<Throughput>| f64::midpoint(round[ones[0]].rate, round[ones[1]].rate);
    let ratios = Spread::new(rounds.iter().map(|round| round[both].rate / one(round)));
    let [used_one, used] = [ones[0], both].map(|play| median(rounds, |round| round[play].used));
    let errors = rounds.iter().flatten().map(|play| play.errors).sum();
    let measured = format!(
        "{ratios} x   ({:.1} k/s beside {:.1} k/s), {:.0} % and {:.0} % of the CPU time allowed",
        median(rounds, |round| round[both].rate) / 1e3,
        median(rounds, one) / 1e3,
        used * 1e2,
        used_one * 1e2
    );
    match least {
        Some(least) if errors == 0 => {
            let met = ratios.median >= least && used.min(used_one) >= USED;
            ResultRow::with_target(name, measured, &format!("at least {least:.2} x"), met)
        }
        _ => ResultRow::without_target(name, measured, errors),
    }
}
