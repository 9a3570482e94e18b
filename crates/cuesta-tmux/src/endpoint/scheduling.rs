//! The scheduling policy of the agent's thread. A file of its own because `sched_setscheduler` is unsafe.
#![allow(unsafe_code)] // the call reads one structure, which outlives it

/// Lets the programs whose segments the agent collects finish first: the thread no longer interrupts them when a segment
/// wakes it (`SCHED_BATCH`, which needs no privilege). Nothing depends on it.
pub(super) fn do_not_interrupt() {
    let parameter = libc::sched_param { sched_priority: 0 };
    // SAFETY: thread 0 is the calling one, and the structure is only read.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_BATCH, &raw const parameter) };
}
