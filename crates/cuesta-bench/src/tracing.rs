//! Tracer overhead on traced workloads: the same work in turn with and without the tracer.

use std::error::Error;

use cuesta_meters::Subject;
use cuesta_meters::traced::{Depth, Trace};

use crate::loads::{CALLS, call, compute, fault, median, timed};
use crate::switching::{SWITCHES, switch};
use crate::table::ResultRow;

/// Target: the largest overhead of the light tracer on system calls.
const MOST: f64 = 0.03;
/// Pairs of a traced and an untraced series of turns, and as many of two untraced ones as a control.
const PAIRS: usize = 24;
/// Turns of a series. The first is not counted, because loading tracers empties caches.
const TURNS: usize = 6;

/// The overhead of a tracer on a workload.
struct Cost {
    /// Relative to the untraced workload.
    part: f64,
    error: f64,
    control: f64,
    /// CPU seconds of an untraced turn.
    turn: f64,
}

/// Measures each load.
pub(crate) fn measure() -> Result<Vec<ResultRow>, Box<dyn Error>> {
    let calls = Cost::of(Depth::Light, call)?;
    let calls = ResultRow::with_target("light tracer on call-bound work", calls.text(), "under 3 %", calls.part < MOST);
    let computes = ResultRow::without_target("light tracer, computing", Cost::of(Depth::Light, compute)?.text(), 0);
    let faults =
        ResultRow::without_target("light tracer, taking page faults", Cost::of(Depth::Light, fault)?.text(), 0);
    let switches = Cost::of(Depth::Light, switch)?;
    // The other thread does the other half of the switches.
    let each = switches.each(SWITCHES / 2);
    let switches =
        ResultRow::without_target("light tracer, switching", format!("{}, {each:.0} ns a switch", switches.text()), 0);
    let full = Cost::of(Depth::Full, call)?;
    let each = full.each(CALLS);
    let full =
        ResultRow::without_target("full tracer on call-bound work", format!("{}, {each:.0} ns a call", full.text()), 0);
    Ok(vec![calls, computes, faults, switches, full])
}

impl Cost {
    fn of(depth: Depth, turn: fn()) -> Result<Self, Box<dyn Error>> {
        let (mut parts, mut control, mut bare) = (Vec::new(), Vec::new(), Vec::new());
        for pair in 0..PAIRS {
            // The order alternates, so that a drift of the machine affects both.
            let first = pair % 2 == 0;
            let (one, other) =
                (median_turn(first.then_some(depth), turn)?, median_turn((!first).then_some(depth), turn)?);
            let (with, without) = if first { (one, other) } else { (other, one) };
            parts.push(with / without - 1.0);
            control.push(median_turn(None, turn)? / without - 1.0);
            bare.push(without);
        }
        let ((part, error), (control, _), (turn, _)) = (median(&mut parts), median(&mut control), median(&mut bare));
        Ok(Self { part, error, control, turn })
    }

    /// Overhead per event of a turn, in nanoseconds.
    fn each(&self, events: u32) -> f64 {
        self.part * self.turn / f64::from(events) * 1e9
    }

    fn text(&self) -> String {
        let percent = [self.part, self.error, self.control].map(|part| part * 1e2);
        format!("{:+.2} ± {:.2} % slower (control {:+.2} %)", percent[0], percent[1], percent[2])
    }
}

/// Median CPU seconds of a turn, traced or not.
fn median_turn(depth: Option<Depth>, turn: fn()) -> Result<f64, Box<dyn Error>> {
    let trace = depth.map(|depth| Trace::start(&Subject::Machine, depth)).transpose()?;
    turn();
    let mut turns: Vec<f64> = (1..TURNS).map(|_| timed(turn)).collect();
    drop(trace);
    Ok(median(&mut turns).0)
}
