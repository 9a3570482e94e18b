//! `/proc/PID/stat`: a process, its threads added up: CPU time, page faults, block-I/O delay, its parent.

use serde::{Deserialize, Serialize};

use super::{Malformed, numbers};

/// A process' account. Ticks are clock ticks. Only the sum of user and system time is exact; the kernel splits it by samples of
/// its timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PidStat {
    pub parent: u32,
    /// Page faults without a device.
    pub minor: u64,
    /// The same, of children that it has waited for.
    pub child_minor: u64,
    /// Page faults that waited for a device.
    pub major: u64,
    /// The same, of children.
    pub child_major: u64,
    /// User time; ticks.
    pub user: u64,
    /// System time; ticks.
    pub system: u64,
    /// User time of children that it has waited for; ticks.
    pub child_user: u64,
    /// System time of those; ticks.
    pub child_system: u64,
    pub threads: u64,
    /// When it began, in ticks after boot. With the process id it identifies the process.
    pub start: u64,
    /// Time waited for block devices; ticks. Zero unless `kernel.task_delayacct` is 1.
    pub block_delay: u64,
}

impl PidStat {
    /// Reads the file. The name may hold blanks and brackets: it ends with the last bracket.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        Self::fields(text).ok_or_else(|| Malformed::new("/proc/PID/stat", text))
    }

    fn fields(text: &str) -> Option<Self> {
        let (_state, rest) = text[text.rfind(')')? + 1..].trim_start().split_once(' ')?;
        // Terminal's foreground group and priorities may be negative: they count as zero.
        let words: Vec<u64> = rest.split_ascii_whitespace().map(|word| numbers(word).next().unwrap_or(0)).collect();
        let field = |number: usize| words.get(number - 4).copied(); // as numbered in proc(5)
        Some(Self {
            parent: u32::try_from(field(4)?).ok()?,
            minor: field(10)?,
            child_minor: field(11)?,
            major: field(12)?,
            child_major: field(13)?,
            user: field(14)?,
            system: field(15)?,
            child_user: field(16)?,
            child_system: field(17)?,
            threads: field(20)?,
            start: field(22)?,
            block_delay: field(42).unwrap_or(0),
        })
    }

    /// CPU time of its own; ticks.
    pub fn own(&self) -> u64 {
        self.user.saturating_add(self.system)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_kernel_writes() {
        let stat = PidStat::parse(include_str!("../../tests/captured/pid_stat")).unwrap();
        let expected = PidStat {
            parent: 20022,
            minor: 105,
            child_minor: 7,
            major: 2,
            user: 31,
            system: 12,
            child_user: 5,
            child_system: 3,
            threads: 1,
            start: 1_537_691,
            block_delay: 4,
            ..PidStat::default()
        };
        assert_eq!(stat, expected);
    }

    #[test]
    fn a_name_may_be_anything() {
        let rest = "R 1 1 1 0 -1 0 11 0 0 0 1 2 0 0 20 0 3 0 99 0 0";
        let stat = PidStat::parse(&format!("7 (a) b (c)) {rest}")).unwrap();
        assert_eq!((stat.parent, stat.minor, stat.user, stat.threads, stat.start), (1, 11, 1, 3, 99));
        for text in ["", "7 (a", "7 (a)", "7 (a) R", "7 (a) R 1 2 3", "7 a R 1 2 3 4 5 6 7 8 9"] {
            assert!(PidStat::parse(text).is_err(), "{text:?}");
        }
    }
}
