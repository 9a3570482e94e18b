//! CPU time by cause, traced. With samples: only interrupts, which samples cannot see. Without samples: all causes that are
//! traced. Pure.

use std::collections::BTreeMap;

use super::Depth;
use super::account::{Class, Owner};
use super::figures::{CALLS, TraceDelta, is_part};
use crate::report::{CounterFigures, unsampled};
use crate::sampled::cause::Cause;
use crate::{ByCause, CauseRow, Figure, OrEmpty};

impl TraceDelta {
    /// CPU time by cause. If samples give the causes, only interrupts come from the tracer; else all rows do. None without the
    /// subject's CPU time.
    pub(crate) fn by_cause(&self, sampled: &Figure<ByCause>, counted: &CounterFigures) -> Option<Figure<ByCause>> {
        let own = counted.own_seconds().value().copied()?;
        let rows = self.rows(counted, own);
        let sampled = sampled.value().filter(|_| self.depth == Depth::Light).cloned();
        Some(match sampled {
            Some(sampled) => Figure::sampled(join_interrupts(sampled, rows, own)),
            None => Figure::traced(ByCause {
                causes: rows,
                unmet: Vec::new(),
                bound: Figure::absent("nothing was sampled"),
                unclassified: 0.0,
                about: OrEmpty(None),
            }),
        })
    }

    /// Each class with any time. Stolen time is subtracted from all in proportion.
    fn rows(&self, counted: &CounterFigures, own: f64) -> BTreeMap<String, CauseRow> {
        let capacity = counted.capacity();
        let owners: &[Owner] = if is_part(&counted.subject) { &[Owner::Own] } else { &[Owner::Own, Owner::Nobody] };
        let nanos = |class: Class| -> u64 {
            let whose = owners.iter().filter(|owner| **owner != Owner::Nobody || class != Class::Run);
            whose.map(|owner| self.here.ns(*owner, class)).sum()
        };
        let all: u64 = Class::ALL.into_iter().map(nanos).sum();
        let seconds = |class| if all == 0 { 0.0 } else { own * nanos(class) as f64 / all as f64 };
        let row = |class: Class| {
            let (seconds, count) = (seconds(class), self.count(class, owners));
            let percent = Figure::traced(if capacity > 0.0 { 100.0 * seconds / capacity } else { 0.0 });
            let average = count.and_then(|count| match *count {
                0.0 => Figure::absent("there was none"),
                count => Figure::traced(seconds / count),
            });
            let cause = traced(percent, Figure::traced(seconds), count, average);
            (self.name(class).to_owned(), cause)
        };
        Class::ALL.into_iter().filter(|class| nanos(*class) > 0).map(row).collect()
    }

    fn count(&self, class: Class, owners: &[Owner]) -> Figure {
        match class {
            Class::Run | Class::Thread => Figure::absent("it has no occurrences"),
            Class::Fault => Figure::traced(self.here.faults().iter().sum::<u64>() as f64),
            Class::Hard | Class::Soft => {
                Figure::traced(owners.iter().map(|owner| self.here.interrupts(*owner, class)).sum::<u64>() as f64)
            }
            class if CALLS.contains(&class) => Figure::traced(self.here.calls(class) as f64),
            _ => Figure::absent("it is not counted"),
        }
    }

    /// The light tracer does not separate calls from user code. Both together are no cause, so they have a name of their own.
    fn name(&self, class: Class) -> &'static str {
        match class {
            Class::Run if self.depth == Depth::Light => "user_and_calls",
            class => cause(class).name(),
        }
    }
}

fn cause(class: Class) -> Cause {
    match class {
        Class::Run => Cause::User,
        Class::Fault => Cause::PageFaults,
        Class::Call => Cause::SystemCalls,
        Class::Loading => Cause::Loading,
        Class::Mapping => Cause::Mapping,
        Class::Thread => Cause::KernelThreads,
        Class::Hard => Cause::Interrupts,
        Class::Soft => Cause::Softirq,
    }
}

/// Traced interrupts and sampled causes in one table. A timer cannot see interrupts, so the samples divide the time that traced
/// interrupts leave.
fn join_interrupts(mut sampled: ByCause, mut traced: BTreeMap<String, CauseRow>, own: f64) -> ByCause {
    let unseen = [Cause::Interrupts, Cause::Softirq].map(Cause::name);
    traced.retain(|name, _| unseen.contains(&name.as_str()));
    sampled.causes.retain(|name, _| !unseen.contains(&name.as_str()));
    let sum = |causes: &BTreeMap<String, CauseRow>| -> f64 { causes.values().filter_map(|c| c.seconds.value()).sum() };
    let (left, shared) = (own - sum(&traced), sum(&sampled.causes));
    let scale = if shared > 0.0 { (left / shared).max(0.0) } else { 0.0 };
    sampled.causes.values_mut().for_each(|cause| scale_row(cause, scale));
    sampled.unmet.retain(|name| !unseen.contains(&name.as_str()));
    sampled.bound = sampled.bound.map(|bound| bound * scale);
    sampled.causes.append(&mut traced);
    sampled
}

/// A row without sampling error.
fn traced(percent: Figure, seconds: Figure, count: Figure, average: Figure) -> CauseRow {
    let (standard_error, calibration_error, samples) = (unsampled(), unsampled(), unsampled());
    CauseRow { percent, standard_error, calibration_error, interval: unsampled(), samples, seconds, count, average }
}

/// Scales a row, errors included.
fn scale_row(row: &mut CauseRow, by: f64) {
    let own = [&mut row.percent, &mut row.standard_error, &mut row.calibration_error];
    for figure in own.into_iter().chain([&mut row.seconds, &mut row.average]) {
        *figure = figure.map(|value| value * by);
    }
    row.interval = row.interval.map(|limits| limits.map(|limit| limit * by));
}
