//! What was traced between two snapshots → figures of a report. Pure.

use super::account::{Account, Class, Owner, Wait};
use super::histogram::{Histograms, OFF_CPU};
use super::trace::TraceSnapshot;
use super::{Depth, account};
use crate::plain::delta::NO_DELAYS;
use crate::{Closure, Count, Cpu, Figure, MeterReport, Source, Subject, TimeRow};

const FULL_ONLY: &str = "only the full tracer counts them: `cuesta meters --calls`";

/// What was traced in an interval.
#[derive(Debug)]
pub(crate) struct TraceDelta {
    pub(super) depth: Depth,
    /// Between the two snapshots of the tracer, which are a little behind those of the report.
    seconds: f64,
    /// The report's CPUs, one by one and together.
    cpus: Vec<(usize, Account)>,
    pub(super) here: Account,
    /// All CPUs.
    everywhere: Account,
    histograms: Histograms,
}

impl TraceDelta {
    pub(super) fn between(earlier: &TraceSnapshot, later: &TraceSnapshot, report: &MeterReport, depth: Depth) -> Self {
        let grown = later.cpus.iter().map(|(cpu, account)| {
            let before = earlier.cpus.get(cpu).unwrap_or(&Account::ZERO);
            (*cpu, account.since(before))
        });
        let grown: Vec<(usize, Account)> = grown.collect();
        let sum = |accounts: &[(usize, Account)]| accounts.iter().fold(Account::ZERO, |sum, each| sum.and(&each.1));
        let everywhere = sum(&grown);
        let cpus: Vec<_> = grown.into_iter().filter(|(cpu, _)| report.cpus.contains(cpu)).collect();
        let seconds = later.at.since(earlier.at).as_secs_f64();
        let histograms = later.histograms.since(&earlier.histograms);
        Self { depth, seconds, here: sum(&cpus), cpus, everywhere, histograms }
    }

    /// Nanoseconds in percent of the report's CPUs.
    pub(super) fn percent(&self, nanos: u64) -> f64 {
        self.percent_of(nanos, self.cpus.len())
    }

    fn percent_of(&self, nanos: u64, cpus: usize) -> f64 {
        if cpus == 0 { 0.0 } else { nanos as f64 / 1e7 / self.seconds / cpus as f64 }
    }

    /// Puts everything but the causes in the place of what weaker tiers found.
    pub(crate) fn put(&self, report: &mut MeterReport) {
        self.put_cpu(&mut report.cpu, &self.here, self.cpus.len());
        for (cpu, account) in &self.cpus {
            if let Some(each) = report.per_cpu.get_mut(cpu) {
                self.put_cpu(each, account, 1);
            }
        }
        self.put_own(report);
        self.put_counts(report);
        self.put_idle(report);
        self.put_traffic(report);
        report.closure = self.closure(report);
        if self.here.missed() > 0 {
            let missed = self.here.missed();
            let told = "the kernel did not tell the tracer of";
            report.notes.push(format!("{told} {missed} switches: put right by the tasks' own clocks"));
        }
    }

    /// Idle and interrupts are exact; what is left is split by ticks, or by the full tracer.
    fn put_cpu(&self, cpu: &mut Cpu, account: &Account, cpus: usize) {
        let percent = |nanos| self.percent_of(nanos, cpus);
        let waiting = [Wait::Page, Wait::Loading, Wait::Io].map(|wait| account.idle(wait)).iter().sum::<u64>();
        let idle = percent(account.ns(Owner::Nobody, Class::Run));
        let interrupts = percent(interrupts(account, &[Owner::Own, Owner::Others, Owner::Nobody]));
        let rest = cpu.steal.map(|steal| (100.0 - idle - interrupts - steal).max(0.0));
        let user = match self.depth {
            Depth::Light => user_part(&cpu.usr, &cpu.sys),
            Depth::Full => Figure::exact(traced_user_part(account)),
        };
        cpu.usr = rest.with(&user, |rest, user| rest * user);
        cpu.sys = rest.with(&cpu.usr, |rest, usr| rest - usr);
        cpu.irq = Figure::exact(interrupts);
        cpu.iowait = Figure::exact(percent(waiting));
        cpu.idle = Figure::exact((idle - percent(waiting)).max(0.0));
        cpu.load = cpu.idle.map(|idle| 100.0 - idle);
    }

    fn put_own(&self, report: &mut MeterReport) {
        let capacity = report.seconds * report.cpus.len() as f64;
        let own = &mut report.own;
        if !is_part(&report.subject) {
            let cpu = &report.cpu;
            (own.usr, own.sys) = (cpu.usr.clone(), cpu.sys.clone());
            own.percent = cpu.busy();
            own.seconds = own.percent.map(|percent| percent / 100.0 * capacity);
            return;
        }
        let user = match self.depth {
            Depth::Light => user_part(&own.usr, &own.sys),
            Depth::Full => Figure::exact(self.here.ns(Owner::Own, Class::Run) as f64).map(|run| {
                let all = self.here.all(Owner::Own);
                if all == 0 { 1.0 } else { run / all as f64 }
            }),
        };
        let all = self.percent(self.here.run(Owner::Own));
        own.source = Source::Tracer;
        own.percent = Figure::exact(all);
        own.seconds = Figure::exact(all / 100.0 * capacity);
        // Of the tier of whoever split it.
        (own.usr, own.sys) = (user.map(|user| user * all), user.map(|user| (1.0 - user) * all));
        own.others_are_rest = false;
        own.others = Figure::exact(self.percent(self.here.run(Owner::Others)));
        own.irq = Figure::exact(self.percent(interrupts(&self.here, &[Owner::Nobody])));
    }

    fn put_counts(&self, report: &mut MeterReport) {
        // A part's tasks are its own wherever they run.
        let of = if is_part(&report.subject) { &self.everywhere } else { &self.here };
        let count = |count: u64| Figure::exact(Count::over(count, self.seconds));
        let counts = &mut report.counts;
        [counts.minor_faults, counts.major_faults] = of.faults().map(count);
        [counts.voluntary_switches, counts.involuntary_switches] = of.switches().map(count);
        counts.switches = count(of.switches().iter().sum());
        counts.wakeups = count(of.wakeups());
        counts.forks = count(of.forks());
        counts.execs = count(of.execs());
        counts.system_calls = match self.depth {
            Depth::Light => Figure::unmetered(FULL_ONLY),
            Depth::Full => count(CALLS.iter().map(|class| of.calls(*class)).sum()),
        };
        counts.of_machine.retain(|name| !TRACED.contains(&name.as_str()));
    }

    fn put_idle(&self, report: &mut MeterReport) {
        let [page, loading, io, quota] = account::WAIT_KINDS.map(|wait| self.here.idle(wait));
        let all = self.here.ns(Owner::Nobody, Class::Run);
        let exact = |nanos| Figure::exact(self.percent(nanos));
        let idle = &mut report.idle;
        idle.zero = exact(all.saturating_sub(page + loading + io + quota));
        (idle.page_wait, idle.loading) = (exact(page), exact(loading));
        (idle.io_wait, idle.quota_wait) = (exact(io), exact(quota));
        let rows = [
            ("page-wait idle", &idle.page_wait),
            ("loading idle", &idle.loading),
            ("I/O-wait idle", &idle.io_wait),
            ("throttled idle", &idle.quota_wait),
            ("zero idle", &idle.zero),
        ];
        report.total_time.retain(|row| !rows.iter().any(|(name, _)| row.name == *name));
        report.total_time.extend(rows.map(|(name, percent)| TimeRow::idle(name, percent.clone())));
    }

    fn put_traffic(&self, report: &mut MeterReport) {
        let (pages, waited) = self.everywhere.waits(Wait::Page);
        let traffic = &mut report.traffic;
        traffic.page_waits = Figure::exact(Count::over(pages, self.seconds));
        traffic.page_wait = match pages {
            0 => Figure::unmetered("no page fault waited"),
            pages => Figure::exact(waited as f64 / 1e9 / pages as f64),
        };
        let run_queue = self.histograms.run_queue.distribution();
        traffic.run_queue_delay = run_queue.map_or_else(|| Figure::unmetered("there was no dispatch"), Figure::exact);
        let off_cpu = OFF_CPU.iter().zip(&self.histograms.off_cpu);
        let off_cpu = off_cpu.filter_map(|(why, of)| Some(((*why).to_owned(), of.distribution()?)));
        traffic.off_cpu = Figure::exact(off_cpu.collect());
        if traffic.io_delay.value().is_none() {
            let waits = [Wait::Page, Wait::Loading, Wait::Io].map(|wait| self.everywhere.waits(wait).1);
            traffic.io_delay = Figure::exact(waits.iter().sum::<u64>() as f64 / 1e9);
            traffic.in_io = traffic.io_delay.map(|delay| delay / self.seconds);
            report.notes.retain(|note| note != NO_DELAYS);
        }
    }

    /// Three clocks against the wall's: the scheduler's own for tasks, the tracer's for idle and what interrupts it, the
    /// hypervisor's for what it took.
    fn closure(&self, report: &MeterReport) -> Closure {
        let (here, nobody) = (&self.here, Owner::Nobody);
        let traced = self.percent(here.run(Owner::Own) + here.run(Owner::Others) + here.all(nobody));
        Closure::of(Figure::exact(traced).with(&report.cpu.steal, |traced, steal| traced + steal), self.seconds)
    }
}

/// Classes of system calls.
pub(super) const CALLS: [Class; 3] = [Class::Call, Class::Loading, Class::Mapping];

/// Counts that are the subject's own when they are traced.
const TRACED: [&str; 5] = ["minor_faults", "major_faults", "switches", "wakeups", "forks"];

pub(super) fn is_part(subject: &Subject) -> bool {
    matches!(subject, Subject::Process(_) | Subject::Children(_) | Subject::Cgroup(_))
}

fn is_interrupt(class: Class) -> bool {
    matches!(class, Class::Hard | Class::Soft)
}

/// Nanoseconds in interrupts, hard and soft, whoever was there when they came.
fn interrupts(account: &Account, owners: &[Owner]) -> u64 {
    owners.iter().map(|owner| account.ns(*owner, Class::Hard) + account.ns(*owner, Class::Soft)).sum()
}

/// The part of tasks' time, but for interrupts, that was in user mode; the full tracer's.
fn traced_user_part(account: &Account) -> f64 {
    let of = |class| account.ns(Owner::Own, class) + account.ns(Owner::Others, class);
    let all: u64 = Class::ALL.into_iter().filter(|class| !is_interrupt(*class)).map(of).sum();
    if all == 0 { 1.0 } else { of(Class::Run) as f64 / all as f64 }
}

/// The part that was in user mode, as ticks met it; where none did, all of it.
fn user_part(usr: &Figure, sys: &Figure) -> Figure {
    usr.with(sys, |usr, sys| if usr + sys > 0.0 { usr / (usr + sys) } else { 1.0 })
}
