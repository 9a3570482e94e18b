//! The control group of a subject, version 2, version 1 or both; and which block devices are whole.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use cuesta_meters_report::{Figure, Subject};
use serde::{Deserialize, Serialize};

use crate::Roots;
use crate::kernel::cgroup::{Throttled, Usage, quota, quota_v1};
use crate::kernel::diskstats::DeviceCounters;
use crate::kernel::vmstat::FaultCounters;
use crate::kernel::{number, pid_cgroup};

/// The counters of a control group's files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Group {
    pub(crate) usage: Figure<Usage>,
    pub(crate) throttled: Figure<Throttled>,
    /// Its quota in CPUs, or a smaller one of a group that it is in.
    pub(crate) quota: Figure,
    pub(crate) faults: Figure<FaultCounters>,
}

/// Reads the subject's group: its own, or that of its process.
pub(crate) fn read(roots: &Roots, subject: &Subject) -> Figure<Group> {
    let (unified, cpu, cpuacct) = match subject {
        Subject::Machine | Subject::Cpus(_) | Subject::Children(_) => {
            return Figure::absent("only a control group or a process has a quota: name one with cgroup:PATH or pid:N");
        }
        Subject::Cgroup(path) => {
            let found_in = |controller| folder(roots, path, controller);
            (found_in(None), found_in(Some("cpu")), found_in(Some("cpuacct")))
        }
        Subject::Process(pid) => {
            let rows = roots.proc(&format!("{pid}/cgroup"), |text| Ok(text.to_owned()));
            let Some(rows) = rows.value() else { return Figure::absent(format!("process {pid} has ended")) };
            let found_in = |controller: Option<&str>| {
                folder(roots, Path::new(pid_cgroup::path(rows, controller.unwrap_or_default())?), controller)
            };
            (found_in(None), found_in(Some("cpu")), found_in(Some("cpuacct")))
        }
    };
    if [&unified, &cpu, &cpuacct].iter().all(|folder| folder.is_none()) {
        return Figure::absent("no such control group is mounted");
    }
    let (limited, quota) = tightest(roots, unified.as_deref(), cpu.as_deref());
    Figure::plain(Group {
        usage: usage(unified.as_deref(), cpuacct.as_deref()),
        throttled: throttled(&limited),
        quota,
        faults: faults(unified.as_deref()),
    })
}

/// The folder of a group, of version 2 or of a controller of version 1. A path may begin with a mount point.
pub fn folder(roots: &Roots, path: &Path, controller: Option<&str>) -> Option<PathBuf> {
    let mount = match controller {
        None => roots.unified()?,
        Some(name) => roots.controller(name)?,
    };
    let name = below_mount(roots, path);
    let folder = mount.join(name.strip_prefix("/").unwrap_or(&name));
    folder.is_dir().then_some(folder)
}

/// `/sys/fs/cgroup/unified/a/b` and `/sys/fs/cgroup/cpu/a/b` are `/a/b`.
fn below_mount(roots: &Roots, path: &Path) -> PathBuf {
    let mounts = [roots.unified(), roots.controller("cpu"), roots.controller("cpuacct")];
    let deepest = mounts
        .into_iter()
        .flatten()
        .filter(|mount| path.starts_with(mount))
        .max_by_key(|mount| mount.as_os_str().len());
    deepest.and_then(|mount| path.strip_prefix(mount).ok().map(Path::to_path_buf)).unwrap_or_else(|| path.to_path_buf())
}

fn usage(unified: Option<&Path>, cpuacct: Option<&Path>) -> Figure<Usage> {
    if let Some(folder) = unified {
        return read_file(folder, "cpu.stat", Usage::parse);
    }
    let Some(folder) = cpuacct else { return Figure::absent("no control group counts CPU time here") };
    let stat = read_file(folder, "cpuacct.stat", |text| Ok(text.to_owned()));
    stat.and_then(|stat| read_file(folder, "cpuacct.usage", |usage| Usage::parse_v1(usage, stat, super::tasks::tick())))
}

/// The group that a quota keeps from running, and its quota in CPUs: of the subject's own group and those above it, in which it is too,
/// the one that allows least. Version 1's controller comes first: if it exists, version 2 does not have it.
fn tightest(roots: &Roots, unified: Option<&Path>, cpu: Option<&Path>) -> (PathBuf, Figure) {
    let (own, mount) = match cpu {
        Some(folder) => (folder, roots.controller("cpu")),
        None => (unified.unwrap_or(Path::new("/nowhere")), roots.unified()),
    };
    let mount = mount.unwrap_or_else(|| own.to_path_buf());
    let quotas = own.ancestors().take_while(|folder| folder.starts_with(&mount)).filter_map(|folder| {
        let quota = limit(folder, cpu.is_some());
        quota.value().map(|cpus| (*cpus, folder.to_path_buf()))
    });
    match quotas.min_by(|one, other| one.0.total_cmp(&other.0)) {
        Some((cpus, folder)) => (folder, Figure::plain(cpus)),
        None => (own.to_path_buf(), limit(own, cpu.is_some())),
    }
}

fn throttled(folder: &Path) -> Figure<Throttled> {
    let throttled = read_file(folder, "cpu.stat", Throttled::parse);
    if throttled.value().is_some() { throttled } else { Figure::absent("no quota is set for this control group") }
}

fn limit(folder: &Path, version_1: bool) -> Figure {
    let quota = if version_1 {
        let period = read_file(folder, "cpu.cfs_period_us", |text| Ok(text.to_owned()));
        period.and_then(|period| read_file(folder, "cpu.cfs_quota_us", |quota| quota_v1(quota, period)))
    } else {
        read_file(folder, "cpu.max", quota)
    };
    quota.and_then(|quota| quota.map_or_else(|| Figure::absent("there is no quota"), Figure::plain))
}

/// Only version 2, where one group has both the memory and the CPU time of its processes.
fn faults(unified: Option<&Path>) -> Figure<FaultCounters> {
    match unified.map(|folder| folder.join("memory.stat")).filter(|file| file.exists()) {
        Some(file) => crate::roots::read(&file, FaultCounters::parse),
        None => Figure::absent("the memory controller is not on for this control group"),
    }
}

fn read_file<T>(
    folder: &Path,
    file: &str,
    parse: impl FnOnce(&str) -> Result<T, crate::kernel::Malformed>,
) -> Figure<T> {
    crate::roots::read(&folder.join(file), parse)
}

/// Processes of a group and of those below it.
pub(crate) fn members(roots: &Roots, path: &Path) -> Option<Vec<u32>> {
    let versions = [None, Some("cpuacct"), Some("cpu")];
    let top = versions.into_iter().find_map(|controller| folder(roots, path, controller))?;
    let mut members = Vec::new();
    let mut folders = vec![top];
    while let Some(folder) = folders.pop() {
        let procs = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
        members.extend(procs.lines().filter_map(|row| row.parse::<u32>().ok()));
        let below = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
        folders.extend(below.filter(|path| path.is_dir()));
    }
    Some(members)
}

/// The devices that were used, without partitions, which count with their device.
pub(crate) fn whole_devices(
    roots: &Roots,
    devices: &BTreeMap<String, DeviceCounters>,
) -> BTreeMap<String, DeviceCounters> {
    let blocks = roots.sys.join("block");
    let whole = |name: &str| !blocks.is_dir() || blocks.join(name.replace('/', "!")).is_dir();
    let used = devices.iter().filter(|(name, device)| whole(name) && (device.reads > 0 || device.writes > 0));
    used.map(|(name, device)| (name.clone(), *device)).collect()
}

/// The devices on top of others: volumes, arrays, ciphers (which list the devices below), and loops (on a file).
pub(crate) fn stacked(roots: &Roots, devices: &BTreeMap<String, DeviceCounters>) -> BTreeSet<String> {
    let stands = |name: &&String| {
        let folder = roots.sys.join("block").join(name.replace('/', "!"));
        let below = fs::read_dir(folder.join("slaves")).into_iter().flatten().count();
        below > 0 || folder.join("loop/backing_file").exists()
    };
    devices.keys().filter(stands).cloned().collect()
}

/// Failed requests of the devices that count them (SCSI).
pub(crate) fn device_errors(roots: &Roots, devices: &BTreeMap<String, DeviceCounters>) -> BTreeMap<String, u64> {
    let count = |name: &String| {
        let file = roots.sys.join("block").join(name).join("device/ioerr_cnt");
        let text = fs::read_to_string(file).ok()?;
        let hex = text.trim().strip_prefix("0x");
        Some((name.clone(), hex.map_or_else(|| number(&text), |hex| u64::from_str_radix(hex, 16).ok())?))
    };
    devices.keys().filter_map(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_of_the_cpu_controller_alone_has_its_processes() {
        let sys = tempfile::tempdir().unwrap();
        let group = sys.path().join("fs/cgroup/cpu/jobs/deep");
        fs::create_dir_all(&group).unwrap();
        fs::write(sys.path().join("fs/cgroup/cpu/tasks"), "").unwrap();
        fs::write(group.join("cgroup.procs"), format!("{}\n", std::process::id())).unwrap();
        let roots = Roots { sys: sys.path().into(), ..Roots::default() };
        let snapshot = crate::CounterSnapshot::take(&roots, &"cgroup:/jobs".parse().unwrap());
        assert_eq!(snapshot.absence(), None);
        let tasks = snapshot.tasks.value().unwrap();
        assert!(tasks.processes.contains_key(&std::process::id()) && tasks.processes.len() == 1);
        let delta = [snapshot.clone(), crate::CounterSnapshot::take(&roots, &"cgroup:/jobs".parse().unwrap())];
        let report = crate::Delta::compare(&delta[0], &delta[1]).unwrap().report();
        assert!(report.own.seconds.value().is_some(), "{:?}", report.own.seconds);
    }

    #[test]
    fn the_quota_of_a_group_above_holds_too() {
        let sys = tempfile::tempdir().unwrap();
        let cgroup = sys.path().join("fs/cgroup");
        fs::create_dir_all(cgroup.join("pod/host")).unwrap();
        fs::write(cgroup.join("cgroup.controllers"), "cpu\n").unwrap();
        let set = |group: &str, quota: &str, throttled: u32| {
            fs::write(cgroup.join(group).join("cpu.max"), format!("{quota} 100000\n")).unwrap();
            let stat = format!("usage_usec 9\nuser_usec 5\nsystem_usec 4\nthrottled_usec {throttled}\n");
            fs::write(cgroup.join(group).join("cpu.stat"), stat).unwrap();
        };
        let roots = Roots { sys: sys.path().into(), ..Roots::default() };
        let group = || read(&roots, &"cgroup:/pod/host".parse().unwrap()).value().cloned().unwrap();
        let limits = || (group().quota.value().copied(), group().throttled.value().unwrap().time / 1000);
        set("pod/host", "max", 0);
        set("pod", "50000", 5);
        assert_eq!(limits(), (Some(0.5), 5));
        set("pod/host", "20000", 2);
        assert_eq!(limits(), (Some(0.2), 2));
        set("pod/host", "90000", 2);
        assert_eq!(limits().0, Some(0.5));
        set("pod", "max", 0);
        set("pod/host", "max", 0);
        assert_eq!(limits().0, None);
    }

    #[test]
    fn volumes_and_loops_are_stacked() {
        let sys = tempfile::tempdir().unwrap();
        for below in ["vda/slaves", "dm-0/slaves/vda", "loop0/loop", "loop0/slaves", "cciss!c0d0/slaves"] {
            fs::create_dir_all(sys.path().join("block").join(below)).unwrap();
        }
        fs::write(sys.path().join("block/loop0/loop/backing_file"), "/image\n").unwrap();
        let roots = Roots { proc: "/nowhere".into(), sys: sys.path().into() };
        let device = DeviceCounters { reads: 1, ..DeviceCounters::default() };
        let devices = ["vda", "vda1", "dm-0", "loop0", "cciss/c0d0"].map(|name| (name.to_owned(), device)).into();
        let whole = whole_devices(&roots, &devices);
        assert_eq!(whole.keys().collect::<Vec<_>>(), ["cciss/c0d0", "dm-0", "loop0", "vda"]);
        assert_eq!(stacked(&roots, &whole), BTreeSet::from(["dm-0".to_owned(), "loop0".to_owned()]));
    }
}
