//! Work of four kinds, the same at each turn, and what a turn takes: `sampling` and `tracing` do it with their meters and
//! without.

use std::hint::black_box;
use std::os::fd::OwnedFd;
use std::thread;

use cuesta_record::clock;
use rustix::io::{read, write};
use rustix::pipe::pipe;
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

/// A load: its name and one turn of it, some milliseconds.
pub(crate) type Load = (&'static str, fn());

/// All that there are.
pub(crate) const LOADS: [Load; 3] =
    [("computing", compute), ("calling the kernel", call), ("taking page faults", fault)];

/// Calls of the kernel in a turn.
pub(crate) const CALLS: u32 = 250_000;

pub(crate) fn compute() {
    let mut sum = 0_u64;
    for n in 0..20_000_000_u64 {
        sum = black_box(sum ^ n);
    }
    black_box(sum);
}

pub(crate) fn call() {
    for _ in 0..CALLS {
        black_box(rustix::process::getppid());
    }
}

/// Larger than what the allocator keeps: each time memory that was never touched.
pub(crate) fn fault() {
    const SIZE: usize = 64 << 20;
    let mut memory = vec![0_u8; SIZE];
    for page in memory.chunks_mut(4096) {
        page[0] = 1;
    }
    black_box(memory);
}

/// Switches of a turn: one thread hands a byte to another and waits until it comes back, both on one CPU.
pub(crate) const SWITCHES: u32 = 40_000;

pub(crate) fn switch() {
    let allowed = sched_getaffinity(None).expect("a thread may ask where it may run");
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
    sched_setaffinity(None, &allowed).expect("as it was");
}

fn hand_on(from: &OwnedFd, to: &OwnedFd) {
    read(from, &mut [0; 1]).expect("it comes");
    write(to, b"x").expect("it has room");
}

/// CPU seconds of a turn.
pub(crate) fn timed(turn: fn()) -> f64 {
    let before = clock::thread_cpu();
    turn();
    clock::thread_cpu().saturating_sub(before).as_secs_f64()
}

/// The median, and one standard error of it from the quartiles.
pub(crate) fn median(values: &mut [f64]) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    let at = |part: f64| values[(part * (values.len() - 1) as f64).round() as usize];
    // Half the distance of the quartiles is 0.67 standard deviations; a median's error is 1.25 of a mean's.
    let deviation = (at(0.75) - at(0.25)) / 2.0 / 0.67;
    (at(0.5), 1.25 * deviation / (values.len() as f64).sqrt())
}
