//! `/proc/stat`: CPU time by use, in clock ticks; interrupts, context switches and forks since boot.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Malformed, numbers};

/// The machine's counters.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Stat {
    /// Each online CPU.
    pub cpus: BTreeMap<usize, Ticks>,
    /// Hard interrupts. A count is none if its row is missing.
    pub interrupts: Option<u64>,
    /// Soft interrupts; old kernels do not count them.
    pub softirqs: Option<u64>,
    /// Context switches.
    pub switches: Option<u64>,
    /// Processes and threads forked.
    pub forks: Option<u64>,
}

/// CPU time of one CPU, in clock ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "[u64; 8]", into = "[u64; 8]")]
pub struct Ticks {
    /// User mode, guests included.
    pub user: u64,
    /// User mode of niced tasks, niced guests included.
    pub nice: u64,
    /// Kernel mode, without interrupts.
    pub system: u64,
    /// Idle, nothing outstanding.
    pub idle: u64,
    /// Idle, input or output of a task of this CPU outstanding.
    pub iowait: u64,
    /// Hard interrupts; 0 on kernels that do not time them.
    pub irq: u64,
    /// Soft interrupts.
    pub softirq: u64,
    /// Taken by the hypervisor.
    pub steal: u64,
}

impl From<[u64; 8]> for Ticks {
    fn from([user, nice, system, idle, iowait, irq, softirq, steal]: [u64; 8]) -> Self {
        Self { user, nice, system, idle, iowait, irq, softirq, steal }
    }
}

impl From<Ticks> for [u64; 8] {
    fn from(t: Ticks) -> Self {
        [t.user, t.nice, t.system, t.idle, t.iowait, t.irq, t.softirq, t.steal]
    }
}

impl Stat {
    /// Reads the file; unknown rows are skipped.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        let mut stat = Self::default();
        for row in text.lines() {
            let (name, rest) = row.split_once(' ').unwrap_or((row, ""));
            let number = || numbers(rest).next().ok_or_else(|| Malformed::new("/proc/stat", row));
            match name {
                "intr" => stat.interrupts = Some(number()?),
                "softirq" => stat.softirqs = Some(number()?),
                "ctxt" => stat.switches = Some(number()?),
                "processes" => stat.forks = Some(number()?),
                _ => {
                    if let Some(cpu) = name.strip_prefix("cpu").and_then(|cpu| cpu.parse().ok()) {
                        let ticks = Ticks::parse(rest).ok_or_else(|| Malformed::new("/proc/stat", row))?;
                        stat.cpus.insert(cpu, ticks);
                    }
                }
            }
        }
        if stat.cpus.is_empty() {
            return Err(Malformed::new("/proc/stat", text));
        }
        Ok(stat)
    }
}

impl Ticks {
    /// At least user, nice, system and idle; old kernels have no more.
    fn parse(text: &str) -> Option<Self> {
        let mut columns: Vec<u64> = numbers(text).take(8).collect();
        let known = columns.len();
        columns.resize(8, 0);
        <[u64; 8]>::try_from(columns).ok().filter(|_| known >= 4).map(Self::from)
    }

    /// How much each use grew; a use that went back counts as zero (idle and I/O wait do so, a little).
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        let (later, earlier): ([u64; 8], [u64; 8]) = (self.into(), earlier.into());
        std::array::from_fn(|use_| super::grown(earlier[use_], later[use_]).unwrap_or(0)).into()
    }

    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let (a, b): ([u64; 8], [u64; 8]) = (self.into(), other.into());
        std::array::from_fn(|use_| a[use_].saturating_add(b[use_])).into()
    }

    pub fn total(self) -> u64 {
        <[u64; 8]>::from(self).into_iter().fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPTURED: &str = include_str!("../../tests/captured/stat");

    #[test]
    fn reads_what_the_kernel_writes() {
        let stat = Stat::parse(CAPTURED).unwrap();
        assert_eq!(stat.cpus.keys().copied().collect::<Vec<_>>(), [0, 1]);
        let cpu0 = Ticks::from([549_825, 55_002, 128_237, 734_021, 2630, 0, 51_585, 1442]);
        assert_eq!(stat.cpus[&0], cpu0);
        let counts = [stat.interrupts, stat.switches, stat.forks, stat.softirqs];
        assert_eq!(counts.map(Option::unwrap), [33_766_407, 95_561_230, 321_087, 551_853_712]);
    }

    #[test]
    fn old_kernels_have_fewer_columns() {
        assert_eq!(Stat::parse("cpu0 1 2 3 4\n").unwrap().cpus[&0].total(), 10);
        assert!(Stat::parse("cpu0 1 2 3\n").is_err());
        assert!(Stat::parse("ctxt 5\n").unwrap_err().to_string().starts_with("/proc/stat"));
    }

    #[test]
    fn idle_that_goes_back_has_not_grown() {
        let (a, b) = (Ticks::from([1, 0, 0, 500, 40, 0, 0, 0]), Ticks::from([5, 0, 0, 499, 41, 0, 0, 0]));
        assert_eq!(b.since(a), Ticks::from([4, 0, 0, 0, 1, 0, 0, 0]));
    }
}
