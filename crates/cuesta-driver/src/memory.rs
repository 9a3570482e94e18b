//! What a user costs in memory: how much the process has grown, over the users that it carries.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::spec::RunSpec;

/// So many users show what one of them takes.
const ENOUGH: u64 = 1000;

/// Resident memory of this process, before any user was there and at the end of a step. Linux: `/proc/self/statm`.
#[derive(Debug)]
pub(crate) struct MemoryMeter {
    before: u64,
    after: AtomicU64,
}

impl MemoryMeter {
    pub(crate) fn begin() -> Self {
        Self { before: resident().unwrap_or(0), after: AtomicU64::new(0) }
    }

    /// A step ends: all its users are there.
    pub(crate) fn sample(&self) {
        self.after.fetch_max(resident().unwrap_or(0), Ordering::Relaxed);
    }

    /// Growth over the users of the agent, in bytes; `None` where they are so few that what all share would be most of
    /// it, or where memory cannot be read. The kernel's part is not in it.
    pub(crate) fn per_user(&self, spec: &RunSpec) -> Option<u64> {
        let all: u64 = (0..spec.groups.len()).map(|group| u64::from(spec.most_users(group))).sum();
        let users = all / u64::from(spec.agents);
        let growth = self.after.load(Ordering::Relaxed).checked_sub(self.before)?;
        (users >= ENOUGH && self.before > 0).then(|| growth / users)
    }
}

fn resident() -> Option<u64> {
    let statm = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}
