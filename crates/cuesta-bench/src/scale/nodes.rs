//! Nodes of a Ray cluster: what the agent of one takes for a key, over an agent of `--engine local`; and the throughput of three
//! over three times that of one, each agent held to a share of a CPU.
//!
//! `nodes.py` plays two runs at once, by the command that users have, and Cuesta starts a cluster for each that has nodes. So
//! whatever the machine does meanwhile falls on both; the agents are on one CPU, all else on the other.

use std::env;
use std::error::Error;
use std::process::Command;

use serde::{Deserialize, Serialize};

use super::batch::Batch;
use super::cpu_limit::CpuLimit;
use crate::job::{Framing, HostJob, Work};
use crate::process::Part;
use crate::table::{ResultRow, Spread, median, with_errors};

/// An engine and its number of nodes.
type Place = (&'static str, usize);

const LOCAL: Place = ("local", 1);
const NODE: Place = ("ray", 1);
const NODES: Place = ("ray", 3);

/// Users of a node who type a key every 200 ms, and the length of a window of theirs in seconds.
const TYPISTS: (u32, u32) = (1000, 10);
/// Users of a node who type each key when the last is echoed, and the length of a window of theirs in seconds.
const CLOSED: (u32, u32) = (48, 6);
const PAIRS: usize = 5;
/// Largest distance of the control from 1, and of its largest ratio from its least.
const NOISE: f64 = 0.05;
/// The share of a CPU that an agent may take: four agents and the kernel's work for them fit on one.
const SHARE: f64 = 0.1;
/// The least of its share that an agent must take, or something else limits it.
const USED: f64 = 0.95;
/// Largest distance of the throughput from that of as many nodes alone.
const WITHIN: f64 = 0.05;

/// A job for `nodes.py`.
#[derive(Debug, Serialize)]
struct PairJob {
    /// What runs; the first goes on until the second has ended.
    runs: [Place; 2],
    load: &'static str,
    /// Users of each node.
    users: u32,
    /// Length of the window.
    seconds: u32,
    target: String,
    /// Folders of control groups, one for each agent; none if they are not limited.
    groups: Vec<String>,
    /// CPUs.
    drivers: usize,
    hosts: usize,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct Played {
    /// Length of the window.
    seconds: f64,
    took: [Took; 2],
    /// Processes that have not ended with their run.
    left: u64,
}

/// What a run did and used in the window. CPU times in seconds.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Took {
    keys: f64,
    errors: f64,
    /// CPU time of the driving threads, as the agents record it.
    cpu: f64,
    /// CPU time of the agents' processes by the kernel.
    agents: f64,
    /// CPU time of the actors' processes.
    actors: f64,
    /// CPU time of all other processes of the run: Ray's and the engine.
    others: f64,
}

/// The agent of a node over that of `--engine local`, and one of `--engine local` over another as a control. `most`: the most
/// that is wanted.
pub(super) fn compare_engines(most: f64, cpus: (usize, usize)) -> Result<Vec<ResultRow>, Box<dyn Error>> {
    let play = |place| -> Result<Vec<_>, Box<dyn Error>> {
        (0..PAIRS).map(|round| play(round, [place, LOCAL], "paced:200ms", TYPISTS, &[], cpus)).collect()
    };
    let cost = |took: &Took| took.cpu / took.keys;
    let control = ratios(&play(LOCAL)?, cost);
    let pairs = play(NODE)?;
    let recorded = ratios(&pairs, cost);
    let side = |number: usize| median(&pairs, |pair| cost(&pair.took[number]) * 1e6);
    let share = |used: fn(&Took) -> f64| median(&pairs, |pair| used(&pair.took[0]) / pair.seconds) * 1e2;
    let by_kernel = ratios(&pairs, |took| took.agents / took.keys);
    let with_actor = ratios(&pairs, |took| (took.agents + took.actors) / took.keys);
    let shares =
        format!("actor {:.1} %, Ray and engine {:.1} % of a CPU", share(|took| took.actors), share(|took| took.others));
    let errors = count_errors(&pairs);
    let measured = format!("{recorded} x   ({:.1} us beside {:.1} us)", side(0), side(1));
    Ok(vec![
        ResultRow::control("CPU per key, --engine local, control", format!("{control} x"), control, NOISE),
        ResultRow::with_target(
            "CPU per key, --engine ray over local",
            with_errors(measured, errors),
            &format!("at most {most:.2} x"),
            recorded.median <= most && errors == 0,
        ),
        ResultRow::without_target("  the agent's process, by the kernel", format!("{by_kernel} x"), 0),
        ResultRow::without_target("  the same and the actor of its node", format!("{with_actor} x   ({shares})"), 0),
    ])
}

/// Three nodes over three times one.
pub(super) fn compare_nodes(cpus: (usize, usize)) -> Result<Vec<ResultRow>, Box<dyn Error>> {
    let _batch = Batch::begin()?;
    let limit = |number| CpuLimit::new(number, if number == 0 { 1.0 } else { SHARE });
    let limits = (0..=NODE.1 + NODES.1).map(limit).collect::<Result<Vec<_>, _>>()?;
    let pairs: Vec<Played> = (0..PAIRS)
        .map(|round| play(round, [NODES, NODE], "closed", CLOSED, &limits, cpus))
        .collect::<Result<_, _>>()?;
    let nodes = NODES.1 as f64;
    let ratios = Spread::new(pairs.iter().map(|pair| pair.took[0].keys / pair.took[1].keys / nodes));
    let rate = |number: usize| median(&pairs, |pair| pair.took[number].keys / pair.seconds / 1e3);
    let used =
        |number: usize, agents: f64| median(&pairs, |pair| pair.took[number].agents / pair.seconds / SHARE / agents);
    let (used, used_one) = (used(0, nodes), used(1, 1.0));
    let errors = count_errors(&pairs);
    let measured = format!(
        "{ratios} x   ({:.1} k/s beside {:.1} k/s), {:.0} % and {:.0} % of the CPU time allowed",
        rate(0),
        rate(1),
        used * 1e2,
        used_one * 1e2
    );
    let met = (ratios.median - 1.0).abs() <= WITHIN && used.min(used_one) >= USED && errors == 0;
    let target = format!("1 within {:.0} %", WITHIN * 1e2);
    Ok(vec![ResultRow::with_target(
        "throughput of three nodes over three times one",
        with_errors(measured, errors),
        &target,
        met,
    )])
}

/// Plays two runs at once; in odd rounds the second goes on until the first has ended. `limits`: that of the host, then one for each
/// agent.
fn play(
    round: usize,
    runs: [Place; 2],
    load: &'static str,
    (users, seconds): (u32, u32),
    limits: &[CpuLimit],
    (drivers, hosts): (usize, usize),
) -> Result<Played, Box<dyn Error>> {
    let python =
        env::var_os("CUESTA_BENCH_PYTHON").ok_or("CUESTA_BENCH_PYTHON must be a Python that has cuesta[ray]")?;
    let (host, address) = Part::host(HostJob::small(Work::Typists, Framing::Tcp, hosts))?;
    if let Some(limit) = limits.first() {
        limit.add(host.id())?;
    }
    let is_odd = !round.is_multiple_of(2);
    let mut job = PairJob {
        runs,
        load,
        users,
        seconds,
        target: format!("tcp://{address}"),
        groups: limits.iter().skip(1).map(|limit| limit.group().display().to_string()).collect(),
        drivers,
        hosts,
    };
    if is_odd {
        job.runs.reverse();
    }
    let script = ["-c", include_str!("nodes.py")];
    let mut part = Part::run(Command::new(python).args(script).arg(serde_json::to_string(&job)?))?;
    let mut played: Played = part.answer()?;
    if is_odd {
        played.took.reverse();
    }
    Ok(played)
}

/// The first run's figure over the second's, of each pair.
fn ratios(pairs: &[Played], figure: impl Fn(&Took) -> f64) -> Spread {
    Spread::new(pairs.iter().map(|pair| figure(&pair.took[0]) / figure(&pair.took[1])))
}

/// Keys that failed, and processes that were left.
fn count_errors(pairs: &[Played]) -> u64 {
    pairs.iter().map(|pair| pair.left + pair.took.iter().map(|took| took.errors as u64).sum::<u64>()).sum()
}
