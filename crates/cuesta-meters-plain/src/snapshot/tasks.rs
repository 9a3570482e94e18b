//! The subject's processes and threads.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::Path;

use cuesta_meters_report::{Figure, Subject};
use cuesta_record::{Stamp, clock};
use serde::{Deserialize, Serialize};

use crate::Roots;
use crate::kernel::pid_stat::PidStat;
use crate::kernel::pid_status::PidStatus;
use crate::kernel::schedstat::SchedStat;
use crate::kernel::taskstats::{ProcessUsage, TaskTotals};
use crate::roots;
use crate::snapshot::group;

/// With more threads than this, threads are not read: it would cost too much.
const MOST_THREADS: u64 = 2000;

/// The tasks of a subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tasks {
    pub(crate) at: Stamp,
    /// By process id.
    pub processes: BTreeMap<u32, Process>,
    /// Processes outside the subject whose children belong to it. Only their counters of ended children count.
    pub reapers: BTreeMap<u32, Process>,
    /// Processes outside the subject, by process id, including those that left it.
    pub(crate) others: BTreeMap<u32, Process>,
    /// Whether threads were read.
    pub(crate) threads: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    pub(crate) stat: PidStat,
    /// By thread id.
    pub threads: BTreeMap<u32, Thread>,
    /// When the account that [`Self::cpu`] takes was read: a busy machine may read threads a tenth of a second after
    /// [`Tasks::at`]. None in snapshots of older versions.
    #[serde(default)]
    pub(crate) at: Option<Stamp>,
}

impl Process {
    /// CPU time. The sum of its threads is exact unless some have ended. The ticks include those, but the kernel rounds user
    /// and system time down, by up to two ticks together. Neither is ever too large, so the larger one is nearer.
    pub(crate) fn cpu(&self) -> u64 {
        by_threads(&self.threads).max(nanos(self.stat.own()))
    }

    /// What it has used itself.
    pub(crate) fn usage(&self) -> ProcessUsage {
        let PidStat { user, system, minor, major, .. } = self.stat;
        ProcessUsage { cpu: self.cpu(), user: nanos(user), system: nanos(system), minor, major }
    }

    /// What its children used that it has waited for.
    pub(crate) fn usage_of_children(&self) -> ProcessUsage {
        let PidStat { child_user: user, child_system: system, child_minor: minor, child_major: major, .. } = self.stat;
        let cpu = nanos(user.saturating_add(system));
        ProcessUsage { cpu, user: nanos(user), system: nanos(system), minor, major }
    }

    /// A process whose ticks and whose threads were read at instants of their own.
    fn new((stat, ticks_at): (PidStat, Stamp), threads: BTreeMap<u32, Thread>, threads_at: Stamp) -> Self {
        let at = if by_threads(&threads) >= nanos(stat.own()) { threads_at } else { ticks_at };
        Self { stat, threads, at: Some(at) }
    }
}

fn by_threads(threads: &BTreeMap<u32, Thread>) -> u64 {
    threads.values().map(|thread| thread.sched.run).sum()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    pub(crate) sched: SchedStat,
    /// Voluntary and involuntary switches; not read for a whole machine, which has a counter of its own.
    pub(crate) switches: Option<(u64, u64)>,
}

impl Thread {
    pub(crate) fn totals(&self) -> TaskTotals {
        let (voluntary, involuntary) = self.switches.unwrap_or_default();
        let SchedStat { wait, slices: dispatches, .. } = self.sched;
        TaskTotals { tasks: 1, dispatches, wait, block_delay: 0, voluntary, involuntary }
    }
}

/// Length of a clock tick of the kernel's files; nanoseconds.
pub fn tick() -> u64 {
    1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)
}

/// Ticks of the kernel's files as nanoseconds.
pub(crate) fn nanos(ticks: u64) -> u64 {
    ticks.saturating_mul(tick())
}

/// Reads the tasks of a subject.
pub fn read(roots: &Roots, subject: &Subject) -> Figure<Tasks> {
    read_knowing(roots, subject, &HashSet::new())
}

/// The same; `known` are processes that belong to the subject by birth, whatever their parents are now.
pub(crate) fn read_knowing(roots: &Roots, subject: &Subject, known: &HashSet<u32>) -> Figure<Tasks> {
    let at = clock::now();
    if matches!(subject, Subject::Cpus(_)) {
        return Figure::absent("tasks are not of a CPU: name a process or a control group");
    }
    let mut reapers = BTreeMap::new();
    let stats = stats_of(roots);
    let members = match subject {
        Subject::Machine | Subject::Cpus(_) => stats.keys().copied().collect::<BTreeSet<u32>>(),
        Subject::Process(pid) => tree(&stats, known.iter().copied().chain([*pid])),
        Subject::Children(parents) => tree(&stats, known.iter().chain(parents).copied()),
        Subject::Cgroup(path) => match group::members(roots, path) {
            Some(members) => members.into_iter().collect(),
            None => return Figure::absent(format!("{subject}: no such control group")),
        },
    };
    let (mut stats, mut others): (BTreeMap<_, _>, BTreeMap<_, _>) =
        stats.into_iter().partition(|(pid, _)| members.contains(pid));
    if let Subject::Children(parents) = subject {
        for (parent, stat) in parents.iter().filter_map(|parent| Some((*parent, stats.remove(parent)?))) {
            reapers.insert(parent, reaper(stat.0));
            others.insert(parent, stat);
        }
    }
    match subject {
        Subject::Process(pid) if stats.is_empty() => {
            return Figure::absent(format!("process {pid} has ended"));
        }
        Subject::Children(_) if reapers.is_empty() => return Figure::absent("their parents have ended"),
        Subject::Machine if stats.is_empty() => {
            return Figure::absent(format!("{}: no process is to be seen there", roots.proc.display()));
        }
        _ => {}
    }
    let many = |stats: &Stats| stats.values().map(|(stat, _)| stat.threads).sum::<u64>() > MOST_THREADS;
    let whole = |stats: Stats, switches| -> BTreeMap<u32, Process> {
        let no_threads = many(&stats);
        let process = |(pid, stat)| {
            let begin = clock::now();
            let threads = if no_threads { BTreeMap::new() } else { threads_of(&roots.proc, pid, switches) };
            (pid, Process::new(stat, threads, begin + clock::now().since(begin) / 2))
        };
        stats.into_iter().map(process).collect()
    };
    let threads = !many(&stats);
    let processes = whole(stats, *subject != Subject::Machine);
    Figure::plain(Tasks { at, processes, reapers, others: whole(others, false), threads })
}

/// A process whose children alone count.
fn reaper(stat: PidStat) -> Process {
    let stat = PidStat { user: 0, system: 0, minor: 0, major: 0, block_delay: 0, ..stat };
    Process { stat, threads: BTreeMap::new(), at: None }
}

/// The accounts of processes, and when each was read.
type Stats = BTreeMap<u32, (PidStat, Stamp)>;

/// The accounts of all living processes.
fn stats_of(roots: &Roots) -> Stats {
    let stat = |pid| Some((pid, (*roots.proc(&format!("{pid}/stat"), PidStat::parse).value()?, clock::now())));
    pids(&roots.proc).filter_map(stat).collect()
}

/// Numeric folders of `/proc` or of a process' `task`.
fn pids(folder: &Path) -> impl Iterator<Item = u32> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Processes and their descendants.
fn tree(stats: &Stats, roots: impl Iterator<Item = u32>) -> BTreeSet<u32> {
    let mut children = BTreeMap::<u32, Vec<u32>>::new();
    for (pid, (stat, _)) in stats {
        children.entry(stat.parent).or_default().push(*pid);
    }
    let mut members = BTreeSet::new();
    let mut next: Vec<u32> = roots.collect();
    while let Some(pid) = next.pop() {
        if members.insert(pid) {
            next.extend(children.get(&pid).into_iter().flatten());
        }
    }
    members
}

/// The CPUs that a process' threads may use.
pub(crate) fn cpus_of(roots: &Roots, pid: u32) -> BTreeSet<usize> {
    let folder = roots.proc.join(pid.to_string()).join("task");
    let status = |tid: u32| roots::read(&folder.join(tid.to_string()).join("status"), PidStatus::parse);
    pids(&folder).flat_map(|tid| status(tid).value().map(|status| status.cpus.clone()).unwrap_or_default()).collect()
}

fn threads_of(proc: &Path, pid: u32, switches: bool) -> BTreeMap<u32, Thread> {
    let tasks = proc.join(pid.to_string()).join("task");
    let thread = |tid: u32| {
        let folder = tasks.join(tid.to_string());
        let sched = *roots::read(&folder.join("schedstat"), SchedStat::parse).value()?;
        let status = switches.then(|| roots::read(&folder.join("status"), PidStatus::parse));
        let switches = status.and_then(|status| status.value().map(|status| (status.voluntary, status.involuntary)));
        Some((tid, Thread { sched, switches }))
    };
    pids(&tasks).filter_map(thread).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_read_when_the_larger_of_its_accounts_is() {
        let [ticks_at, threads_at] = [1, 2].map(Stamp::from_nanos);
        let at = |user: u64, run: u64| {
            let thread = Thread { sched: SchedStat { run, ..SchedStat::default() }, switches: None };
            let stat = PidStat { user, ..PidStat::default() };
            Process::new((stat, ticks_at), BTreeMap::from([(7, thread)]), threads_at).at
        };
        assert_eq!(at(3, nanos(3) + 1), Some(threads_at));
        assert_eq!(at(30, nanos(3)), Some(ticks_at), "threads have ended: their time is in the ticks alone");
    }
}
