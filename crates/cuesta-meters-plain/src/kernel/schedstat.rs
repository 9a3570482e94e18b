//! `/proc/PID/schedstat` and that of each thread: exact times of a task, in nanoseconds. World-readable.

use serde::{Deserialize, Serialize};

use super::{Malformed, numbers};

/// A task's account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "[u64; 3]", into = "[u64; 3]")]
pub struct SchedStat {
    /// Time on a CPU; nanoseconds.
    pub run: u64,
    /// Time ready without a CPU; nanoseconds.
    pub wait: u64,
    /// Dispatches.
    pub slices: u64,
}

impl From<[u64; 3]> for SchedStat {
    fn from([run, wait, slices]: [u64; 3]) -> Self {
        Self { run, wait, slices }
    }
}

impl From<SchedStat> for [u64; 3] {
    fn from(s: SchedStat) -> Self {
        [s.run, s.wait, s.slices]
    }
}

impl SchedStat {
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        let mut fields = numbers(text);
        let (Some(run), Some(wait), Some(slices)) = (fields.next(), fields.next(), fields.next()) else {
            return Err(Malformed::new("/proc/PID/schedstat", text));
        };
        Ok(Self { run, wait, slices })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_kernel_writes() {
        assert_eq!(SchedStat::parse("109187 176646 2\n"), Ok(SchedStat { run: 109_187, wait: 176_646, slices: 2 }));
        for text in ["", "1 2", "1 x 3", "-1 2 3"] {
            assert!(SchedStat::parse(text).is_err(), "{text:?}");
        }
    }
}
