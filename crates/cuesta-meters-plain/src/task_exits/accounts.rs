//! The owner of each ended task, and sums of their work. Pure: births, ends and snapshots in, sums out.
//!
//! A process belongs to the subject if its parent at birth did, even if it leaves that parent later. While it lives, its own
//! account counts; afterwards, the last accounts of its tasks do.

use std::collections::{HashMap, HashSet};

use cuesta_record::Stamp;
use serde::{Deserialize, Serialize};

use crate::kernel::taskstats::{LastAccount, ProcessUsage, TaskTotals};
use crate::snapshot::tasks::{Process, Tasks};

/// Work of all tasks that ended since the listener started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct ExitTotals {
    /// When the listener started; sums of two listeners do not compare.
    pub(crate) since: Stamp,
    /// When the sums were read.
    #[serde(default)]
    pub(crate) at: Stamp,
    /// Whether births are reported too, so that a process that leaves its parent is not lost.
    pub(crate) births: bool,
    pub(crate) subject: SideTotals,
    /// Sums of all processes that are not the subject's.
    pub(crate) others: SideTotals,
    /// How often the kernel's buffer was full and messages were lost.
    pub(crate) overruns: u64,
}

/// Sums of one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct SideTotals {
    /// Counters of ended tasks; the process of some may live on.
    pub(crate) tasks: TaskTotals,
    /// Counters of ended processes.
    pub(crate) processes: ProcessUsage,
}

impl SideTotals {
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self { tasks: self.tasks.since(earlier.tasks), processes: self.processes.since(earlier.processes) }
    }
}

/// A process whose time is not in the sums yet.
#[derive(Debug, Default)]
struct OpenProcess {
    is_subject: bool,
    /// When it began, if a snapshot saw it.
    start: Option<u64>,
    /// Its usage in the last snapshot.
    seen: ProcessUsage,
    /// Its usage by the last accounts of its tasks.
    ended: ProcessUsage,
    /// Whether its first task has ended.
    is_ended: bool,
}

/// The owners of processes, and the sums.
#[derive(Debug)]
pub(super) struct ExitAccounts {
    /// Whether all processes are the subject's.
    all: bool,
    /// Processes outside the subject whose children belong to it.
    parents: Vec<u32>,
    /// Processes that are the subject's; some of them may have ended.
    known: HashSet<u32>,
    /// Processes forked since the last snapshot.
    newborn: HashSet<u32>,
    open: HashMap<u32, OpenProcess>,
    pub(super) sum: ExitTotals,
}

/// With more open processes than this, ended ones are removed even without a snapshot.
const MANY: usize = 4096;

impl ExitAccounts {
    pub(super) fn new(all: bool, since: Stamp, births: bool) -> Self {
        let sum = ExitTotals { since, births, ..ExitTotals::default() };
        Self { all, parents: Vec::new(), known: HashSet::new(), newborn: HashSet::new(), open: HashMap::new(), sum }
    }

    /// The subject's processes, by their births.
    pub(super) fn known(&self) -> &HashSet<u32> {
        &self.known
    }

    /// A process was forked.
    pub(super) fn born(&mut self, process: u32, parent: u32) {
        // Its id may have been another process's.
        if let Some(former) = self.open.remove(&process) {
            self.close(&former);
        }
        if self.known.contains(&parent) || self.parents.contains(&parent) {
            self.known.insert(process);
            self.newborn.insert(process);
        } else {
            self.known.remove(&process);
        }
    }

    /// Tasks have ended. Without births, their parents decide their owner.
    pub(super) fn ended(&mut self, accounts: &[LastAccount]) {
        while !self.sum.births && !self.all {
            let before = self.known.len();
            for account in accounts {
                if self.known.contains(&account.parent) || self.parents.contains(&account.parent) {
                    self.known.insert(account.process);
                }
            }
            if self.known.len() == before {
                break;
            }
        }
        for account in accounts {
            self.take(account);
        }
    }

    fn take(&mut self, account: &LastAccount) {
        let is_subject = self.all || self.known.contains(&account.process);
        let open = self.open.entry(account.process).or_default();
        open.is_subject = is_subject;
        open.is_ended |= account.task == account.process;
        open.ended = open.ended.plus(account.usage);
        let sum = &mut self.side(is_subject).tasks;
        *sum = sum.plus(account.waits);
    }

    /// Adds ended processes to the sums if there may be many.
    pub(super) fn sweep(&mut self, is_there: impl Fn(u32) -> bool) {
        if self.open.len() > MANY {
            self.close_those(|pid, open| open.is_ended && !is_there(pid));
        }
    }

    /// A snapshot of tasks: these processes live, all other known ones have ended.
    pub(super) fn read(&mut self, tasks: &Tasks) {
        self.parents = tasks.reapers.keys().copied().collect();
        for (pid, process) in &tasks.processes {
            self.see(*pid, process, true);
        }
        for (pid, process) in &tasks.others {
            self.see(*pid, process, false);
        }
        let lives = |pid: u32| tasks.processes.contains_key(&pid) || tasks.others.contains_key(&pid);
        self.close_those(|pid, open| !lives(pid) && (open.is_ended || open.start.is_some()));
        let newborn = std::mem::take(&mut self.newborn);
        self.known.retain(|pid| tasks.processes.contains_key(pid) || newborn.contains(pid));
    }

    fn see(&mut self, pid: u32, process: &Process, is_subject: bool) {
        if is_subject {
            self.known.insert(pid);
        }
        let start = Some(process.stat.start);
        if self.open.get(&pid).is_some_and(|open| open.start.is_some() && open.start != start)
            && let Some(former) = self.open.remove(&pid)
        {
            self.close(&former);
        }
        let open = self.open.entry(pid).or_default();
        (open.is_subject, open.start, open.seen) = (is_subject || self.all, start, process.usage());
    }

    fn close_those(&mut self, has_vanished: impl Fn(u32, &OpenProcess) -> bool) {
        let vanished: Vec<OpenProcess> =
            self.open.extract_if(|pid, open| has_vanished(*pid, open)).map(|(_, open)| open).collect();
        for open in &vanished {
            self.close(open);
        }
    }

    /// Adds an ended process to the sums. Neither account of a process is ever too large: last accounts lack tasks that ended before
    /// the listener started, and the last snapshot lacks later work.
    fn close(&mut self, process: &OpenProcess) {
        let sum = &mut self.side(process.is_subject).processes;
        *sum = sum.plus(process.seen.max(process.ended));
    }

    fn side(&mut self, is_subject: bool) -> &mut SideTotals {
        if is_subject { &mut self.sum.subject } else { &mut self.sum.others }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::kernel::pid_stat::PidStat;

    fn tasks(subject: &[u32], others: &[u32]) -> Tasks {
        let process = |pid: &u32| {
            let stat = PidStat { start: u64::from(*pid), minor: 1, ..PidStat::default() };
            (*pid, Process { stat, threads: BTreeMap::new(), at: None })
        };
        Tasks {
            at: Stamp::ZERO,
            processes: subject.iter().map(process).collect(),
            reapers: BTreeMap::new(),
            others: others.iter().map(process).collect(),
            threads: true,
        }
    }

    fn end(process: u32, parent: u32) -> LastAccount {
        LastAccount {
            task: process,
            process,
            parent,
            usage: ProcessUsage { cpu: 100, minor: 7, ..ProcessUsage::default() },
            waits: TaskTotals { tasks: 1, ..TaskTotals::default() },
        }
    }

    fn accounts(births: bool) -> ExitAccounts {
        let mut accounts = ExitAccounts::new(false, Stamp::ZERO, births);
        accounts.read(&tasks(&[10], &[1]));
        accounts
    }

    #[test]
    fn a_detached_process_belongs_to_the_subject_by_birth() {
        let mut accounts = accounts(true);
        accounts.born(11, 10);
        accounts.born(12, 11);
        accounts.born(20, 1);
        accounts.ended(&[end(11, 10), end(12, 1), end(20, 1)]);
        accounts.read(&tasks(&[10], &[1]));
        assert_eq!((accounts.sum.subject.processes.cpu, accounts.sum.others.processes.cpu), (200, 100));
        assert_eq!(accounts.sum.subject.tasks.tasks, 2);
    }

    #[test]
    fn without_births_parents_decide_the_owner() {
        let mut accounts = accounts(false);
        accounts.ended(&[end(12, 11), end(11, 10), end(20, 1)]);
        accounts.read(&tasks(&[10], &[1]));
        assert_eq!((accounts.sum.subject.processes.cpu, accounts.sum.others.processes.cpu), (200, 100));
    }

    #[test]
    fn a_living_process_is_not_in_the_sums() {
        let mut accounts = accounts(true);
        accounts.born(11, 10);
        accounts.ended(&[end(11, 10)]);
        accounts.read(&tasks(&[10, 11], &[1]));
        assert_eq!(accounts.sum.subject.processes, ProcessUsage::default());
        accounts.read(&tasks(&[10], &[1]));
        assert_eq!(accounts.sum.subject.processes.minor, 7);
        // An ended process without last accounts counts with its last snapshot.
        accounts.read(&tasks(&[], &[1]));
        assert_eq!(accounts.sum.subject.processes.minor, 8);
    }

    #[test]
    fn a_reused_id_is_another_process() {
        let mut accounts = accounts(true);
        accounts.born(11, 10);
        accounts.ended(&[end(11, 10)]);
        accounts.born(11, 1);
        accounts.ended(&[end(11, 1)]);
        accounts.read(&tasks(&[10], &[1]));
        assert_eq!((accounts.sum.subject.processes.cpu, accounts.sum.others.processes.cpu), (100, 100));
        assert!(!accounts.known().contains(&11));
    }

    #[test]
    fn ended_processes_are_removed_even_without_snapshots() {
        let mut accounts = accounts(true);
        for process in 100..100 + 2 * MANY as u32 {
            accounts.born(process, 10);
            accounts.ended(&[end(process, 10)]);
            accounts.sweep(|_| false);
        }
        assert!(accounts.open.len() <= MANY + 1);
        accounts.read(&tasks(&[10], &[1]));
        assert_eq!(accounts.sum.subject.processes.cpu, 100 * 2 * MANY as u64);
    }
}
