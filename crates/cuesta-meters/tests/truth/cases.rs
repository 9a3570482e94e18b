//! The cases of the sampler and their bounds.
//!
//! Each case runs five times at the default sampling rate. The tries are judged together:
//!
//! - The median error is at most 5 % of the truth, plus the sampling error of a median of five.
//! - The 95 % interval contains the truth in at least three of five tries. A correct interval fails this by chance once in 860
//!   cases.
//!
//! Two estimates have a known bias (docs/meters.md), so their intervals are not checked: the time spent for the dynamic linker
//! is too low, and short work that a timer wakes is sampled too rarely.
//!
//! A try that the machine disturbed is repeated, at most six times in all. Disturbed tries after that are judged too, with bounds
//! that are wider by what the hypervisor took. A try that fails for another reason is not repeated.

use std::fmt::Write;

use cuesta_meters::Figure;
use cuesta_meters::sampled::cause::{Cause, Share};

use crate::trial::Trial;

/// A program and what is compared.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Kinds of work, which take turns.
    kinds: &'static str,
    /// CPU time of the program: seconds.
    seconds: f64,
    /// Parts of the truth, each with the estimate that must agree.
    compared: &'static [(&'static str, ShareKind)],
}

/// The sampler's estimate that a part of the truth is compared with.
#[derive(Clone, Copy)]
enum ShareKind {
    /// The time of one cause.
    In(Cause),
    /// The time of the dynamic linker, and of the kernel on its behalf.
    ForLinker,
    /// The time of the kernel.
    Kernel,
}

use ShareKind::{ForLinker, In, Kernel};

pub(crate) const ALL: &[Case] = &[Case {
    name: "a_mix",
    kinds: "user,faults,faults,calls,linking,linking,linking",
    seconds: 2.5,
    compared: &[
        ("user", In(Cause::User)),
        ("faults", In(Cause::PageFaults)),
        ("calls", In(Cause::SystemCalls)),
        ("linking", ForLinker),
    ],
}];

/// One kind of work at a time; `a_mix` has most of them too. `scripts/nightly` plays these.
pub(crate) const NIGHTLY: &[Case] = &[
    Case { name: "page_faults", kinds: "faults", seconds: 1.5, compared: &[("faults", In(Cause::PageFaults))] },
    Case { name: "user_time", kinds: "user", seconds: 0.8, compared: &[("user", In(Cause::User))] },
    Case { name: "null_calls", kinds: "calls", seconds: 1.0, compared: &[("calls", In(Cause::SystemCalls))] },
    Case { name: "dynamic_linking", kinds: "linking", seconds: 1.0, compared: &[("linking", ForLinker)] },
    Case { name: "writing", kinds: "io", seconds: 0.8, compared: &[("io", Kernel)] },
    Case { name: "sleeping", kinds: "user,sleep", seconds: 0.5, compared: &[("user", In(Cause::User))] },
];

/// Tries of a case.
const TRIES: usize = 5;
/// Least number of tries whose interval contains the truth.
const HELD: usize = 3;
/// Largest median error, as a share of the truth.
const MARGIN: f64 = 0.05;
/// Largest error of the total in any try, as a share of the truth.
const TOTAL_MARGIN: f64 = 0.01;
/// 3.3 standard errors (two-sided chance of 1 in 1,000) of a median of five, whose error is 1.25 ÷ √5 of a single one's.
const DEVIATIONS: f64 = 3.3 * 1.25 / 2.236;
/// Most tries that are repeated because the machine disturbed them.
const MOST_DISTURBED: usize = 6;

/// The result of a try for one part of the truth.
struct ShareEstimator {
    /// Error as a share of the truth.
    off: f64,
    /// One standard error, as a share of the truth.
    error: f64,
    /// What the hypervisor may have made of it, as a share of the truth.
    stolen: f64,
    contained: bool,
}

/// Runs a case. Both results hold the report.
pub(crate) fn run(case: &Case) -> Result<String, String> {
    let (mut report, mut trials, mut disturbed) = (String::new(), Vec::new(), 0);
    while trials.len() < TRIES {
        let trial = Trial::run(case.kinds, case.seconds);
        match trial.disturbance() {
            Some(why) if disturbed < MOST_DISTURBED => {
                disturbed += 1;
                let _ = writeln!(report, "    tried again: {why}");
            }
            _ => trials.push(trial),
        }
    }
    for trial in &trials {
        write_details(trial, &mut report);
    }
    let mut agree = true;
    for (part, kind) in case.compared {
        agree &= judge(case, (part, *kind), &trials, &mut report);
    }
    if counts(case, &trials, &mut report) && agree { Ok(report) } else { Err(report) }
}

/// Checks the exact counts of every try: CPU time, and page faults where the program does nothing else.
fn counts(case: &Case, trials: &[Trial], report: &mut String) -> bool {
    trials.iter().fold(true, |good, trial| {
        let total = (trial.exact / trial.truth.cpu - 1.0).abs();
        // The stack takes a few more faults.
        let faults = (trial.faults as f64 / trial.truth.faults.max(1) as f64 - 1.0).abs();
        let holds = total <= TOTAL_MARGIN + trial.stolen_part() && (case.kinds != "faults" || faults <= 1e-4);
        if !holds {
            let _ = writeln!(report, "    total off by {total:.4}, faults by {faults:.5}   OUT OF BOUNDS");
        }
        good && holds
    })
}

fn judge(case: &Case, (part, kind): (&str, ShareKind), trials: &[Trial], report: &mut String) -> bool {
    let mut estimates: Vec<ShareEstimator> =
        trials.iter().map(|trial| ShareEstimator::new(trial, kind, trial.truth.parts[part])).collect();
    estimates.sort_by(|a, b| a.off.total_cmp(&b.off));
    let contained = estimates.iter().filter(|estimate| estimate.contained).count();
    let ShareEstimator { off, error, stolen, .. } = estimates[TRIES / 2];
    let most = MARGIN + DEVIATIONS * error + stolen;
    let is_biased = matches!(kind, ForLinker) || case.kinds.contains("sleep");
    let good = off.abs() <= most && (contained >= HELD || is_biased);
    let all: Vec<String> = estimates.iter().map(|estimate| format!("{:+.2}", 100.0 * estimate.off)).collect();
    let [off, most, error] = [off, most, error].map(|part| 100.0 * part);
    let mark = if good { "" } else { "   OUT OF BOUNDS" };
    let _ = writeln!(
        report,
        "    {part:10} median {off:+.2} % of at most {most:.2} % (tries {}; ± {error:.2}); in {contained} of {TRIES} intervals{mark}",
        all.join(" ")
    );
    good
}

impl ShareEstimator {
    fn new(trial: &Trial, kind: ShareKind, truth: f64) -> Self {
        let truth = truth * own_part(trial, kind);
        let (seconds, [lower, upper]) = (seconds(trial, kind), limits(trial, kind));
        let (error, stolen) = (deviation(trial, kind) / truth, trial.stolen_part());
        let contained = (lower * (1.0 - stolen)..=upper * (1.0 + stolen)).contains(&truth);
        Self { off: seconds / truth - 1.0, error, stolen, contained }
    }
}

/// The share of a program's own account that is its own work: its CPU clock also counts interrupts that arrive while it runs.
fn own_part(trial: &Trial, kind: ShareKind) -> f64 {
    let foreign = match kind {
        Kernel => [].as_slice(),
        In(_) | ForLinker => &[Cause::Softirq, Cause::Interrupts],
    };
    let shares = foreign.iter().filter_map(|cause| trial.causes.by_cause.get(cause));
    1.0 - shares.map(|share| share.percent / 100.0).sum::<f64>()
}

/// The 95 % interval of the estimate: seconds.
fn limits(trial: &Trial, kind: ShareKind) -> [f64; 2] {
    let of_share = |share: &Share| share.interval.map(|percent| percent / 100.0 * trial.exact);
    match kind {
        In(cause) => trial.causes.by_cause.get(&cause).map_or([0.0; 2], of_share),
        ForLinker | Kernel => {
            let (seconds, error) = (seconds(trial, kind), deviation(trial, kind));
            [seconds - 1.96 * error, seconds + 1.96 * error]
        }
    }
}

fn seconds(trial: &Trial, kind: ShareKind) -> f64 {
    let causes = &trial.causes;
    match kind {
        In(cause) => causes.by_cause.get(&cause).map_or(0.0, |share| share.seconds),
        ForLinker => value(&causes.about.for_linker_seconds),
        Kernel => {
            let users = [Cause::User, Cause::Linking, Cause::Unclassified];
            let shares = causes.by_cause.iter().filter(|(cause, _)| !users.contains(cause));
            shares.map(|(_, share)| share.seconds).sum()
        }
    }
}

fn value(figure: &Figure) -> f64 {
    *figure.value().expect("samples give it")
}

/// One standard deviation of the estimate from the number of samples alone: seconds.
fn deviation(trial: &Trial, kind: ShareKind) -> f64 {
    let total = trial.exact;
    if let In(cause) = kind {
        return trial
            .causes
            .by_cause
            .get(&cause)
            .map_or(0.0, |share| (share.error.powi(2) - share.calibration.powi(2)).max(0.0).sqrt() / 100.0 * total);
    }
    let share = (seconds(trial, kind) / total).clamp(0.0, 1.0);
    (share * (1.0 - share) / value(&trial.causes.about.samples).max(1.0)).sqrt() * total
}

/// Writes the details that help to explain a failure.
fn write_details(trial: &Trial, report: &mut String) {
    let (causes, known) = (&trial.causes, &trial.constants);
    let shares = causes.by_cause.iter().map(|(cause, share)| format!("{} {:.4}", cause.name(), share.seconds));
    let parts = trial.truth.parts.iter().map(|(part, seconds)| format!("{part} {seconds:.4}"));
    let nanos = |seconds: f64| format!("{:.0} ns", seconds * 1e9);
    let rows = [
        format!("sampled: {}", shares.collect::<Vec<_>>().join(", ")),
        format!("truth: {}", parts.collect::<Vec<_>>().join(", ")),
        format!(
            "a page fault hides {} of its {} from the timer, a system call {} of {} and adds {} after it",
            nanos(known.fault_hidden),
            nanos(known.fault),
            nanos(known.call_hidden),
            nanos(known.call),
            nanos(known.call_after)
        ),
        format!("{} system calls made, {:?} estimated", trial.truth.calls, causes.about.calls_estimated),
        format!(
            "{} samples over {:.4} of the time; steal {:.1} %",
            value(&causes.about.samples),
            value(&causes.about.coverage),
            trial.stolen
        ),
    ];
    for row in rows {
        let _ = writeln!(report, "    {row}");
    }
}
