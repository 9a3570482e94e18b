//! What is expected of the sampler, and by how much it may be off.
//!
//! Off by at most 5 % of the truth, plus 3.3 standard deviations of what so few samples can tell: by chance alone a case fails
//! less than once in a thousand runs. A run that the machine spoilt is made again; one that shows something else is not.

use std::fmt::Write;

use cuesta_meters::cause::Cause;

use crate::trial::Trial;

/// A program and what is compared.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Kinds of work, in turn.
    kinds: &'static str,
    /// CPU time that it takes: seconds.
    seconds: f64,
    /// Samples a second.
    frequency: u64,
    /// Which parts of the truth are looked for, and where.
    compared: &'static [(&'static str, Found)],
}

/// Where a part of the truth is to be found.
#[derive(Clone, Copy)]
enum Found {
    /// In one cause.
    In(Cause),
    /// In all that the dynamic linker did or asked for.
    ForLinker,
    /// In all that the kernel did.
    Kernel,
}

use Found::{ForLinker, In, Kernel};

/// A prime, and five times as many samples as usual.
const FINE: u64 = 4999;

pub(crate) const ALL: &[Case] = &[
    Case { name: "user_time", kinds: "user", seconds: 1.5, frequency: 997, compared: &[("user", In(Cause::User))] },
    Case {
        name: "page_faults",
        kinds: "faults",
        seconds: 2.0,
        frequency: FINE,
        compared: &[("faults", In(Cause::PageFaults))],
    },
    Case {
        name: "null_calls",
        kinds: "calls",
        seconds: 1.5,
        frequency: 997,
        compared: &[("calls", In(Cause::SystemCalls))],
    },
    Case {
        name: "dynamic_linking",
        kinds: "linking",
        seconds: 1.5,
        frequency: 997,
        compared: &[("linking", ForLinker)],
    },
    Case { name: "writing", kinds: "io", seconds: 0.8, frequency: 997, compared: &[("io", Kernel)] },
    Case {
        name: "sleeping",
        kinds: "user,sleep",
        seconds: 0.5,
        frequency: 997,
        compared: &[("user", In(Cause::User))],
    },
    Case {
        name: "a_mix",
        kinds: "user,faults,faults,calls,linking,linking,linking",
        seconds: 6.0,
        frequency: FINE,
        compared: &[
            ("user", In(Cause::User)),
            ("faults", In(Cause::PageFaults)),
            ("calls", In(Cause::SystemCalls)),
            ("linking", ForLinker),
        ],
    },
];

/// Largest part of the truth that a share may be off by.
const MARGIN: f64 = 0.05;
/// Largest part that the total may be off by.
const TOTAL_MARGIN: f64 = 0.01;
/// One in a thousand, on both sides.
const DEVIATIONS: f64 = 3.3;
/// Runs that the machine may spoil.
const MOST_SPOILT: usize = 12;

/// Runs a case until a run is not spoilt; says what it found.
pub(crate) fn run(case: &Case) -> Result<String, String> {
    let mut report = String::new();
    for _ in 0..MOST_SPOILT {
        let trial = Trial::run(case.kinds, case.seconds, case.frequency);
        let Some(why) = trial.spoilt() else {
            let good = judge(case, &trial, &mut report);
            return if good { Ok(report) } else { Err(report) };
        };
        let _ = writeln!(report, "    run again: {why}");
    }
    Err(report + "    the machine spoilt every run")
}

fn judge(case: &Case, trial: &Trial, report: &mut String) -> bool {
    let mut good = true;
    let mut compare = |what: &str, found: f64, truth: f64, margin: f64| {
        let off = found / truth - 1.0;
        let holds = off.abs() <= margin;
        good &= holds;
        let mark = if holds { "" } else { "   OUT OF BOUNDS" };
        let _ = writeln!(
            report,
            "    {what:12} {found:9.4} truth {truth:9.4}   {:+6.2} % of at most {:5.2} %{mark}",
            100.0 * off,
            100.0 * margin
        );
    };
    compare("total", trial.exact, trial.truth.cpu, TOTAL_MARGIN);
    for (part, found) in case.compared {
        let truth = trial.truth.parts[*part];
        let deviation = deviation(trial, *found) / truth;
        compare(part, seconds(trial, *found), truth, MARGIN + DEVIATIONS * deviation);
    }
    if case.kinds == "faults" {
        // The kernel counts them: there is nothing to estimate. A few more are its stack's.
        compare("how many", trial.faults as f64, trial.truth.faults as f64, 0.0001);
    }
    tell(trial, report);
    good
}

fn seconds(trial: &Trial, found: Found) -> f64 {
    let causes = &trial.causes;
    match found {
        In(cause) => causes.by_cause.get(&cause).map_or(0.0, |share| share.seconds),
        ForLinker => causes.for_linker,
        Kernel => {
            let users = [Cause::User, Cause::Linking, Cause::Unclassified];
            let shares = causes.by_cause.iter().filter(|(cause, _)| !users.contains(cause));
            shares.map(|(_, share)| share.seconds).sum()
        }
    }
}

/// One standard deviation of what was found: seconds.
fn deviation(trial: &Trial, found: Found) -> f64 {
    let total = trial.exact;
    if let In(cause) = found {
        return trial.causes.by_cause.get(&cause).map_or(0.0, |share| share.error / 100.0 * total);
    }
    let share = (seconds(trial, found) / total).clamp(0.0, 1.0);
    (share * (1.0 - share) / trial.causes.samples.max(1) as f64).sqrt() * total
}

/// What else there is to know of a run, for who looks into a failure.
fn tell(trial: &Trial, report: &mut String) {
    let (causes, known) = (&trial.causes, &trial.constants);
    let shares = causes.by_cause.iter().map(|(cause, share)| format!("{} {:.4}", cause.name(), share.seconds));
    let parts = trial.truth.parts.iter().map(|(part, seconds)| format!("{part} {seconds:.4}"));
    let nanos = |seconds: f64| format!("{:.0} ns", seconds * 1e9);
    let rows = [
        format!("sampled: {}", shares.collect::<Vec<_>>().join(", ")),
        format!("truth: {}", parts.collect::<Vec<_>>().join(", ")),
        format!(
            "a fault hides {} of {}, a call {} of {}, and costs {} after",
            nanos(known.fault_hidden),
            nanos(known.fault),
            nanos(known.call_hidden),
            nanos(known.call),
            nanos(known.call_after)
        ),
        format!(
            "{} calls known, {:.0} estimated",
            trial.truth.calls,
            causes.calls.iter().flatten().map(|(_, calls)| calls).sum::<f64>()
        ),
        format!("{} samples, for {:.4} of the time; stolen {:.1} %", causes.samples, causes.coverage, trial.stolen),
    ];
    for row in rows {
        let _ = writeln!(report, "    {row}");
    }
}
