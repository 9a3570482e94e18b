//! What the sampler of the meters costs those that are sampled.
//!
//! One process does the same work again and again, in turn with all CPUs sampled and with none: what the machine does to it
//! meanwhile, it does to both. The thread that reads the samples is counted as well.

use std::error::Error;
use std::hint::black_box;
use std::time::Duration;

use cuesta_meters::Subject;
use cuesta_meters::cause::{Options, Sampler};
use cuesta_record::clock;

use crate::table::Row;

/// Most that it may cost, of a CPU.
const MOST: f64 = 0.03;
/// Pairs of a sampled and an unsampled turn; as many of two unsampled ones, for a control.
const PAIRS: usize = 100;

/// How long the reading thread is looked at.
const STEADY: Duration = Duration::from_secs(2);

/// A load: its name and one turn of it, some milliseconds.
type Load = (&'static str, fn());

const LOADS: [Load; 3] = [("computing", compute), ("calling the kernel", call), ("taking page faults", fault)];

/// Measures each load, kept on one CPU.
pub(crate) fn measure() -> Result<Vec<Row>, Box<dyn Error>> {
    let sampler = Sampler::start(&[Subject::Machine], Options::default())?;
    LOADS.iter().map(|load| row(&sampler, *load)).collect()
}

fn row(sampler: &Sampler, (name, turn): Load) -> Result<Row, Box<dyn Error>> {
    let (mut cost, mut control) = (Vec::new(), Vec::new());
    for pair in 0..PAIRS {
        // Which of the two is first changes, so that a drift of the machine costs neither.
        let first = pair % 2 == 0;
        let (one, other) = (switched(sampler, first, turn)?, switched(sampler, !first, turn)?);
        let (with, without) = if first { (one, other) } else { (other, one) };
        cost.push(with / without - 1.0);
        let (one, other) = (switched(sampler, false, turn)?, switched(sampler, false, turn)?);
        control.push(if first { one / other } else { other / one } - 1.0);
    }
    let reader = reader(sampler, turn)?;
    let (slower, error) = median(&mut cost);
    let (nothing, _) = median(&mut control);
    let measured = format!(
        "{:+.2} ± {:.2} % slower (control {:+.2} %), reader {:.2} % of a CPU",
        slower * 1e2,
        error * 1e2,
        nothing * 1e2,
        reader * 1e2
    );
    let name = format!("sampling at 997 Hz, {name}");
    Ok(Row::judged(&name, measured, &format!("under {:.0} %", MOST * 1e2), slower + reader < MOST))
}

/// What the thread that reads takes of a CPU. Without changing over: that is its work too.
fn reader(sampler: &Sampler, turn: fn()) -> Result<f64, Box<dyn Error>> {
    sampler.set_sampling(true)?;
    let died = "the sampler has died";
    let start = sampler.cut().ok_or(died)?.until;
    while clock::now().since(start) < STEADY {
        turn();
    }
    let cut = sampler.cut().ok_or(died)?;
    Ok(cut.reader.as_secs_f64() / cut.until.since(cut.from).as_secs_f64())
}

/// CPU seconds of a turn, sampled or not.
fn switched(sampler: &Sampler, on: bool, turn: fn()) -> Result<f64, Box<dyn Error>> {
    sampler.set_sampling(on)?;
    Ok(timed(turn))
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

pub(crate) fn compute() {
    let mut sum = 0_u64;
    for n in 0..20_000_000_u64 {
        sum = black_box(sum ^ n);
    }
    black_box(sum);
}

/// Calls of the kernel in a turn.
pub(crate) const CALLS: u32 = 250_000;

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
