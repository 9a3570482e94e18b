//! The causes of CPU time; tallies × CPU time by the clocks → CPU time by cause → the rows of a report. Pure.

use std::collections::BTreeMap;

use cuesta_meters_report::{ByCause, CauseRow, Figure, OrEmpty, Sampling};

use super::calibrate::Constants;
use super::share::{Share, ShareEstimator, bound, samples_taken};
use super::tally::{SampleTally, SampleWindow, Visibility};

/// Fewest samples for an estimate of calls: its chance error is then a tenth.
const ENOUGH: u64 = 100;
const UNCALIBRATED: &str = "the constants could not be measured";

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
    /// CPU time that the dynamic linker used or asked for, whatever its cause: seconds.
    pub for_linker: f64,
    /// Samples without a known cause, percent of the busy ones.
    pub unclassified: f64,
    /// Busy samples.
    pub samples: u64,
    /// CPU time that these stand for ÷ that of the clocks. A value far from 1 means stolen or missed samples.
    pub coverage: f64,
    /// Samples in system calls whose number is known, percent of all samples in calls.
    pub named: f64,
    /// Estimated number of system calls by cause, from the samples at returns. None if the constant could not be measured.
    pub calls: Option<BTreeMap<Cause, f64>>,
    /// Samples at returns from system calls, the basis of `calls`.
    pub syscall_returns: u64,
    /// The same by cause.
    pub syscall_returns_by_cause: BTreeMap<Cause, u64>,
    pub corrections: Corrections,
    pub overhead: Overhead,
    /// Samples and other records that were lost.
    pub lost: u64,
    /// How often the kernel stopped sampling for the rest of a tick.
    pub throttled: u64,
}

/// CPU time that a timer counts for the wrong cause, and that was moved to the right one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Corrections {
    /// Returns from system calls, which are sampled in the user's part and known by their address, and their cost to the
    /// instructions after them: seconds.
    pub call_seconds: f64,
    /// Returns from page faults, moved from the user's part to the faults: seconds. None if faults were not counted or the
    /// constant could not be measured.
    pub fault_seconds: Option<f64>,
}

/// CPU time that sampling used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overhead {
    /// CPU time of the reader thread: seconds.
    pub reader: f64,
    /// The interrupts: samples of the subject × the cost of one, by cause; none if the cost could not be measured.
    pub interrupts: Option<f64>,
    /// CPU time that was sampled at half rate because of dense page faults: seconds.
    pub half_rate: f64,
}

impl CauseShares {
    /// Scales samples to the CPU time of the clocks and corrects what a timer cannot see.
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
        let syscall_returns = tally.syscall_return_times.iter().sum::<u64>() as f64 * scale;
        let calls =
            constants.filter(|known| known.call_hidden > 0.0).map(|known| calls(tally, scale / known.call_hidden));
        let mut after = 0.0;
        for (cause, count) in calls.iter().flatten() {
            let cost = count * constants.map_or(0.0, |known| known.call_after);
            after += move_hidden(&mut seconds, tally, *cause, cost);
        }
        let made = calls.as_ref().map_or(0.0, |calls| calls.values().sum());
        let errors = transfer_errors(made, clocked.fault_count.unwrap_or(0) as f64, constants);
        let by_cause = shares(&seconds, &errors, &ShareEstimator::new(tally, window.visibility, clocked.cpu));
        let unmet = visible(window.visibility).filter(|cause| !by_cause.contains_key(cause)).collect();
        Self {
            by_cause,
            unmet,
            bound: 100.0 * bound(samples_taken(tally, window.visibility, clocked.cpu)),
            for_linker: tally.for_linker.iter().sum::<u64>() as f64 * scale,
            unclassified: percent(tally.time_of(Cause::Unclassified) as f64, tally.busy_time()),
            samples: tally.busy(),
            coverage: if clocked.cpu > 0.0 { tally.busy_time() * 1e-9 / clocked.cpu } else { 0.0 },
            named: percent(tally.named as f64, tally.calls() as f64),
            calls,
            syscall_returns: tally.all_syscall_returns(),
            syscall_returns_by_cause: syscall_returns_by_cause(tally),
            corrections: Corrections { call_seconds: syscall_returns + after, fault_seconds: moved },
            overhead: Overhead {
                reader: window.reader.as_secs_f64(),
                interrupts: taken,
                half_rate: tally.half_rate as f64 * 1e-9,
            },
            lost: window.lost,
            throttled: window.throttled,
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

/// Number of calls of each kind; a sampled nanosecond at a return stands for `per_nanosecond` of them.
fn calls(tally: &SampleTally, per_nanosecond: f64) -> BTreeMap<Cause, f64> {
    let time = |cause| tally.syscall_return_times[cause as usize] as f64;
    syscall_returns_by_cause(tally).into_keys().map(|cause| (cause, time(cause) * per_nanosecond)).collect()
}

/// Samples at returns, of each kind of call that has any.
fn syscall_returns_by_cause(tally: &SampleTally) -> BTreeMap<Cause, u64> {
    let all = Cause::ALL.into_iter().map(|cause| (cause, tally.syscall_returns[cause as usize]));
    all.filter(|(_, samples)| *samples > 0).collect()
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
            about: OrEmpty(Some(self.about())),
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

    fn about(&self) -> Sampling {
        let known = |value: Option<f64>| value.map_or_else(|| Figure::absent(UNCALIBRATED), Figure::sampled);
        Sampling {
            calls_estimated: self.all_calls(),
            calls_estimated_from: Figure::sampled(self.syscall_returns as f64),
            corrected_calls_seconds: Figure::sampled(self.corrections.call_seconds),
            corrected_faults_seconds: known(self.corrections.fault_seconds),
            coverage: Figure::sampled(self.coverage),
            for_linker_seconds: Figure::sampled(self.for_linker),
            half_rate_seconds: Figure::sampled(self.overhead.half_rate),
            interrupts_seconds: known(self.overhead.interrupts),
            lost: Figure::sampled(self.lost as f64),
            named_calls_percent: Figure::sampled(self.named),
            reader_seconds: Figure::plain(self.overhead.reader),
            samples: Figure::sampled(self.samples as f64),
            throttled: Figure::sampled(self.throttled as f64),
        }
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
mod tests;
