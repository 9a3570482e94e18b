//! Tracer overhead on traced workloads: the same work in turn with and without the tracer.

use std::error::Error;

use cuesta_meters::Subject;
use cuesta_meters::traced::{Depth, Trace};

use crate::loads::{CALLS, call, compute, fault, median_and_error, slowdown, timed};
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
    let shown = |name: &str, text: String| ResultRow::without_target(name, text, 0);
    let calls = Cost::measure(Depth::Light, call)?;
    let switches = Cost::measure(Depth::Light, switch)?;
    // The other thread does the other half of the switches.
    let per_switch = switches.nanos_per_event(SWITCHES / 2);
    let full = Cost::measure(Depth::Full, call)?;
    let per_call = full.nanos_per_event(CALLS);
    Ok(vec![
        ResultRow::with_target("light tracer on call-bound work", calls.text(), "under 3 %", calls.part < MOST),
        shown("light tracer, computing", Cost::measure(Depth::Light, compute)?.text()),
        shown("light tracer, taking page faults", Cost::measure(Depth::Light, fault)?.text()),
        shown("light tracer, switching", format!("{}, {per_switch:.0} ns a switch", switches.text())),
        shown("full tracer on call-bound work", format!("{}, {per_call:.0} ns a call", full.text())),
    ])
}

impl Cost {
    fn measure(depth: Depth, turn: fn()) -> Result<Self, Box<dyn Error>> {
        let (mut parts, mut control, mut bare) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..PAIRS {
            let (part, without) = slowdown(round, || median_turn(Some(depth), turn), || median_turn(None, turn))?;
            parts.push(part);
            control.push(median_turn(None, turn)? / without - 1.0);
            bare.push(without);
        }
        let [(part, error), (control, _), (turn, _)] =
            [&mut parts, &mut control, &mut bare].map(|all| median_and_error(all));
        Ok(Self { part, error, control, turn })
    }

    fn nanos_per_event(&self, events: u32) -> f64 {
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
    Ok(median_and_error(&mut turns).0)
}
