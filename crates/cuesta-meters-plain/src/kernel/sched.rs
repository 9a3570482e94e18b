//! `/proc/schedstat`: run-queue delay, dispatches and wake-ups of each CPU. Only kernels with `CONFIG_SCHEDSTATS` have it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Malformed, numbers};

/// A CPU's run queue since boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunQueue {
    /// Wake-ups of tasks, counted only while `kernel.sched_schedstats` is 1.
    pub wakeups: u64,
    /// Time that tasks were ready without a CPU; nanoseconds.
    pub wait: u64,
    /// Dispatches.
    pub slices: u64,
}

/// Reads the file: each CPU by number. Versions 15 to 17 have the same nine columns for a CPU.
pub fn parse(text: &str) -> Result<BTreeMap<usize, RunQueue>, Malformed> {
    let malformed = || Malformed::new("/proc/schedstat", text);
    let version = super::value_of(text, "version").ok_or_else(malformed)?;
    if !(15..=17).contains(&version) {
        return Err(malformed());
    }
    let rows = text.lines().filter_map(|row| {
        let (name, rest) = row.split_once(' ')?;
        let cpu = name.strip_prefix("cpu")?.parse().ok()?;
        let fields: Vec<u64> = numbers(rest).collect();
        let [_, _, _, _, wakeups, _, _, wait, slices, ..] = fields[..] else { return None };
        Some((cpu, RunQueue { wakeups, wait, slices }))
    });
    Ok(rows.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_kernel_writes() {
        let text = "version 15\ntimestamp 4295\ncpu0 0 0 0 0 31 7 980 45 12\ndomain0 3 0 0\ncpu1 0 0 0 0 5 1 2 3 4\n";
        let queues = parse(text).unwrap();
        assert_eq!(queues[&0], RunQueue { wakeups: 31, wait: 45, slices: 12 });
        assert_eq!(queues.len(), 2);
        assert!(parse("version 14\ncpu0 1 2 3\n").is_err());
        assert!(parse("").is_err());
    }
}
