//! A limit to the CPU time of processes: a control group of the kernel, of either version (Documentation/scheduler/sched-bwc.rst).
//! Needs root.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where the groups of version 1 may be; those of version 2 are in [`VERSION_2`].
const VERSION_1: [&str; 2] = ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"];
const VERSION_2: &str = "/sys/fs/cgroup";
const GROUP: &str = "cuesta-bench";
/// How often the kernel renews the time that may be taken.
const PERIOD: Duration = Duration::from_millis(50);
/// What else runs on the machine takes nothing of what a group may take.
const HEAVIEST_SHARES: &str = "262144";
const HEAVIEST_WEIGHT: &str = "10000";

/// A group of processes. Dropping it deletes the group, so its processes must have ended.
#[derive(Debug)]
pub(super) struct CpuLimit {
    group: PathBuf,
}

impl CpuLimit {
    /// A group whose processes take at most this many CPUs, on average over each period. Groups are told apart by `number`.
    pub(super) fn new(number: usize, cpus: f64) -> io::Result<Self> {
        let (period, quota) = (PERIOD.as_micros(), PERIOD.mul_f64(cpus).as_micros());
        let old = VERSION_1.iter().map(Path::new).find(|root| root.join("cpu.cfs_quota_us").exists());
        let group = old.unwrap_or(Path::new(VERSION_2)).join(format!("{GROUP}-{number}"));
        if let Err(error) = fs::create_dir(&group)
            && error.kind() != io::ErrorKind::AlreadyExists
        {
            return Err(io::Error::new(
                error.kind(),
                format!("a limit to CPU time needs root: {}: {error}", group.display()),
            ));
        }
        let limit = Self { group };
        if old.is_some() {
            limit.set("cpu.cfs_period_us", &period.to_string())?;
            limit.set("cpu.cfs_quota_us", &quota.to_string())?;
            limit.set("cpu.shares", HEAVIEST_SHARES)?;
        } else {
            // It may be allowed already.
            let _ = fs::write(Path::new(VERSION_2).join("cgroup.subtree_control"), "+cpu");
            limit.set("cpu.max", &format!("{quota} {period}"))?;
            limit.set("cpu.weight", HEAVIEST_WEIGHT)?;
        }
        Ok(limit)
    }

    /// Its folder.
    pub(super) fn group(&self) -> &Path {
        &self.group
    }

    /// Limits a process and its future threads.
    pub(super) fn add(&self, process: u32) -> io::Result<()> {
        self.set("cgroup.procs", &process.to_string())
    }

    fn set(&self, file: &str, value: &str) -> io::Result<()> {
        let file = self.group.join(file);
        fs::write(&file, value).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", file.display())))
    }
}

impl Drop for CpuLimit {
    fn drop(&mut self) {
        // One that is left over is used by the next bench.
        let _ = fs::remove_dir(&self.group);
    }
}
