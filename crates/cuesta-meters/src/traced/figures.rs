//! Traced counts between two snapshots → figures of a report. Pure.

use super::account::{Account, Class, Owner, Wait};
use super::histogram::{Histograms, OFF_CPU};
use super::trace::TraceSnapshot;
use super::{Depth, account};
use crate::plain::NO_DELAYS;
use crate::plain::snapshot::tasks::tick;
use crate::report::CounterFigures;
use crate::{Closure, Count, Counts, Cpu, Figure, Idle, MeterReport, Own, Source, Subject, TimeRow, Traffic};

const FULL_ONLY: &str = "only the full tracer counts them: `cuesta meters --calls`";

/// Traced counts of an interval.
#[derive(Debug)]
pub(crate) struct TraceDelta {
    pub(super) depth: Depth,
    /// Time between the two readings of the tracer, which are a little later than the report's snapshots.
    seconds: f64,
    /// The accounts of the report's CPUs, each and in sum.
    cpus: Vec<(usize, Account)>,
    pub(super) here: Account,
    /// The sum of all CPUs.
    everywhere: Account,
    histograms: Histograms,
}

impl TraceDelta {
    pub(super) fn compare(earlier: &TraceSnapshot, later: &TraceSnapshot, cpus: &[usize], depth: Depth) -> Self {
        let grown = later.cpus.iter().map(|(cpu, account)| {
            let before = earlier.cpus.get(cpu).unwrap_or(&Account::ZERO);
            (*cpu, account.since(before))
        });
        let grown: Vec<(usize, Account)> = grown.collect();
        let sum =
            |accounts: &[(usize, Account)]| accounts.iter().fold(Account::ZERO, |sum, (_, account)| sum.plus(account));
        let everywhere = sum(&grown);
        let cpus: Vec<_> = grown.into_iter().filter(|(cpu, _)| cpus.contains(cpu)).collect();
        let seconds = later.at.since(earlier.at).as_secs_f64();
        let histograms = later.histograms.since(&earlier.histograms);
        Self { depth, seconds, here: sum(&cpus), cpus, everywhere, histograms }
    }

    /// Nanoseconds → percent of the report's CPUs.
    pub(super) fn percent(&self, nanos: u64) -> f64 {
        percent(nanos, &self.here)
    }

    /// Replaces the plain tier's figures by traced ones, except causes. Splits by ticks still come from the plain tier.
    pub(crate) fn counter_figures(&self, counted: CounterFigures) -> CounterFigures {
        let capacity = counted.capacity();
        let CounterFigures { report: plain, kernel_idle, busy_rows, .. } = counted;
        let cpu = self.cpu(&plain.cpu, &self.here);
        let mut per_cpu = plain.per_cpu;
        for (cpu, account) in &self.cpus {
            per_cpu.entry(*cpu).and_modify(|plain| *plain = self.cpu(plain, account));
        }
        let idle = self.idle(&plain.idle);
        let (traffic, counts_delays) = (self.traffic(&plain.traffic), plain.traffic.io_delay.value().is_some());
        let mut notes = plain.notes;
        notes.retain(|note| counts_delays || note != NO_DELAYS);
        let missed = self.here.missed();
        if missed > 0 {
            notes.push(format!(
                "the kernel did not tell the tracer of {missed} switches: put right by the tasks' own clocks"
            ));
        }
        let idle_rows = idle_rows(&cpu.steal, &idle).into();
        let report = MeterReport {
            own: self.own(&plain.subject, plain.own, &cpu, capacity),
            counts: self.counts(&plain.subject, plain.counts),
            closure: if is_part(&plain.subject) { self.closure(&cpu) } else { self.closure_of_cpus(&kernel_idle) },
            cpu,
            per_cpu,
            idle,
            traffic,
            notes,
            ..plain
        };
        CounterFigures { report, kernel_idle, busy_rows, idle_rows }
    }

    /// Idle, interrupts and stolen time are exact; ticks or the full tracer split the rest.
    fn cpu(&self, plain: &Cpu, account: &Account) -> Cpu {
        let percent = |nanos| percent(nanos, account);
        let waiting = [Wait::Page, Wait::Loading, Wait::Io].map(|wait| account.idle(wait)).iter().sum::<u64>();
        let idle = percent(account.all_idle());
        let interrupts = percent(interrupts(account, &[Owner::Own, Owner::Others, Owner::Nobody]));
        let steal = match account.stolen() {
            0 => plain.steal.clone(),
            stolen => Figure::traced(percent(stolen)),
        };
        let rest = steal.map(|steal| (100.0 - idle - interrupts - steal).max(0.0));
        let in_user = match self.depth {
            Depth::Light => user_part(&plain.usr, &plain.sys),
            Depth::Full => Figure::traced(traced_user_part(account)),
        };
        let usr = rest.with(&in_user, |rest, part| rest * part);
        let zero = Figure::traced((idle - percent(waiting)).max(0.0));
        Cpu {
            sys: rest.with(&usr, |rest, usr| rest - usr),
            usr,
            irq: Figure::traced(interrupts),
            iowait: Figure::traced(percent(waiting)),
            steal,
            load: zero.map(|idle| 100.0 - idle),
            idle: zero,
        }
    }

    fn own(&self, subject: &Subject, plain: Own, cpu: &Cpu, capacity: f64) -> Own {
        let capacity_seconds = |percent: &f64| percent / 100.0 * capacity;
        if !is_part(subject) {
            let percent = cpu.busy();
            let seconds = percent.map(capacity_seconds);
            return Own { usr: cpu.usr.clone(), sys: cpu.sys.clone(), seconds, percent, ..plain };
        }
        let user = match self.depth {
            Depth::Light => user_part(&plain.usr, &plain.sys),
            Depth::Full => Figure::traced(self.here.ns(Owner::Own, Class::Run) as f64).map(|run| {
                let all = self.here.of_owner(Owner::Own);
                if all == 0 { 1.0 } else { run / all as f64 }
            }),
        };
        let percent = self.percent(self.here.scheduled(Owner::Own));
        Own {
            source: Source::Tracer,
            percent: Figure::traced(percent),
            seconds: Figure::traced(capacity_seconds(&percent)),
            // The tier is that of the split.
            usr: user.map(|user| user * percent),
            sys: user.map(|user| (1.0 - user) * percent),
            others_are_rest: false,
            others: Figure::traced(self.percent(self.here.scheduled(Owner::Others))),
            irq: Figure::traced(self.percent(interrupts(&self.here, &[Owner::Nobody]))),
            ..plain
        }
    }

    fn counts(&self, subject: &Subject, plain: Counts) -> Counts {
        // A subject's tasks count on every CPU.
        let account = if is_part(subject) { &self.everywhere } else { &self.here };
        let count = |count: u64| Figure::traced(Count::new(count, self.seconds));
        let [minor_faults, major_faults] = account.faults().map(count);
        let [voluntary_switches, involuntary_switches] = account.switches().map(count);
        let mut of_machine = plain.of_machine;
        of_machine.retain(|name| !TRACED.contains(&name.as_str()));
        Counts {
            minor_faults,
            major_faults,
            voluntary_switches,
            involuntary_switches,
            switches: count(account.switches().iter().sum()),
            wakeups: count(account.wakeups()),
            forks: count(account.forks()),
            execs: count(account.execs()),
            system_calls: match self.depth {
                Depth::Light => Figure::absent(FULL_ONLY),
                Depth::Full => count(CALLS.iter().map(|class| account.calls(*class)).sum()),
            },
            of_machine,
            ..plain
        }
    }

    fn idle(&self, plain: &Idle) -> Idle {
        let [page, loading, io, quota] = account::WAIT_KINDS.map(|wait| self.here.idle(wait));
        let all = self.here.all_idle();
        let exact = |nanos| Figure::traced(self.percent(nanos));
        Idle {
            zero: exact(all.saturating_sub(page + loading + io + quota)),
            io_wait: exact(io),
            page_wait: exact(page),
            loading: exact(loading),
            quota_wait: exact(quota),
            ..plain.clone()
        }
    }

    fn traffic(&self, plain: &Traffic) -> Traffic {
        let (pages, waited) = self.everywhere.waits(Wait::Page);
        let run_queue = self.histograms.run_queue.quantiles();
        let off_cpu = OFF_CPU.iter().zip(&self.histograms.off_cpu);
        let off_cpu = off_cpu.filter_map(|(why, times)| Some(((*why).to_owned(), times.quantiles()?)));
        let waits = [Wait::Page, Wait::Loading, Wait::Io].map(|wait| self.everywhere.waits(wait).1);
        let io_delay = Figure::traced(waits.iter().sum::<u64>() as f64 / 1e9);
        let counted = plain.io_delay.value().is_some();
        Traffic {
            page_waits: Figure::traced(Count::new(pages, self.seconds)),
            page_wait: match pages {
                0 => Figure::absent("no page fault waited"),
                pages => Figure::traced(waited as f64 / 1e9 / pages as f64),
            },
            run_queue_delay: run_queue.map_or_else(|| Figure::absent("there was no dispatch"), Figure::traced),
            off_cpu: Figure::traced(off_cpu.collect()),
            in_io: if counted { plain.in_io.clone() } else { io_delay.map(|delay| delay / self.seconds) },
            io_delay: if counted { plain.io_delay.clone() } else { io_delay },
            ..plain.clone()
        }
    }

    /// Compares three clocks with the time that the account covers: the scheduler's for tasks, the tracer's for idle and its
    /// interrupts, the hypervisor's for stolen time.
    fn closure(&self, cpu: &Cpu) -> Closure {
        let here = &self.here;
        let tasks = here.scheduled(Owner::Own) + here.scheduled(Owner::Others);
        let traced = self.percent(tasks + here.all_idle() + interrupts(here, &[Owner::Nobody]));
        let accounted = Figure::traced(traced).with(&cpu.steal, |traced, steal| traced + steal);
        Closure::of_cpus(accounted, self.seconds, tick() as f64 / 1e9)
    }

    /// Adds what the tracer found busy to what the kernel's own clock found idle. The clocks of tasks do not tell of CPUs: what the
    /// scheduler does between two tasks is in no task's time, and with a session for each of 400 programs that is 3 to 15 % of a CPU.
    fn closure_of_cpus(&self, kernel_idle: &Figure) -> Closure {
        let busy = 100.0 - self.percent(self.here.ns(Owner::Nobody, Class::Run));
        let accounted = Figure::traced(busy).with(kernel_idle, |busy, idle| busy + idle);
        Closure::of_cpus(accounted, self.seconds, tick() as f64 / 1e9)
    }
}

/// Rows of `total_time` for steal and idle. The kinds of idle exclude each other.
fn idle_rows(steal: &Figure, idle: &Idle) -> [TimeRow; 6] {
    let rows = [
        ("steal", steal),
        ("page-wait idle", &idle.page_wait),
        ("loading idle", &idle.loading),
        ("I/O-wait idle", &idle.io_wait),
        ("throttled idle", &idle.quota_wait),
        ("zero idle", &idle.zero),
    ];
    rows.map(|(name, percent)| TimeRow::idle(name, percent.clone()))
}

/// Classes of system calls.
pub(super) const CALLS: [Class; 3] = [Class::Call, Class::Loading, Class::Mapping];

/// Counts that are the subject's own if traced.
const TRACED: [&str; 5] = ["minor_faults", "major_faults", "switches", "wakeups", "forks"];

pub(super) fn is_part(subject: &Subject) -> bool {
    matches!(subject, Subject::Process(_) | Subject::Children(_) | Subject::Cgroup(_))
}

fn is_interrupt(class: Class) -> bool {
    matches!(class, Class::Hard | Class::Soft)
}

/// Nanoseconds → percent of the time that an account covers: each CPU is read at another instant.
fn percent(nanos: u64, account: &Account) -> f64 {
    let covered = account.covered();
    if covered == 0 { 0.0 } else { 100.0 * nanos as f64 / covered as f64 }
}

/// Nanoseconds in interrupts, hard and soft, during the time of `owners`.
fn interrupts(account: &Account, owners: &[Owner]) -> u64 {
    owners.iter().map(|owner| account.ns(*owner, Class::Hard) + account.ns(*owner, Class::Soft)).sum()
}

/// The part of tasks' time, without interrupts, that was in user mode, by the full tracer.
fn traced_user_part(account: &Account) -> f64 {
    let nanos = |class| account.ns(Owner::Own, class) + account.ns(Owner::Others, class);
    let all: u64 = Class::ALL.into_iter().filter(|class| !is_interrupt(*class)).map(nanos).sum();
    if all == 0 { 1.0 } else { nanos(Class::Run) as f64 / all as f64 }
}

/// The part that was in user mode, by ticks; without ticks, 1.
fn user_part(usr: &Figure, sys: &Figure) -> Figure {
    usr.with(sys, |usr, sys| if usr + sys > 0.0 { usr / (usr + sys) } else { 1.0 })
}
