//! A workload of context switches only, for `tracing`.

use std::os::fd::OwnedFd;
use std::thread;

use rustix::io::{read, write};
use rustix::pipe::pipe;
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

/// Context switches of one call of [`switch`]: two threads on one CPU send a byte to each other in turn, so that each byte is one
/// switch.
pub(crate) const SWITCHES: u32 = 40_000;

pub(crate) fn switch() {
    let allowed = sched_getaffinity(None).expect("a thread may read its own affinity");
    let mut here = CpuSet::new();
    here.set(sched_getcpu());
    sched_setaffinity(None, &here).expect("the CPU that it runs on is one of these");
    let (there, back) = (pipe().expect("a pipe"), pipe().expect("a pipe"));
    thread::scope(|scope| {
        scope.spawn(|| (0..SWITCHES / 2).for_each(|_| hand_on(&there.0, &back.1)));
        for _ in 0..SWITCHES / 2 {
            write(&there.1, b"x").expect("it has room");
            read(&back.0, &mut [0; 1]).expect("it comes back");
        }
    });
    sched_setaffinity(None, &allowed).expect("the affinity is restored");
}

fn hand_on(from: &OwnedFd, to: &OwnedFd) {
    read(from, &mut [0; 1]).expect("it comes");
    write(to, b"x").expect("it has room");
}
