//! What a subject may run out of, and how often it was refused: terminals, files, connections, memory, processes, logins.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use cuesta_meters_report::{Figure, Subject};
use serde::{Deserialize, Serialize};

use super::group;
use super::tasks::Tasks;
use crate::Roots;
use crate::kernel::netstat::ListenCounters;
use crate::kernel::sshd::{self, Startups};
use crate::kernel::{cgroup, conntrack, number, numbers, pid_cgroup, udp, vmstat};

/// Most processes whose titles are read, to find a listening sshd: those with the most children.
const MOST_TITLES: usize = 16;
/// Most bytes of a configuration that are read.
const MOST_CONFIGURATION: u64 = 256 * 1024;

/// Levels and counters; none where the kernel does not have one, or this user may not read it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct LimitCounters {
    pub(crate) ptys: Option<u64>,
    pub(crate) pty_limit: Option<u64>,
    pub(crate) files: Option<u64>,
    pub(crate) file_limit: Option<u64>,
    pub(crate) entropy: Option<u64>,
    pub(crate) listen: Option<ListenCounters>,
    pub(crate) name_lookups: Option<u64>,
    pub(crate) conntrack: Option<u64>,
    pub(crate) conntrack_limit: Option<u64>,
    pub(crate) conntrack_drops: Option<u64>,
    pub(crate) oom_kills: Option<u64>,
    pub(crate) memory_high: Option<u64>,
    pub(crate) pids_refused: Option<u64>,
    pub(crate) logins: Option<Logins>,
}

/// The limits of a listening sshd.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Logins {
    pub(crate) startups: Startups,
    /// Percent.
    pub(crate) rate: Option<u64>,
    /// Seconds.
    pub(crate) grace: Option<u64>,
}

pub(super) fn read(roots: &Roots, subject: &Subject, tasks: &Figure<Tasks>) -> LimitCounters {
    let sys = |file: &str| parsed(roots.proc.join("sys").join(file), number);
    let of_process = process(subject).map_or_else(|| roots.proc.clone(), |pid| roots.proc.join(pid.to_string()));
    let file_table = parsed(roots.proc.join("sys/fs/file-nr"), |text| Some(numbers(text).collect::<Vec<_>>()));
    let (ptys, pty_limit) = own_terminals(&of_process).unwrap_or_else(|| (sys("kernel/pty/nr"), sys("kernel/pty/max")));
    let group = |controller, file, name| events_of_group(roots, subject, controller, file, name);
    LimitCounters {
        ptys,
        pty_limit,
        files: file_table.as_ref().and_then(|numbers| numbers.first().copied()),
        file_limit: file_table.as_ref().and_then(|numbers| numbers.get(2).copied()),
        entropy: sys("kernel/random/entropy_avail"),
        listen: parsed(of_process.join("net/netstat"), |text| ListenCounters::parse(text).ok()),
        name_lookups: name_lookups(&of_process),
        conntrack: sys("net/netfilter/nf_conntrack_count"),
        conntrack_limit: sys("net/netfilter/nf_conntrack_max"),
        conntrack_drops: parsed(of_process.join("net/stat/nf_conntrack"), |text| conntrack::drops(text).ok()),
        oom_kills: group(None, "memory.events", "oom_kill")
            .or_else(|| group(Some("memory"), "memory.oom_control", "oom_kill"))
            .or_else(|| parsed(roots.proc.join("vmstat"), vmstat::oom_kills)),
        memory_high: group(None, "memory.events", "high"),
        pids_refused: group(None, "pids.events", "max").or_else(|| group(Some("pids"), "pids.events", "max")),
        logins: tasks.value().and_then(|tasks| logins(roots, tasks)),
    }
}

fn parsed<T>(path: PathBuf, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
    parse(&fs::read_to_string(path).ok()?)
}

/// Look-ups of names under way, over both versions of IP.
fn name_lookups(process: &Path) -> Option<u64> {
    let counted = ["net/udp", "net/udp6"].map(|file| parsed(process.join(file), |text| Some(udp::name_lookups(text))));
    counted.into_iter().flatten().reduce(|one, other| one + other)
}

/// The process in whose namespaces the subject is, if it is not the machine.
fn process(subject: &Subject) -> Option<u32> {
    match subject {
        Subject::Process(pid) => Some(*pid),
        Subject::Machine | Subject::Cpus(_) | Subject::Children(_) | Subject::Cgroup(_) => None,
    }
}

/// The terminals of a process whose devpts has a limit of its own, and that limit; none if the kernel's holds.
fn own_terminals(process: &Path) -> Option<(Option<u64>, Option<u64>)> {
    let mounts = fs::read_to_string(process.join("mounts")).ok()?;
    let row = mounts.lines().rfind(|row| row.split(' ').nth(1) == Some("/dev/pts"))?;
    let most = row.split(' ').nth(3)?.split(',').find_map(|option| number(option.strip_prefix("max=")?))?;
    let entries = fs::read_dir(process.join("root/dev/pts")).ok()?.flatten();
    let used = entries.filter(|entry| entry.file_name() != "ptmx").count();
    Some((Some(used as u64), Some(most)))
}

/// A counter of the subject's control group.
fn events_of_group(roots: &Roots, subject: &Subject, controller: Option<&str>, file: &str, name: &str) -> Option<u64> {
    let folder = match subject {
        Subject::Cgroup(path) => group::folder(roots, path, controller)?,
        Subject::Process(pid) => {
            let rows = fs::read_to_string(roots.proc.join(format!("{pid}/cgroup"))).ok()?;
            group::folder(roots, Path::new(pid_cgroup::path(&rows, controller.unwrap_or_default())?), controller)?
        }
        Subject::Machine | Subject::Cpus(_) | Subject::Children(_) => return None,
    };
    cgroup::events(&fs::read_to_string(folder.join(file)).ok()?, name)
}

/// The limits of the sshd with the most connections, if one of the subject's processes is one that listens.
fn logins(roots: &Roots, tasks: &Tasks) -> Option<Logins> {
    let mut children = BTreeMap::<u32, usize>::new();
    for process in tasks.processes.values() {
        *children.entry(process.stat.parent).or_default() += 1;
    }
    let mut pids: Vec<u32> = tasks.processes.keys().copied().collect();
    pids.sort_by_key(|pid| Reverse(children.get(pid).copied().unwrap_or(0)));
    pids.into_iter().take(MOST_TITLES).find_map(|pid| {
        let folder = roots.proc.join(pid.to_string());
        let line = fs::read(folder.join("cmdline")).ok()?;
        let title = String::from_utf8_lossy(&line).trim_end_matches(['\0', ' ']).replace('\0', " ");
        let startups = Startups::parse(&title)?;
        let config = configuration(&folder, &title).unwrap_or_default();
        let grace = sshd::setting(&config, "logingracetime").map_or(Some(120), sshd::seconds);
        Some(Logins { startups, rate: startups.rate(&config), grace: grace.filter(|_| !config.is_empty()) })
    })
}

/// The configuration of a listening sshd, as its own root folder has it.
fn configuration(folder: &Path, title: &str) -> Option<String> {
    use std::io::Read as _;
    let file = sshd::config_file(title).unwrap_or("/etc/ssh/sshd_config");
    let path = folder.join("root").join(file.trim_start_matches('/'));
    let mut config = String::new();
    fs::File::open(path).ok()?.take(MOST_CONFIGURATION).read_to_string(&mut config).ok()?;
    Some(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine of files, each with its text.
    fn machine(files: &[(&str, &str)]) -> (tempfile::TempDir, Roots) {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let roots = Roots { proc: folder.path().join("proc"), sys: folder.path().join("sys") };
        (folder, roots)
    }

    fn limits(files: &[(&str, &str)], subject: &str) -> LimitCounters {
        let (_folder, roots) = machine(files);
        let subject = subject.parse().unwrap();
        read(&roots, &subject, &super::super::tasks::read(&roots, &subject))
    }

    #[test]
    fn a_machine_has_the_kernels_limits() {
        let limits = limits(
            &[
                ("proc/sys/kernel/pty/nr", "4090\n"),
                ("proc/sys/kernel/pty/max", "4096\n"),
                ("proc/sys/fs/file-nr", "413\t0\t2466177\n"),
                ("proc/sys/net/netfilter/nf_conntrack_count", "65535\n"),
                ("proc/sys/net/netfilter/nf_conntrack_max", "65536\n"),
                ("proc/net/stat/nf_conntrack", include_str!("../../tests/captured/nf_conntrack")),
                ("proc/net/netstat", include_str!("../../tests/captured/netstat")),
                ("proc/vmstat", "oom_kill 2\n"),
            ],
            "machine",
        );
        assert_eq!((limits.ptys, limits.pty_limit), (Some(4090), Some(4096)));
        assert_eq!((limits.files, limits.file_limit), (Some(413), Some(2_466_177)));
        let conntrack = (limits.conntrack, limits.conntrack_limit, limits.conntrack_drops);
        assert_eq!(conntrack, (Some(65535), Some(65536), Some(26)));
        assert_eq!((limits.listen.unwrap().overflows, limits.oom_kills), (1632, Some(2)));
        assert_eq!((limits.memory_high, limits.entropy, limits.logins), (None, None, None));
    }

    #[test]
    fn a_group_has_its_own_limits() {
        let limits = limits(
            &[
                ("sys/fs/cgroup/cgroup.controllers", "cpu memory pids\n"),
                ("sys/fs/cgroup/jobs/memory.events", "low 0\nhigh 41\nmax 0\noom 1\noom_kill 2\n"),
                ("sys/fs/cgroup/jobs/pids.events", "max 7\n"),
                ("proc/vmstat", "oom_kill 99\n"),
            ],
            "cgroup:/jobs",
        );
        assert_eq!((limits.memory_high, limits.oom_kills, limits.pids_refused), (Some(41), Some(2), Some(7)));
    }

    #[test]
    fn an_sshd_says_its_limits_of_logins() {
        let stat = |pid: u32, parent: u32| format!("{pid} (x) S {parent} 1 1 0 -1 0 1 0 0 0 1 2 0 0 20 0 1 0 99 0 0");
        let limits = limits(
            &[
                ("proc/7/stat", &stat(7, 1)),
                ("proc/8/stat", &stat(8, 7)),
                ("proc/7/cmdline", "sshd: /usr/sbin/sshd -D -f /etc/own [listener] 3 of 10-60 startups\0"),
                ("proc/7/root/etc/own", "MaxStartups 10:30:60\nLoginGraceTime 2m\n"),
                ("proc/8/cmdline", "sshd: joe [priv]\0"),
            ],
            "machine",
        );
        let startups = Startups { now: 3, start: 10, full: 60 };
        assert_eq!(limits.logins, Some(Logins { startups, rate: Some(30), grace: Some(120) }));
    }

    #[test]
    fn a_devpts_may_have_a_limit_of_its_own() {
        let limits = limits(
            &[
                ("proc/7/mounts", "devpts /dev/pts devpts rw,mode=600,max=2 0 0\n"),
                ("proc/7/root/dev/pts/0", ""),
                ("proc/7/root/dev/pts/ptmx", ""),
                ("proc/sys/kernel/pty/max", "4096\n"),
            ],
            "pid:7",
        );
        assert_eq!((limits.ptys, limits.pty_limit), (Some(1), Some(2)));
    }
}
