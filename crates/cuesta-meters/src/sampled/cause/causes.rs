//! Tallies × CPU time by the clocks → CPU time by cause. Pure.

use std::collections::BTreeMap;

use super::calibrate::Constants;

use super::classify::Cause;
use super::sampler::{SampleWindow, Visibility};
use super::share::{Share, ShareEstimator, bound, samples_taken};
use super::tally::SampleTally;

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

pub(super) fn percent(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { 100.0 * part / whole } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use cuesta_record::Stamp;

    use super::*;

    fn window(visibility: Visibility) -> SampleWindow {
        SampleWindow {
            from: Stamp::ZERO,
            until: Stamp::from_nanos(1_000_000_000),
            tallies: Vec::new(),
            visibility,
            lost: 3,
            throttled: 0,
            reader: Duration::from_millis(5),
        }
    }

    const PERIOD: u64 = 1_000_000;

    fn tally(counts: &[(Cause, u64, u64)], syscall_returns: u64) -> SampleTally {
        let mut tally = SampleTally::default();
        tally.syscall_returns[Cause::SystemCalls as usize] = syscall_returns;
        tally.syscall_return_times[Cause::SystemCalls as usize] = syscall_returns * PERIOD;
        for (cause, samples, for_linker) in counts {
            tally.samples[*cause as usize] = *samples;
            tally.times[*cause as usize] = *samples * PERIOD;
            tally.for_linker[*cause as usize] = *for_linker * PERIOD;
        }
        tally.squares = u128::from(tally.busy()) * u128::from(PERIOD).pow(2);
        tally
    }

    fn constants() -> Constants {
        Constants {
            call: 75e-9,
            call_hidden: 30e-9,
            call_after: 3e-9,
            fault: 1e-6,
            fault_hidden: 1e-7,
            errors: [0.0; 2],
            sample: 0.0,
            sample_in_fault: 0.0,
        }
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn shares_of_busy_samples_multiply_clocked_time_and_idle_does_not() {
        let tally = tally(&[(Cause::User, 60, 0), (Cause::SystemCalls, 40, 0), (Cause::Idle, 900, 0)], 20);
        let clocked = ClockedCpu { cpu: 0.2, fault_count: None, capacity: 2.0 };
        let causes = CauseShares::new(&tally, &window(Visibility::Whole), clocked, Some(&constants()));
        // A tenth of the returns' 0.04 s.
        assert!(close(causes.by_cause[&Cause::User].seconds, 0.12 - 0.004));
        assert!(close(causes.by_cause[&Cause::SystemCalls].percent, 42.0));
        assert!(!causes.by_cause.contains_key(&Cause::Idle));
        assert!(close(causes.coverage, 0.5));
        assert!(close(causes.calls.as_ref().expect("estimated")[&Cause::SystemCalls], 0.04 / 30e-9));
        assert_eq!((causes.corrections.fault_seconds, causes.lost), (None, 3));
    }

    #[test]
    fn returns_from_faults_move_from_user_and_linker_to_faults() {
        let counts = [(Cause::User, 50, 0), (Cause::Linking, 10, 10), (Cause::PageFaults, 40, 10)];
        let clocked = ClockedCpu { cpu: 1.0, fault_count: Some(1_000_000), capacity: 1.0 };
        let causes = CauseShares::new(&tally(&counts, 0), &window(Visibility::Whole), clocked, Some(&constants()));
        let seconds = |cause| causes.by_cause[&cause].seconds;
        assert!(close(seconds(Cause::User), 0.5 - 0.075));
        assert!(close(seconds(Cause::Linking), 0.1 - 0.025));
        assert!(close(seconds(Cause::PageFaults), 0.5));
        assert!(close(causes.for_linker, 0.2));
    }

    #[test]
    fn the_cost_of_samples_is_also_taken_off_hidden_time() {
        // A thousand samples of 0.1 ms each take a tenth of the time.
        let tally = tally(&[(Cause::User, 600, 0), (Cause::SystemCalls, 200, 0), (Cause::PageFaults, 200, 0)], 100);
        let clocked = ClockedCpu { cpu: 1.0, fault_count: Some(1_000_000), capacity: 1.0 };
        let known = Constants { sample: 1e-4, sample_in_fault: 1e-4, call_after: 0.0, ..constants() };
        let causes = CauseShares::new(&tally, &window(Visibility::Whole), clocked, Some(&known));
        assert!(close(causes.corrections.fault_seconds.expect("moved"), 0.1 / 0.9));
        assert!((causes.calls.expect("estimated")[&Cause::SystemCalls] - 0.9 * 0.1 / 30e-9).abs() < 1.0);
    }

    #[test]
    fn no_more_time_is_moved_than_the_user_part_has() {
        let clocked = ClockedCpu { cpu: 1.0, fault_count: Some(1_000_000_000), capacity: 1.0 };
        let counts = [(Cause::User, 10, 0), (Cause::PageFaults, 90, 0)];
        let causes = CauseShares::new(&tally(&counts, 0), &window(Visibility::Whole), clocked, Some(&constants()));
        assert!(close(causes.by_cause[&Cause::PageFaults].seconds, 1.0));
        assert!(close(causes.corrections.fault_seconds.expect("moved"), 0.1));
    }

    #[test]
    fn with_user_samples_alone_the_kernel_has_the_rest() {
        let clocked = ClockedCpu { cpu: 1.0, fault_count: None, capacity: 1.0 };
        let tally = tally(&[(Cause::User, 300, 0)], 0);
        let causes = CauseShares::new(&tally, &window(Visibility::UserOnly), clocked, None);
        assert!(close(causes.by_cause[&Cause::User].seconds, 0.3));
        assert!(close(causes.by_cause[&Cause::Kernel].seconds, 0.7));
        assert_eq!(causes.calls, None);
    }

    #[test]
    fn a_share_has_an_error_and_a_cause_without_samples_a_bound() {
        let clocked = ClockedCpu { cpu: 2.0, fault_count: None, capacity: 2.0 };
        let counts = [(Cause::User, 75, 0), (Cause::PageFaults, 25, 0)];
        let causes = CauseShares::new(&tally(&counts, 0), &window(Visibility::Whole), clocked, Some(&constants()));
        let faults = &causes.by_cause[&Cause::PageFaults];
        assert!(close(faults.error, 100.0 * (0.25_f64 * 0.75 / 100.0).sqrt()));
        let [lower, upper] = faults.interval;
        assert!((16.0..18.0).contains(&lower) && (34.0..36.0).contains(&upper), "{lower} to {upper}");
        assert!(causes.unmet.contains(&Cause::Linking) && !causes.unmet.contains(&Cause::Idle));
        assert!((causes.bound - 3.6).abs() < 0.1, "{}", causes.bound);
    }

    #[test]
    fn the_error_of_the_constants_counts_even_without_samples() {
        let clocked = ClockedCpu { cpu: 1.0, fault_count: Some(100_000), capacity: 1.0 };
        let known = Constants { errors: [0.0, 1e-8], ..constants() };
        let causes =
            CauseShares::new(&tally(&[(Cause::User, 1000, 0)], 0), &window(Visibility::Whole), clocked, Some(&known));
        let faults = &causes.by_cause[&Cause::PageFaults];
        assert!(close(faults.percent, 1.0) && close(faults.calibration, 0.1) && close(faults.error, 0.1));
        // No sample hit a fault, so the bound adds a third of a percent.
        assert!(faults.interval[0] < 0.81 && (1.36..1.45).contains(&faults.interval[1]), "{:?}", faults.interval);
        assert!(!causes.unmet.contains(&Cause::PageFaults));
    }

    #[test]
    fn no_samples_give_no_causes() {
        let clocked = ClockedCpu { cpu: 0.0, fault_count: Some(0), capacity: 1.0 };
        let causes = CauseShares::new(&SampleTally::default(), &window(Visibility::Whole), clocked, Some(&constants()));
        assert_eq!(causes.by_cause.keys().collect::<Vec<_>>(), [&Cause::Unclassified]);
        assert_eq!((causes.samples, causes.unclassified), (0, 0.0));
    }
}
