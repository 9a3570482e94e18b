//! What this process may sample, and how to allow more.
//!
//! Measured (`metering.md` of the project's references, §3.1): `perf_event_paranoid` ≤ 0 or `CAP_PERFMON` allows all CPUs; 1
//! allows our own processes with their kernel part; 2 allows their user part only; more, on Debian's kernels, allows nothing.

use std::fs;
use std::path::Path;

/// What the kernel lets us sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowed {
    /// `kernel.perf_event_paranoid`; none if this kernel has no such file, and so no sampler.
    pub paranoid: Option<i64>,
    /// `kernel.kptr_restrict`: from 1 on, addresses in kallsyms take `CAP_SYSLOG`; at 2 they are hidden from all.
    pub kptr_restrict: i64,
    /// We have `CAP_PERFMON` or `CAP_SYS_ADMIN`.
    pub may_perfmon: bool,
    /// We have `CAP_SYSLOG`.
    pub may_syslog: bool,
}

impl Allowed {
    /// `root` is "/" except in tests.
    pub fn read(root: &Path) -> Self {
        let number = |path: &str| fs::read_to_string(root.join(path)).ok()?.trim().parse::<i64>().ok();
        let capabilities = fs::read_to_string(root.join("proc/self/status")).ok().and_then(|text| effective(&text));
        let has = |bit: u32| capabilities.is_some_and(|set| set & (1 << bit) != 0);
        Self {
            paranoid: number("proc/sys/kernel/perf_event_paranoid"),
            kptr_restrict: number("proc/sys/kernel/kptr_restrict").unwrap_or(0),
            may_perfmon: has(CAP_PERFMON) || has(CAP_SYS_ADMIN),
            may_syslog: has(CAP_SYSLOG),
        }
    }

    /// Whether we may sample all CPUs, whatever runs there.
    pub fn machine(&self) -> bool {
        self.level(0)
    }

    /// Whether we may sample our own processes with their kernel part.
    pub fn own_kernel(&self) -> bool {
        self.level(1)
    }

    /// Whether we may sample the user part of our own processes.
    pub fn own_user(&self) -> bool {
        self.level(2)
    }

    /// Whether we see the addresses of the kernel's symbols (`kallsyms_show_value` of the kernel).
    pub fn symbols(&self) -> bool {
        match self.kptr_restrict {
            0 => self.may_syslog || self.paranoid.is_some_and(|level| level <= 1),
            1 => self.may_syslog,
            _ => false,
        }
    }

    /// What is missing to sample the whole machine by cause, and how to allow it; empty if nothing is.
    pub fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        match self.paranoid {
            None => {
                let file = "/proc/sys/kernel/perf_event_paranoid";
                missing.push(format!("this kernel has no perf_event_open (no {file})"));
            }
            Some(level) if !self.machine() => missing.push(format!(
                "kernel.perf_event_paranoid is {level}: {}; to allow all CPUs: sysctl kernel.perf_event_paranoid=0, \
                 or give the program CAP_PERFMON and CAP_SYSLOG",
                self.remaining()
            )),
            Some(_) => {}
        }
        if !self.symbols() {
            missing.push(format!("the addresses of kernel symbols are hidden{}", self.symbols_need()));
        }
        missing
    }

    /// Which setting hides the kernel's symbols, and how to show them; `kptr_restrict` is not named if it is 0.
    fn symbols_need(&self) -> String {
        let level = self.kptr_restrict;
        match (level, self.paranoid) {
            (0, Some(paranoid)) => format!(
                " (kernel.perf_event_paranoid is {paranoid}); to allow them: give the program CAP_SYSLOG, or sysctl \
                 kernel.perf_event_paranoid=1"
            ),
            (0, None) => "; to allow them: give the program CAP_SYSLOG".to_owned(),
            (1, _) => format!(" (kernel.kptr_restrict is {level}); to allow them: give the program CAP_SYSLOG"),
            _ => format!(
                " (kernel.kptr_restrict is {level}); to allow them: sysctl kernel.kptr_restrict=1, and CAP_SYSLOG"
            ),
        }
    }

    fn level(&self, most: i64) -> bool {
        self.paranoid.is_some_and(|level| self.may_perfmon || level <= most)
    }

    fn remaining(&self) -> &'static str {
        match (self.own_kernel(), self.own_user()) {
            (true, _) => "only our own processes are sampled",
            (false, true) => "only the user part of our own processes is sampled",
            (false, false) => "nothing is sampled",
        }
    }
}

const CAP_SYS_ADMIN: u32 = 21;
const CAP_SYSLOG: u32 = 34;
const CAP_PERFMON: u32 = 38;

/// The effective set in `/proc/PID/status`.
fn effective(status: &str) -> Option<u64> {
    let row = status.lines().find_map(|row| row.strip_prefix("CapEff:"))?;
    u64::from_str_radix(row.trim(), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(paranoid: i64, kptr_restrict: i64, capabilities: u64) -> Allowed {
        let root = tempfile::tempdir().expect("a folder");
        let kernel = root.path().join("proc/sys/kernel");
        fs::create_dir_all(&kernel).expect("a folder");
        fs::create_dir_all(root.path().join("proc/self")).expect("a folder");
        fs::write(kernel.join("perf_event_paranoid"), format!("{paranoid}\n")).expect("written");
        fs::write(kernel.join("kptr_restrict"), format!("{kptr_restrict}\n")).expect("written");
        fs::write(root.path().join("proc/self/status"), format!("Name:\tx\nCapEff:\t{capabilities:016x}\n"))
            .expect("written");
        Allowed::read(root.path())
    }

    #[test]
    fn each_level_allows_the_documented_scope() {
        let seen: Vec<_> = [3, 2, 1, 0, -1]
            .map(|level| allowed(level, 0, 0))
            .map(|allowed| (allowed.own_user(), allowed.own_kernel(), allowed.machine(), allowed.symbols()))
            .to_vec();
        let (no, yes) = (false, true);
        assert_eq!(
            seen,
            [(no, no, no, no), (yes, no, no, no), (yes, yes, no, yes), (yes, yes, yes, yes), (yes, yes, yes, yes)]
        );
    }

    #[test]
    fn perfmon_alone_sees_all_cpus_but_no_symbols() {
        let allowed = allowed(2, 0, 1 << CAP_PERFMON);
        assert!(allowed.machine() && !allowed.symbols());
        assert_eq!(allowed.missing().len(), 1);
        assert!(allowed.missing()[0].contains("CAP_SYSLOG"));
    }

    #[test]
    fn a_missing_permission_names_its_remedy() {
        let missing = allowed(2, 2, 0).missing();
        assert!(
            missing[0].contains("only the user part") && missing[0].contains("sysctl kernel.perf_event_paranoid=0")
        );
        assert!(missing[1].contains("sysctl kernel.kptr_restrict=1, and CAP_SYSLOG"));
        assert!(allowed(2, 1, u64::MAX).missing().is_empty());
    }

    #[test]
    fn hidden_symbols_name_the_setting_that_hides_them() {
        let hidden = |kptr_restrict| allowed(2, kptr_restrict, 0).missing().remove(1);
        assert!(hidden(0).contains("CAP_SYSLOG, or sysctl kernel.perf_event_paranoid=1"));
        assert!(!hidden(0).contains("kptr_restrict"));
        assert!(hidden(1).ends_with("(kernel.kptr_restrict is 1); to allow them: give the program CAP_SYSLOG"));
    }

    #[test]
    fn a_kernel_without_the_sampler_is_reported() {
        let nothing = Allowed::read(Path::new("/nonexistent"));
        assert!(!nothing.own_user());
        assert!(nothing.missing()[0].contains("no perf_event_open"));
    }
}
