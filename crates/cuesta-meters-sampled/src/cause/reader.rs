//! Records → tallies: which subject each sample belongs to, and its cause.

use std::collections::{HashMap, HashSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cuesta_meters_plain::Roots;
use cuesta_meters_plain::snapshot::{group, tasks};
use cuesta_meters_report::Subject;
use cuesta_record::Stamp;

use super::causes::Cause;
use super::classify::{CallKind, CodeOwner, SampleClass, StackBase, SymbolClass, UserCode, classify};
use super::kallsyms::{Function, Kallsyms};
use super::maps::{FileOffset, Maps};
use super::pace::Pace;
use super::syscall_return::SyscallReturns;
use super::tally::SampleTally;
use crate::perf::Rings;
use crate::perf::record::{Mode, Record, Sample, Stamped};
use crate::profile::{Histogram, Profile, ProfileSample};

/// Counts samples in order of time.
#[derive(Debug)]
pub(crate) struct Reader {
    symbols: Arc<Kallsyms>,
    maps: Maps,
    syscall_returns: SyscallReturns,
    /// Subjects and their tallies since the last window.
    watched: Vec<(SubjectFilter, SampleTally)>,
    /// The stacks of the first subject, if wanted.
    histogram: Option<Histogram>,
    /// Cache of functions by address: a few thousand addresses make up most samples.
    functions: HashMap<u64, Option<Function>>,
    /// The sampling rate of each CPU.
    pub(crate) pace: Pace,
    /// Records or samples that had no room in a ring.
    pub(crate) lost: u64,
    /// Ticks for whose rest the kernel stopped sampling a CPU.
    pub(crate) throttled: u64,
}

impl Reader {
    pub(crate) fn new(symbols: Arc<Kallsyms>, filters: Vec<SubjectFilter>, profile: bool) -> Self {
        Self {
            symbols,
            maps: Maps::default(),
            syscall_returns: SyscallReturns::default(),
            watched: filters.into_iter().map(|filter| (filter, SampleTally::default())).collect(),
            histogram: profile.then(Histogram::default),
            functions: HashMap::new(),
            pace: Pace::default(),
            lost: 0,
            throttled: 0,
        }
    }

    /// Reads the records that were drained from rings and written before `floor`.
    pub(crate) fn read_before(&mut self, rings: &mut Rings, floor: Stamp) {
        rings.take_before(floor).into_iter().for_each(|record| self.read(record));
    }

    pub(crate) fn read(&mut self, record: Stamped) {
        let at = record.at;
        match record.record {
            Record::Sample(sample) => self.sample(&sample),
            Record::Mapped { process, map } => self.maps.map(process, &map),
            Record::Named { process, task, name, exec } => {
                if exec {
                    self.maps.exec(process);
                }
                if let Some(histogram) = self.histogram.as_mut().filter(|_| process == task) {
                    histogram.name(process, name);
                }
            }
            Record::Born { process, parent } if process != parent => {
                self.maps.fork(process, parent);
                self.watched.iter_mut().for_each(|(filter, _)| filter.born(process, parent));
                if let Some(histogram) = &mut self.histogram {
                    histogram.fork(process, parent);
                }
            }
            Record::Ended { process, task } if process == task => {
                self.maps.end(process, at);
                self.watched.iter_mut().for_each(|(filter, _)| filter.ended(process, at));
            }
            Record::Born { .. } | Record::Ended { .. } => {}
            Record::Lost(count) => self.lost += count,
            Record::Throttled => self.throttled += 1,
            Record::Cgroup { id, path } => {
                self.watched.iter_mut().for_each(|(filter, _)| filter.grouped(id, path.as_ref()));
            }
        }
    }

    /// Forgets processes that ended before `floor`.
    pub(crate) fn forget(&mut self, floor: Stamp) {
        self.maps.forget(floor);
        self.watched.iter_mut().for_each(|(filter, _)| filter.forget(floor));
    }

    /// Returns the tallies and starts anew.
    pub(crate) fn take(&mut self) -> Vec<SampleTally> {
        self.watched.iter_mut().map(|(_, tally)| std::mem::take(tally)).collect()
    }

    /// Returns the stacks and starts anew.
    pub(crate) fn take_profile(&mut self) -> Profile {
        let profile = self.histogram.as_mut().map(|histogram| histogram.take(&self.symbols, &self.maps.modules));
        profile.unwrap_or_default()
    }

    fn sample(&mut self, sample: &Sample) {
        if !self.watched.iter().any(|(filter, _)| filter.has(sample)) {
            return;
        }
        let functions: Vec<_> = sample.kernel.iter().enumerate().map(|(depth, at)| self.function(depth, *at)).collect();
        let offset = sample.user.and_then(|address| self.maps.find(sample.process, address));
        let (class, base) = self.classify(sample, &functions, offset);
        let cause = class.cause;
        if cause != Cause::Idle {
            self.pace.count_sample(sample.cpu, cause == Cause::PageFaults);
        }
        for (filter, tally) in &mut self.watched {
            if filter.has(sample) {
                tally.count(class, sample.period, sample.half_rate);
            }
        }
        let first = self.watched.first().is_some_and(|(filter, _)| filter.has(sample));
        if let Some(histogram) = self.histogram.as_mut().filter(|_| first) {
            let mut user: Vec<FileOffset> = offset.filter(|_| base != StackBase::Kernel).into_iter().collect();
            let callers = sample.callers.iter().filter(|_| !user.is_empty());
            // A return address is after its call. An address without code is no caller: some function on the stack keeps no
            // frame pointer.
            let callers = callers.map_while(|address| self.maps.find(sample.process, address.checked_sub(1)?));
            user.extend(callers.collect::<Vec<_>>());
            histogram.count(&ProfileSample {
                process: sample.process,
                cause: class.cause,
                kernel: &functions,
                user: &user,
            });
        }
    }

    fn classify(
        &mut self,
        sample: &Sample,
        functions: &[Option<Function>],
        offset: Option<FileOffset>,
    ) -> (SampleClass, StackBase) {
        let (base, number) = match (sample.process, offset) {
            (0, _) => (StackBase::Idle, None),
            (_, None) if sample.user.is_none() => (StackBase::Kernel, None),
            (_, None) => (StackBase::User(UserCode::Unknown), None),
            (_, Some(offset)) => {
                let place = self.place(offset);
                let number = if let UserCode::SyscallReturn(call, _) = place { Some(call) } else { None };
                (StackBase::User(place), number.filter(|call| *call != CallKind::Unnamed))
            }
        };
        let classes = functions
            .iter()
            .map(|function| function.map_or(SymbolClass::None, |function| self.symbols.class(function)));
        let mut class = classify(classes, base, number);
        // Without symbols the kernel's part cannot be split.
        if sample.mode == Mode::Kernel && class.cause == Cause::Unclassified && self.symbols.is_empty() {
            class.cause = if base == StackBase::Idle { Cause::Idle } else { Cause::Kernel };
        }
        (class, base)
    }

    fn place(&mut self, offset: FileOffset) -> UserCode {
        let linker = self.maps.modules.is_linker(offset.module);
        match self.syscall_returns.call_returning_to(&self.maps.modules, offset) {
            Some(call) => UserCode::SyscallReturn(call, if linker { CodeOwner::Linker } else { CodeOwner::Program }),
            None if linker => UserCode::Linker,
            None => UserCode::Program,
        }
    }

    fn function(&mut self, depth: usize, address: u64) -> Option<Function> {
        if self.functions.len() >= MOST_ADDRESSES {
            self.functions.clear();
        }
        // All but the innermost are return addresses, which may lie after the end of a function that never returns.
        let address = address - u64::from(depth > 0);
        *self.functions.entry(address).or_insert_with(|| self.symbols.find(address))
    }
}

/// Most kernel addresses in the cache.
const MOST_ADDRESSES: usize = 1 << 17;

/// A subject, as the sampler sees it.
#[derive(Debug)]
pub(crate) enum SubjectFilter {
    /// The whole machine.
    Everything,
    /// All tasks on some CPUs.
    Cpus(HashSet<u32>),
    /// Processes and those that they start, each with the instant of its end. Then processes whose children alone count.
    Processes(HashMap<u32, Option<Stamp>>, HashSet<u32>),
    /// Control groups by the inodes of their folders; the path of the topmost below the root.
    Groups(HashSet<u64>, PathBuf),
}

impl SubjectFilter {
    /// Finds the tasks of a subject now.
    pub(crate) fn for_subject(subject: &Subject, has_groups: bool) -> Self {
        let roots = Roots::default();
        match subject {
            Subject::Machine => Self::Everything,
            Subject::Cpus(cpus) => Self::Cpus(cpus.iter().filter_map(|cpu| u32::try_from(*cpu).ok()).collect()),
            Subject::Cgroup(path) if has_groups && let Some(top) = group::folder(&roots, path, None) => {
                let mount = roots.unified().unwrap_or_default();
                let below = Path::new("/").join(top.strip_prefix(&mount).unwrap_or(&top));
                Self::Groups(folders(&top).into_iter().collect(), below)
            }
            Subject::Process(_) | Subject::Children(_) | Subject::Cgroup(_) => {
                let tasks = tasks::read(&roots, subject);
                let processes = tasks.value().map(|tasks| tasks.processes.keys().map(|pid| (*pid, None)).collect());
                let parents = match subject {
                    Subject::Children(parents) => parents.iter().copied().collect(),
                    _ => HashSet::new(),
                };
                Self::Processes(processes.unwrap_or_default(), parents)
            }
        }
    }

    /// Whether a sample belongs to the subject.
    pub(crate) fn has(&self, sample: &Sample) -> bool {
        match self {
            Self::Everything => true,
            Self::Cpus(cpus) => cpus.contains(&sample.cpu),
            Self::Processes(processes, _) => processes.contains_key(&sample.process),
            // The idle task is in the topmost group.
            Self::Groups(ids, _) => sample.process != 0 && sample.cgroup.is_some_and(|id| ids.contains(&id)),
        }
    }

    /// A process was forked.
    pub(crate) fn born(&mut self, process: u32, parent: u32) {
        if let Self::Processes(processes, parents) = self {
            if processes.contains_key(&parent) || parents.contains(&parent) {
                processes.insert(process, None);
            } else {
                // The id may have been that of another process of the subject.
                processes.remove(&process);
            }
        }
    }

    /// The first task of a process has ended; its last samples may still arrive.
    pub(crate) fn ended(&mut self, process: u32, at: Stamp) {
        if let Self::Processes(processes, _) = self
            && let Some(ended) = processes.get_mut(&process)
        {
            *ended = Some(at);
        }
    }

    /// Forgets processes that ended before `floor`.
    pub(crate) fn forget(&mut self, floor: Stamp) {
        if let Self::Processes(processes, _) = self {
            processes.retain(|_, ended| ended.is_none_or(|ended| ended >= floor));
        }
    }

    /// A control group was made.
    pub(crate) fn grouped(&mut self, id: u64, path: &Path) {
        if let Self::Groups(ids, top) = self
            && path.starts_with(top)
        {
            ids.insert(id);
        }
    }
}

/// The inodes of a folder and of all below it.
fn folders(top: &Path) -> Vec<u64> {
    let mut numbers = Vec::new();
    let mut next = vec![top.to_owned()];
    while let Some(folder) = next.pop() {
        let Ok(about) = folder.metadata() else { continue };
        numbers.push(about.ino());
        let below = folder.read_dir().into_iter().flatten().flatten();
        next.extend(below.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()));
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(process: u32) -> Sample {
        Sample { process, cpu: 1, cgroup: Some(u64::from(process)), ..Sample::default() }
    }

    #[test]
    fn children_belong_to_a_subject_and_a_reused_id_does_not() {
        let mut filter = SubjectFilter::Processes([(10, None)].into(), [20].into());
        filter.born(21, 20);
        assert!(filter.has(&sample(21)) && !filter.has(&sample(20)));
        filter.born(11, 10);
        filter.born(12, 11);
        filter.ended(12, Stamp::from_nanos(5));
        assert!(filter.has(&sample(12)));
        filter.born(12, 99);
        assert!(filter.has(&sample(11)) && !filter.has(&sample(12)));
        filter.ended(11, Stamp::from_nanos(6));
        filter.forget(Stamp::from_nanos(7));
        assert!(!filter.has(&sample(11)) && filter.has(&sample(10)));
    }

    #[test]
    fn new_groups_below_a_subject_belong_to_it() {
        let mut filter = SubjectFilter::Groups([3].into(), "/host".into());
        filter.grouped(4, Path::new("/host/user"));
        filter.grouped(5, Path::new("/hostile"));
        assert_eq!([3, 4, 5].map(|id| filter.has(&sample(id))), [true, true, false]);
    }

    #[test]
    fn a_process_tree_is_found_by_its_root() {
        let filter = SubjectFilter::for_subject(&Subject::Process(std::process::id()), false);
        assert!(filter.has(&sample(std::process::id())) && !filter.has(&sample(1)));
    }
}
