//! One pass from what the tiers have of an interval to its report: each figure is made once, by the best tier that has it.
//!
//! Clocks and counters first (plain, or traced in their place), then what samples say of the CPU time that those found.

use crate::report::{Measured, total_time};
use crate::sampled::cause::{CpuAccounting, SampleWindow, Sampled};
use crate::sampled::own_time;
use crate::traced::{self, TraceDelta};
use crate::{ByCause, Delta, Figure, MeterReport, Own};

/// The sampler and its window of an interval, if it was there all the while; or why there is no sampler.
pub(crate) type Samples<'a> = Result<(&'a CpuAccounting, Option<SampleWindow>), &'a str>;

/// What was traced, if that was asked for; or why nothing was.
pub(crate) type Traces = Option<Result<TraceDelta, String>>;

/// The report of an interval.
pub(crate) fn report(delta: &Delta<'_>, by_sampler: &Samples<'_>, by_tracer: &Traces) -> MeterReport {
    let plain = delta.measured();
    let (measured, traced) = match by_tracer {
        None => (plain, None),
        Some(Ok(traced)) => (traced.measured(plain), Some(traced)),
        Some(Err(why)) => (traced::untraced(plain, why), None),
    };
    let sampled = match by_sampler {
        Ok((accounting, window)) => accounting.sampled(window.as_ref(), &measured),
        Err(why) => Sampled::nothing(Figure::unmetered(*why)),
    };
    let by_cause = traced.and_then(|traced| traced.by_cause(&sampled.by_cause, &measured));
    // A tracer sees the sampler's interrupts itself.
    let sampled = Sampled { interrupts_of_idle: sampled.interrupts_of_idle.filter(|_| traced.is_none()), ..sampled };
    joined(measured, sampled, by_cause)
}

impl Delta<'_> {
    /// A report without samples and traces.
    pub fn report(&self) -> MeterReport {
        joined(self.measured(), Sampled::nothing(self.missing("the sampler is not on")), None)
    }
}

/// Joins what was measured and what was sampled; causes that were traced stand in place of sampled ones.
fn joined(measured: Measured, sampled: Sampled, traced: Option<Figure<ByCause>>) -> MeterReport {
    let own = match sampled.by_cause.value() {
        Some(by_cause) => own_time::with_interrupts(&measured, by_cause),
        None => measured.own.clone(),
    };
    let by_cause = traced.unwrap_or(sampled.by_cause);
    MeterReport {
        total_time: total_time(&measured, &own, &by_cause),
        at: measured.at,
        wall: measured.wall,
        seconds: measured.seconds,
        subject: measured.subject,
        cpus: measured.cpus,
        notes: measured.notes.into_iter().chain(sampled.notes).collect(),
        cpu: measured.cpu,
        per_cpu: measured.per_cpu,
        beside: measured.beside,
        network: sampled.network.unwrap_or(measured.network),
        own: Own { doubt: sampled.doubt, ..own },
        counts: measured.counts,
        idle: measured.idle,
        pressure: measured.pressure,
        traffic: measured.traffic,
        devices: measured.devices,
        by_cause,
        closure: match sampled.interrupts_of_idle {
            Some(percent) => measured.closure.and("the sampler on idle CPUs", &percent),
            None => measured.closure,
        },
        cost: measured.cost,
    }
}
