//! A snapshot: what the kernel's counters say at an instant. Two of them make a [`MeterReport`](crate::MeterReport).
//!
//! - [`tasks`]: the subject's processes and threads.
//! - [`group`]: its control group.

pub(crate) mod group;
pub(crate) mod tasks;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use cuesta_record::{Stamp, clock};
use serde::{Deserialize, Serialize};

use self::group::Group;
use self::tasks::Tasks;
use crate::plain::kernel::diskstats::{self, Disk};
use crate::plain::kernel::pressure::Pressure;
use crate::plain::kernel::sched::{self, RunQueue};
use crate::plain::kernel::stat::Stat;
use crate::plain::kernel::vmstat::VmStat;
use crate::plain::kernel::{cpu_list, interrupts, loadavg, number};
use crate::plain::task_exits::{ExitListener, ExitTotals};
use crate::{Figure, Roots, Subject};

/// The counters of a subject and of its machine. It may be kept as JSON and compared with a later one, up to a reboot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CounterSnapshot {
    /// When the machine's counters were read, on its monotonic clock.
    pub at: Stamp,
    /// The same, in nanoseconds since 1970.
    pub wall: u64,
    /// Which boot of the machine the counters are of.
    pub boot: String,
    /// Who read it and told us, if we did not: what he does not tell cannot be had.
    pub(crate) teller: Option<String>,
    /// What was read.
    pub subject: Subject,
    /// CPU time that snapshot took.
    pub cost: Duration,
    pub(crate) stat: Figure<Stat>,
    pub(crate) vmstat: Figure<VmStat>,
    pub(crate) disks: Figure<BTreeMap<String, Disk>>,
    /// Those of them that stand on others: what they do is done below them once more.
    pub(crate) stacked: BTreeSet<String>,
    /// Failed requests of the disks that count them.
    pub(crate) disk_errors: BTreeMap<String, u64>,
    /// By CPU.
    pub(crate) interrupts: Figure<BTreeMap<usize, u64>>,
    /// By CPU.
    pub(crate) softirqs: Figure<BTreeMap<usize, u64>>,
    /// By CPU.
    pub(crate) queues: Figure<BTreeMap<usize, RunQueue>>,
    /// By resource: of the subject's control group if it is one, else of the machine.
    pub(crate) pressure: BTreeMap<String, Figure<Pressure>>,
    pub(crate) load: Figure<f64>,
    pub(crate) tasks: Figure<Tasks>,
    pub(crate) group: Figure<Group>,
    /// What tasks that ended had done, if somebody listens.
    pub(crate) ended: Figure<ExitTotals>,
    /// CPUs that the subject may use; none = all.
    pub(crate) allowed: Option<Vec<usize>>,
    /// Whether the kernel counts waits for block devices.
    pub(crate) counts_delays: bool,
}

/// Processes that are asked which CPUs they may use: children have those of their parents, as a rule.
const MOST_ASKED: usize = 16;

/// Resources whose pressure is known; that of interrupts where the kernel times them apart from tasks.
const RESOURCES: [&str; 4] = ["cpu", "io", "memory", "irq"];

impl CounterSnapshot {
    /// Reads all that may be read of a subject. What may not is missing in it, with the reason.
    pub fn take(roots: &Roots, subject: &Subject) -> Self {
        Self::take_with(roots, subject, None)
    }

    /// The same; whoever listens knows which processes are the subject's, and what those did that have ended.
    pub(crate) fn take_with(roots: &Roots, subject: &Subject, listener: Option<&ExitListener>) -> Self {
        let cpu = clock::thread_cpu();
        let at = clock::now();
        let stat = roots.proc("stat", Stat::parse);
        let group = group::read(roots, subject);
        let disks = roots.proc("diskstats", diskstats::parse).map(|disks| group::whole_disks(roots, disks));
        let known = listener.map(ExitListener::members).unwrap_or_default();
        let tasks = tasks::read_knowing(roots, subject, &known);
        let unheard = || Figure::unmetered("nobody listened to the ends of tasks");
        let ended = listener.map_or_else(unheard, |listener| tasks.map(|tasks| listener.ended(tasks)));
        let mut snapshot = Self {
            at,
            wall: clock::wall(),
            boot: roots
                .proc("sys/kernel/random/boot_id", |id| Ok(id.trim().to_owned()))
                .value()
                .cloned()
                .unwrap_or_default(),
            teller: None,
            subject: subject.clone(),
            cost: Duration::ZERO,
            stat,
            vmstat: roots.proc("vmstat", VmStat::parse),
            stacked: disks.value().map(|disks| group::stacked(roots, disks)).unwrap_or_default(),
            disk_errors: disks.value().map(|disks| group::disk_errors(roots, disks)).unwrap_or_default(),
            disks,
            interrupts: roots.proc("interrupts", interrupts::parse),
            softirqs: roots.proc("softirqs", interrupts::parse),
            queues: roots.proc("schedstat", sched::parse),
            pressure: pressure(roots, subject),
            load: roots.proc("loadavg", loadavg::parse),
            allowed: allowed(roots, subject, &tasks),
            tasks,
            ended,
            group,
            counts_delays: roots.proc("sys/kernel/task_delayacct", |text| Ok(number(text))).value() == Some(&Some(1)),
        };
        snapshot.cost = clock::thread_cpu().saturating_sub(cpu);
        snapshot
    }

    /// A snapshot of a whole machine, now, of which somebody else tells us; so far he has told nothing.
    pub(crate) fn told_by(teller: &str) -> Self {
        fn untold<T>(teller: &str) -> Figure<T> {
            Figure::unmetered(format!("{teller} does not tell"))
        }
        Self {
            at: clock::now(),
            wall: clock::wall(),
            boot: String::new(),
            teller: Some(teller.to_owned()),
            subject: Subject::Machine,
            cost: Duration::ZERO,
            stat: untold(teller),
            vmstat: untold(teller),
            disks: untold(teller),
            stacked: BTreeSet::new(),
            disk_errors: BTreeMap::new(),
            interrupts: untold(teller),
            softirqs: untold(teller),
            queues: untold(teller),
            pressure: BTreeMap::new(),
            load: untold(teller),
            tasks: untold(teller),
            group: untold(teller),
            ended: untold(teller),
            allowed: None,
            counts_delays: false,
        }
    }

    /// Whether the time of tasks is without the interrupts that came while they ran (`CONFIG_IRQ_TIME_ACCOUNTING`): such
    /// kernels have a pressure of interrupts.
    pub(crate) fn times_interrupts_apart(&self) -> bool {
        self.pressure.get("irq").is_some_and(|irq| irq.value().is_some())
    }

    /// Why there is nothing to meter, if so.
    pub fn absence(&self) -> Option<String> {
        match &self.subject {
            Subject::Machine => self.stat.why().map(str::to_owned),
            Subject::Process(_) | Subject::Children(_) => self.tasks.why().map(|_| "no such process".to_owned()),
            Subject::Cgroup(_) => self.group.why().map(str::to_owned),
            Subject::Cpus(cpus) => {
                let there = |cpu: &usize| self.stat.value().is_some_and(|stat| stat.cpus.contains_key(cpu));
                let absent: Vec<usize> = cpus.iter().filter(|cpu| !there(cpu)).copied().collect();
                (!absent.is_empty()).then(|| format!("no such CPU: {}", cpu_list::show(&absent)))
            }
        }
    }
}

/// The subject's own where it has any, else the machine's.
fn pressure(roots: &Roots, subject: &Subject) -> BTreeMap<String, Figure<Pressure>> {
    let of_group = match subject {
        Subject::Cgroup(path) => group::folder(roots, path, None),
        _ => None,
    };
    RESOURCES
        .iter()
        .map(|resource| {
            let own = of_group
                .as_ref()
                .map(|folder| folder.join(format!("{resource}.pressure")))
                .filter(|file| file.exists());
            let file = own.unwrap_or_else(|| roots.proc.join("pressure").join(resource));
            ((*resource).to_owned(), crate::roots::read(&file, Pressure::parse))
        })
        .collect()
}

/// The CPUs that a subject may use; none = all. Of processes: those of all their threads together.
fn allowed(roots: &Roots, subject: &Subject, tasks: &Figure<Tasks>) -> Option<Vec<usize>> {
    match subject {
        Subject::Machine | Subject::Cgroup(_) => None,
        Subject::Cpus(cpus) => Some(cpus.clone()),
        Subject::Process(_) | Subject::Children(_) => {
            let pids = tasks.value().into_iter().flat_map(|tasks| tasks.processes.keys()).take(MOST_ASKED);
            let cpus: BTreeSet<usize> = pids.flat_map(|pid| tasks::cpus_of(roots, *pid)).collect();
            Some(cpus.into_iter().collect()).filter(|cpus: &Vec<usize>| !cpus.is_empty())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_may_be_kept_as_json() {
        for subject in ["machine", "cpus:0", &format!("pid:{}", std::process::id())] {
            let snapshot = CounterSnapshot::take(&Roots::default(), &subject.parse().unwrap());
            let json = serde_json::to_string(&snapshot).unwrap();
            assert_eq!(serde_json::from_str::<CounterSnapshot>(&json).unwrap(), snapshot, "{subject}");
        }
    }

    #[test]
    fn where_there_is_no_kernel_every_figure_says_why() {
        let roots = Roots { proc: "/nowhere".into(), sys: "/nowhere".into() };
        let snapshot = CounterSnapshot::take(&roots, &Subject::Machine);
        assert_eq!(snapshot.stat.why(), Some("/nowhere/stat: this kernel has no such file"));
        assert!(snapshot.tasks.why().is_some());
    }
}
