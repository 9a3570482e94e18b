//! Delta: the difference of two snapshots, as figures of a [`MeterReport`](cuesta_meters_report::MeterReport).
//!
//! - `cpu`: CPU time by use, idle by kind, where the time went.
//! - `tasks`: what tasks did; `process_pairs`: the processes of both snapshots, paired.
//! - `counts`: events. `limits`: what may run out.
//! - `traffic`: queues for the CPU, and block devices.

mod counts;
mod cpu;
mod limits;
mod process_pairs;
mod tasks;
mod traffic;

use std::collections::BTreeMap;

use cuesta_meters_report::{Count, CounterFigures, Figure, MeterReport, Source, Subject};

use self::tasks::TaskDelta;
use crate::CounterSnapshot;
use crate::kernel::cpu_list;
use crate::kernel::grown;
use crate::kernel::stat::Ticks;

/// Why a figure is missing that no file of the kernel has.
const UNTRACED: &str = "only tracing can show this (the traced tier: `cuesta meters --exact`)";
/// Why a figure is missing whose tracing makes calls slower.
const UNTRACED_CALLS: &str = "only tracing can show this (the traced tier: `cuesta meters --calls`)";

/// Why waits for block devices are missing without a tracer.
pub const NO_DELAYS: &str = "waits for block devices are not counted: `sysctl kernel.task_delayacct=1` allows it";

/// Two snapshots of one subject, and the parts that compare.
#[derive(Debug)]
pub struct Delta<'a> {
    earlier: &'a CounterSnapshot,
    later: &'a CounterSnapshot,
    /// Elapsed time between the snapshots.
    seconds: f64,
    /// Ticks of each CPU that the subject may use and that was online throughout.
    cpus: BTreeMap<usize, Ticks>,
    /// Ticks of the machine's other CPUs.
    beside: BTreeMap<usize, Ticks>,
    own_tasks: Figure<TaskDelta>,
    /// All tasks that are not the subject's.
    others: Figure<TaskDelta>,
    notes: Vec<String>,
}

/// Why two snapshots do not compare.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Incomparable {
    /// They are of two subjects.
    #[error("the earlier snapshot is of {0}, the later one of {1}")]
    Subjects(Subject, Subject),
    /// The machine was booted in between.
    #[error("the machine has been booted since the earlier snapshot: its counters began anew")]
    Boots,
    /// They are not in order.
    #[error("no time has passed between the snapshots")]
    Order,
}

impl<'a> Delta<'a> {
    pub fn compare(earlier: &'a CounterSnapshot, later: &'a CounterSnapshot) -> Result<Self, Incomparable> {
        if earlier.subject != later.subject {
            return Err(Incomparable::Subjects(earlier.subject.clone(), later.subject.clone()));
        }
        if earlier.boot != later.boot {
            return Err(Incomparable::Boots);
        }
        if later.at <= earlier.at {
            return Err(Incomparable::Order);
        }
        let seconds = later.at.since(earlier.at).as_secs_f64();
        let mut delta = Self {
            earlier,
            later,
            seconds,
            cpus: BTreeMap::new(),
            beside: BTreeMap::new(),
            own_tasks: tasks::of_subject(earlier, later),
            others: tasks::of_others(earlier, later),
            notes: Vec::new(),
        };
        delta.compare_cpus();
        delta.note_what_is_missing();
        Ok(delta)
    }

    /// A report without samples and traces.
    pub fn report(&self) -> MeterReport {
        self.counter_figures().report(self.missing("the sampler is not on"))
    }

    /// What clocks and counters say of the interval.
    pub fn counter_figures(&self) -> CounterFigures {
        let (busy_rows, idle_rows) = self.total_time();
        let report = MeterReport {
            at: self.later.at,
            wall: self.later.wall,
            seconds: self.seconds,
            subject: self.later.subject.clone(),
            cpus: self.cpus.keys().copied().collect(),
            notes: self.notes.clone(),
            cpu: self.cpu(),
            per_cpu: cpu::shares_by_cpu(&self.cpus),
            beside: cpu::shares_by_cpu(&self.beside),
            own: self.own(),
            counts: self.counts(),
            idle: self.idle(),
            limits: self.limits(),
            pressure: self.pressure(),
            traffic: self.traffic(),
            devices: self.devices(),
            interfaces: self.interfaces(),
            closure: self.closure(),
            cost: Figure::plain(self.later.cost.as_secs_f64()),
            lasted: Figure::plain(self.later.lasted.as_secs_f64()),
            network: self.network(),
            total_time: Vec::new(),
            by_cause: Figure::absent(""),
        };
        CounterFigures { report, kernel_idle: self.kernel_idle(), busy_rows, idle_rows }
    }

    /// The CPUs that are compared.
    pub fn cpus(&self) -> impl Iterator<Item = usize> + '_ {
        self.cpus.keys().copied()
    }

    /// CPUs × elapsed time: seconds.
    fn capacity(&self) -> f64 {
        self.seconds * self.cpus.len() as f64
    }

    /// Whether the subject is less than all that runs on its CPUs.
    fn is_part(&self) -> bool {
        matches!(self.later.subject, Subject::Process(_) | Subject::Children(_) | Subject::Cgroup(_))
    }

    fn compare_cpus(&mut self) {
        let (Some(earlier), Some(later)) = (self.earlier.stat.value(), self.later.stat.value()) else { return };
        let allowed = |cpu: &usize| self.later.allowed.as_ref().is_none_or(|allowed| allowed.contains(cpu));
        let mut passing: Vec<usize> =
            earlier.cpus.keys().filter(|cpu| !later.cpus.contains_key(cpu)).copied().collect();
        for (cpu, ticks) in &later.cpus {
            match earlier.cpus.get(cpu) {
                Some(before) if allowed(cpu) => {
                    self.cpus.insert(*cpu, ticks.since(*before));
                }
                Some(before) => {
                    self.beside.insert(*cpu, ticks.since(*before));
                }
                None => passing.push(*cpu),
            }
        }
        passing.retain(allowed);
        passing.sort_unstable();
        if !passing.is_empty() {
            self.notes.push(format!("CPU {} came or went: it is left out", cpu_list::show(&passing)));
        }
        let wanted = self.later.allowed.iter().flatten();
        let absent: Vec<usize> = wanted.filter(|cpu| !later.cpus.contains_key(cpu)).copied().collect();
        if !absent.is_empty() && matches!(self.later.subject, Subject::Cpus(_)) {
            self.notes.push(format!("CPU {} is not there", cpu_list::show(&absent)));
        }
    }

    fn note_what_is_missing(&mut self) {
        if self.is_part() && !self.later.counts_delays {
            self.notes.push(NO_DELAYS.to_owned());
        }
        if self.is_part() {
            self.notes.extend(self.loses());
        }
        if let (Some(a), Some(b)) = (self.earlier.ended.value(), self.later.ended.value())
            && b.overruns > a.overruns
        {
            self.notes.push(
                "so many tasks ended at once that not all were told: CPU time and run-queue delay may lack some"
                    .to_owned(),
            );
        }
        if let Some(tasks) = self.later.tasks.value()
            && !tasks.threads
        {
            let many = match tasks.processes.len() {
                1 => "its process has".to_owned(),
                many => format!("its {many} processes have"),
            };
            self.notes.push(format!("{many} too many threads to read each: run-queue delay and switches are missing"));
        }
    }

    /// What the source of the subject's CPU time cannot see.
    fn loses(&self) -> Option<String> {
        const WAITS: &str = "run-queue delay and switches of tasks that came and went are missing";
        match self.source() {
            Source::ControlGroup | Source::Parents if tasks::listened_throughout(self.earlier, self.later) => None,
            Source::ControlGroup => Some(format!("{WAITS}: root (CAP_NET_ADMIN) is told of them, while it meters")),
            Source::Parents => Some(format!(
                "{WAITS}, and CPU time of processes that nobody waited for or that left their parents: root \
                 (CAP_NET_ADMIN) is told of them, while it meters"
            )),
            Source::ExitRecordsByParent => Some(
                "CPU time of processes that left their parents and live on is missing: this kernel does not tell of births \
                 (CONFIG_PROC_EVENTS, and not within a container)"
                    .to_owned(),
            ),
            Source::ExitRecords | Source::Cpus | Source::Tracer => None,
        }
    }

    /// How much a counter grew, as events.
    fn count<T>(
        &self,
        table: impl Fn(&'a CounterSnapshot) -> &'a Figure<T>,
        counter: impl Fn(&T) -> Option<u64>,
    ) -> Figure<Count>
    where
        T: 'a,
    {
        let both = table(self.earlier).with(table(self.later), |a, b| (counter(a), counter(b)));
        both.and_then(|counters| match counters {
            (Some(a), Some(b)) => match grown(*a, *b) {
                Some(count) => Figure::plain(Count::new(count, self.seconds)),
                None => Figure::absent("the counter was set back meanwhile"),
            },
            _ => self.missing("this kernel does not count it"),
        })
    }

    /// A missing figure with the reason. If another program read the counters, the reason is that it does not report this one.
    fn missing<T>(&self, why: &str) -> Figure<T> {
        Figure::absent(self.later.program.as_ref().map_or(why.to_owned(), |program| format!("{program} does not tell")))
    }
}
