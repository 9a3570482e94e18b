//! Loads the programs into the kernel, gives them the subject, and reads them.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::os::fd::IntoRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::Typedef;
use libbpf_rs::{ErrorKind, Link, Map, MapCore, MapFlags, Object, ObjectBuilder, OpenObject, ProgramInput};
use libbpf_rs::{ProgramMut, set_print};
use rustix::thread::{CapabilitySet, capabilities};

use super::Depth;
use super::account::{Account, Class};
use super::histogram::Histograms;
use crate::plain::kernel::stat::Stat;
use crate::plain::snapshot::{group, tasks};
use crate::sampled::cause::{CallKind, call_of};
use crate::sampled::perf::Event;
use crate::{Roots, Subject};

/// Made by `build.rs` from `trace.bpf.c`.
pub(super) const PROGRAMS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/trace.bpf.o"));

/// The kernel's description of its types, to which the programs adapt.
pub(crate) const TYPES: &str = "/sys/kernel/btf/vmlinux";

const NOT_ALLOWED: &str = "only root, or a process with CAP_BPF and CAP_PERFMON, may trace";
const OTHER_NUMBERS: &str = "processes have other numbers in this container than in the kernel: trace `machine`";

/// Namespaces whose process ids are the kernel's own (`linux/proc_ns.h`).
const FIRST_CGROUPS: (&str, u64) = ("/proc/self/ns/cgroup", 0xEFFF_FFFB);
const FIRST_PROCESSES: (&str, u64) = ("/proc/self/ns/pid", 0xEFFF_FFFC);

/// Runs a program on a given CPU (`linux/bpf.h`).
const ON_CPU: u32 = 1;

const FULL_ONLY: [&str; 2] = ["call_begins", "call_ends"];
/// Programs that must run before we look for the subject's processes, so that no new process is missed.
const FIRST: [&str; 2] = ["forked", "freed"];
/// Programs that are attached on each CPU.
const OF_FAULTS: [&str; 2] = ["fault_minor", "fault_major"];
const SETTLE: &str = "settle";

/// Values in `members`: a process of the subject, and one whose children alone belong to it.
const MEMBER: u32 = 1;
const PARENT: u32 = 2;

/// The running programs. They stop when it is dropped.
pub(super) struct Tracer {
    object: Object,
    links: Vec<Link>,
    /// Events at the ends of page faults, for each online CPU.
    faults: BTreeMap<usize, [Link; 2]>,
}

impl fmt::Debug for Tracer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tracer").field("programs", &self.links.len()).finish_non_exhaustive()
    }
}

impl Tracer {
    /// Loads the programs. Accounts begin with the first [`Tracer::read`].
    pub(super) fn start(subject: &Subject, depth: Depth) -> Result<Self, String> {
        let whose = Whose::resolve(subject)?;
        if !Path::new(TYPES).exists() {
            return Err(no_types());
        }
        set_print(None);
        let mut open = ObjectBuilder::default().open_memory(PROGRAMS).map_err(refusal)?;
        choose(&mut open, depth)?;
        for mut map in open.maps_mut() {
            if map.name().to_string_lossy().ends_with(".rodata") {
                map.set_initial_value(&whose.settings()).map_err(refusal)?;
            }
        }
        let mut tracer = Self { object: open.load().map_err(refusal)?, links: Vec::new(), faults: BTreeMap::new() };
        tracer.attach(|name| FIRST.contains(&name))?;
        if matches!(whose, Whose::Processes) {
            tracer.add_members(subject)?;
        }
        for cpu in online() {
            tracer.faults.insert(cpu, tracer.watch_faults(cpu)?);
        }
        tracer.attach(|name| !FIRST.contains(&name) && !OF_FAULTS.contains(&name) && name != SETTLE)?;
        Ok(tracer)
    }

    /// Why no tracer can be loaded, if that is known without loading one.
    pub(super) fn absence(of_processes: bool) -> Option<String> {
        if !Path::new(TYPES).exists() {
            return Some(no_types());
        }
        let may = capabilities(None).map_or(CapabilitySet::empty(), |sets| sets.effective);
        let enough = [CapabilitySet::SYS_ADMIN, CapabilitySet::BPF | CapabilitySet::PERFMON];
        if !enough.iter().any(|set| may.contains(*set)) {
            return Some(NOT_ALLOWED.to_owned());
        }
        (of_processes && !is_first(FIRST_PROCESSES)).then(|| OTHER_NUMBERS.to_owned())
    }

    /// The accounts of all CPUs; those of offline CPUs as of their last reading.
    pub(super) fn read(&mut self, cpus: impl Iterator<Item = usize>) -> BTreeMap<usize, Account> {
        for cpu in cpus {
            if self.faults.contains_key(&cpu) == self.settle(cpu) {
                continue;
            }
            // The CPU went on- or offline; its events do not outlive it.
            if self.faults.remove(&cpu).is_none()
                && let Ok(links) = self.watch_faults(cpu)
            {
                self.faults.insert(cpu, links);
            }
        }
        let accounts = self.map("accounts").lookup_percpu(&0_u32.to_ne_bytes(), MapFlags::ANY);
        let accounts = accounts.ok().flatten().unwrap_or_default();
        accounts.iter().enumerate().filter_map(|(cpu, bytes)| Some((cpu, Account::read(bytes)?))).collect()
    }

    /// Durations of tasks off their CPUs, up to the last [`Tracer::read`].
    pub(super) fn histograms(&self) -> Histograms {
        let map = self.map("distributions");
        let cpus = |kind: u32| map.lookup_percpu(&kind.to_ne_bytes(), MapFlags::ANY).ok().flatten().unwrap_or_default();
        Histograms::read(cpus)
    }

    /// Updates the account of a CPU, on that CPU; returns whether it is online.
    fn settle(&self, cpu: usize) -> bool {
        let cpu = u32::try_from(cpu).unwrap_or(u32::MAX);
        let program = self.program(SETTLE);
        program.test_run(ProgramInput { cpu, flags: ON_CPU, ..ProgramInput::default() }).is_ok()
    }

    fn watch_faults(&self, cpu: usize) -> Result<[Link; 2], String> {
        let filter = |major: bool| {
            let event = Event::of_faults(cpu, major).map_err(|error| error.to_string())?;
            // The link closes the event.
            self.program(OF_FAULTS[usize::from(major)]).attach_perf_event(event.into_raw_fd()).map_err(refusal)
        };
        Ok([filter(false)?, filter(true)?])
    }

    fn attach(&mut self, wanted: impl Fn(&str) -> bool) -> Result<(), String> {
        for program in self.object.progs_mut() {
            if program.autoload() && wanted(&program.name().to_string_lossy()) {
                self.links.push(program.attach().map_err(refusal)?);
            }
        }
        Ok(())
    }

    /// Adds the subject's processes until no more are found; new ones add themselves.
    fn add_members(&self, subject: &Subject) -> Result<(), String> {
        let mut added = 0;
        loop {
            let read = tasks::read(&Roots::default(), subject);
            let tasks = read.value().ok_or_else(|| read.why().unwrap_or_default().to_owned())?;
            let members = tasks.processes.keys().map(|pid| (pid, MEMBER));
            for (pid, role) in members.chain(tasks.reapers.keys().map(|pid| (pid, PARENT))) {
                let (key, value) = (pid.to_ne_bytes(), role.to_ne_bytes());
                self.map("members").update(&key, &value, MapFlags::ANY).map_err(refusal)?;
            }
            if tasks.processes.len() <= added {
                return Ok(());
            }
            added = tasks.processes.len();
        }
    }

    fn map(&self, name: &str) -> Map<'_> {
        self.object.maps().find(|map| map.name() == name).expect("the object has it")
    }

    fn program(&self, name: &str) -> ProgramMut<'_> {
        self.object.progs_mut().find(|program| program.name() == name).expect("the object has it")
    }
}

fn online() -> Vec<usize> {
    let stat = Roots::default().proc("stat", Stat::parse);
    stat.value().map(|stat| stat.cpus.keys().copied().collect()).unwrap_or_default()
}

/// Leaves out programs that `depth` does not need, and interrupts that this kernel does not have.
fn choose(open: &mut OpenObject, depth: Depth) -> Result<(), String> {
    let types = Btf::from_path(TYPES).map_err(refusal)?;
    for mut program in open.progs_mut() {
        let name = program.name().to_string_lossy().into_owned();
        let section = program.section().to_string_lossy().into_owned();
        let Some(point) = section.strip_prefix("tp_btf/") else { continue };
        let is_there = types.type_by_name::<Typedef<'_>>(&format!("btf_trace_{point}")).is_some();
        if !is_there && (!is_interrupt(point) || point.starts_with("softirq")) {
            return Err(format!("this kernel has no tracepoint {point}"));
        }
        program.set_autoload(is_there && (depth == Depth::Full || !FULL_ONLY.contains(&name.as_str())));
    }
    Ok(())
}

fn is_interrupt(point: &str) -> bool {
    point.ends_with("_entry") || point.ends_with("_exit")
}

pub(crate) fn no_types() -> String {
    format!("{TYPES}: this kernel does not describe its types (CONFIG_DEBUG_INFO_BTF)")
}

/// Why the kernel refused, and the remedy.
#[allow(clippy::needless_pass_by_value)] // As `map_err` gives it.
pub(crate) fn refusal(error: libbpf_rs::Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => NOT_ALLOWED.to_owned(),
        _ => format!("the kernel takes no tracer: {error:#}"),
    }
}

/// How the programs recognize the subject's tasks.
enum Whose {
    /// All tasks on these CPUs; an empty list means all CPUs.
    All(Vec<usize>),
    /// Processes, and those that they start.
    Processes,
    /// Tasks of a control group: the inode of its folder, and its depth.
    Group(u64, u32),
}

impl Whose {
    fn resolve(subject: &Subject) -> Result<Self, String> {
        match subject {
            Subject::Machine => Ok(Self::All(Vec::new())),
            Subject::Cpus(cpus) => Ok(Self::All(cpus.clone())),
            Subject::Cgroup(path) if let Some(group) = unified(path) => Ok(group),
            Subject::Process(_) | Subject::Children(_) | Subject::Cgroup(_) if is_first(FIRST_PROCESSES) => {
                Ok(Self::Processes)
            }
            _ => Err(OTHER_NUMBERS.to_owned()),
        }
    }

    /// In the form of `settings` in `account.h`.
    fn settings(&self) -> Vec<u8> {
        let (subject, group, level, cpus) = match self {
            Self::All(cpus) => (0_u32, 0, 0, cpus.as_slice()),
            Self::Processes => (1, 0, 0, [].as_slice()),
            Self::Group(group, level) => (2, *group, *level, [].as_slice()),
        };
        let mut bits = [if cpus.is_empty() { u64::MAX } else { 0 }; 16];
        for cpu in cpus {
            bits[cpu / 64 % 16] |= 1 << (cpu % 64);
        }
        let mut bytes = group.to_ne_bytes().to_vec();
        bytes.extend_from_slice(&subject.to_ne_bytes());
        bytes.extend_from_slice(&level.to_ne_bytes());
        bytes.extend(bits.iter().flat_map(|bits| bits.to_ne_bytes()));
        bytes.extend((0..512).map(|number| class_of(call_of(number)) as u8));
        bytes
    }
}

fn class_of(call: CallKind) -> Class {
    match call {
        CallKind::Loading => Class::Loading,
        CallKind::Mapping => Class::Mapping,
        _ => Class::Call,
    }
}

/// A control group of version 2, if its inode is valid here.
fn unified(path: &Path) -> Option<Whose> {
    let roots = Roots::default();
    let (folder, mount) = (group::folder(&roots, path, None)?, roots.unified()?);
    let level = folder.strip_prefix(&mount).ok()?.components().count();
    let number = folder.metadata().ok()?.ino();
    is_first(FIRST_CGROUPS).then_some(Whose::Group(number, u32::try_from(level).ok()?))
}

fn is_first((namespace, number): (&str, u64)) -> bool {
    fs::metadata(namespace).is_ok_and(|about| about.ino() == number)
}
