//! What a user costs in memory: how much the process has grown, over the users that it carries.

use std::fs;
use std::sync::{Arc, Mutex, PoisonError};

use cuesta_record::Snapshot;

/// So many users show what one of them takes.
const ENOUGH: u64 = 1000;

/// Resident memory of this process before any user was there. Linux: `/proc/self/statm`.
#[derive(Debug)]
pub(crate) struct MemoryMeter {
    before: Option<u64>,
    view: Arc<Mutex<Snapshot>>,
}

impl MemoryMeter {
    pub(crate) fn begin(view: Arc<Mutex<Snapshot>>) -> Self {
        Self { before: resident(), view }
    }

    /// Growth since the beginning over the users of the last interval, in bytes; `None` where users are so few that what
    /// all share would be most of it. The kernel's part is not in it.
    pub(crate) fn per_user(&self) -> Option<u64> {
        let users = self.view.lock().unwrap_or_else(PoisonError::into_inner).users;
        let growth = resident()?.saturating_sub(self.before?);
        (users >= ENOUGH).then(|| growth / users)
    }
}

fn resident() -> Option<u64> {
    let statm = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}
