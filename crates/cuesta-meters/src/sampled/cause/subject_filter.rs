//! Which samples belong to a subject.

use std::collections::{HashMap, HashSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use cuesta_record::Stamp;

use crate::plain::snapshot::{group, tasks};
use crate::sampled::perf::record::Sample;
use crate::{Roots, Subject};

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
    pub(crate) fn of(subject: &Subject, has_groups: bool) -> Self {
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
                let found = tasks::read(&roots, subject);
                let processes = found.value().map(|tasks| tasks.processes.keys().map(|pid| (*pid, None)).collect());
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
        let filter = SubjectFilter::of(&Subject::Process(std::process::id()), false);
        assert!(filter.has(&sample(std::process::id())) && !filter.has(&sample(1)));
    }
}
