//! Compares the times that tasks were off the CPU and in run queues with programs' own logs and the kernel's sums.

use cuesta_meters::traced::Depth;
use cuesta_meters::{Count, Figure, MeterReport, Quantiles, Tier};

use super::program::{Program, counted};

/// Relative width of a histogram's bucket.
const WITHIN: f64 = 0.06;

fn run_queue(report: &MeterReport) -> Quantiles {
    let Figure::Metered { value, tier: Tier::Traced } = &report.traffic.run_queue_delay else {
        panic!("{:?}", report.traffic)
    };
    *value
}

fn off_cpu(report: &MeterReport, why: &str) -> Quantiles {
    report.traffic.off_cpu.value().unwrap().get(why).copied().unwrap_or_else(|| panic!("{:?}", report.traffic))
}

/// Sleeps of 1, 2, … 10 ms. Prints their median, p90, maximum and sum by the program's own clock.
const SLEEPS: &str = "exec('took = []\\nfor n in range(200):\\n\
     \\t before = time.monotonic_ns()\\n\\t time.sleep(1e-3 * (1 + n % 10))\\n\
     \\t took.append((time.monotonic_ns() - before) / 1e9)\\ntook.sort()'); \
     print(took[99], took[179], took[197], took[199], sum(took))";

#[test]
fn sleeps_agree_with_the_sleepers_own_clock() {
    let mut program = Program::start();
    program.run(SLEEPS);
    let (report, known) = program.report(Depth::Light, SLEEPS);
    let sleeps = off_cpu(&report, "sleep");
    assert_eq!(sleeps.count, 200, "{:?}", report.traffic);
    // The sleeper's own times also contain its waits for the CPU, interrupts and the reading of its clock.
    let asked = [5e-3, 9e-3, 10e-3, 10e-3, 1.1];
    let ends =
        [sleeps.p50, sleeps.p90, sleeps.p99, sleeps.max].map(|at| (at, WITHIN)).into_iter().chain([(sleeps.sum, 0.0)]);
    for ((measured, off), (asked, known)) in ends.zip(asked.into_iter().zip(known)) {
        assert!((asked * (1.0 - off)..=known * (1.0 + off)).contains(&measured), "{measured}: {asked} to {known}");
    }
    // The program also switched once to wait for its next row.
    let all: u64 = report.traffic.off_cpu.value().unwrap().values().map(|why| why.count).sum();
    assert_eq!(all + 1, counted(&report.counts.switches), "{:?}", report.traffic);
}

/// Dispatches of a process that may be counted after the process has read its counters for the last time.
const LATE_DISPATCHES: f64 = 20.0;
/// The longest of their waits together, in seconds, while other processes want the CPU too.
const LATE_WAITS: f64 = 0.1;

/// Two processes compete for one CPU for a second. Prints the kernel's sum of their waits in seconds, and the number of waits.
const RIVALS: &str = "exec('os.sched_setaffinity(0, {0})\\n\
     own = lambda: [int(word) for word in open(\"/proc/self/schedstat\").read().split()[1:]]\\n\
     before, (read, write) = own(), os.pipe()\\n\
     child = os.fork()\\n\
     end = time.monotonic() + 1\\n\
     while time.monotonic() < end: pass\\n\
     if not child: os.write(write, b\"%d %d\" % tuple(own())); os._exit(0)\\n\
     os.waitpid(child, 0)\\n\
     others = [int(word) for word in os.read(read, 99).split()]\\n\
     after = own()\\n\
     os.close(read); os.close(write)'); \
     print((after[0] - before[0] + others[0]) / 1e9, after[1] - before[1] + others[1])";

#[test]
fn waits_in_a_run_queue_are_those_of_the_scheduler() {
    let mut program = Program::start();
    let (report, known) = program.report(Depth::Light, RIVALS);
    let waits = run_queue(&report);
    assert!(known[0] > 0.9, "one of the two processes must wait at any time: {known:?}");
    assert!((waits.sum / known[0] - 1.0).abs() < 0.02, "{waits:?} of {known:?}");
    assert!((waits.count as f64 - known[1]).abs() < 0.02 * known[1] + LATE_DISPATCHES, "{waits:?} of {known:?}");
    assert!(waits.p50 <= waits.p90 && waits.p90 <= waits.p99 && waits.p99 <= waits.max, "{waits:?}");
    assert!(waits.max * (1.0 - WITHIN) <= waits.sum);
    // A process that only computes leaves the CPU by preemption and waits in the run queue until it has it again.
    let preempted = off_cpu(&report, "preempted");
    assert!((preempted.sum / waits.sum - 1.0).abs() < 0.1, "{preempted:?} of {waits:?}");
    // The plain tier's figures for both processes.
    let (plain, often) = (report.traffic.run_delay.value().unwrap(), dispatches(&report.traffic.dispatches));
    assert!((waits.sum - plain).abs() < 0.03 * plain + LATE_WAITS, "{} s of {plain}", waits.sum);
    assert!((waits.count as f64 - often).abs() < 0.02 * often + LATE_DISPATCHES, "{} of {often}", waits.count);
}

fn dispatches(figure: &Figure<Count>) -> f64 {
    figure.value().unwrap().count as f64
}
