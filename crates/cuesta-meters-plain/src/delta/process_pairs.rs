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

use super::tasks::{ExitDelta, TaskDelta};
use crate::kernel::taskstats::{ProcessUsage, TaskTotals};
use crate::snapshot::tasks::{Process, Tasks, Thread, nanos};

/// The process that becomes the parent of orphans, unless another process has asked to (`PR_SET_CHILD_SUBREAPER`).
const INIT: u32 = 1;

/// The subject's tasks, or those of all others.
#[derive(Debug, Clone, Copy)]
pub(super) struct TaskSide<'a> {
    tasks: &'a Tasks,
    processes: &'a BTreeMap<u32, Process>,
    /// Processes whose children alone belong to this side.
    reapers: Option<&'a BTreeMap<u32, Process>>,
    other_side: &'a BTreeMap<u32, Process>,
}

impl<'a> TaskSide<'a> {
    pub(super) fn subject(tasks: &'a Tasks) -> Self {
        Self { tasks, processes: &tasks.processes, reapers: Some(&tasks.reapers), other_side: &tasks.others }
    }

    pub(super) fn others(tasks: &'a Tasks) -> Self {
        Self { tasks, processes: &tasks.others, reapers: None, other_side: &tasks.processes }
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
    fn parents_of_other_side(self) -> impl Iterator<Item = u32> {
        let reapers = self.tasks.reapers.keys().filter(move |_| self.reapers.is_none());
        self.other_side.values().map(|process| process.stat.parent).chain(reapers.copied())
    }

    /// Processes that may have waited for orphans of the other side, if that has processes: its ancestors, and init even if
    /// it is none of them.
    fn heirs_of_other_side(self) -> impl Iterator<Item = u32> {
        let most = self.processes.len() + self.other_side.len() + 1; // the parents of a saved snapshot may form a cycle
        let parent = move |pid: &u32| {
            let process = self.processes.get(pid).or_else(|| self.other_side.get(pid));
            process.map(|process| process.stat.parent)
        };
        let ancestors =
            self.other_side.values().flat_map(move |process| successors(Some(process.stat.parent), parent).take(most));
        ancestors.chain((!self.other_side.is_empty()).then_some(INIT))
    }
}

/// A process of the later snapshot, after its state in the earlier one if it was there.
type Pair<'a> = (Option<&'a Process>, &'a Process);

/// The processes of the later snapshot, each with its state in the earlier one, and the processes that ended in between.
pub(super) struct ProcessPairs<'a> {
    earlier: TaskSide<'a>,
    later: TaskSide<'a>,
    living: BTreeMap<u32, Pair<'a>>,
    /// Ended processes, each with the living process that holds its account now, if that is one of the pairs.
    gone: Vec<(Option<u32>, &'a Process)>,
}

impl<'a> ProcessPairs<'a> {
    pub(super) fn new(earlier: TaskSide<'a>, later: TaskSide<'a>, begun: u64) -> Self {
        let before = |pid: &u32, process: &Process| same(earlier.find(*pid), process);
        // A process that began before the earlier snapshot and is not in it joined the subject later. Its counters at the
        // earlier snapshot are not known, so it counts from the next snapshot on.
        let new = |process: &Process| nanos(process.stat.start.saturating_add(1)) >= begun;
        let pairs = later.all().map(|(pid, process)| (*pid, (before(pid, process), process)));
        let pairs: BTreeMap<_, _> = pairs.filter(|(_, (before, process))| before.is_some() || new(process)).collect();
        let lives = |pid: &u32, process: &Process| {
            same(later.processes.get(pid), process).or_else(|| same(later.other_side.get(pid), process)).is_some()
        };
        // The nearest living ancestor holds the account of an ended process, if that ancestor is still on this side.
        let heir = |process: &Process| {
            let parent = |pid: &u32| Some(earlier.processes.get(pid)?.stat.parent);
            // Bound the walk: the parents of a saved snapshot may form a cycle.
            let mut ancestors = successors(Some(process.stat.parent), parent).take(earlier.processes.len() + 1);
            let living = ancestors.find(|pid| earlier.processes.get(pid).is_none_or(|process| lives(pid, process)))?;
            pairs.contains_key(&living).then_some(living)
        };
        let ended = earlier.processes.iter().filter(|(pid, process)| !lives(pid, process));
        let gone = ended.map(|(_, process)| (heir(process), process)).collect();
        Self { earlier, later, living: pairs, gone }
    }

    pub(super) fn delta(&self, ended: Option<ExitDelta>) -> TaskDelta {
        let reported = ended.map(|ended| ended.processes);
        let mut parents_of_both: BTreeSet<u32> =
            self.earlier.parents_of_other_side().chain(self.later.parents_of_other_side()).collect();
        if ended.is_some() {
            // The other side's orphans that began and ended in between are in no snapshot. The listener has them on their side.
            parents_of_both.extend(self.earlier.heirs_of_other_side().chain(self.later.heirs_of_other_side()));
        }
        let by_parents = self.usage_by_parents(&parents_of_both);
        let usage = reported.map_or(by_parents, |reported| by_parents.max(self.usage_by_exits(reported)));
        let totals = ended.unwrap_or_default().tasks;
        TaskDelta {
            seconds: self.seconds(usage.cpu, ended),
            usage,
            block_delay: self.block_delay(totals.block_delay),
            threads: (self.earlier.tasks.threads && self.later.tasks.threads).then(|| self.of_threads(totals)),
        }
    }

    /// The interval in which the tasks used `cpu` nanoseconds. Each process is read at an instant of its own, so the CPU time of each
    /// living process is divided by its own interval, and the CPU time of the ended ones by that of the sums.
    fn seconds(&self, cpu: u64, ended: Option<ExitDelta>) -> f64 {
        let (from, until) = (self.earlier.tasks.at, self.later.tasks.at);
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

    /// How much counters grew, by the account of parents: those of the processes themselves, and those of their children that
    /// ended, less the part that the earlier snapshot saw. Children of processes in `parents_of_both` may belong to the other side and
    /// do not count.
    fn usage_by_parents(&self, parents_of_both: &BTreeSet<u32>) -> ProcessUsage {
        if self.later.has_all_orphans() && !parents_of_both.contains(&INIT) {
            return self.usage_by_parents_with_orphans(parents_of_both);
        }
        let mut seen = BTreeMap::<u32, ProcessUsage>::new();
        for (heir, process) in self.gone.iter().filter_map(|(heir, process)| Some(((*heir)?, process))) {
            let sum = seen.entry(heir).or_default();
            *sum = sum.plus(process.usage()).plus(process.usage_of_children());
        }
        let reaped = self.living.iter().filter(|(pid, _)| !parents_of_both.contains(pid)).map(|(pid, pair)| {
            since(*pair, Process::usage_of_children).since(seen.get(pid).copied().unwrap_or_default())
        });
        reaped.fold(self.usage_of_living(), ProcessUsage::plus)
    }

    /// The same for a side to which all orphans belong. Init, not the nearest ancestor, holds the account of an ended orphan.
    /// Which of them holds it is not known afterwards, so the part that was seen is subtracted from the sum over all.
    fn usage_by_parents_with_orphans(&self, parents_of_both: &BTreeSet<u32>) -> ProcessUsage {
        let waited_for = self.living.iter().filter(|(pid, _)| !parents_of_both.contains(pid));
        let reaped = sum(waited_for.map(|(_, pair)| since(*pair, Process::usage_of_children)));
        let accounted = self.gone.iter().filter(|(heir, _)| heir.is_some_and(|heir| !parents_of_both.contains(&heir)));
        let seen = sum(accounted.map(|(_, process)| process.usage().plus(process.usage_of_children())));
        self.usage_of_living().plus(reaped.since(seen))
    }

    /// How much counters grew, by births and last accounts: those of the living processes, and those of the ended ones less
    /// their earlier counters.
    fn usage_by_exits(&self, ended: ProcessUsage) -> ProcessUsage {
        let before = sum(self.gone.iter().map(|(_, process)| process.usage()));
        self.usage_of_living().plus(ended.since(before))
    }

    /// What the living processes used themselves.
    fn usage_of_living(&self) -> ProcessUsage {
        sum(self.living.values().map(|pair| since(*pair, Process::usage)))
    }

    /// Nanoseconds that tasks waited for block devices; those of ended tasks without the part in the earlier snapshot.
    fn block_delay(&self, ended: u64) -> u64 {
        let delay = |process: &Process| nanos(process.stat.block_delay);
        let grown = |(before, process): &Pair<'_>| delay(process).saturating_sub(before.map_or(0, delay));
        let living: u64 = self.living.values().map(grown).sum();
        let seen: u64 = self.gone.iter().map(|(_, process)| delay(process)).sum();
        living + ended.saturating_sub(seen)
    }

    /// Counters of living threads, and those of ended threads less their part in the earlier snapshot.
    fn of_threads(&self, ended: TaskTotals) -> TaskTotals {
        let (mut living, mut seen) = (TaskTotals::default(), TaskTotals::default());
        for thread in self.gone.iter().flat_map(|(_, process)| process.threads.values()) {
            seen = seen.plus(thread.totals());
        }
        for (before, process) in self.living.values() {
            for (tid, thread) in &process.threads {
                let before = before.and_then(|before| before.threads.get(tid)).map(Thread::totals);
                living = living.plus(thread.totals().since(before.unwrap_or_default()));
            }
            let before = before.iter().flat_map(|before| &before.threads);
            let vanished = before.filter(|(tid, _)| !process.threads.contains_key(tid));
            seen = vanished.fold(seen, |seen, (_, thread)| seen.plus(thread.totals()));
        }
        living.plus(ended.since(seen))
    }
}

fn since((before, process): Pair<'_>, usage: fn(&Process) -> ProcessUsage) -> ProcessUsage {
    usage(process).since(before.map_or(ProcessUsage::default(), usage))
}

fn sum(usages: impl Iterator<Item = ProcessUsage>) -> ProcessUsage {
    usages.fold(ProcessUsage::default(), ProcessUsage::plus)
}

/// `other` if it is the same process: the kernel uses process ids again.
fn same<'a>(other: Option<&'a Process>, process: &Process) -> Option<&'a Process> {
    other.filter(|other| other.stat.start == process.stat.start)
}

#[cfg(test)]
mod tests;
