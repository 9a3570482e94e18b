//! A snapshot: the kernel's counters at an instant. Two snapshots make a [`MeterReport`](cuesta_meters_report::MeterReport).
//!
//! - [`tasks`]: the subject's processes and threads.
//! - [`group`]: its control group.
//! - `interfaces`: the speeds of network interfaces. `limits`: what may run out.

pub mod group;
mod interfaces;
pub(crate) mod limits;
pub mod tasks;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use cuesta_meters_report::{Figure, Subject};
use cuesta_record::{Stamp, clock};
use serde::{Deserialize, Serialize};

use self::group::Group;
use self::limits::LimitCounters;
use self::tasks::Tasks;
use crate::Roots;
use crate::kernel::diskstats::{self, DeviceCounters};
use crate::kernel::net_dev::{self, InterfaceCounters};
use crate::kernel::pressure::Pressure;
use crate::kernel::sched::{self, RunQueue};
use crate::kernel::stat::Stat;
use crate::kernel::vmstat::FaultCounters;
use crate::kernel::{cpu_list, interrupts, loadavg, number};
use crate::task_exits::{ExitListener, ExitTotals};

/// The counters of a subject and its machine. A snapshot saved as JSON compares with a later one until the next boot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CounterSnapshot {
    /// When the machine's counters were read, on its monotonic clock.
    pub at: Stamp,
    /// The same instant, in nanoseconds since 1970.
    pub wall: u64,
    /// The boot of the machine.
    pub boot: String,
    /// The program that read the counters, if it was not us. Counters that it does not report are missing.
    #[serde(rename = "teller")]
    pub(crate) program: Option<String>,
    /// What was read.
    pub subject: Subject,
    /// CPU time that the snapshot cost.
    pub cost: Duration,
    /// Time from `at` until the last counter was read; long if the CPUs were busy with others meanwhile.
    #[serde(default)]
    pub lasted: Duration,
    pub(crate) stat: Figure<Stat>,
    pub(crate) vmstat: Figure<FaultCounters>,
    #[serde(rename = "disks")]
    pub(crate) devices: Figure<BTreeMap<String, DeviceCounters>>,
    /// Devices on top of others (volumes, arrays, ciphers, loops): their requests count again at the device below.
    pub(crate) stacked: BTreeSet<String>,
    /// Failed requests of the devices that count them.
    #[serde(rename = "disk_errors")]
    pub(crate) device_errors: BTreeMap<String, u64>,
    pub(crate) interfaces: Figure<BTreeMap<String, InterfaceCounters>>,
    /// Bytes a second, of the interfaces that have a speed.
    pub(crate) interface_speeds: BTreeMap<String, u64>,
    /// By CPU.
    pub(crate) interrupts: Figure<BTreeMap<usize, u64>>,
    /// By CPU.
    pub(crate) softirqs: Figure<BTreeMap<usize, u64>>,
    /// By CPU.
    pub(crate) queues: Figure<BTreeMap<usize, RunQueue>>,
    /// By resource: the subject's if it is a control group, else the machine's.
    pub(crate) pressure: BTreeMap<String, Figure<Pressure>>,
    pub(crate) load: Figure<f64>,
    pub(crate) tasks: Figure<Tasks>,
    pub(crate) group: Figure<Group>,
    /// Counters of ended tasks, if a listener runs.
    pub(crate) ended: Figure<ExitTotals>,
    /// CPUs that the subject may use; none = all.
    pub allowed: Option<Vec<usize>>,
    /// Whether the kernel counts waits for block devices.
    pub(crate) counts_delays: bool,
    #[serde(default)]
    pub(crate) limits: LimitCounters,
}

/// Most processes whose CPU sets are read; children usually have those of their parents.
const MOST_ASKED: usize = 16;

/// Resources with a pressure; that of interrupts exists if the kernel times them apart from tasks.
const RESOURCES: [&str; 4] = ["cpu", "io", "memory", "irq"];

impl CounterSnapshot {
    /// Reads all readable counters of a subject. Others are missing, with the reason.
    pub fn take(roots: &Roots, subject: &Subject) -> Self {
        Self::take_with(roots, subject, None)
    }

    /// The same with a listener, which knows the subject's processes and the counters of ended ones.
    pub fn take_with(roots: &Roots, subject: &Subject, listener: Option<&ExitListener>) -> Self {
        let cpu = clock::thread_cpu();
        let at = clock::now();
        let stat = roots.proc("stat", Stat::parse);
        let group = group::read(roots, subject);
        let devices = roots.proc("diskstats", diskstats::parse).map(|devices| group::whole_devices(roots, devices));
        let interfaces = roots.proc("net/dev", net_dev::parse);
        let known = listener.map(ExitListener::members).unwrap_or_default();
        let tasks = tasks::read_knowing(roots, subject, &known);
        let unheard = || Figure::absent("no listener received the ends of tasks");
        let ended = listener.map_or_else(unheard, |listener| tasks.map(|tasks| listener.ended(tasks)));
        let mut snapshot = Self {
            at,
            wall: clock::wall(),
            boot: roots
                .proc("sys/kernel/random/boot_id", |id| Ok(id.trim().to_owned()))
                .value()
                .cloned()
                .unwrap_or_default(),
            program: None,
            subject: subject.clone(),
            cost: Duration::ZERO,
            lasted: Duration::ZERO,
            stat,
            vmstat: roots.proc("vmstat", FaultCounters::parse),
            stacked: devices.value().map(|devices| group::stacked(roots, devices)).unwrap_or_default(),
            device_errors: devices.value().map(|devices| group::device_errors(roots, devices)).unwrap_or_default(),
            devices,
            interface_speeds: interfaces.value().map(|all| interfaces::speeds(roots, all.keys())).unwrap_or_default(),
            interfaces,
            interrupts: roots.proc("interrupts", interrupts::parse),
            softirqs: roots.proc("softirqs", interrupts::parse),
            queues: roots.proc("schedstat", sched::parse),
            pressure: pressure(roots, subject),
            load: roots.proc("loadavg", loadavg::parse),
            allowed: allowed(roots, subject, &tasks),
            limits: limits::read(roots, subject, &tasks),
            tasks,
            ended,
            group,
            counts_delays: roots.proc("sys/kernel/task_delayacct", |text| Ok(number(text))).value() == Some(&Some(1)),
        };
        snapshot.cost = clock::thread_cpu().saturating_sub(cpu);
        snapshot.ends();
        snapshot
    }

    /// Notes that the last counter has been read by now.
    pub fn ends(&mut self) {
        self.lasted = clock::now().since(self.at);
    }

    /// An empty snapshot of a whole machine, now, to fill with the counters of another program.
    pub(crate) fn without_counters(program: &str) -> Self {
        fn missing<T>(program: &str) -> Figure<T> {
            Figure::absent(format!("{program} does not tell"))
        }
        Self {
            at: clock::now(),
            wall: clock::wall(),
            boot: String::new(),
            program: Some(program.to_owned()),
            subject: Subject::Machine,
            cost: Duration::ZERO,
            lasted: Duration::ZERO,
            stat: missing(program),
            vmstat: missing(program),
            devices: missing(program),
            stacked: BTreeSet::new(),
            device_errors: BTreeMap::new(),
            interfaces: missing(program),
            interface_speeds: BTreeMap::new(),
            interrupts: missing(program),
            softirqs: missing(program),
            queues: missing(program),
            pressure: BTreeMap::new(),
            load: missing(program),
            tasks: missing(program),
            group: missing(program),
            ended: missing(program),
            allowed: None,
            counts_delays: false,
            limits: LimitCounters::default(),
        }
    }

    /// Whether the clocks of tasks leave out interrupts (`CONFIG_IRQ_TIME_ACCOUNTING`). Such kernels have a pressure of
    /// interrupts.
    pub(crate) fn times_interrupts_apart(&self) -> bool {
        self.pressure.get("irq").is_some_and(|irq| irq.value().is_some())
    }

    /// The CPUs that were online.
    pub fn cpus(&self) -> impl Iterator<Item = usize> {
        self.stat.value().into_iter().flat_map(|stat| stat.cpus.keys().copied())
    }

    /// Why there is nothing to meter; none if there is.
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

/// The subject's own pressure if it has one, else the machine's.
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

/// The CPUs that a subject may use; none = all. For processes: the union over their threads.
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
    fn a_snapshot_survives_json() {
        for subject in ["machine", "cpus:0", &format!("pid:{}", std::process::id())] {
            let snapshot = CounterSnapshot::take(&Roots::default(), &subject.parse().unwrap());
            let json = serde_json::to_string(&snapshot).unwrap();
            assert_eq!(serde_json::from_str::<CounterSnapshot>(&json).unwrap(), snapshot, "{subject}");
        }
    }
}
