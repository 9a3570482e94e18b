//! `/proc/PID/status` and that of each thread: context switches of a task, the CPUs that it may use.

use super::{Malformed, cpu_list, value_of};

/// The status of a task.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PidStatus {
    /// Voluntary switches: it waited.
    pub voluntary: u64,
    /// Involuntary switches: it was preempted.
    pub involuntary: u64,
    /// The CPUs that it may use.
    pub cpus: Vec<usize>,
}

impl PidStatus {
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        let malformed = || Malformed::new("/proc/PID/status", text);
        let count = |key| value_of(text, key).ok_or_else(malformed);
        let list = text.lines().find_map(|row| row.strip_prefix("Cpus_allowed_list:"));
        Ok(Self {
            voluntary: count("voluntary_ctxt_switches:")?,
            involuntary: count("nonvoluntary_ctxt_switches:")?,
            cpus: list.and_then(cpu_list::parse).ok_or_else(malformed)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_kernel_writes() {
        let status = PidStatus::parse(include_str!("../../tests/captured/pid_status")).unwrap();
        assert_eq!(status, PidStatus { voluntary: 14, involuntary: 3, cpus: vec![0, 1] });
        assert!(PidStatus::parse("voluntary_ctxt_switches:\t1\n").is_err());
        assert!(PidStatus::parse("").is_err());
    }
}
