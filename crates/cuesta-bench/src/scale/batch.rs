//! The scheduling policy `SCHED_BATCH` (sched(7)) for this thread and the processes that it starts: a process that wakes does not
//! interrupt the running one. It is in its own file because it is unsafe: no safe crate offers this call.
#![allow(unsafe_code)]

use std::io;

/// The policy. Dropping it restores the usual one.
#[derive(Debug)]
pub(super) struct Batch(());

impl Batch {
    /// Sets it.
    pub(super) fn begin() -> io::Result<Self> {
        set(libc::SCHED_BATCH).map(|()| Self(()))
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        // It needs no privilege.
        let _ = set(libc::SCHED_OTHER);
    }
}

fn set(policy: libc::c_int) -> io::Result<()> {
    let priority = libc::sched_param { sched_priority: 0 };
    // SAFETY: `priority` outlives the call; process 0 is the calling thread.
    match unsafe { libc::sched_setscheduler(0, policy, &raw const priority) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
