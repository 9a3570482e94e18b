//! Three workloads, and what meters make them slower by; `sampling` and `tracing` run them with and without their meters.

use std::error::Error;
use std::hint::black_box;

use cuesta_record::clock;

use crate::table::in_turn;

/// A load: its name and one turn of it, some milliseconds.
pub(crate) type Load = (&'static str, fn());

/// All workloads.
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

/// Touches new memory each time: the block is too large for the allocator to keep.
pub(crate) fn fault() {
    const SIZE: usize = 64 << 20;
    let mut memory = vec![0_u8; SIZE];
    for page in memory.chunks_mut(4096) {
        page[0] = 1;
    }
    black_box(memory);
}

/// CPU seconds of a turn.
pub(crate) fn timed(turn: fn()) -> f64 {
    let before = clock::thread_cpu();
    turn();
    clock::thread_cpu().saturating_sub(before).as_secs_f64()
}

/// Relative slowdown of `one` compared with `other`, each of which returns its CPU seconds; and those of `other`.
pub(crate) fn slowdown(
    round: usize,
    one: impl FnOnce() -> Result<f64, Box<dyn Error>>,
    other: impl FnOnce() -> Result<f64, Box<dyn Error>>,
) -> Result<(f64, f64), Box<dyn Error>> {
    let (one, other) = in_turn(round, one, other)?;
    Ok((one / other - 1.0, other))
}

/// The median and its standard error, from the quartiles.
pub(crate) fn median_and_error(values: &mut [f64]) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    let at = |part: f64| values[(part * (values.len() - 1) as f64).round() as usize];
    // Half the interquartile range is 0.67 standard deviations; a median's error is 1.25 times a mean's.
    let deviation = (at(0.75) - at(0.25)) / 2.0 / 0.67;
    (at(0.5), 1.25 * deviation / (values.len() as f64).sqrt())
}
