//! CPU time by use, idle by kind, where the time went. All in percent of the CPUs that are compared.

use std::collections::BTreeMap;

use cuesta_meters_report::{
    Closure, Cpu, Figure, Idle, NOT_ITS_OWN, Network, Own, Source, Subject, TimeRow, unsampled,
};

use super::{Delta, UNTRACED, tasks};
use crate::kernel::grown;
use crate::kernel::stat::Ticks;
use crate::kernel::taskstats::ProcessUsage;
use crate::snapshot::tasks::tick;

const NO_CPU: &str = "no CPU was there throughout";
const NO_TICK: &str = "no clock tick passed in the interval";
const ALL: &str = "the subject is all that runs on these CPUs";
const MINGLED: &str = "in whose time they came, ticks do not tell: the sampled tier does";
const SAMPLED: &str = "the kernel does not time it apart: the sampled tier does";
const UNCOUNTED: &str = "not counted in this tier";
const UNTIMED: &str = "ticks are not of the interrupts that are counted: the traced tier times each";

impl Delta<'_> {
    pub(super) fn cpu(&self) -> Cpu {
        match self.earlier.stat.with(&self.later.stat, |_, _| ()) {
            Figure::Metered { .. } => shares(self.all_cpus()),
            Figure::Absent { why } => unknown(&why),
        }
    }

    /// An upper bound of the network's part: all soft interrupts of the machine.
    pub(super) fn network(&self) -> Network {
        let (machine, capacity) = self.machine();
        let seconds = self.earlier.stat.with(&self.later.stat, |_, _| seconds_of(machine.softirq));
        Network {
            percent: seconds.and_then(|seconds| Figure::quotient(100.0 * seconds, capacity, NO_TICK)),
            seconds,
            interval: unsampled(),
            in_subject: self.missing("in whose context they ran, ticks do not tell: the sampled tier does"),
        }
    }

    /// The ticks of all CPUs of the machine, and their CPU seconds.
    fn machine(&self) -> (Ticks, f64) {
        let ticks = self.beside.values().fold(self.all_cpus(), |sum, cpu| sum.and(*cpu));
        (ticks, self.seconds * (self.cpus.len() + self.beside.len()) as f64)
    }

    fn all_cpus(&self) -> Ticks {
        self.cpus.values().fold(Ticks::default(), |sum, cpu| sum.and(*cpu))
    }

    /// CPU time of the subject. For a CPU set or a machine it is all work on its CPUs.
    pub(super) fn own(&self) -> Own {
        let cpu = self.cpu();
        let busy = cpu.busy();
        if !self.is_part() {
            return Own {
                source: Source::Cpus,
                seconds: busy.map(|percent| percent / 100.0 * self.capacity()),
                percent: busy,
                usr: cpu.usr,
                sys: cpu.sys,
                others: Figure::absent(ALL),
                others_are_rest: false,
                irq: Figure::absent(ALL),
                doubt: None,
                tasks: self.threads(),
                processes: self.later.tasks.map(|tasks| tasks.processes.len() as f64),
            };
        }
        let (seconds, in_user, in_system) = self.own_seconds();
        let percent = self.own_in_interval().map(|seconds| self.percent_of_cpus(*seconds));
        let split = in_user.with(&in_system, |user, system| self.user_part(*user, *system));
        let usr = percent.with(&split, |all, user| all * user);
        let mut own = Own {
            source: self.source(),
            sys: percent.with(&usr, |all, usr| all - usr),
            usr,
            others: Figure::absent(MINGLED),
            others_are_rest: true,
            irq: Figure::absent(MINGLED),
            doubt: None,
            percent,
            seconds,
            tasks: self.threads(),
            processes: self.later.tasks.map(|tasks| tasks.processes.len() as f64),
        };
        let irq = if self.later.times_interrupts_apart() { cpu.irq } else { Figure::absent(MINGLED) };
        // Clocks of other tasks count on all CPUs, not on some.
        let others = self.clocks(&self.others).map(|seconds| self.percent_of_cpus(*seconds));
        own.others_are_rest = !self.beside.is_empty() || others.value().is_none();
        if !own.others_are_rest {
            own.others = others;
        }
        own.with_beside(&busy, &irq)
    }

    /// Where the CPU time of a part of the machine comes from.
    pub(super) fn source(&self) -> Source {
        let births = self.later.ended.value().is_some_and(|ended| ended.births);
        match (self.usage_of_group().value().is_some(), tasks::listened_throughout(self.earlier, self.later), births) {
            (true, ..) => Source::ControlGroup,
            (_, true, true) => Source::ExitRecords,
            (_, true, false) => Source::ExitRecordsByParent,
            (_, false, _) => Source::Parents,
        }
    }

    /// CPU seconds of the subject's control group: all, user and system as the kernel splits them.
    fn usage_of_group(&self) -> Figure<(f64, f64, f64)> {
        if !matches!(self.later.subject, Subject::Cgroup(_)) {
            return Figure::absent("the subject is no control group");
        }
        let usage = |group: &crate::snapshot::group::Group| group.usage.clone();
        self.earlier.group.and_then(usage).with(&self.later.group.and_then(usage), |a, b| {
            let seconds = |a, b| grown(a, b).unwrap_or(0) as f64 / 1e9;
            (seconds(a.total, b.total), seconds(a.user, b.user), seconds(a.system, b.system))
        })
    }

    /// The part of the subject's time that was in user mode. If no clock tick met the subject in the interval, it is the part
    /// of its whole life; if no tick ever did, it is 1, as the kernel assumes too.
    fn user_part(&self, user: f64, system: f64) -> f64 {
        if user + system > 0.0 {
            return user / (user + system);
        }
        let stats = self.later.tasks.value().into_iter().flat_map(|tasks| tasks.processes.values());
        let (user, system) =
            stats.fold((0, 0), |sum, process| (sum.0 + process.stat.user, sum.1 + process.stat.system));
        if user + system > 0 { user as f64 / (user + system) as f64 } else { 1.0 }
    }

    fn threads(&self) -> Figure {
        self.later.tasks.map(|tasks| tasks.processes.values().map(|process| process.stat.threads).sum::<u64>() as f64)
    }

    /// CPU seconds of the subject between two snapshots of its tasks: all, user and system as the kernel splits them. They add
    /// up over consecutive intervals.
    fn own_seconds(&self) -> (Figure, Figure, Figure) {
        let group = self.usage_of_group();
        if group.value().is_some() {
            return (group.map(|all| all.0), group.map(|all| all.1), group.map(|all| all.2));
        }
        let seconds = |nanos: fn(&ProcessUsage) -> u64| self.own_tasks.map(|tasks| nanos(&tasks.usage) as f64 / 1e9);
        (seconds(|usage| usage.cpu), seconds(|usage| usage.user), seconds(|usage| usage.system))
    }

    /// CPU seconds of the subject in the interval between the readings of the CPUs.
    fn own_in_interval(&self) -> Figure {
        let group = self.usage_of_group();
        if group.value().is_some() { group.map(|all| all.0) } else { self.clocks(&self.own_tasks) }
    }

    pub(super) fn percent_of_cpus(&self, seconds: f64) -> f64 {
        if self.cpus.is_empty() { 0.0 } else { 100.0 * seconds / self.capacity() }
    }

    pub(super) fn idle(&self) -> Idle {
        let cpu = self.cpu();
        let idle = cpu.idle.with(&cpu.iowait, |zero, waiting| zero + waiting);
        let delay = self.run_delay();
        Idle {
            zero: cpu.idle,
            io_wait: cpu.iowait,
            throttled: self.throttled(),
            quota: self.later.group.and_then(|group| group.quota.clone()),
            queued_elsewhere: idle.with(&delay, |idle, delay| idle.min(self.percent_of_cpus(*delay))),
            page_wait: self.missing(UNTRACED),
            loading: self.missing(UNTRACED),
            quota_wait: self.missing(UNTRACED),
        }
    }

    pub(super) fn kernel_idle(&self) -> Figure {
        let here = self.all_cpus();
        let idle = seconds_of(here.idle.saturating_add(here.iowait));
        Figure::quotient(100.0 * idle, self.capacity(), NO_CPU)
    }

    fn throttled(&self) -> Figure {
        let time = |snapshot: &crate::CounterSnapshot| snapshot.group.and_then(|group| group.throttled.clone());
        let barred = time(self.earlier).with(&time(self.later), |a, b| grown(a.time, b.time).unwrap_or(0));
        barred.map(|nanos| self.percent_of_cpus(*nanos as f64 / 1e9))
    }

    pub(super) fn pressure(&self) -> BTreeMap<String, Figure> {
        let mut pressure = BTreeMap::new();
        for (resource, later) in &self.later.pressure {
            let Some(earlier) = self.earlier.pressure.get(resource) else { continue };
            let percent = |micros: u64| micros as f64 / 1e4 / self.seconds;
            let both = earlier.value().zip(later.value());
            for (kind, a, b) in both.iter().flat_map(|(a, b)| [("some", a.some, b.some), ("full", a.full, b.full)]) {
                if let Some((a, b)) = a.zip(b) {
                    let stalled = percent(grown(a, b).unwrap_or(0));
                    pressure.insert(format!("{resource}_{kind}"), Figure::plain(stalled));
                }
            }
            if let Some(why) = later.why().filter(|_| resource != "irq") {
                pressure.insert(format!("{resource}_some"), Figure::absent(why));
            }
        }
        pressure
    }

    /// Rows of `total_time`: uses of the CPUs, then steal and idle. For a process or control group, its own time and that of
    /// others are apart.
    pub(super) fn total_time(&self) -> (Vec<TimeRow>, Vec<TimeRow>) {
        let (cpu, own) = (self.cpu(), self.own());
        let busy = cpu.busy();
        let of_busy = |percent: &Figure| {
            let both = percent.with(&busy, |percent, busy| (*percent, *busy));
            both.and_then(|(percent, busy)| Figure::quotient(100.0 * percent, *busy, "the CPUs were idle"))
        };
        let row = |name: &str, percent: Figure, why: &str| TimeRow {
            of_non_idle: of_busy(&percent),
            name: name.to_owned(),
            percent,
            average: self.missing(why),
        };
        let faults = self.missing(own.percent.why().unwrap_or(SAMPLED));
        let mut rows = vec![row("page faults", faults, SAMPLED)];
        if self.is_part() {
            rows.push(row("system, by ticks", own.sys.clone(), UNCOUNTED));
            rows.push(row("user, by ticks", own.usr.clone(), UNCOUNTED));
            rows.extend(own.beside().map(|(name, percent)| row(name, percent.clone(), NOT_ITS_OWN)));
        } else {
            rows.push(row("system", cpu.sys, UNCOUNTED));
            rows.push(row("user", cpu.usr, UNCOUNTED));
            rows.push(row("interrupts", cpu.irq, UNTIMED));
        }
        let idle = [("steal", cpu.steal), ("I/O-wait idle", cpu.iowait), ("zero idle", cpu.idle)];
        (rows, idle.map(|(name, percent)| TimeRow::idle(name, percent)).into())
    }

    /// Whether the parts add up to the capacity: the subject and all others by the clocks of their tasks, idle and steal by
    /// those of the CPUs. It covers all CPUs of the machine, since tasks move between CPUs. A set of CPUs has only the ticks of
    /// its uses.
    pub(super) fn closure(&self) -> Closure {
        if matches!(self.later.subject, Subject::Cpus(_)) || self.later.program.is_some() {
            let ticks = seconds_of(self.all_cpus().total());
            let accounted = Figure::quotient(100.0 * ticks, self.capacity(), NO_CPU);
            return Closure::of_cpus(accounted, self.seconds, tick() as f64 / 1e9);
        }
        let (machine, capacity) = self.machine();
        let percent = |seconds: f64| Figure::quotient(100.0 * seconds, capacity, NO_CPU);
        let idle = ("idle", percent(seconds_of(machine.idle.saturating_add(machine.iowait))));
        let steal = ("steal", percent(seconds_of(machine.steal)));
        let share = |seconds: &Figure| seconds.and_then(|seconds| percent(*seconds));
        let unseen = 100.0 * seconds_of(machine.irq.saturating_add(machine.softirq)) / capacity.max(f64::MIN_POSITIVE);
        // If the kernel times interrupts apart from tasks, they are a part of their own.
        let apart = self.later.times_interrupts_apart();
        let (interrupts, unseen) = if apart { (unseen, 0.0) } else { (0.0, unseen) };
        let interrupts = ("interrupts", Figure::plain(interrupts));
        if !self.is_part() {
            let tasks = ("tasks", share(&self.clocks(&self.own_tasks)));
            return Closure::by_clocks(&[tasks, idle, steal, interrupts], unseen, self.seconds);
        }
        let subject = ("subject", share(&self.own_in_interval()));
        let others = ("others", share(&self.clocks(&self.others)));
        Closure::by_clocks(&[subject, others, idle, steal, interrupts], unseen, self.seconds)
    }

    /// CPU seconds by the clocks of tasks, scaled to the interval of the CPUs, which are read a little earlier.
    fn clocks(&self, tasks: &Figure<super::tasks::TaskDelta>) -> Figure {
        tasks.map(|tasks| tasks.usage.cpu as f64 / 1e9 / tasks.seconds * self.seconds)
    }
}

fn seconds_of(ticks: u64) -> f64 {
    ticks as f64 * tick() as f64 / 1e9
}

pub(super) fn shares_by_cpu(cpus: &BTreeMap<usize, Ticks>) -> BTreeMap<usize, Cpu> {
    cpus.iter().map(|(cpu, ticks)| (*cpu, shares(*ticks))).collect()
}

fn shares(ticks: Ticks) -> Cpu {
    let total = ticks.total() as f64;
    let share = |part: u64| Figure::quotient(100.0 * part as f64, total, NO_TICK);
    let idle = share(ticks.idle);
    Cpu {
        usr: share(ticks.user.saturating_add(ticks.nice)),
        sys: share(ticks.system),
        irq: share(ticks.irq.saturating_add(ticks.softirq)),
        iowait: share(ticks.iowait),
        steal: share(ticks.steal),
        load: idle.map(|idle| 100.0 - idle),
        idle,
    }
}

fn unknown(why: &str) -> Cpu {
    let none = || Figure::absent(why);
    Cpu { usr: none(), sys: none(), irq: none(), iowait: none(), steal: none(), idle: none(), load: none() }
}

#[cfg(test)]
mod tests {
    use cuesta_meters_report::Figure;

    use super::super::tasks::TaskDelta;
    use crate::kernel::stat::Ticks;
    use crate::kernel::taskstats::ProcessUsage;
    use crate::snapshot::tasks::tick;
    use crate::{CounterSnapshot, Delta, Roots};

    #[test]
    fn a_lost_tenth_of_the_subjects_time_breaks_the_closure() {
        let nowhere = Roots { proc: "/nowhere".into(), sys: "/nowhere".into() };
        let [earlier, later] = [(); 2].map(|()| CounterSnapshot::take(&nowhere, &"pid:7".parse().unwrap()));
        let mut delta = Delta::compare(&earlier, &later).unwrap();
        let seconds = 10.0;
        let of_tasks = |cpu: f64| {
            let usage = ProcessUsage { cpu: (cpu * 1e9) as u64, ..ProcessUsage::default() };
            Figure::plain(TaskDelta { seconds, usage, ..TaskDelta::default() })
        };
        let idle = Ticks { idle: 2_500_000_000 / tick(), ..Ticks::default() };
        delta.seconds = seconds;
        delta.cpus = [(0, idle), (1, idle)].into();
        delta.own_tasks = of_tasks(12.0);
        delta.others = of_tasks(3.0);
        let good = delta.closure();
        assert!(good.closes && good.accounted.value() == Some(&100.0), "{good:?}");
        delta.own_tasks = of_tasks(0.9 * 12.0);
        let bad = delta.closure();
        assert!(!bad.closes, "{bad:?}");
        assert!((bad.parts["others"] - good.parts["others"]).abs() < 1e-9, "the lost time must not go to others");
    }
}
