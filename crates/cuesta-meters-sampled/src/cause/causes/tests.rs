use super::*;

#[test]
fn each_cause_has_its_own_index() {
    for (index, cause) in Cause::ALL.into_iter().enumerate() {
        assert_eq!(cause as usize, index, "{}", cause.name());
    }
}

fn window(visibility: Visibility) -> SampleWindow {
    SampleWindow { visibility, lost: 3, ..SampleWindow::default() }
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

fn value(figure: &Figure) -> f64 {
    *figure.value().expect("it is there")
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn shares_of_busy_samples_multiply_clocked_time_and_idle_does_not() {
    let tally = tally(&[(Cause::User, 600, 0), (Cause::SystemCalls, 400, 0), (Cause::Idle, 9000, 0)], 200);
    let clocked = ClockedCpu { cpu: 2.0, fault_count: None, capacity: 20.0 };
    let causes = CauseShares::new(&tally, &window(Visibility::Whole), clocked, Some(&constants()));
    // A tenth of the returns' 0.4 s.
    assert!(close(causes.by_cause[&Cause::User].seconds, 1.2 - 0.04));
    assert!(close(causes.by_cause[&Cause::SystemCalls].percent, 42.0));
    assert!(!causes.by_cause.contains_key(&Cause::Idle));
    assert!(close(value(&causes.about.coverage), 0.5));
    let calls = &causes.calls[&Cause::SystemCalls];
    assert!(close(value(calls) / (0.4 / 30e-9), 1.0) && *calls == causes.about.calls_estimated);
    assert!(causes.about.corrected_faults_seconds.value().is_none() && close(value(&causes.about.lost), 3.0));
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
    assert!(close(value(&causes.about.for_linker_seconds), 0.2));
}

#[test]
fn the_cost_of_samples_is_also_taken_off_hidden_time() {
    // A thousand samples of 0.1 ms each take a tenth of the time.
    let tally = tally(&[(Cause::User, 600, 0), (Cause::SystemCalls, 200, 0), (Cause::PageFaults, 200, 0)], 100);
    let clocked = ClockedCpu { cpu: 1.0, fault_count: Some(1_000_000), capacity: 1.0 };
    let known = Constants { sample: 1e-4, sample_in_fault: 1e-4, call_after: 0.0, ..constants() };
    let causes = CauseShares::new(&tally, &window(Visibility::Whole), clocked, Some(&known));
    assert!(close(value(&causes.about.corrected_faults_seconds), 0.1 / 0.9));
    assert!((value(&causes.calls[&Cause::SystemCalls]) - 0.9 * 0.1 / 30e-9).abs() < 1.0);
}

#[test]
fn no_more_time_is_moved_than_the_user_part_has() {
    let clocked = ClockedCpu { cpu: 1.0, fault_count: Some(1_000_000_000), capacity: 1.0 };
    let counts = [(Cause::User, 10, 0), (Cause::PageFaults, 90, 0)];
    let causes = CauseShares::new(&tally(&counts, 0), &window(Visibility::Whole), clocked, Some(&constants()));
    assert!(close(causes.by_cause[&Cause::PageFaults].seconds, 1.0));
    assert!(close(value(&causes.about.corrected_faults_seconds), 0.1));
}

#[test]
fn with_user_samples_alone_the_kernel_has_the_rest() {
    let clocked = ClockedCpu { cpu: 1.0, fault_count: None, capacity: 1.0 };
    let tally = tally(&[(Cause::User, 300, 0)], 0);
    let causes = CauseShares::new(&tally, &window(Visibility::UserOnly), clocked, None);
    assert!(close(causes.by_cause[&Cause::User].seconds, 0.3));
    assert!(close(causes.by_cause[&Cause::Kernel].seconds, 0.7));
    assert_eq!(causes.about.calls_estimated.why(), Some("the constants could not be measured"));
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
    assert_eq!((causes.about.samples, causes.unclassified), (Figure::sampled(0.0), 0.0));
}

#[test]
fn a_row_is_in_percent_of_the_cpus_and_has_an_average_if_events_are_counted() {
    let clocked = ClockedCpu { cpu: 0.1, fault_count: None, capacity: 2.0 };
    let share =
        Share { seconds: 0.1, percent: 100.0, error: 2.0, calibration: 0.0, interval: [95.0, 100.0], samples: 100 };
    let row = |cause, counts: &[(Cause, f64)]| {
        let counts = counts.iter().map(|(cause, count)| (*cause, Figure::plain(*count))).collect();
        let mut causes = CauseShares::new(&SampleTally::default(), &window(Visibility::Whole), clocked, None);
        causes.by_cause.insert(cause, share);
        causes.report(clocked, &counts).causes[cause.name()].clone()
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
    assert_eq!(estimate(5000.0, 99).why(), Some("it has only 99 samples: an estimate takes 100"));
    assert_eq!(estimate(5000.0, 1).why(), Some("it has only 1 sample: an estimate takes 100"));
    assert_eq!(estimate(5000.0, 100), Figure::sampled(5000.0));
}
