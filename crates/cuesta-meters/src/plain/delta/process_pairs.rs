//! The processes of two snapshots, paired, and what they did in between. Pure.
//!
//! Two accounts cover processes that ended between the snapshots. A listener (`task_exits`) receives each birth and
//! each task's final account; it misses only the kernel's work that ends a process. The other account is a parent's `children`
//! counters: the CPU time and faults of the processes that it waited for; it misses all others. Neither account is ever too large,
//! so the larger one is nearer to the truth. For example, a shell has 10 s of its own and starts `cc`, which uses 3 s and ends:
//! the later snapshot has 10 s for the shell and 3 s in its `children` counter, the listener 3 s for `cc`. If `cc` had been seen
//! at 1 s, 1 s of the 3 s is subtracted.
//!
//! In the account by parents, a process that leaves the subject alive (a daemon whose parent ended) counts up to the earlier
//! snapshot. If it leaves and ends between the snapshots, it looks like one that its parent waited for: its earlier time is
//! subtracted from the time of its ancestor's other children, down to zero.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::successors;

use super::tasks::{ExitDelta, TaskDelta, ThreadDelta};
use crate::plain::snapshot::tasks::{Process, Tasks, nanos};
use crate::plain::task_exits::{ProcessUsage, TaskTotals};

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
        let beyond: BTreeSet<u32> = self.a.parents_beyond().chain(self.b.parents_beyond()).collect();
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
mod tests {
    use cuesta_record::Stamp;

    use super::*;
    use crate::plain::kernel::pid_stat::PidStat;
    use crate::plain::snapshot::tasks::Thread;

    const TICK: u64 = 10_000_000;

    fn one(begun: u64, user: u64, child_user: u64) -> Process {
        let stat =
            PidStat { start: begun, user, child_user, minor: user, child_minor: child_user, ..PidStat::default() };
        Process { stat, threads: BTreeMap::new(), at: None }
    }

    fn child(parent: u32, process: Process) -> Process {
        Process { stat: PidStat { parent, ..process.stat }, ..process }
    }

    fn tasks<const N: usize>(at: u64, processes: [(u32, Process); N]) -> Tasks {
        Tasks {
            at: Stamp::from_nanos(at),
            processes: BTreeMap::from(processes),
            reapers: BTreeMap::new(),
            others: BTreeMap::new(),
            threads: true,
        }
    }

    fn cpu(a: &Tasks, b: &Tasks) -> u64 {
        delta(a, b, a.at.as_nanos()).cpu / TICK
    }

    fn delta(a: &Tasks, b: &Tasks, begun: u64) -> TaskDelta {
        ProcessPairs::of(TaskSide::subject(a), TaskSide::subject(b), begun).delta(None)
    }

    #[test]
    fn short_lived_children_count_once() {
        let a = tasks(1000 * TICK, [(1, one(5, 10, 0)), (2, child(1, one(6, 40, 0)))]);
        // Process 2 runs for 5 ticks more and ends; process 3 begins and ends with 7.
        let b = tasks(1100 * TICK, [(1, one(5, 11, 45 + 7))]);
        assert_eq!(cpu(&a, &b), 1 + 5 + 7);
        assert_eq!(delta(&a, &b, 0).minor, 13);
    }

    #[test]
    fn a_process_that_was_read_late_has_an_interval_of_its_own() {
        let at = |ticks: u64, process: Process| Process { at: Some(Stamp::from_nanos(ticks * TICK)), ..process };
        let a = tasks(1000 * TICK, [(1, at(1000, one(5, 10, 0))), (2, at(1000, one(6, 0, 0)))]);
        // Each uses half a CPU. The second one is read 20 ticks after the first one, and has used 10 more.
        let b = tasks(1100 * TICK, [(1, at(1100, one(5, 60, 0))), (2, at(1120, one(6, 60, 0)))]);
        let delta = delta(&a, &b, 0);
        assert_eq!(delta.cpu / TICK, 110);
        assert!((delta.cpu as f64 / 1e9 / delta.seconds - 1.0).abs() < 1e-9, "{delta:?}");
    }

    #[test]
    fn a_process_id_that_is_used_again_is_another_one() {
        let a = tasks(1000 * TICK, [(1, one(5, 0, 0)), (2, child(1, one(6, 40, 0)))]);
        let b = tasks(1100 * TICK, [(1, one(5, 0, 40)), (2, child(1, one(1050, 3, 0)))]);
        assert_eq!(cpu(&a, &b), 3);
    }

    #[test]
    fn a_process_that_joins_late_counts_from_then_on() {
        let a = tasks(1000 * TICK, [(1, one(5, 0, 0))]);
        let b = tasks(1100 * TICK, [(1, one(5, 2, 0)), (9, one(700, 500, 500))]);
        assert_eq!(cpu(&a, &b), 2);
    }

    #[test]
    fn orphans_that_another_process_waited_for_never_make_a_count_negative() {
        let a = tasks(1000 * TICK, [(1, one(5, 0, 0)), (2, child(1, one(6, 400, 0)))]);
        let b = tasks(1100 * TICK, [(1, one(5, 4, 3))]);
        assert_eq!(cpu(&a, &b), 4);
    }

    #[test]
    fn a_process_that_leaves_alive_takes_no_time_from_ended_ones() {
        let a = tasks(1000 * TICK, [(11, one(5, 0, 0)), (2, child(11, one(6, 1, 0))), (3, child(2, one(7, 400, 0)))]);
        // Process 2 ends, so 3 becomes a child of init and lives on; process 4 begins and ends with 206 ticks.
        let b = tasks(1100 * TICK, [(11, one(5, 0, 1 + 206))]);
        let left = |begun| Tasks { others: BTreeMap::from([(3, one(begun, 0, 0))]), ..b.clone() };
        assert_eq!(cpu(&a, &left(7)), 206);
        assert_eq!(delta(&a, &left(7), 0).minor, 206);
        // A child of the process that left is not in this account either.
        let mut a = a;
        a.processes.insert(5, child(3, one(7, 300, 0)));
        assert_eq!(cpu(&a, &left(7)), 206);
        // Another process has its id now, so it ended too.
        assert_eq!(cpu(&a, &left(1050)), 0);
    }

    #[test]
    fn a_process_without_a_parent_in_the_subject_takes_no_time_from_its_children() {
        let daemon = |begun| child(1, one(begun, 400, 0));
        let a = tasks(1000 * TICK, [(7, one(5, 0, 0)), (8, daemon(6)), (9, child(9, one(6, 300, 0)))]);
        let b = tasks(1100 * TICK, [(7, one(5, 0, 30))]);
        assert_eq!(cpu(&a, &b), 30);
    }

    #[test]
    fn only_the_children_of_a_driver_count() {
        let driver = |child| BTreeMap::from([(7, one(1, 0, child))]);
        let a = Tasks { reapers: driver(100), ..tasks(1000 * TICK, [(8, child(7, one(5, 10, 0)))]) };
        let b = Tasks { reapers: driver(112), ..tasks(1100 * TICK, [(9, one(1050, 3, 0))]) };
        assert_eq!(cpu(&a, &b), 2 + 3);
    }

    #[test]
    fn last_accounts_cover_processes_that_no_parent_waits_for() {
        let a = tasks(1000 * TICK, [(1, one(5, 10, 0)), (2, child(1, one(6, 40, 0)))]);
        // Process 2 runs for 5 ticks more and ends; processes 3 and 4 begin and end with 7 and 9. No parent waits for any of
        // them.
        let b = tasks(1100 * TICK, [(1, one(5, 11, 0))]);
        let reported = |ticks: u64| ExitDelta {
            seconds: 1.0,
            processes: ProcessUsage { cpu: ticks * TICK, ..ProcessUsage::default() },
            ..ExitDelta::default()
        };
        let delta = |ended| {
            ProcessPairs::of(TaskSide::subject(&a), TaskSide::subject(&b), a.at.as_nanos()).delta(ended).cpu / TICK
        };
        assert_eq!((delta(None), delta(Some(reported(45 + 7 + 9)))), (1, 1 + 5 + 7 + 9));
    }

    #[test]
    fn an_orphan_that_init_waits_for_counts_once() {
        let others = |at, processes: &[(u32, Process)]| Tasks {
            others: processes.iter().cloned().collect(),
            ..tasks(at, [(7, one(5, 0, 0))])
        };
        // Process 3 ends and init inherits its child, which ends too.
        let born = [
            (1, one(1, 5, 0)),
            (2, child(1, one(6, 1, 0))),
            (3, child(2, one(7, 2, 0))),
            (4, child(3, one(8, 400, 0))),
        ];
        let a = others(1000 * TICK, &born);
        let b = others(1100 * TICK, &[(1, one(1, 6, 403)), (2, child(1, one(6, 1, 2)))]);
        let delta = ProcessPairs::of(TaskSide::others(&a), TaskSide::others(&b), a.at.as_nanos()).delta(None);
        assert_eq!(delta.cpu / TICK, 1 + 3);
    }

    #[test]
    fn work_of_others_is_not_the_subjects() {
        let both = |at, subject: Process, others: [(u32, Process); 2]| Tasks {
            others: BTreeMap::from(others),
            ..tasks(at, [(10, child(1, subject))])
        };
        let a = both(1000 * TICK, one(5, 10, 0), [(1, one(1, 100, 30)), (2, child(1, one(1, 7, 0)))]);
        // Process 1 waits for a child that left the subject, process 2 for one of its own.
        let b = both(1100 * TICK, one(5, 40, 0), [(1, one(1, 103, 80)), (2, child(1, one(1, 9, 4)))]);
        let delta = ProcessPairs::of(TaskSide::others(&a), TaskSide::others(&b), a.at.as_nanos()).delta(None);
        assert_eq!(delta.cpu / TICK, 3 + 2 + 4);
    }

    #[test]
    fn threads_are_exact_until_one_has_ended() {
        let with = |user, runs: &[u64]| {
            let threads = runs.iter().enumerate().map(|(tid, run)| {
                let sched = crate::plain::kernel::schedstat::SchedStat { run: *run, wait: run / 10, slices: 1 };
                (tid as u32, Thread { sched, switches: Some((2, 1)) })
            });
            Process { threads: threads.collect(), ..one(5, user, 0) }
        };
        assert_eq!(with(5, &[31_234_567, 22_000_000]).cpu(), 53_234_567);
        // A thread that ran for 26.6 ms has ended.
        assert_eq!(with(2, &[612_345]).cpu(), 2 * TICK);
        assert_eq!(with(500, &[31_234_567]).cpu(), 500 * TICK);
        let (a, b) = (tasks(0, [(1, with(1, &[1000, 0]))]), tasks(TICK, [(1, with(1, &[5000, 2000]))]));
        let threads = delta(&a, &b, 0).threads.unwrap();
        assert_eq!(threads, ThreadDelta { wait: 600, slices: 0, voluntary: 0, involuntary: 0 });
    }
}
