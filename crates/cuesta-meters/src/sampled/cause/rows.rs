//! Shares by cause → the rows of a report and the figures about them. Pure.

use std::collections::BTreeMap;

use super::causes::{CauseShares, ClockedCpu, percent};
use super::classify::Cause;
use super::share::Share;
use crate::{ByCause, CauseRow, Figure};

/// Fewest samples for an estimate of calls: its chance error is then a tenth.
const ENOUGH: u64 = 100;
const UNCALIBRATED: &str = "the constants could not be measured";

impl CauseShares {
    /// The report's part: percentages of the subject's CPUs. `counts` are events by cause, if known.
    pub fn report(&self, clocked: ClockedCpu, counts: &BTreeMap<Cause, Figure>) -> ByCause {
        let uncounted = || Figure::absent("how many is not counted by samples");
        let row = |(cause, share): (&Cause, &Share)| {
            let count = counts.get(cause).cloned().unwrap_or_else(uncounted);
            let seconds = Figure::sampled(share.seconds);
            let of_cpus = |percent: f64| Figure::sampled(percent * clocked.busy());
            let average = match cause {
                Cause::Interrupts => Figure::absent("a timer sees a part of their time: the traced tier times each"),
                _ => seconds.with(&count, |seconds, count| seconds / count.max(1.0)),
            };
            let row = CauseRow {
                percent: Figure::sampled(percent(share.seconds, clocked.capacity)),
                standard_error: of_cpus(share.error),
                calibration_error: of_cpus(share.calibration),
                interval: Figure::sampled(share.interval.map(|limit| limit * clocked.busy())),
                samples: Figure::sampled(share.samples as f64),
                seconds,
                count,
                average,
            };
            (cause.name().to_owned(), row)
        };
        ByCause {
            causes: self.by_cause.iter().map(row).collect(),
            unmet: self.unmet.iter().map(|cause| cause.name().to_owned()).collect(),
            bound: Figure::sampled(self.bound * clocked.busy()),
            unclassified: self.unclassified,
            about: self.about(),
        }
    }

    /// Number of calls of each kind, if there are enough samples.
    pub(crate) fn counted_calls(&self) -> impl Iterator<Item = (Cause, Figure)> + '_ {
        self.calls.iter().flatten().map(|(cause, calls)| {
            let samples = self.syscall_returns_by_cause.get(cause).copied().unwrap_or_default();
            (*cause, estimate(*calls, samples))
        })
    }

    fn all_calls(&self) -> Figure {
        match &self.calls {
            Some(calls) => estimate(calls.values().sum(), self.syscall_returns),
            None => Figure::absent(UNCALIBRATED),
        }
    }

    fn about(&self) -> BTreeMap<String, Figure> {
        let uncalibrated = || Figure::absent(UNCALIBRATED);
        let known = |value: Option<f64>| value.map_or_else(uncalibrated, Figure::sampled);
        let rows = [
            ("samples", Figure::sampled(self.samples as f64)),
            ("lost", Figure::sampled(self.lost as f64)),
            ("throttled", Figure::sampled(self.throttled as f64)),
            ("coverage", Figure::sampled(self.coverage)),
            ("named_calls_percent", Figure::sampled(self.named)),
            ("calls_estimated", self.all_calls()),
            ("calls_estimated_from", Figure::sampled(self.syscall_returns as f64)),
            ("for_linker_seconds", Figure::sampled(self.for_linker)),
            ("corrected_calls_seconds", Figure::sampled(self.corrections.call_seconds)),
            ("corrected_faults_seconds", known(self.corrections.fault_seconds)),
            ("reader_seconds", Figure::plain(self.overhead.reader)),
            ("interrupts_seconds", known(self.overhead.interrupts)),
            ("half_rate_seconds", Figure::sampled(self.overhead.half_rate)),
        ];
        rows.map(|(name, figure)| (name.to_owned(), figure)).into()
    }
}

/// An estimated number of calls; missing if `samples` are too few.
fn estimate(calls: f64, samples: u64) -> Figure {
    if samples >= ENOUGH {
        return Figure::sampled(calls);
    }
    let noun = if samples == 1 { "sample" } else { "samples" };
    Figure::absent(format!("it has only {samples} {noun}: an estimate takes {ENOUGH}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampled::cause::{Corrections, Overhead};

    /// A tenth of a second of one cause, and samples at the returns of its calls.
    fn causes(cause: Cause, syscall_returns: u64) -> CauseShares {
        let share =
            Share { seconds: 0.1, percent: 100.0, error: 2.0, calibration: 0.0, interval: [95.0, 100.0], samples: 100 };
        CauseShares {
            by_cause: BTreeMap::from([(cause, share)]),
            unmet: vec![Cause::Linking],
            bound: 3.6,
            for_linker: 0.0,
            unclassified: 0.0,
            samples: 100,
            coverage: 1.0,
            named: 100.0,
            calls: Some(BTreeMap::from([(cause, 5000.0)])),
            syscall_returns,
            syscall_returns_by_cause: BTreeMap::from([(cause, syscall_returns)]),
            corrections: Corrections { call_seconds: 0.0, fault_seconds: None },
            overhead: Overhead { reader: 0.0, interrupts: None, half_rate: 0.0 },
            lost: 0,
            throttled: 0,
        }
    }

    #[test]
    fn a_row_is_in_percent_of_the_cpus_and_has_an_average_if_events_are_counted() {
        let clocked = ClockedCpu { cpu: 0.1, fault_count: None, capacity: 2.0 };
        let row = |cause, counts: &[(Cause, f64)]| {
            let counts = counts.iter().map(|(cause, count)| (*cause, Figure::plain(*count))).collect();
            causes(cause, 0).report(clocked, &counts).causes[cause.name()].clone()
        };
        let counted = row(Cause::PageFaults, &[(Cause::PageFaults, 1000.0)]);
        assert_eq!((counted.percent, counted.average), (Figure::sampled(5.0), Figure::sampled(1e-4)));
        assert!(row(Cause::User, &[]).average.why().expect("none").contains("not counted"));
        assert_eq!(counted.standard_error, Figure::sampled(0.1));
        assert_eq!((counted.interval, counted.samples), (Figure::sampled([4.75, 5.0]), Figure::sampled(100.0)));
        let interrupts = row(Cause::Interrupts, &[(Cause::Interrupts, 1000.0)]);
        assert!(interrupts.average.why().expect("none").contains("traced tier"));
    }

    #[test]
    fn calls_with_few_samples_are_not_estimated() {
        let estimated = |syscall_returns| {
            let causes = causes(Cause::SystemCalls, syscall_returns);
            let calls = causes.counted_calls().map(|(_, calls)| calls).next().expect("some calls");
            assert_eq!(causes.about()["calls_estimated"], calls);
            calls
        };
        assert_eq!(estimated(99).why(), Some("it has only 99 samples: an estimate takes 100"));
        assert_eq!(estimated(1).why(), Some("it has only 1 sample: an estimate takes 100"));
        assert_eq!(estimated(100), Figure::sampled(5000.0));
    }
}
