//! Events: the subject's if the kernel counts them by task, else the machine's.

use std::collections::BTreeMap;

use cuesta_meters_report::{Count, Counts, Figure, Subject};

use super::tasks::TaskDelta;
use super::{Delta, UNTRACED, UNTRACED_CALLS};
use crate::CounterSnapshot;
use crate::kernel::diskstats::DeviceCounters;
use crate::kernel::grown;
use crate::kernel::sched::RunQueue;
use crate::kernel::stat::Stat;
use crate::kernel::taskstats::{ProcessUsage, TaskTotals};

const NO_WAKEUPS: &str = "only a kernel with CONFIG_SCHEDSTATS counts them, while `sysctl kernel.sched_schedstats=1`";

impl Delta<'_> {
    pub(super) fn counts(&self) -> Counts {
        let part = self.is_part();
        let (minor_faults, major_faults) = if part { self.own_faults() } else { self.faults() };
        let of_threads = |counter: fn(&TaskTotals) -> u64| {
            let totals = self.own_tasks.and_then(TaskDelta::thread_totals);
            totals.map(|totals| Count::new(counter(totals), self.seconds))
        };
        let each_kind = "the machine counts both kinds together";
        let (voluntary_switches, involuntary_switches) = if part {
            (of_threads(|totals| totals.voluntary), of_threads(|totals| totals.involuntary))
        } else {
            (Figure::absent(each_kind), Figure::absent(each_kind))
        };
        let switches = if part {
            voluntary_switches.with(&involuntary_switches, |a, b| Count::new(a.count + b.count, self.seconds))
        } else {
            self.count(|snapshot| &snapshot.stat, |stat| stat.switches)
        };
        Counts {
            minor_faults,
            major_faults,
            voluntary_switches,
            involuntary_switches,
            switches,
            wakeups: self.wakeups(),
            interrupts: self.interrupts(|snapshot| &snapshot.interrupts, |stat| stat.interrupts),
            softirqs: self.interrupts(|snapshot| &snapshot.softirqs, |stat| stat.softirqs),
            forks: self.count(|snapshot| &snapshot.stat, |stat| stat.forks),
            execs: self.missing(UNTRACED),
            system_calls: self.missing(UNTRACED_CALLS),
            ios: self.ios(),
            of_machine: self.of_machine().iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    /// The names of counts that cover more than the subject.
    fn of_machine(&self) -> &'static [&'static str] {
        match self.later.subject {
            Subject::Machine => &[],
            Subject::Cpus(_) => &["minor_faults", "major_faults", "switches", "forks", "ios"],
            Subject::Process(_) | Subject::Children(_) | Subject::Cgroup(_) => {
                &["interrupts", "softirqs", "forks", "wakeups", "ios"]
            }
        }
    }

    fn faults(&self) -> (Figure<Count>, Figure<Count>) {
        let minor = self.count(|snapshot| &snapshot.vmstat, |vmstat| vmstat.faults.checked_sub(vmstat.major));
        (minor, self.count(|snapshot| &snapshot.vmstat, |vmstat| Some(vmstat.major)))
    }

    fn own_faults(&self) -> (Figure<Count>, Figure<Count>) {
        let of_group = |snapshot: &CounterSnapshot| snapshot.group.and_then(|group| group.faults.clone());
        let group = of_group(self.earlier).with(&of_group(self.later), |a, b| {
            let minor = grown(a.faults, b.faults).unwrap_or(0);
            let major = grown(a.major, b.major).unwrap_or(0);
            (Count::new(minor.saturating_sub(major), self.seconds), Count::new(major, self.seconds))
        });
        if matches!(self.later.subject, Subject::Cgroup(_)) && group.value().is_some() {
            return (group.map(|both| both.0), group.map(|both| both.1));
        }
        let count = |faults: fn(&ProcessUsage) -> u64| {
            self.own_tasks.map(|tasks| Count::new(faults(&tasks.usage), self.seconds))
        };
        (count(|usage| usage.minor), count(|usage| usage.major))
    }

    fn wakeups(&self) -> Figure<Count> {
        let wakeups = |queues: &BTreeMap<usize, RunQueue>| {
            Some(queues.values().map(|queue| queue.wakeups).sum::<u64>()).filter(|wakeups| *wakeups > 0)
        };
        let counted = self.count(|snapshot| &snapshot.queues, wakeups);
        if counted.value().is_some() { counted } else { self.missing(NO_WAKEUPS) }
    }

    /// By CPU for a CPU set, else for the machine.
    fn interrupts(
        &self,
        by_cpu: impl Fn(&CounterSnapshot) -> &Figure<BTreeMap<usize, u64>>,
        all: impl Fn(&Stat) -> Option<u64>,
    ) -> Figure<Count> {
        if matches!(self.later.subject, Subject::Cpus(_)) {
            let sum = |table: &BTreeMap<usize, u64>| {
                self.cpus.keys().map(|cpu| table.get(cpu).copied().unwrap_or(0)).sum::<u64>()
            };
            return self.count(|snapshot| by_cpu(snapshot), |table| Some(sum(table)));
        }
        self.count(|snapshot| &snapshot.stat, all)
    }

    fn ios(&self) -> Figure<Count> {
        let both = self.earlier.devices.with(&self.later.devices, |a, b| {
            let requests = |(name, device): (&String, &DeviceCounters)| {
                let before = a.get(name).copied().unwrap_or_default();
                let (reads, writes) = (grown(before.reads, device.reads), grown(before.writes, device.writes));
                reads.unwrap_or(0).saturating_add(writes.unwrap_or(0))
            };
            // A request to a stacked device is a request to the device below it too.
            let lowest = b.iter().filter(|(name, _)| !self.later.stacked.contains(*name));
            lowest.map(requests).fold(0, u64::saturating_add)
        });
        both.map(|count| Count::new(*count, self.seconds))
    }
}
