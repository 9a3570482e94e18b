//! Overhead of the meters' sampler on sampled workloads.
//!
//! One process repeats the same workload, in turn with all CPUs sampled and with none, so that disturbances affect both. The
//! thread that reads the samples is counted as well. The overhead of a bare timer of the same frequency is printed beside it: on
//! a virtual machine it is most of the cost, and no sampler can avoid it.

use std::error::Error;
use std::time::Duration;

use cuesta_meters::Subject;
use cuesta_meters::sampled::cause::{Sampler, SamplerOptions};
use cuesta_record::clock;

use crate::loads::{LOADS, Load, median_and_error, slowdown, timed};
use crate::table::ResultRow;
use crate::timer::Timer;

/// Samples a second, as the meters take them.
const FREQUENCY: u64 = 997;
/// Target: the largest overhead, as a share of a CPU.
const MOST: f64 = 0.03;
/// Pairs of a sampled and an unsampled turn, and as many of two unsampled turns as a control.
const PAIRS: usize = 100;

/// How long the snapshot thread is measured.
const STEADY: Duration = Duration::from_secs(2);

/// Measures each load, kept on one CPU.
pub(crate) fn measure() -> Result<Vec<ResultRow>, Box<dyn Error>> {
    let sampler = Sampler::start(&[Subject::Machine], SamplerOptions { frequency: FREQUENCY, profile: false })?;
    LOADS.iter().map(|load| row(&sampler, *load)).collect()
}

fn row(sampler: &Sampler, (name, turn): Load) -> Result<ResultRow, Box<dyn Error>> {
    // Lets the sampler adapt its rate to this workload first.
    let reader = reader(sampler, turn)?;
    let (mut cost, mut timer, mut control) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..PAIRS {
        cost.push(slowdown(round, || sampled(sampler, true, turn), || sampled(sampler, false, turn))?.0);
        timer.push(slowdown(round, || with_timer(turn), || Ok(timed(turn)))?.0);
        control.push(slowdown(round, || Ok(timed(turn)), || Ok(timed(turn)))?.0);
    }
    let [(cost, error), (timer, _), (control, _)] =
        [&mut cost, &mut timer, &mut control].map(|all| median_and_error(all));
    let rate = rate(sampler, turn)?;
    let percent = [cost, error, timer, control, reader].map(|part| part * 1e2);
    let measured = format!(
        "{:+.2} ± {:.2} % slower at {rate:.0} Hz (a bare timer at {FREQUENCY} Hz {:+.2} %, control {:+.2} %), reader {:.2} %",
        percent[0], percent[1], percent[2], percent[3], percent[4]
    );
    let name = format!("sampling at {FREQUENCY} Hz, {name}");
    Ok(ResultRow::with_target(&name, measured, &format!("under {:.0} %", MOST * 1e2), cost + reader < MOST))
}

/// CPU share of the thread that reads the samples, with sampling on throughout.
fn reader(sampler: &Sampler, turn: fn()) -> Result<f64, Box<dyn Error>> {
    sampler.set_sampling(true)?;
    let died = "the sampler has died";
    let start = sampler.window().ok_or(died)?.until;
    while clock::now().since(start) < STEADY {
        turn();
    }
    let window = sampler.window().ok_or(died)?;
    Ok(window.reader.as_secs_f64() / window.until.since(window.from).as_secs_f64())
}

/// The sampling rate that this workload ends up with.
fn rate(sampler: &Sampler, turn: fn()) -> Result<f64, Box<dyn Error>> {
    sampler.set_sampling(true)?;
    sampler.window().ok_or("the sampler has died")?;
    for _ in 0..10 {
        turn();
    }
    let window = sampler.window().ok_or("the sampler has died")?;
    sampler.set_sampling(false)?;
    let tally = &window.tallies[0];
    Ok(tally.busy() as f64 / (tally.busy_time() * 1e-9))
}

/// CPU seconds of a turn, sampled or not; sampling is off afterwards.
fn sampled(sampler: &Sampler, on: bool, turn: fn()) -> Result<f64, Box<dyn Error>> {
    sampler.set_sampling(on)?;
    let took = timed(turn);
    sampler.set_sampling(false)?;
    Ok(took)
}

/// CPU seconds of a turn while a bare timer interrupts as often as the sampler would.
fn with_timer(turn: fn()) -> Result<f64, Box<dyn Error>> {
    let _timer = Timer::start(FREQUENCY)?;
    Ok(timed(turn))
}
