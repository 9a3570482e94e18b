//! CPU time by use, idle by kind, where the time went. All in percent of the CPUs that are compared.

use std::collections::BTreeMap;

use super::{Rates, UNTRACED};
use crate::kernel::grown;
use crate::kernel::stat::Ticks;
use crate::reading::tasks::tick;
use crate::sheet::NOT_ITS_OWN;
use crate::{Closure, Cpu, Figure, Idle, Network, Own, Subject, TimeRow};

const NO_TICK: &str = "no clock tick passed in the interval";
const ALL: &str = "the subject is all that runs on these CPUs";
const MINGLED: &str = "in whose time they came, ticks do not tell: the sampled tier does";
const SAMPLED: &str = "the kernel does not time it apart: the sampled tier does";
const UNCOUNTED: &str = "not counted in this tier";
const UNTIMED: &str = "ticks are not of the interrupts that are counted: the exact tier times each";

impl Rates<'_> {
    pub(super) fn cpu(&self) -> Cpu {
        match self.earlier.stat.with(&self.later.stat, |_, _| ()) {
            Figure::Metered { .. } => shares(self.all_cpus()),
            Figure::Unmetered { why } => unknown(&why),
        }
    }

    pub(super) fn per_cpu(&self) -> BTreeMap<usize, Cpu> {
        self.cpus.iter().map(|(cpu, ticks)| (*cpu, shares(*ticks))).collect()
    }

    pub(super) fn beside(&self) -> BTreeMap<usize, Cpu> {
        self.beside.iter().map(|(cpu, ticks)| (*cpu, shares(*ticks))).collect()
    }

    /// What the network's part is at most: all soft interrupts of the machine.
    pub(super) fn network(&self) -> Network {
        let machine = self.beside.values().fold(self.all_cpus(), |sum, cpu| sum.and(*cpu));
        let seconds = self.earlier.stat.with(&self.later.stat, |_, _| machine.softirq as f64 * tick() as f64 / 1e9);
        let capacity = self.seconds * (self.cpus.len() + self.beside.len()) as f64;
        Network {
            percent: seconds.and_then(|seconds| Figure::quotient(100.0 * seconds, capacity, NO_TICK)),
            seconds,
            in_subject: self.missing("in whose context they ran, ticks do not tell: the sampled tier does"),
        }
    }

    fn all_cpus(&self) -> Ticks {
        self.cpus.values().fold(Ticks::default(), |sum, cpu| sum.and(*cpu))
    }

    /// The subject's own part. A CPU set's and a machine's is all that its CPUs did.
    pub(super) fn own(&self) -> Own {
        let cpu = self.cpu();
        let busy = cpu.busy();
        if !self.is_part() {
            return Own {
                seconds: busy.map(|percent| percent / 100.0 * self.capacity()),
                percent: busy,
                usr: cpu.usr,
                sys: cpu.sys,
                others: Figure::unmetered(ALL),
                irq: Figure::unmetered(ALL),
                tasks: self.threads(),
                processes: self.later.tasks.map(|tasks| tasks.processes.len() as f64),
            };
        }
        let (seconds, in_user, in_system) = self.own_seconds();
        let percent = seconds.map(|seconds| self.percent_of_cpus(*seconds));
        let split = in_user.with(&in_system, |user, system| self.user_part(*user, *system));
        let usr = percent.with(&split, |all, user| all * user);
        let mut own = Own {
            sys: percent.with(&usr, |all, usr| all - usr),
            usr,
            others: Figure::unmetered(MINGLED),
            irq: Figure::unmetered(MINGLED),
            percent,
            seconds,
            tasks: self.threads(),
            processes: self.later.tasks.map(|tasks| tasks.processes.len() as f64),
        };
        let irq = if self.later.times_interrupts_apart() { cpu.irq } else { Figure::unmetered(MINGLED) };
        own.put_beside(&busy, &irq);
        own
    }

    /// The part of the subject's time that was in user mode. Where no clock tick met it in the interval, as in its life
    /// so far; where none ever did, all of it, as the kernel itself has it then.
    fn user_part(&self, user: f64, system: f64) -> f64 {
        if user + system > 0.0 {
            return user / (user + system);
        }
        let stats = self.later.tasks.value().into_iter().flat_map(|tasks| tasks.processes.values());
        let (user, system) = stats.fold((0, 0), |sum, each| (sum.0 + each.stat.user, sum.1 + each.stat.system));
        if user + system > 0 { user as f64 / (user + system) as f64 } else { 1.0 }
    }

    fn threads(&self) -> Figure {
        self.later.tasks.map(|tasks| tasks.processes.values().map(|process| process.stat.threads).sum::<u64>() as f64)
    }

    /// CPU seconds of the subject: all, and as the kernel splits them.
    fn own_seconds(&self) -> (Figure, Figure, Figure) {
        let usage = |group: &crate::reading::group::Group| group.usage.clone();
        let both = self.earlier.group.and_then(usage).with(&self.later.group.and_then(usage), |a, b| {
            let nanos = |a, b| grown(a, b).unwrap_or(0) as f64 / 1e9;
            (nanos(a.total, b.total), nanos(a.user, b.user), nanos(a.system, b.system))
        });
        if matches!(self.later.subject, Subject::Cgroup(_)) && both.value().is_some() {
            return (both.map(|all| all.0), both.map(|all| all.1), both.map(|all| all.2));
        }
        // The tasks were read a little later than the CPUs: their seconds are made those of the interval.
        let of = |nanos: fn(&super::tasks::Done) -> u64| {
            self.done.map(|done| nanos(done) as f64 / 1e9 / done.seconds * self.seconds)
        };
        (of(|done| done.cpu), of(|done| done.user), of(|done| done.system))
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

    fn throttled(&self) -> Figure {
        let time = |reading: &crate::Reading| reading.group.and_then(|group| group.throttled.clone());
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
                pressure.insert(format!("{resource}_some"), Figure::unmetered(why));
            }
        }
        pressure
    }

    /// Of a part of what runs on the CPUs its own time, and the others' apart; else all.
    pub(super) fn total_time(&self) -> Vec<TimeRow> {
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
        rows.extend(idle.map(|(name, percent)| TimeRow::idle(name, percent)));
        rows
    }

    /// The CPUs' accounts against the clock; more than they have, if the subject's own clock has more than all their ticks.
    pub(super) fn closure(&self) -> Closure {
        let ticks = self.all_cpus().total() as f64 * tick() as f64 / 1e9;
        let accounted = Figure::quotient(100.0 * ticks, self.capacity(), "no CPU was there throughout");
        let over = self.own().percent.with(&self.cpu().busy(), |own, busy| (own - busy).max(0.0));
        let over = if over.value().is_some() { over } else { Figure::plain(0.0) };
        Closure::of(accounted.with(&over, |accounted, over| accounted + over), self.seconds)
    }
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
    let none = || Figure::unmetered(why);
    Cpu { usr: none(), sys: none(), irq: none(), iowait: none(), steal: none(), idle: none(), load: none() }
}
