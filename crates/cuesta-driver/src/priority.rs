//! A driving thread beside programs that fill its CPUs. A file of its own because the calls are unsafe.
//!
//! A thread that sleeps most of the time is not always given a CPU as soon as it wakes: it waits for the end of another program's
//! slice, 3 ms, and its stamps are late by as much. Beside four busy loops on two CPUs, one key in ten was 3.5 ms late; with a real-time
//! priority 99 in 100 were less than 0.12 ms late, with a short slice nine in ten. A better `nice` value changes nothing in that.
#![allow(unsafe_code)] // each call reads one structure, which outlives it

/// The shortest slice that the kernel takes, in nanoseconds.
const SLICE: u64 = 100_000;

/// Lets this thread run before other programs when it wakes: by a real-time priority if it may have one (root, or `ulimit -r`), else
/// by a short slice. Programs that it starts get neither. Where the kernel knows neither, its lateness shows it.
pub(crate) fn go_first() {
    let first = libc::sched_param { sched_priority: 1 };
    // SAFETY: thread 0 is the calling one, and the structure is only read.
    if unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &raw const first) } == 0 {
        return;
    }
    let short = libc::sched_attr {
        size: size_of::<libc::sched_attr>() as u32,
        sched_policy: libc::SCHED_OTHER as u32,
        sched_flags: libc::SCHED_FLAG_RESET_ON_FORK as u64,
        sched_nice: 0,
        sched_priority: 0,
        // Of an ordinary thread its slice, since Linux 6.12.
        sched_runtime: SLICE,
        sched_deadline: 0,
        sched_period: 0,
    };
    // SAFETY: as above; the kernel reads `size` bytes.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const short, 0) };
}
