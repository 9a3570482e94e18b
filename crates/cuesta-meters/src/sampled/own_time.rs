//! What samples add to the subject's own CPU time: interrupts outside it, and a doubt if clocks and samples disagree.

use crate::report::Measured;
use crate::sampled::cause::Cause;
use crate::{ByCause, Figure, Own};

/// Samples over clocks, as a ratio, that raises no doubt.
const AGREE: std::ops::RangeInclusive<f64> = 0.8..=1.25;
/// Standard deviations of a number of samples within which chance may explain a difference.
const CHANCE: f64 = 4.0;

/// The subject's own time, with the interrupts outside it: those of the CPUs less those sampled in the subject's time.
/// Unchanged if the subject's clock leaves interrupts out, or the samples do not see the kernel.
pub(crate) fn with_interrupts(measured: &Measured, by_cause: &ByCause) -> Own {
    let own = measured.own.clone();
    if own.others.value().is_none() || own.irq.value().is_some() || by_cause.causes.contains_key(Cause::Kernel.name()) {
        return own;
    }
    let of = |cause: Cause| by_cause.causes.get(cause.name()).and_then(|row| row.percent.value().copied());
    let within = of(Cause::Interrupts).unwrap_or(0.0) + of(Cause::Softirq).unwrap_or(0.0);
    let beside = measured.cpu.irq.with(&Figure::sampled(within), |irq, within| irq - within);
    own.with_beside(&measured.cpu.busy(), &beside)
}

/// Why the subject's CPU time is in doubt: samples, one every `period` seconds, do not agree with its clocks. If samples miss
/// the kernel, only too many samples are a reason.
pub(crate) fn doubt(own: &Own, by_cause: &ByCause, period: f64) -> Option<String> {
    let seconds = own.seconds.value()?;
    let about = |name: &str| by_cause.about.get(name).and_then(|figure| figure.value().copied());
    let samples = about("samples").filter(|_| period > 0.0)?;
    // A sample stands for a period, or for two if its CPU was sampled at half rate.
    let sampled_seconds = samples * period + about("half_rate_seconds").unwrap_or(0.0) / 2.0;
    let (samples, expected) = (sampled_seconds / period, seconds / period);
    let by_chance = (samples - expected).abs() <= CHANCE * samples.max(expected).max(CHANCE).sqrt();
    let ratio = if *seconds > 0.0 { sampled_seconds / seconds } else { f64::INFINITY };
    let is_partial = by_cause.causes.contains_key(Cause::Kernel.name()) && ratio < 1.0;
    if by_chance || is_partial || AGREE.contains(&ratio) {
        return None;
    }
    Some(format!(
        "its clocks have {seconds:.2} s of CPU time, samples met it for {sampled_seconds:.2} s: the figure is not to be trusted"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CauseRow, CounterSnapshot, Delta, Roots, Subject};

    #[test]
    fn samples_that_do_not_agree_with_the_clocks_are_a_doubt() {
        let subject = Subject::Process(std::process::id());
        let [earlier, later] = [(); 2].map(|()| CounterSnapshot::take(&Roots::default(), &subject));
        let own = Delta::between(&earlier, &later).unwrap().report().own;
        let doubt_of = |seconds, samples: f64, half_rate: f64, causes: &[&str]| {
            let own = Own { seconds: Figure::plain(seconds), ..own.clone() };
            let none = Figure::unmetered("not here");
            let cause = CauseRow {
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
            let by_cause = ByCause {
                causes: causes.iter().map(|name| ((*name).to_owned(), cause.clone())).collect(),
                unmet: Vec::new(),
                bound: none,
                unclassified: 0.0,
                about: about.map(|(name, value)| (name.to_owned(), Figure::sampled(value))).into(),
            };
            let found = doubt(&own, &by_cause, 1e-3);
            assert!(found.as_ref().is_none_or(|why| why.contains("not to be trusted")));
            found.is_some()
        };
        let doubt = |seconds, samples: f64, causes: &[&str]| doubt_of(seconds, samples, 0.0, causes);
        assert!(!doubt_of(2.0, 1000.0, 2.0, &["user"]), "each sample stands for two periods");
        assert!(doubt(0.084, 2700.0, &["user"]), "most of it was lost");
        assert!(doubt(0.0, 50.0, &["user"]), "all of it was");
        assert!(doubt(2.0, 1500.0, &["user"]), "counted twice");
        assert!(!doubt(2.0, 1900.0, &["user"]) && !doubt(2.0, 2400.0, &["user"]));
        assert!(!doubt(0.020, 30.0, &["user"]) && !doubt(0.0, 3.0, &["user"]), "chance may do that");
        assert!(!doubt(2.0, 500.0, &["user", Cause::Kernel.name()]), "the kernel was not sampled");
    }
}
