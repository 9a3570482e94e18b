//! The causes of CPU time; tallies × CPU time by the clocks → CPU time by cause → the rows of a report. Pure.

use std::collections::BTreeMap;

use cuesta_meters_report::{ByCause, CauseRow, Figure, OrEmpty, Sampling};

use super::calibrate::Constants;
use super::share::{Share, ShareEstimator, bound, samples_taken};
use super::tally::{SampleTally, SampleWindow, Visibility};

/// Fewest samples for an estimate of calls: its chance error is then a tenth.
const ENOUGH: u64 = 100;

/// Why a CPU was busy, or that it was idle. Each sample has one cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// User code outside the dynamic linker (MPL-17 "non-fault time").
    User,
    /// The user's address lies in the dynamic linker (MPL-17 "linkage fault time").
    Linking,
    /// Handling page faults (MPL-17 "missing-page fault time").
    PageFaults,
    /// Handling other exceptions.
    OtherFaults,
    /// System calls that are in neither of the next two (MPL-17 "wall crossing").
    SystemCalls,
    /// Making, loading and ending processes: fork, exec, exit (MPL-17 "time spent loading processes").
    Loading,
    /// Opening and mapping files: open, close, mmap, munmap, mprotect (MPL-17 "missing-segment fault time").
    Mapping,
    /// Choosing the next task and switching to it (Multics "getwork").
    Dispatching,
    /// Deferred work of interrupts: network receive, timers.
    Softirq,
    /// Interrupts of devices, timers and other CPUs, the part that a timer can see.
    Interrupts,
    /// Kernel threads (MPL-17 "file system daemon").
    KernelThreads,
    /// The kernel as a whole, if only user parts may be sampled.
    Kernel,
    /// No work. It never measures idle: the CPU clocks do.
    Idle,
    /// No function on the stack has a known class.
    Unclassified,
}

impl Cause {
    pub const COUNT: usize = 14;

    /// All of them, in the order of reports.
    pub const ALL: [Self; Self::COUNT] = [
        Self::User,
        Self::Linking,
        Self::PageFaults,
        Self::OtherFaults,
        Self::SystemCalls,
        Self::Loading,
        Self::Mapping,
        Self::Dispatching,
        Self::Softirq,
        Self::Interrupts,
        Self::KernelThreads,
        Self::Kernel,
        Self::Idle,
        Self::Unclassified,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Linking => "linking",
            Self::PageFaults => "page_faults",
            Self::OtherFaults => "other_faults",
            Self::SystemCalls => "system_calls",
            Self::Loading => "loading",
            Self::Mapping => "mapping",
            Self::Dispatching => "dispatching",
            Self::Softirq => "softirq",
            Self::Interrupts => "interrupts",
            Self::KernelThreads => "kernel_threads",
            Self::Kernel => "kernel",
            Self::Idle => "idle",
            Self::Unclassified => "unclassified",
        }
    }
}

/// The CPU time of the subject by its clocks (the plain tier, or the traced one), in the interval of the samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClockedCpu {
    /// CPU time of its tasks: seconds.
    pub cpu: f64,
    /// Page faults of its tasks, if they were counted.
    pub fault_count: Option<u64>,
    /// CPUs × elapsed time: seconds.
    pub capacity: f64,
}

impl ClockedCpu {
    /// The part of the capacity that the subject used. It turns shares of its CPU time into shares of its CPUs.
    pub(super) fn busy(&self) -> f64 {
        if self.capacity > 0.0 { self.cpu / self.capacity } else { 0.0 }
    }
}

/// CPU time of a subject by cause.
#[derive(Debug, Clone, PartialEq)]
pub struct CauseShares {
    /// Each cause with a share, and `Unclassified`; never `Idle`.
    pub by_cause: BTreeMap<Cause, Share>,
    /// Causes that samples could have shown but did not.
    pub unmet: Vec<Cause>,
    /// The upper bound of each of these: percent of the subject's CPU time.
    pub bound: f64,
    /// Samples without a known cause, percent of the busy ones.
    pub unclassified: f64,
    /// Estimated number of system calls of each cause that has samples at their returns.
    pub calls: BTreeMap<Cause, Figure>,
    pub about: Sampling,
}

impl CauseShares {
    /// Scales samples to the CPU time of the clocks and corrects what a timer cannot see: returns from system calls and from page
    /// faults, and the cost of calls to the instructions after them, are moved from the user's part.
    pub fn new(tally: &SampleTally, window: &SampleWindow, clocked: ClockedCpu, constants: Option<&Constants>) -> Self {
        let mut seconds = scale_to_clock(tally, window.visibility, clocked.cpu);
        let taken = constants.map(|known| known.interrupts(tally));
        let slowed = taken.map_or(0.0, |taken| if clocked.cpu > 0.0 { taken / clocked.cpu } else { 0.0 });
        let stretched = constants.map(|known| known.while_slowed(slowed));
        let constants = stretched.as_ref();
        let fault_seconds =
            clocked.fault_count.zip(constants).map(|(count, constants)| count as f64 * constants.fault_hidden);
        let moved = fault_seconds.map(|hidden| move_hidden(&mut seconds, tally, Cause::PageFaults, hidden));
        // CPU time for which a sampled nanosecond stands: seconds.
        let scale = if tally.busy() == 0 { 0.0 } else { clocked.cpu / tally.busy_time() };
        let return_seconds = tally.syscall_return_times.iter().sum::<u64>() as f64 * scale;
        let calls =
            constants.filter(|known| known.call_hidden > 0.0).map(|known| calls(tally, scale / known.call_hidden));
        let mut cost_after = 0.0;
        for (cause, count) in calls.iter().flatten() {
            let cost = count * constants.map_or(0.0, |known| known.call_after);
            cost_after += move_hidden(&mut seconds, tally, *cause, cost);
        }
        let made = calls.as_ref().map(|calls| calls.values().sum::<f64>());
        let errors = transfer_errors(made.unwrap_or(0.0), clocked.fault_count.unwrap_or(0) as f64, constants);
        let by_cause = shares(&seconds, &errors, &ShareEstimator::new(tally, window.visibility, clocked.cpu));
        let unmet = visible(window.visibility).filter(|cause| !by_cause.contains_key(cause)).collect();
        let returns = tally.all_syscall_returns();
        let coverage = if clocked.cpu > 0.0 { tally.busy_time() * 1e-9 / clocked.cpu } else { 0.0 };
        let about = Sampling {
            calls_estimated: made.map_or_else(uncalibrated, |made| estimate(made, returns)),
            calls_estimated_from: Figure::sampled(returns as f64),
            corrected_calls_seconds: Figure::sampled(return_seconds + cost_after),
            corrected_faults_seconds: moved.map_or_else(uncalibrated, Figure::sampled),
            coverage: Figure::sampled(coverage),
            for_linker_seconds: Figure::sampled(tally.for_linker.iter().sum::<u64>() as f64 * scale),
            half_rate_seconds: Figure::sampled(tally.half_rate as f64 * 1e-9),
            interrupts_seconds: taken.map_or_else(uncalibrated, Figure::sampled),
            lost: Figure::sampled(window.lost as f64),
            named_calls_percent: Figure::sampled(percent(tally.named as f64, tally.calls() as f64)),
            reader_seconds: Figure::plain(window.reader.as_secs_f64()),
            samples: Figure::sampled(tally.busy() as f64),
            throttled: Figure::sampled(window.throttled as f64),
        };
        let with_samples = |(cause, calls)| (cause, estimate(calls, tally.syscall_returns[cause as usize]));
        Self {
            by_cause,
            unmet,
            bound: 100.0 * bound(samples_taken(tally, window.visibility, clocked.cpu)),
            unclassified: percent(tally.time_of(Cause::Unclassified) as f64, tally.busy_time()),
            calls: calls.into_iter().flatten().map(with_samples).collect(),
            about,
        }
    }

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
            about: OrEmpty(Some(self.about.clone())),
        }
    }
}

/// Seconds by cause. If the kernel was sampled too, all shares scale to the clocks' time. If only users were sampled, their
/// samples count as they are, and the kernel has the rest.
fn scale_to_clock(tally: &SampleTally, visibility: Visibility, cpu: f64) -> [f64; Cause::COUNT] {
    let busy = tally.busy_time();
    let mut seconds = [0.0; Cause::COUNT];
    let scale = match visibility {
        Visibility::UserOnly => 1e-9_f64.min(if busy > 0.0 { cpu / busy } else { 0.0 }),
        Visibility::Whole | Visibility::Unsplit if busy > 0.0 => cpu / busy,
        Visibility::Whole | Visibility::Unsplit => 0.0,
    };
    for cause in Cause::ALL.into_iter().filter(|cause| *cause != Cause::Idle) {
        seconds[cause as usize] = tally.time_of(cause) as f64 * scale;
    }
    if visibility == Visibility::UserOnly {
        seconds[Cause::Kernel as usize] = (cpu - busy * scale).max(0.0);
    }
    seconds
}

/// Number of calls of each kind that has samples at returns; a sampled nanosecond at a return stands for `per_nanosecond` of them.
fn calls(tally: &SampleTally, per_nanosecond: f64) -> BTreeMap<Cause, f64> {
    let sampled = Cause::ALL.into_iter().filter(|cause| tally.syscall_returns[*cause as usize] > 0);
    sampled.map(|cause| (cause, tally.syscall_return_times[cause as usize] as f64 * per_nanosecond)).collect()
}

/// Moves `hidden` seconds from the user's part, where they were sampled, to cause `to`; returns the seconds moved.
fn move_hidden(seconds: &mut [f64; Cause::COUNT], tally: &SampleTally, to: Cause, hidden: f64) -> f64 {
    let all = tally.time_of(to);
    let for_linker = tally.for_linker[to as usize];
    let part = if all == 0 { 0.0 } else { for_linker as f64 / all as f64 };
    let mut moved = 0.0;
    for (cause, wanted) in [(Cause::User, hidden * (1.0 - part)), (Cause::Linking, hidden * part)] {
        let taken = wanted.min(seconds[cause as usize]);
        seconds[cause as usize] -= taken;
        moved += taken;
    }
    seconds[to as usize] += moved;
    moved
}

/// One standard deviation of the moved time, from the error of the constants: seconds by cause.
fn transfer_errors(calls: f64, faults: f64, constants: Option<&Constants>) -> [f64; Cause::COUNT] {
    let [call, fault] = constants.map_or([0.0; 2], |constants| constants.errors);
    let mut unsure = [0.0; Cause::COUNT];
    unsure[Cause::SystemCalls as usize] = calls * call;
    unsure[Cause::PageFaults as usize] = faults * fault;
    unsure[Cause::User as usize] = (calls * call).hypot(faults * fault);
    unsure
}

/// The causes that samples can show.
fn visible(visibility: Visibility) -> impl Iterator<Item = Cause> {
    let never = [Cause::Idle, Cause::Kernel, Cause::Unclassified];
    let whole = move |cause: &Cause| visibility == Visibility::Whole && !never.contains(cause);
    Cause::ALL.into_iter().filter(move |cause| whole(cause) || [Cause::User, Cause::Linking].contains(cause))
}

fn shares(
    seconds: &[f64; Cause::COUNT],
    unsure: &[f64; Cause::COUNT],
    estimator: &ShareEstimator<'_>,
) -> BTreeMap<Cause, Share> {
    // `Unclassified` is always shown.
    let shown = |cause: &Cause| match cause {
        Cause::Idle => false,
        Cause::Unclassified => true,
        cause => seconds[*cause as usize] > 0.0,
    };
    let share = |cause: Cause| (cause, estimator.share(cause, seconds[cause as usize], unsure[cause as usize]));
    Cause::ALL.into_iter().filter(shown).map(share).collect()
}

fn percent(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { 100.0 * part / whole } else { 0.0 }
}

fn uncalibrated() -> Figure {
    Figure::absent("the constants could not be measured")
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
mod tests;
