//! How long tasks were off their CPUs and in run queues, beside what programs log of it themselves and the kernel's own sums.

use cuesta_meters::traced::Depth;
use cuesta_meters::{Count, Figure, MeterReport, Quantiles, Tier};

use crate::program::{Program, counted};

/// What a bucket leaves open of a duration.
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

/// Sleeps of 1, 2, … 10 ms, and by the program's own clock the length of half, of nine in ten, of the longest, and of all.
const SLEEPS: &str = "exec('took = []\\nfor n in range(200):\\n\
     \\t before = time.monotonic_ns()\\n\\t time.sleep(1e-3 * (1 + n % 10))\\n\
     \\t took.append((time.monotonic_ns() - before) / 1e9)\\ntook.sort()'); \
     print(took[99], took[179], took[197], took[199], sum(took))";

#[test]
fn sleeps_are_as_long_as_the_sleeper_finds_them() {
    let mut program = Program::start();
    program.does(SLEEPS);
    let (report, known) = program.report(Depth::Light, SLEEPS);
    let found = off_cpu(&report, "sleep");
    assert_eq!(found.count, 200, "{:?}", report.traffic);
    // The sleeper finds its waits for the CPU, its interruptions and its own looking at the clock in it, on top.
    let asked = [5e-3, 9e-3, 10e-3, 10e-3, 1.1];
    let ends =
        [found.p50, found.p90, found.p99, found.max].map(|at| (at, WITHIN)).into_iter().chain([(found.sum, 0.0)]);
    for ((found, off), (asked, known)) in ends.zip(asked.into_iter().zip(known)) {
        assert!((asked * (1.0 - off)..=known * (1.0 + off)).contains(&found), "{found}: {asked} to {known}");
    }
    // It has left its CPU once more, to wait for its next row.
    let all: u64 = report.traffic.off_cpu.value().unwrap().values().map(|why| why.count).sum();
    assert_eq!(all + 1, counted(&report.counts.switches), "{:?}", report.traffic);
}

/// Dispatches that the kernel, or we, may have of a process behind the instant at which it looks for the last time.
const ON_ITS_WAY_OUT: f64 = 20.0;

/// Two processes that compete for one CPU for a second, and what the kernel says they have waited: seconds, and how often.
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
    let found = run_queue(&report);
    assert!(known[0] > 0.9, "one of two waits all the time: {known:?}");
    assert!((found.sum / known[0] - 1.0).abs() < 0.02, "{found:?} of {known:?}");
    assert!((found.count as f64 - known[1]).abs() < 0.02 * known[1] + ON_ITS_WAY_OUT, "{found:?} of {known:?}");
    assert!(found.p50 <= found.p90 && found.p90 <= found.p99 && found.p99 <= found.max, "{found:?}");
    assert!(found.max * (1.0 - WITHIN) <= found.sum);
    // Who only computes leaves its CPU for another, and waits for it until it has it again.
    let preempted = off_cpu(&report, "preempted");
    assert!((preempted.sum / found.sum - 1.0).abs() < 0.1, "{preempted:?} of {found:?}");
    // What the plain tier has, of both.
    let (plain, often) = (report.traffic.run_delay.value().unwrap(), dispatches(&report.traffic.dispatches));
    assert!((found.sum / plain - 1.0).abs() < 0.03, "{} s of {plain}", found.sum);
    assert!((found.count as f64 - often).abs() < 0.02 * often + ON_ITS_WAY_OUT, "{} of {often}", found.count);
}

fn dispatches(figure: &Figure<Count>) -> f64 {
    figure.value().unwrap().count as f64
}
