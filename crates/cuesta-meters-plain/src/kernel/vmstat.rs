//! `/proc/vmstat`: page faults of the machine since boot, and processes that it killed for want of memory.

use serde::{Deserialize, Serialize};

use super::{Malformed, value_of};

/// The machine's page faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FaultCounters {
    /// All page faults.
    pub faults: u64,
    /// Page faults that waited for a device.
    pub major: u64,
}

impl FaultCounters {
    /// Reads the file, or `memory.stat` of a cgroup, which has the same rows.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        let row = |key| value_of(text, key).ok_or_else(|| Malformed::new("/proc/vmstat", text));
        Ok(Self { faults: row("pgfault")?, major: row("pgmajfault")? })
    }
}

/// Processes that the kernel has killed for want of memory; none if it does not count them.
pub fn oom_kills(text: &str) -> Option<u64> {
    value_of(text, "oom_kill")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_kernel_writes() {
        let captured = include_str!("../../tests/captured/vmstat");
        assert_eq!(FaultCounters::parse(captured), Ok(FaultCounters { faults: 333_716_420, major: 46_325 }));
        assert_eq!(oom_kills("pgfault 1\noom_kill 3\n"), Some(3));
        assert_eq!(oom_kills("pgfault 1\n"), None);
        assert!(FaultCounters::parse("pgfault 1\n").is_err());
        assert!(FaultCounters::parse("pgfaults 1\npgmajfault x\n").is_err());
    }
}
