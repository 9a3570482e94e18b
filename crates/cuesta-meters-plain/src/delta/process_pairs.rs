//! The processes of two snapshots, paired, and what they did in between. Pure.
//!
//! Two accounts cover processes that ended between the snapshots. A listener (`task_exits`) receives each birth and
//! each task's final account; it misses the CPU time since the kernel last updated the task's clock (at a clock tick or a
//! switch) and the kernel's work that ends a process: on the mean 2 ms of a task at 250 Hz, and most of the time of a task that
//! runs for less. The other account is a parent's `children` counters: the CPU time and faults of the processes that it waited
//! for; it misses all others. Neither account is ever too large but for the rounding of ticks, so the larger one is nearer to
//! the truth. Children of a process that may have waited for the other side's do not count.
//!
//! For example, a shell has 10 s of its own and starts `cc`, which uses 3 s and ends: the later snapshot has 10 s for the shell
//! and 3 s in its `children` counter, the listener 3 s for `cc`. If `cc` had been seen at 1 s, 1 s of the 3 s is subtracted.
//!
//! In the account by parents, a process that leaves the subject alive (a daemon whose parent ended) counts up to the earlier
//! snapshot. If it leaves and ends between the snapshots, it looks like one that its parent waited for: its earlier time is
//! subtracted from the time of its ancestor's other children, down to zero.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::successors;

use super::tasks::{ExitDelta, TaskDelta, ThreadDelta};
use crate::snapshot::tasks::{Process, Tasks, nanos};
use crate::task_exits::{ProcessUsage, TaskTotals};

/// The process that becomes the parent of orphans, unless another process has asked to (`PR_SET_CHILD_SUBREAPER`).
const INIT: u32 = 1;

/// The subject's tasks, or those of all others.
#[derive(Debug, Clone, Copy)]
pub(super) struct TaskSide<'a> {
    tasks: &'a Tasks,
    processes: &'a BTreeMap<u32, Process>,
    /// Processes whose children alone belong to this side.
    reapers: Option<&'a BTreeMap<u32, Process>>,
    /// Processes of the other side.
    beyond: &'a BTreeMap<u32, Process>,
}

impl<'a> TaskSide<'a> {
    pub(super) fn subject(tasks: &'a Tasks) -> Self {
        Self { tasks, processes: &tasks.processes, reapers: Some(&tasks.reapers), beyond: &tasks.others }
    }

    pub(super) fn others(tasks: &'a Tasks) -> Self {
        Self { tasks, processes: &tasks.others, reapers: None, beyond: &tasks.processes }
    }

    fn all(self) -> impl Iterator<Item = (&'a u32, &'a Process)> {
        self.processes.iter().chain(self.reapers.into_iter().flatten())
    }

    fn find(self, pid: u32) -> Option<&'a Process> {
        self.processes.get(&pid).or_else(|| self.reapers?.get(&pid))
    }

    /// Whether the process that becomes the parent of orphans is on this side.
    fn has_all_orphans(self) -> bool {
        self.processes.contains_key(&INIT)
    }

    /// Processes that may have waited for children of the other side.
    fn parents_beyond(self) -> impl Iterator<Item = u32> {
        let reapers = self.tasks.reapers.keys().filter(move |_| self.reapers.is_none());
        self.beyond.values().map(|process| process.stat.parent).chain(reapers.copied())
    }

    /// Processes that may have waited for orphans of the other side, if that has processes: its ancestors, and init even if
    /// it is none of them.
    fn heirs_beyond(self) -> impl Iterator<Item = u32> {
        let most = self.processes.len() + self.beyond.len() + 1; // the parents of a saved snapshot may form a cycle
        let parent = move |pid: &u32| {
            let process = self.processes.get(pid).or_else(|| self.beyond.get(pid));
            process.map(|process| process.stat.parent)
        };
        let ancestors =
            self.beyond.values().flat_map(move |process| successors(Some(process.stat.parent), parent).take(most));
        ancestors.chain((!self.beyond.is_empty()).then_some(INIT))
    }
}

/// The processes of the later snapshot, each with its state in the earlier one, and the processes that ended in between.
pub(super) struct ProcessPairs<'a> {
    a: TaskSide<'a>,
    b: TaskSide<'a>,
    living: BTreeMap<u32, (Option<&'a Process>, &'a Process)>,
    /// Ended processes, each with the living process that holds its account now, if that is one of the pairs.
    gone: Vec<(Option<u32>, &'a Process)>,
}

impl<'a> ProcessPairs<'a> {
    pub(super) fn of(a: TaskSide<'a>, b: TaskSide<'a>, begun: u64) -> Self {
        let before = |pid: &u32, process: &Process| same(a.find(*pid), process);
        // A process that began before the earlier snapshot and is not in it joined the subject later. Its counters at the
        // earlier snapshot are not known, so it counts from the next snapshot on.
        let new = |process: &Process| nanos(process.stat.start.saturating_add(1)) >= begun;
        let pairs = b.all().map(|(pid, process)| (*pid, (before(pid, process), process)));
        let pairs: BTreeMap<_, _> = pairs.filter(|(_, (before, process))| before.is_some() || new(process)).collect();
        let lives = |pid: &u32, process: &Process| {
            same(b.processes.get(pid), process).or_else(|| same(b.beyond.get(pid), process)).is_some()
        };
        // The nearest living ancestor holds the account of an ended process, if that ancestor is still on this side.
        let heir = |process: &Process| {
            let parent = |pid: &u32| Some(a.processes.get(pid)?.stat.parent);
            // Bound the walk: the parents of a saved snapshot may form a cycle.
            let mut ancestors = successors(Some(process.stat.parent), parent).take(a.processes.len() + 1);
            let living = ancestors.find(|pid| a.processes.get(pid).is_none_or(|process| lives(pid, process)))?;
            pairs.contains_key(&living).then_some(living)
        };
        let ended = a.processes.iter().filter(|(pid, process)| !lives(pid, process));
        let gone = ended.map(|(_, process)| (heir(process), process)).collect();
        Self { a, b, living: pairs, gone }
    }

    pub(super) fn delta(&self, ended: Option<ExitDelta>) -> TaskDelta {
        let reported = ended.map(|ended| ended.processes);
        let mut beyond: BTreeSet<u32> = self.a.parents_beyond().chain(self.b.parents_beyond()).collect();
        if ended.is_some() {
            // The other side's orphans that began and ended in between are in no snapshot. The listener has them on their side.
            beyond.extend(self.a.heirs_beyond().chain(self.b.heirs_beyond()));
        }
        let grown = |own: fn(&Process) -> u64, children: fn(&Process) -> u64, ended: fn(ProcessUsage) -> u64| {
            let by_parents = self.grown(own, children, &beyond);
            reported.map_or(by_parents, |reported| by_parents.max(self.with_ends(own, ended(reported))))
        };
        let cpu =
            grown(Process::cpu, |p| nanos(p.stat.child_user.saturating_add(p.stat.child_system)), |used| used.cpu);
        TaskDelta {
            seconds: self.seconds(cpu, ended),
            cpu,
            user: grown(|p| nanos(p.stat.user), |p| nanos(p.stat.child_user), |used| used.user),
            system: grown(|p| nanos(p.stat.system), |p| nanos(p.stat.child_system), |used| used.system),
            minor: grown(|p| p.stat.minor, |p| p.stat.child_minor, |used| used.minor),
            major: grown(|p| p.stat.major, |p| p.stat.child_major, |used| used.major),
            block_delay: self.grown(|p| nanos(p.stat.block_delay), |_| 0, &beyond)
                + ended.map_or(0, |ended| self.unseen(ended.tasks)),
            threads: (self.a.tasks.threads && self.b.tasks.threads)
                .then(|| self.of_threads(ended.unwrap_or_default().tasks)),
        }
    }

    /// The interval in which the tasks used `cpu` nanoseconds. Each process is read at an instant of its own, so the CPU time of each
    /// living process is divided by its own interval, and the CPU time of the ended ones by that of the sums.
    fn seconds(&self, cpu: u64, ended: Option<ExitDelta>) -> f64 {
        let (from, until) = (self.a.tasks.at, self.b.tasks.at);
        let seconds = until.since(from).as_secs_f64();
        let (mut rate, mut of_ended) = (0.0, cpu);
        for (before, process) in self.living.values() {
            let used = process.cpu().saturating_sub(before.map_or(0, Process::cpu));
            let from = before.and_then(|before| before.at).unwrap_or(from);
            rate += used as f64 / process.at.unwrap_or(until).since(from).as_secs_f64();
            of_ended = of_ended.saturating_sub(used);
        }
        rate += of_ended as f64 / ended.map_or(seconds, |ended| ended.seconds);
        if rate > 0.0 { cpu as f64 / rate } else { seconds }
    }

    /// How much a counter grew, by the account of parents: that of the processes themselves, and that of their children that
    /// ended, less the part that the earlier snapshot saw. Children of processes in `beyond` may belong to the other side and
    /// do not count.
    fn grown(&self, own: impl Fn(&Process) -> u64, children: impl Fn(&Process) -> u64, beyond: &BTreeSet<u32>) -> u64 {
        if self.b.has_all_orphans() && !beyond.contains(&INIT) {
            return self.grown_with_orphans(own, children, beyond);
        }
        let mut seen = BTreeMap::<u32, u64>::new();
        for (heir, process) in &self.gone {
            if let Some(heir) = heir {
                *seen.entry(*heir).or_default() += own(process) + children(process);
            }
        }
        let grown = |(pid, (before, process)): (&u32, &(Option<&Process>, &Process))| {
            let reaped = children(process).saturating_sub(before.map_or(0, &children));
            let reaped = reaped.saturating_sub(seen.get(pid).copied().unwrap_or(0));
            let reaped = if beyond.contains(pid) { 0 } else { reaped };
            own(process).saturating_sub(before.map_or(0, &own)) + reaped
        };
        self.living.iter().map(grown).sum()
    }

    /// The same for a side to which all orphans belong. Init, not the nearest ancestor, holds the account of an ended orphan.
    /// Which of them holds it is not known afterwards, so the part that was seen is subtracted from the sum over all.
    fn grown_with_orphans(
        &self,
        own: impl Fn(&Process) -> u64,
        children: impl Fn(&Process) -> u64,
        beyond: &BTreeSet<u32>,
    ) -> u64 {
        let since = |of: &dyn Fn(&Process) -> u64, (before, process): &(Option<&Process>, &Process)| {
            of(process).saturating_sub(before.map_or(0, of))
        };
        let lived: u64 = self.living.values().map(|pair| since(&own, pair)).sum();
        let waited_for = self.living.iter().filter(|(pid, _)| !beyond.contains(pid));
        let reaped: u64 = waited_for.map(|(_, pair)| since(&children, pair)).sum();
        let accounted = self.gone.iter().filter(|(heir, _)| heir.is_some_and(|heir| !beyond.contains(&heir)));
        let seen: u64 = accounted.map(|(_, process)| own(process) + children(process)).sum();
        lived + reaped.saturating_sub(seen)
    }

    /// How much a counter grew, by births and last accounts: that of the living processes, and that of the ended ones less
    /// their earlier counters.
    fn with_ends(&self, own: impl Fn(&Process) -> u64, ended: u64) -> u64 {
        let of_pair =
            |(before, process): &(Option<&Process>, &Process)| own(process).saturating_sub(before.map_or(0, &own));
        let living: u64 = self.living.values().map(of_pair).sum();
        let before: u64 = self.gone.iter().map(|(_, process)| own(process)).sum();
        living + ended.saturating_sub(before)
    }

    /// Time that ended tasks waited for block devices, less the part in the earlier snapshot.
    fn unseen(&self, ended: TaskTotals) -> u64 {
        let seen: u64 = self.gone.iter().map(|(_, process)| nanos(process.stat.block_delay)).sum();
        ended.block_delay.saturating_sub(seen)
    }

    /// Counters of living threads, and those of ended threads less their part in the earlier snapshot.
    fn of_threads(&self, ended: TaskTotals) -> ThreadDelta {
        let mut sum = ThreadDelta::default();
        let mut seen = ThreadDelta::default();
        for (_, process) in &self.gone {
            process.threads.values().for_each(|thread| seen.add(None, thread));
        }
        for (before, process) in self.living.values() {
            for (tid, thread) in &process.threads {
                sum.add(before.and_then(|before| before.threads.get(tid)), thread);
            }
            let before = before.iter().flat_map(|before| &before.threads);
            before.filter(|(tid, _)| !process.threads.contains_key(tid)).for_each(|(_, thread)| seen.add(None, thread));
        }
        ThreadDelta {
            wait: sum.wait + ended.wait.saturating_sub(seen.wait),
            slices: sum.slices + ended.dispatches.saturating_sub(seen.slices),
            voluntary: sum.voluntary + ended.voluntary.saturating_sub(seen.voluntary),
            involuntary: sum.involuntary + ended.involuntary.saturating_sub(seen.involuntary),
        }
    }
}

/// `found` if it is the same process: the kernel uses process ids again.
fn same<'a>(found: Option<&'a Process>, process: &Process) -> Option<&'a Process> {
    found.filter(|found| found.stat.start == process.stat.start)
}

#[cfg(test)]
mod tests;
