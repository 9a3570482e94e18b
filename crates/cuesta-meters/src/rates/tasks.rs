//! What the subject's tasks did between two readings, those that came and went included as far as the kernel keeps it.
//!
//! When a process has ended and its parent has waited for it, the kernel has added its CPU time and faults to the parent's
//! children's. So those are counted of processes that no reading saw. Run-queue delay, switches and waits for devices of such
//! are known if somebody listened to their ends, else lost.
//!
//! What leaves the subject alive (a daemon whose parent ended) counts up to the reading before. One that left and ended
//! between the same two readings is not told from one that was waited for: what was seen of it is taken off the time of its
//! ancestor's other children, as far as these had any.

use std::collections::BTreeMap;
use std::iter::successors;

use crate::Figure;
use crate::Reading;
use crate::reading::tasks::{Process, Tasks, Thread, tick};

/// What the tasks did. Times are nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Done {
    /// Between the readings of the tasks.
    pub(crate) seconds: f64,
    pub(crate) cpu: u64,
    /// Split by ticks.
    pub(crate) user: u64,
    /// Split by ticks.
    pub(crate) system: u64,
    pub(crate) minor: u64,
    pub(crate) major: u64,
    /// Waited for block devices.
    pub(crate) block_delay: u64,
    /// Of threads, if they were looked at.
    pub(crate) threads: Option<OfThreads>,
}

impl Done {
    /// What threads did, where each was looked at.
    pub(crate) fn of_threads(&self) -> Figure<OfThreads> {
        let many = || Figure::unmetered("there are too many threads to look at each: name a control group");
        self.threads.map_or_else(many, Figure::plain)
    }
}

/// What only threads' own files tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct OfThreads {
    /// Ready without a CPU.
    pub(crate) wait: u64,
    pub(crate) slices: u64,
    pub(crate) voluntary: u64,
    pub(crate) involuntary: u64,
}

pub(crate) fn done(earlier: &Reading, later: &Reading) -> Figure<Done> {
    let begun = earlier.at.as_nanos();
    let ended = Since::of(earlier, later);
    earlier.tasks.with(&later.tasks, |a, b| Pairs::of(a, b, begun).done(a, b, ended))
}

/// What tasks that ended between two readings had done, from their own beginning on.
#[derive(Debug, Clone, Copy, Default)]
struct Since {
    threads: OfThreads,
    block_delay: u64,
}

impl Since {
    /// None if nobody listened all the while, or not all was told.
    fn of(earlier: &Reading, later: &Reading) -> Option<Self> {
        let (a, b) = (earlier.ended.value()?, later.ended.value()?);
        (a.since == b.since && a.overruns == b.overruns).then(|| Self {
            threads: OfThreads {
                wait: b.wait.saturating_sub(a.wait),
                slices: b.dispatches.saturating_sub(a.dispatches),
                voluntary: b.voluntary.saturating_sub(a.voluntary),
                involuntary: b.involuntary.saturating_sub(a.involuntary),
            },
            block_delay: b.block_delay.saturating_sub(a.block_delay),
        })
    }
}

/// The processes of the later reading, each with what it was in the earlier one; and those that ended meanwhile.
struct Pairs<'a> {
    pairs: BTreeMap<u32, (Option<&'a Process>, &'a Process)>,
    /// Each with who has its account now, if that is one of the pairs.
    gone: Vec<(Option<u32>, &'a Process)>,
}

impl<'a> Pairs<'a> {
    fn of(a: &'a Tasks, b: &'a Tasks, begun: u64) -> Self {
        let before = |pid: &u32, process: &Process| same(a.processes.get(pid).or_else(|| a.reapers.get(pid)), process);
        // What had begun before the earlier reading and was not in it joined the subject later: where it stood then is
        // not known, and it counts from the next reading on.
        let new = |process: &Process| (process.stat.start.saturating_add(1)).saturating_mul(tick()) >= begun;
        let pairs = b.processes.iter().chain(&b.reapers).map(|(pid, process)| (*pid, (before(pid, process), process)));
        let pairs: BTreeMap<_, _> = pairs.filter(|(_, (before, process))| before.is_some() || new(process)).collect();
        let lives = |pid: &u32, process: &Process| {
            same(b.processes.get(pid), process).is_some() || b.others.get(pid) == Some(&process.stat.start)
        };
        // Who has the account of one that ended: its nearest ancestor that lives, if that is still the subject's.
        let heir = |process: &Process| {
            let parent = |pid: &u32| Some(a.processes.get(pid)?.stat.parent);
            // Not for ever, should a reading that somebody kept go in circles.
            let mut ancestors = successors(Some(process.stat.parent), parent).take(a.processes.len() + 1);
            let living = ancestors.find(|pid| a.processes.get(pid).is_none_or(|process| lives(pid, process)))?;
            pairs.contains_key(&living).then_some(living)
        };
        let ended = a.processes.iter().filter(|(pid, process)| !lives(pid, process));
        let gone = ended.map(|(_, process)| (heir(process), process)).collect();
        Self { pairs, gone }
    }

    fn done(&self, a: &Tasks, b: &Tasks, ended: Option<Since>) -> Done {
        let nanos = |ticks: u64| ticks.saturating_mul(tick());
        Done {
            seconds: b.at.since(a.at).as_secs_f64(),
            cpu: self.grown(own_cpu, |p| nanos(p.stat.child_user.saturating_add(p.stat.child_system))),
            user: self.grown(|p| nanos(p.stat.user), |p| nanos(p.stat.child_user)),
            system: self.grown(|p| nanos(p.stat.system), |p| nanos(p.stat.child_system)),
            minor: self.grown(|p| p.stat.minor, |p| p.stat.child_minor),
            major: self.grown(|p| p.stat.major, |p| p.stat.child_major),
            block_delay: self.grown(|p| nanos(p.stat.block_delay), |_| 0) + ended.map_or(0, |ended| self.unseen(ended)),
            threads: (a.threads && b.threads).then(|| self.of_threads(ended.unwrap_or_default().threads)),
        }
    }

    /// What a figure grew by: of the processes themselves, and of their children that ended meanwhile. Of what those had
    /// before, the part that an earlier reading saw is taken off.
    fn grown(&self, own: impl Fn(&Process) -> u64, children: impl Fn(&Process) -> u64) -> u64 {
        let mut seen = BTreeMap::<u32, u64>::new();
        for (heir, process) in &self.gone {
            if let Some(heir) = heir {
                *seen.entry(*heir).or_default() += own(process) + children(process);
            }
        }
        let grown = |(pid, (before, process)): (&u32, &(Option<&Process>, &Process))| {
            let reaped = children(process).saturating_sub(before.map_or(0, &children));
            let reaped = reaped.saturating_sub(seen.get(pid).copied().unwrap_or(0));
            own(process).saturating_sub(before.map_or(0, &own)) + reaped
        };
        self.pairs.iter().map(grown).sum()
    }

    /// Waits for block devices of tasks that ended, but for what the earlier reading had of them.
    fn unseen(&self, ended: Since) -> u64 {
        let seen: u64 = self.gone.iter().map(|(_, process)| process.stat.block_delay.saturating_mul(tick())).sum();
        ended.block_delay.saturating_sub(seen)
    }

    /// What living threads did; and what those that ended had done, but for what the earlier reading had of them.
    fn of_threads(&self, ended: OfThreads) -> OfThreads {
        let mut sum = OfThreads::default();
        let mut seen = OfThreads::default();
        for (_, process) in &self.gone {
            process.threads.values().for_each(|thread| seen.add(None, thread));
        }
        for (before, process) in self.pairs.values() {
            for (tid, thread) in &process.threads {
                sum.add(before.and_then(|before| before.threads.get(tid)), thread);
            }
            let before = before.iter().flat_map(|before| &before.threads);
            before.filter(|(tid, _)| !process.threads.contains_key(tid)).for_each(|(_, thread)| seen.add(None, thread));
        }
        OfThreads {
            wait: sum.wait + ended.wait.saturating_sub(seen.wait),
            slices: sum.slices + ended.slices.saturating_sub(seen.slices),
            voluntary: sum.voluntary + ended.voluntary.saturating_sub(seen.voluntary),
            involuntary: sum.involuntary + ended.involuntary.saturating_sub(seen.involuntary),
        }
    }
}

/// The process that has the number of another, if it is that one: numbers are used again.
fn same<'a>(found: Option<&'a Process>, process: &Process) -> Option<&'a Process> {
    found.filter(|found| found.stat.start == process.stat.start)
}

impl OfThreads {
    fn add(&mut self, before: Option<&Thread>, thread: &Thread) {
        let sched = before.map(|before| before.sched).unwrap_or_default();
        self.wait += thread.sched.wait.saturating_sub(sched.wait);
        self.slices += thread.sched.slices.saturating_sub(sched.slices);
        let earlier = before.and_then(|before| before.switches).unwrap_or_default();
        let (voluntary, involuntary) = thread.switches.unwrap_or_default();
        self.voluntary += voluntary.saturating_sub(earlier.0);
        self.involuntary += involuntary.saturating_sub(earlier.1);
    }
}

/// CPU time of a process: to the nanosecond by its threads, unless some have ended; then by ticks, of which the kernel leaves
/// out what user and system time have above whole ones: up to two. Neither is ever too much: the larger one is nearer.
fn own_cpu(process: &Process) -> u64 {
    let by_ticks = process.stat.own().saturating_mul(tick());
    let by_threads: u64 = process.threads.values().map(|thread| thread.sched.run).sum();
    by_threads.max(by_ticks)
}

#[cfg(test)]
mod tests {
    use cuesta_record::Stamp;

    use super::*;
    use crate::kernel::pid_stat::PidStat;

    const TICK: u64 = 10_000_000;

    fn one(begun: u64, user: u64, child_user: u64) -> Process {
        let stat =
            PidStat { start: begun, user, child_user, minor: user, child_minor: child_user, ..PidStat::default() };
        Process { stat, threads: BTreeMap::new() }
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
        Pairs::of(a, b, a.at.as_nanos()).done(a, b, None).cpu / TICK
    }

    #[test]
    fn children_that_came_and_went_are_counted_once() {
        let a = tasks(1000 * TICK, [(1, one(5, 10, 0)), (2, child(1, one(6, 40, 0)))]);
        // Process 2 ran for 5 ticks more and ended; process 3 came and went with 7.
        let b = tasks(1100 * TICK, [(1, one(5, 11, 45 + 7))]);
        assert_eq!(cpu(&a, &b), 1 + 5 + 7);
        assert_eq!(Pairs::of(&a, &b, 0).done(&a, &b, None).minor, 13);
    }

    #[test]
    fn a_process_id_that_is_used_again_is_another_one() {
        let a = tasks(1000 * TICK, [(1, one(5, 0, 0)), (2, child(1, one(6, 40, 0)))]);
        let b = tasks(1100 * TICK, [(1, one(5, 0, 40)), (2, child(1, one(1050, 3, 0)))]);
        assert_eq!(cpu(&a, &b), 3);
    }

    #[test]
    fn what_joins_late_counts_from_then_on() {
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
    fn what_leaves_alive_takes_nothing_from_those_that_ended() {
        let a = tasks(1000 * TICK, [(1, one(5, 0, 0)), (2, child(1, one(6, 1, 0))), (3, child(2, one(7, 400, 0)))]);
        // Process 2 ended, so that 3 went to init and lives on; process 4 came and went with 206 ticks.
        let b = tasks(1100 * TICK, [(1, one(5, 0, 1 + 206))]);
        let left = |begun| Tasks { others: BTreeMap::from([(3, begun)]), ..b.clone() };
        assert_eq!(cpu(&a, &left(7)), 206);
        assert_eq!(Pairs::of(&a, &left(7), 0).done(&a, &b, None).minor, 206);
        // What a child of the one that left had is not in this account either.
        let mut a = a;
        a.processes.insert(5, child(3, one(7, 300, 0)));
        assert_eq!(cpu(&a, &left(7)), 206);
        // Another process has its number now: it ended too.
        assert_eq!(cpu(&a, &left(1050)), 0);
    }

    #[test]
    fn who_has_no_parent_in_the_subject_takes_nothing_from_its_children() {
        let daemon = |begun| child(1, one(begun, 400, 0));
        let a = tasks(1000 * TICK, [(7, one(5, 0, 0)), (8, daemon(6)), (9, child(9, one(6, 300, 0)))]);
        let b = tasks(1100 * TICK, [(7, one(5, 0, 30))]);
        assert_eq!(cpu(&a, &b), 30);
    }

    #[test]
    fn of_a_driver_only_the_children_count() {
        let driver = |child| BTreeMap::from([(7, one(1, 0, child))]);
        let a = Tasks { reapers: driver(100), ..tasks(1000 * TICK, [(8, child(7, one(5, 10, 0)))]) };
        let b = Tasks { reapers: driver(112), ..tasks(1100 * TICK, [(9, one(1050, 3, 0))]) };
        assert_eq!(cpu(&a, &b), 2 + 3);
    }

    #[test]
    fn threads_are_exact_until_one_has_ended() {
        let with = |user, runs: &[u64]| {
            let threads = runs.iter().enumerate().map(|(tid, run)| {
                let sched = crate::kernel::schedstat::SchedStat { run: *run, wait: run / 10, slices: 1 };
                (tid as u32, Thread { sched, switches: Some((2, 1)) })
            });
            Process { threads: threads.collect(), ..one(5, user, 0) }
        };
        assert_eq!(own_cpu(&with(5, &[31_234_567, 22_000_000])), 53_234_567);
        // A thread has ended that had run for 26.6 ms.
        assert_eq!(own_cpu(&with(2, &[612_345])), 2 * TICK);
        assert_eq!(own_cpu(&with(500, &[31_234_567])), 500 * TICK);
        let (a, b) = (tasks(0, [(1, with(1, &[1000, 0]))]), tasks(TICK, [(1, with(1, &[5000, 2000]))]));
        let threads = Pairs::of(&a, &b, 0).done(&a, &b, None).threads.unwrap();
        assert_eq!(threads, OfThreads { wait: 600, slices: 0, voluntary: 0, involuntary: 0 });
    }
}
