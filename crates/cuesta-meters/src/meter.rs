//! A meter: reads a subject repeatedly, and makes each interval's report from the figures of the three tiers.
//!
//! The best tier that has a figure makes it. Clocks and counters come first (plain, or traced instead); samples then divide the
//! CPU time of the clocks by cause.

use serde::{Deserialize, Serialize};

use crate::plain::ExitListener;
use crate::sampled::cause::{CpuAccounting, SampledFigures, SamplerOptions};
use crate::sampled::profile::Profile;
use crate::traced::{self, Depth, Trace};
use crate::{CounterSnapshot, Delta, Figure, Incomparable, MeterReport, Roots, Subject};

/// What to meter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeterSpec {
    /// The host under test.
    pub subject: Subject,
    /// The CPUs that the host is pinned to; percentages are shares of these. None: the CPUs that the subject may use.
    #[serde(default)]
    pub cpus: Option<Vec<usize>>,
    /// Directories of the kernel's files.
    #[serde(default)]
    pub roots: Roots,
}

/// A running meter. A reading costs a few milliseconds and does not change the subject.
#[derive(Debug)]
pub struct Meter {
    spec: MeterSpec,
    /// The snapshot at the end of the last report.
    last: CounterSnapshot,
    /// The last snapshot that found the subject; None until it has ended.
    living: Option<CounterSnapshot>,
    /// Receives the kernel's notices of ended tasks; None if they cannot be received.
    listener: Option<ExitListener>,
    /// The sampler, or why there is none.
    accounting: Result<CpuAccounting, String>,
    /// The tracer, or why it does not run; None if none was requested.
    trace: Option<Result<Trace, String>>,
}

/// Why nothing can be metered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoMeter {
    /// The subject does not exist.
    #[error("cannot meter {subject}: {why}")]
    Absent {
        /// The requested subject.
        subject: Subject,
        /// Why it cannot be metered.
        why: String,
    },
}

impl MeterSpec {
    fn read(&self, listener: Option<&ExitListener>) -> CounterSnapshot {
        let mut snapshot = CounterSnapshot::take_with(&self.roots, &self.subject, listener);
        if let Some(cpus) = &self.cpus {
            snapshot.allowed = Some(cpus.clone());
        }
        snapshot
    }
}

impl Meter {
    /// Starts the meter, and takes the first snapshot.
    pub fn start(spec: MeterSpec) -> Result<Self, NoMeter> {
        let first = spec.read(None);
        if let Some(why) = first.absence() {
            return Err(NoMeter::Absent { subject: spec.subject, why });
        }
        let listener = ExitListener::for_subject(&spec.subject, &spec.roots, &first);
        let last = spec.read(listener.as_ref());
        Ok(Self {
            spec,
            last,
            living: None,
            listener,
            accounting: Err("the sampler is not on".to_owned()),
            trace: None,
        })
    }

    /// Starts the sampler, so that reports have CPU time by cause. Call it after [`Meter::with_tracer`]: the names of the tracer's
    /// programs are then known, and the constants are measured while it runs. This takes about a second of one CPU, unless it was
    /// done within the last hour. If sampling is not allowed, reports say so and how to allow it.
    #[must_use]
    pub fn with_sampler(mut self, options: SamplerOptions) -> Self {
        let reuse = self.trace.is_none(); // a tracer makes calls and faults slower
        self.accounting = CpuAccounting::start(&self.spec.subject, options, reuse).map_err(|error| error.to_string());
        self.last = self.snapshot();
        self
    }

    /// Starts the tracer, so that reports have the figures of the traced tier. If tracing is not allowed, reports say so.
    #[must_use]
    pub fn with_tracer(mut self, depth: Depth) -> Self {
        self.trace = Some(Trace::start(&self.spec.subject, depth));
        self.last = self.snapshot();
        self
    }

    /// Reads all counters, and ends the sampler's window.
    pub fn snapshot(&mut self) -> CounterSnapshot {
        let mut snapshot = self.spec.read(self.listener.as_ref());
        if let Ok(accounting) = &mut self.accounting {
            accounting.end_window();
        }
        if let Some(Ok(trace)) = &mut self.trace {
            trace.read(&snapshot);
        }
        snapshot.ends();
        snapshot
    }

    /// The stacks sampled since the last call. An error says why there is no sampler.
    pub fn take_profile(&self) -> Result<Profile, String> {
        self.accounting.as_ref().map(CpuAccounting::take_profile).map_err(String::clone)
    }

    /// The report since the last report, or since the start.
    pub fn report(&mut self) -> Result<MeterReport, Incomparable> {
        let now = self.snapshot();
        let report = self.report_between(&self.last, &now)?;
        let last = std::mem::replace(&mut self.last, now);
        self.forget(&last);
        if self.last.absence().is_some() && last.absence().is_none() {
            self.living = Some(last);
        }
        Ok(report)
    }

    /// The report since a snapshot that the caller kept; the next [`Meter::report`] begins where it would without this call. If the
    /// subject has ended, the report goes up to the last one that found it, and a note says up to when.
    pub fn report_since(&mut self, earlier: &CounterSnapshot) -> Result<MeterReport, Incomparable> {
        let now = self.snapshot();
        let report = match (now.absence(), self.lived(earlier)) {
            (Some(why), Some(living)) => self.report_between(earlier, living).map(|mut report| {
                let seconds = report.seconds;
                let subject = &self.spec.subject;
                report
                    .notes
                    .push(format!("{subject} ended meanwhile ({why}): the figures are of the first {seconds:.1} s"));
                report
            }),
            _ => self.report_between(earlier, &now),
        };
        self.forget(&now);
        report
    }

    /// The last snapshot before the present one that found the subject, if it is later than `earlier`. None if the subject is
    /// CPUs, which do not end, or if it is traced: the tracer keeps its figures.
    fn lived(&self, earlier: &CounterSnapshot) -> Option<&CounterSnapshot> {
        let ends = matches!(self.spec.subject, Subject::Process(_) | Subject::Children(_) | Subject::Cgroup(_));
        let living = self.living.as_ref().unwrap_or(&self.last);
        let is_kept = ends && living.absence().is_none() && !matches!(self.trace, Some(Ok(_)));
        (is_kept && living.at > earlier.at).then_some(living)
    }

    /// Lets the tracer drop a snapshot with which no report will begin.
    fn forget(&mut self, snapshot: &CounterSnapshot) {
        if let Some(Ok(trace)) = &mut self.trace {
            trace.forget(snapshot.at);
        }
    }

    fn report_between(&self, earlier: &CounterSnapshot, now: &CounterSnapshot) -> Result<MeterReport, Incomparable> {
        let delta = Delta::compare(earlier, now)?;
        let traced = |trace: &Result<Trace, String>| {
            let trace = trace.as_ref().map_err(String::clone)?;
            trace.since(earlier.at, delta.cpus())
        };
        let plain = delta.counter_figures();
        let (counted, traced) = match self.trace.as_ref().map(traced) {
            None => (plain, None),
            Some(Ok(traced)) => (traced.counter_figures(plain), Some(traced)),
            Some(Err(why)) => (traced::untraced(plain, &why), None),
        };
        let mut sampled = match &self.accounting {
            Ok(accounting) => accounting.sampled_figures(earlier.at, &counted),
            Err(why) => SampledFigures::nothing(Figure::absent(why)),
        };
        let by_cause = traced.as_ref().and_then(|traced| traced.by_cause(&sampled.by_cause, &counted));
        if traced.is_some() {
            sampled.interrupts_of_idle = None; // the tracer counts them itself
        }
        Ok(sampled.counter_figures(counted).report(by_cause.unwrap_or(sampled.by_cause)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tier;

    fn start(subject: &str) -> Result<Meter, NoMeter> {
        Meter::start(MeterSpec { subject: subject.parse().unwrap(), cpus: None, roots: Roots::default() })
    }

    #[test]
    fn a_missing_subject_is_an_error_at_the_start() {
        for (subject, why) in [
            ("pid:4194304", "no such process"),
            ("cgroup:/no/such/group", "no such control group is mounted"),
            ("cpus:4000", "no such CPU"),
        ] {
            let error = start(subject).unwrap_err().to_string();
            assert!(error.starts_with(&format!("cannot meter {subject}: ")) && error.contains(why), "{error}");
        }
    }

    #[test]
    fn a_sampled_report_splits_the_subjects_own_time() {
        let mut meter = start(&format!("pid:{}", std::process::id())).unwrap().with_sampler(SamplerOptions::default());
        let kept = meter.snapshot();
        let mut sum = 0_u64;
        loop {
            (0..20_000_000_u64).for_each(|n| sum = std::hint::black_box(sum ^ n));
            let report = meter.report_since(&kept).unwrap();
            let by_cause = report.by_cause.value().expect("this test needs to be allowed to sample");
            let own = *report.own.percent.value().unwrap();
            let parts: f64 = by_cause.causes.values().map(|cause| *cause.percent.value().unwrap()).sum();
            if by_cause.about.0.as_ref().and_then(|about| about.samples.value()) > Some(&20.0) {
                let shown =
                    |name: &str| report.total_time.iter().any(|row| row.name == name && row.percent.value().is_some());
                assert!(shown("user") && shown("zero idle") && !shown("system"), "{:?}", report.total_time);
                assert!((parts - own).abs() < 0.01 * own, "{parts} of {own}");
                // The kernel does not account for the sampler's own work on idle CPUs.
                let accounted = &report.closure.accounted;
                assert!(matches!(accounted, Figure::Metered { tier: Tier::Sampled, .. }), "{accounted:?}");
                return;
            }
        }
    }

    #[test]
    fn a_subject_that_ended_keeps_its_figures_until_then() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let mut meter = start(&format!("pid:{}", child.id())).unwrap();
        let kept = meter.snapshot();
        let row = meter.report().unwrap();
        child.kill().and_then(|()| child.wait()).unwrap();
        let (ended, before) = (meter.report().unwrap(), meter.report_since(&kept).unwrap());
        assert!(ended.own.seconds.why().unwrap().contains("has ended"));
        assert!(before.own.seconds.value().is_some() && before.at == row.at);
        let note = before.notes.last().unwrap();
        assert!(note.contains("ended meanwhile (no such process)"), "{note}");
    }

    #[test]
    fn reports_cover_consecutive_intervals() {
        let mut meter = start("machine").unwrap();
        let kept = meter.snapshot();
        let first = meter.report().unwrap();
        let second = meter.report().unwrap();
        let whole = meter.report_since(&kept).unwrap();
        assert!(second.at > first.at && whole.at > second.at);
        assert!(whole.seconds > second.seconds);
        assert!([first, second, whole].iter().all(|report| *report.lasted.value().unwrap() > 0.0));
    }
}
