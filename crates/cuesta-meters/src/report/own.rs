//! The subject's own CPU time, and what its CPUs did beside it: each moment is counted once.

use serde::{Deserialize, Serialize};

use super::{Figure, MeterReport};
use crate::sampled::cause::Cause;

/// How the CPU time of a subject's tasks was taken, and so what may be missing in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// By the account of its control group: nothing can leave it unseen.
    ControlGroup,
    /// By its processes' own accounts, by births and by the last accounts of those that ended: nothing is lost but what the
    /// kernel does to end a process for which nobody waits.
    ExitRecords,
    /// The same, but births are not told: who leaves its parent and lives on is lost.
    ExitRecordsByParent,
    /// By its processes' own accounts and those of children that were waited for: who leaves its parent, and whom nobody waits
    /// for, is lost.
    Parents,
    /// By the CPUs: the subject is all that runs there.
    Cpus,
    /// Traced in the kernel, from birth to end.
    Tracer,
}

/// CPU time of the subject's own tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Own {
    /// How it was taken.
    pub source: Source,
    /// CPU seconds, exact, between two snapshots of its tasks: they add up over intervals that follow each other.
    pub seconds: Figure,
    /// In percent of the report's CPUs, of the interval in which those were read.
    pub percent: Figure,
    /// In user mode, percent: the kernel splits by ticks.
    pub usr: Figure,
    /// In the kernel, percent: likewise.
    pub sys: Figure,
    /// CPU of others on the report's CPUs, percent; interrupts beside the subject included where `irq` is not known.
    pub others: Figure,
    /// Whether `others` is not measured but what is left of the CPUs' uses: on CPUs of its own, where others' clocks are not.
    #[serde(default)]
    pub others_are_rest: bool,
    /// Interrupts in neither its time nor others', percent. Where the kernel does not time them apart, a task's time holds
    /// those that came while it ran.
    pub irq: Figure,
    /// Why its CPU time is not to be trusted: samples met it for much more or much less than its clocks have.
    #[serde(default)]
    pub doubt: Option<String>,
    /// Tasks (threads) at the end.
    pub tasks: Figure,
    /// Processes at the end.
    pub processes: Figure,
}

impl Own {
    /// Shares out what the CPUs did beside the subject: interrupts as far as they are known. To others the rest, unless they
    /// were measured: then interrupts are at most what neither clock has.
    pub(crate) fn put_beside(&mut self, busy: &Figure, irq: &Figure) {
        let rest = busy.with(&self.percent, |busy, own| (busy - own).max(0.0));
        let measured = Some(&self.others).filter(|_| !self.others_are_rest);
        let left = measured.map_or(rest.clone(), |others| rest.with(others, |rest, others| (rest - others).max(0.0)));
        self.irq = match left.why() {
            Some(why) => Figure::unmetered(why),
            None => irq.with(&left, |irq, left| irq.clamp(0.0, *left)),
        };
        if self.others_are_rest {
            let apart = self.irq.value().is_some();
            self.others = if apart { rest.with(&self.irq, |rest, irq| rest - irq) } else { rest };
        } else if let Some(why) = rest.why() {
            self.others = Figure::unmetered(why);
        }
    }

    /// What the CPUs did beside the subject, by its names.
    pub(crate) fn beside(&self) -> impl Iterator<Item = (&'static str, &Figure)> {
        let apart = self.irq.value().map(|_| ("interrupts beside it", &self.irq));
        let others = if apart.is_some() { "others on these CPUs" } else { "others and interrupts" };
        std::iter::once((others, &self.others)).chain(apart)
    }
}

/// What samples may tell of the subject's CPU time, as a ratio to what its clocks have.
const AGREE: std::ops::RangeInclusive<f64> = 0.8..=1.25;
/// Standard deviations of a number of samples within which chance may explain a difference.
const CHANCE: f64 = 4.0;

impl MeterReport {
    /// The subject's CPU seconds as a part of the interval of the CPUs. [`Own::seconds`] are those between two snapshots of its
    /// tasks, which are taken a little later than the CPUs'.
    pub(crate) fn own_in_interval(&self) -> Figure {
        self.own.percent.map(|percent| percent / 100.0 * self.seconds * self.cpus.len() as f64)
    }

    /// Doubts the subject's CPU time where its samples do not agree with its clocks. What falls into the kernel is not always
    /// sampled: then samples can only be too many.
    pub(crate) fn put_doubt(&mut self, period: f64) {
        let (Some(by_cause), Some(seconds)) = (self.by_cause.value(), self.own.seconds.value()) else { return };
        let about = |name: &str| by_cause.about.get(name).and_then(|figure| figure.value().copied());
        let Some(samples) = about("samples") else { return };
        // A sample stands for a period, and for two where a CPU was sampled half as often.
        let told = samples * period + about("half_rate_seconds").unwrap_or(0.0) / 2.0;
        let (samples, expected) = (told / period, seconds / period);
        let by_chance = (samples - expected).abs() <= CHANCE * samples.max(expected).max(CHANCE).sqrt();
        let ratio = if *seconds > 0.0 { told / seconds } else { f64::INFINITY };
        let is_partial = by_cause.causes.contains_key(Cause::Kernel.name()) && ratio < 1.0;
        if by_chance || is_partial || AGREE.contains(&ratio) {
            return;
        }
        let doubt = format!(
            "its clocks have {seconds:.2} s of CPU time, samples met it for {told:.2} s: the figure is not to be trusted"
        );
        self.notes.push(doubt.clone());
        self.own.doubt = Some(doubt);
    }

    /// Takes the interrupts that were sampled in the subject's time from those of the CPUs: what is left came beside it.
    /// Nothing where its time is without them, or the kernel's part of it was not seen.
    pub(crate) fn put_sampled_interrupts(&mut self) {
        let Some(by_cause) = self.by_cause.value().filter(|_| self.own.others.value().is_some()) else { return };
        if self.own.irq.value().is_some() || by_cause.causes.contains_key(Cause::Kernel.name()) {
            return;
        }
        let of = |cause: Cause| by_cause.causes.get(cause.name()).and_then(|found| found.percent.value().copied());
        let own = of(Cause::Interrupts).unwrap_or(0.0) + of(Cause::Softirq).unwrap_or(0.0);
        let irq = self.cpu.irq.with(&Figure::sampled(own), |irq, own| irq - own);
        self.own.put_beside(&self.cpu.busy(), &irq);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(percent: Figure) -> Own {
        let none = || Figure::unmetered("not here");
        let (usr, sys, others, irq) = (none(), none(), none(), none());
        let others_are_rest = true;
        Own {
            others_are_rest,
            source: Source::Parents,
            seconds: none(),
            percent,
            usr,
            sys,
            others,
            irq,
            doubt: None,
            tasks: none(),
            processes: none(),
        }
    }

    #[test]
    fn what_the_cpus_did_beside_a_part_is_shared_out_once() {
        let busy = Figure::plain(90.0);
        let put = |percent, irq: Figure| {
            let mut own = own(Figure::plain(percent));
            own.put_beside(&busy, &irq);
            (own.others.value().copied(), own.irq.value().copied())
        };
        assert_eq!(put(60.0, Figure::plain(10.0)), (Some(20.0), Some(10.0)));
        assert_eq!(put(60.0, Figure::unmetered("mingled")), (Some(30.0), None));
        // The subject's clock is exact, ticks are not: neither goes below nothing, nor above what there was.
        assert_eq!(put(60.0, Figure::plain(-1.0)), (Some(30.0), Some(0.0)));
        assert_eq!(put(85.0, Figure::plain(10.0)), (Some(0.0), Some(5.0)));
        assert_eq!(put(95.0, Figure::plain(10.0)), (Some(0.0), Some(0.0)));
    }

    #[test]
    fn others_that_were_measured_stay_as_they_are() {
        let mut own = Own { others: Figure::plain(22.0), others_are_rest: false, ..own(Figure::plain(60.0)) };
        own.put_beside(&Figure::plain(90.0), &Figure::plain(10.0));
        assert_eq!((own.others.value(), own.irq.value()), (Some(&22.0), Some(&8.0)));
    }

    #[test]
    fn beside_a_subject_that_ended_nothing_is_known() {
        let mut own = own(Figure::unmetered("it has ended"));
        own.put_beside(&Figure::plain(90.0), &Figure::plain(10.0));
        assert_eq!((own.others.why(), own.irq.why()), (Some("it has ended"), Some("it has ended")));
    }

    #[test]
    fn samples_that_do_not_agree_with_the_clocks_are_a_doubt() {
        let subject = crate::Subject::Process(std::process::id());
        let [earlier, later] = [(); 2].map(|()| crate::CounterSnapshot::take(&crate::Roots::default(), &subject));
        let report = crate::Delta::between(&earlier, &later).unwrap().report();
        let doubt_of = |seconds, samples: f64, half_rate: f64, causes: &[&str]| {
            let mut report = report.clone();
            report.own.seconds = Figure::plain(seconds);
            let none = Figure::unmetered("not here");
            let cause = crate::report::Cause {
                percent: none.clone(),
                standard_error: none.clone(),
                calibration_error: none.clone(),
                interval: Figure::unmetered("not here"),
                samples: none.clone(),
                seconds: none.clone(),
                count: none.clone(),
                average: none.clone(),
            };
            let about = [("samples", samples), ("half_rate_seconds", half_rate)];
            report.by_cause = Figure::sampled(crate::ByCause {
                causes: causes.iter().map(|name| ((*name).to_owned(), cause.clone())).collect(),
                unmet: Vec::new(),
                bound: none,
                unclassified: 0.0,
                about: about.map(|(name, value)| (name.to_owned(), Figure::sampled(value))).into(),
            });
            report.put_doubt(1e-3);
            assert_eq!(report.own.doubt.is_some(), report.notes.iter().any(|note| note.contains("not to be trusted")));
            report.own.doubt.is_some()
        };
        let doubt = |seconds, samples: f64, causes: &[&str]| doubt_of(seconds, samples, 0.0, causes);
        assert!(!doubt_of(2.0, 1000.0, 2.0, &["user"]), "each sample stands for two periods");
        assert!(doubt(0.084, 2700.0, &["user"]), "most of it was lost");
        assert!(doubt(0.0, 50.0, &["user"]), "all of it was");
        assert!(doubt(2.0, 1500.0, &["user"]), "what is counted twice");
        assert!(!doubt(2.0, 1900.0, &["user"]) && !doubt(2.0, 2400.0, &["user"]));
        assert!(!doubt(0.020, 30.0, &["user"]) && !doubt(0.0, 3.0, &["user"]), "chance may do that");
        assert!(!doubt(2.0, 500.0, &["user", Cause::Kernel.name()]), "what the kernel did was not sampled");
    }
}
