//! The owner and the causes of CPU time, and whether the account closes.

use cuesta_meters::traced::Depth;
use cuesta_meters::{Figure, MeterReport, Tier};

use super::program::{Program, exact, meter};

/// Largest error of CPU time, in percent. The kernel updates the clock of a running task up to a tick late.
const OFF: f64 = 1.0;

/// Burns CPU time. Returns the report and the seconds by the program's own clock.
fn burn(program: &mut Program, depth: Depth) -> (MeterReport, f64) {
    let row = "before = time.process_time(); any(iter(lambda: time.process_time() > before + 1.5, True)); \
               print(time.process_time() - before)";
    let (report, printed) = program.report(depth, row);
    (report, printed[0])
}

#[test]
fn cpu_time_equals_the_programs_own_clock() {
    let mut program = Program::start();
    let (report, known) = burn(&mut program, Depth::Light);
    let traced = exact(&report.own.seconds);
    assert!((traced / known - 1.0).abs() * 100.0 < OFF, "{traced} of {known}");
    // Ticks split it.
    assert!(
        [&report.own.usr, &report.own.sys].iter().all(|part| matches!(part, Figure::Metered { tier: Tier::Plain, .. }))
    );
    let causes = &report.by_cause.value().unwrap().causes;
    let parts: f64 = causes.values().map(|cause| exact(&cause.seconds)).sum();
    assert!((parts / traced - 1.0).abs() < 1e-6, "{parts} of {traced}");
    assert!(exact(&causes["user_and_calls"].seconds) > 0.9 * traced, "{causes:?}");
    assert!(exact(&causes["interrupts"].seconds) > 0.0);
}

#[test]
fn the_account_of_the_machine_closes_and_has_its_tier() {
    let mut program = Program::start();
    let mut machine = meter("machine").with_tracer(Depth::Light);
    let reports: Vec<MeterReport> = (0..TRIES)
        .map(|_| {
            program.run("t = time.monotonic() + 0.7; any(iter(lambda: time.monotonic() > t, True)); time.sleep(0.5)");
            machine.report().unwrap()
        })
        .collect();
    // What the clock of a running task has not told at the end of one interval is in the next: only both ends of all count.
    let accounted = mean(&reports, |report| exact(&report.closure.accounted));
    assert!((accounted - 100.0).abs() < 1.0, "{accounted}");
    let rows = mean(&reports, |report| report.total_time.iter().filter_map(|row| row.percent.value()).sum());
    assert!((rows - 100.0).abs() < 2.0, "{rows}: {:?}", reports[0].total_time);
    for report in &reports {
        let idle = &report.idle;
        let kinds = [&idle.zero, &idle.page_wait, &idle.loading, &idle.io_wait, &idle.quota_wait].map(exact);
        let all = exact(&report.cpu.idle) + exact(&report.cpu.iowait);
        assert!((kinds.iter().sum::<f64>() - all).abs() < 0.01, "{kinds:?} of {all}");
    }
}

/// With a session for each program the scheduler has a group of tasks for each. Between two tasks it goes through the groups, which is
/// in no task's time: 3 % of this CPU.
#[test]
fn the_account_of_a_cpu_on_which_many_programs_wake_up_closes() {
    let mut program = Program::start();
    let cpu = program.run("print(max(os.sched_getaffinity(0)))")[0];
    program.run(&format!("os.sched_setaffinity(0, {{{cpu:.0}}})"));
    let mut meter = meter(&format!("cpus:{cpu:.0}")).with_tracer(Depth::Light);
    program.run(
        "pids = [os.fork() or (os.setsid(), [time.sleep(0.1) for _ in range(30)], os._exit(0)) for _ in range(400)]; \
         any(os.waitpid(pid, 0)[1] for pid in pids)",
    );
    let report = meter.report().unwrap();
    let (accounted, load) = (exact(&report.closure.accounted), exact(&report.cpu.load));
    assert!((accounted - 100.0).abs() < 2.0, "{accounted} at a load of {load}");
}

/// Number of intervals.
const TRIES: usize = 5;

/// The mean over all intervals' time.
fn mean(reports: &[MeterReport], of: impl Fn(&MeterReport) -> f64) -> f64 {
    let seconds: f64 = reports.iter().map(|report| report.seconds).sum();
    reports.iter().map(|report| report.seconds * of(report)).sum::<f64>() / seconds
}

#[test]
fn with_the_sampler_only_interrupts_are_traced() {
    let mut program = Program::start();
    let mut meter = meter(&format!("pid:{}", program.pid())).with_tracer(Depth::Light);
    meter = meter.with_sampler(cuesta_meters::sampled::cause::SamplerOptions::default());
    program.run("t = time.process_time() + 0.5; any(iter(lambda: time.process_time() > t, True))");
    let report = meter.report().unwrap();
    let by_cause = report.by_cause.value().unwrap();
    let tier = |name: &str| match &by_cause.causes[name].seconds {
        Figure::Metered { tier, .. } => *tier,
        other @ Figure::Absent { .. } => panic!("{other:?}"),
    };
    assert_eq!((tier("interrupts"), tier("user")), (Tier::Traced, Tier::Sampled));
    let parts: f64 = by_cause.causes.values().filter_map(|cause| cause.seconds.value()).sum();
    assert!((parts / exact(&report.own.seconds) - 1.0).abs() < 1e-6);
    let uncounted = report.notes.iter().find(|note| note.contains("block devices"));
    assert_eq!(uncounted, None, "{:?} is traced", report.traffic.io_delay);
}
