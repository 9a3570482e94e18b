//! Processes that detach themselves, or that no parent waits for, still belong to their host. Each burner (a process that burns
//! CPU time) logs its own CPU time and page faults, and the meters must agree with the log.

#![allow(clippy::unwrap_used)] // A failed unwrap fails the test.

use std::fs;
use std::process::Command;

use crate::running::{Program, meter};
use cuesta_meters::{MeterReport, Source};
use tempfile::TempDir;

/// A host whose burners leave its process tree in several ways. Each burner ends by adding a row to the log: its CPU seconds and
/// page faults by `getrusage`.
const HOST: &str = r"
import os, resource, signal, sys, time
log = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
nowhere = os.open('/dev/null', os.O_WRONLY)

def used(who=resource.RUSAGE_SELF):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime, usage.ru_minflt

def burn(seconds):
    while time.process_time() < seconds: pass
    # The first time, writing a row copies the parent's pages: these faults must be in the row.
    os.write(nowhere, b'%f %d\n' % used())
    os.write(log, b'%f %d\n' % used())

def child(work):
    if os.fork() == 0:
        work()
        os._exit(0)

def ignored(count, seconds):
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for _ in range(count): child(lambda: burn(seconds))

def daemons(count, seconds):
    def daemon():
        os.setsid()
        child(lambda: burn(seconds))
        burn(0)
    for _ in range(count):
        child(daemon)
        os.wait()

def waited(count, seconds):
    for _ in range(count): child(lambda: burn(seconds))
    ends = [os.wait3(0)[2] for _ in range(count)]
    # What the kernel does to end a process is not in its own account, and not small beside a millisecond.
    os.truncate(log, 0)
    for end in ends: os.write(log, b'%f %d\n' % (end.ru_utime + end.ru_stime, end.ru_minflt))

print('ready', flush=True)
for row in sys.stdin:
    before = used()
    exec(row)
    now = used()
    print('used', now[0] - before[0], now[1] - before[1], flush=True)
";

/// With more steal, in percent, a run is INVALID: the kernel's clock of a task counts part of it, if another CPU looks meanwhile.
const MOST_STOLEN: f64 = 10.0;
const TRIES: usize = 4;

struct Host {
    program: Program,
    folder: TempDir,
    /// CPU seconds and page faults of the host's own process, by its own account.
    used: (f64, u64),
}

impl Host {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut program = Program::start(Command::new("python3").args(["-c", HOST]).arg(folder.path().join("log")));
        assert_eq!(program.row(), "ready");
        Self { program, folder, used: (0.0, 0) }
    }

    fn run(&mut self, order: &str) {
        self.program.send(order);
        let row = self.program.row();
        let (seconds, faults) = row.strip_prefix("used ").unwrap().split_once(' ').unwrap();
        self.used.0 += seconds.parse::<f64>().unwrap();
        self.used.1 += faults.parse::<u64>().unwrap();
    }

    /// Waits for `count` burners; returns CPU seconds and page faults of all, the host's own included.
    fn truth(&self, burners: usize, mut meanwhile: impl FnMut()) -> (f64, u64) {
        loop {
            let rows = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            if rows.lines().count() == burners {
                let words = rows.lines().map(|row| row.split_once(' ').unwrap());
                return words.fold(self.used, |(seconds, faults), (more, again)| {
                    (seconds + more.parse::<f64>().unwrap(), faults + again.parse::<u64>().unwrap())
                });
            }
            meanwhile();
        }
    }

    /// The meter report of an order while the hypervisor let the machine work, or the last of a few if it never did.
    fn undisturbed(&mut self, order: &str) -> MeterReport {
        let mut meter = meter(&self.program.subject());
        let mut left = TRIES;
        loop {
            self.run(order);
            let report = meter.report().unwrap();
            left -= 1;
            if left == 0 || *report.cpu.steal.value().unwrap() <= MOST_STOLEN {
                return report;
            }
        }
    }

    /// The meter report of an order and the truth. No snapshot is taken in between.
    fn report_of(&mut self, order: &str, burners: usize) -> (MeterReport, (f64, u64)) {
        let mut meter = meter(&self.program.subject());
        self.run(order);
        let truth = self.truth(burners, || {});
        (meter.report().unwrap(), truth)
    }
}

fn agrees(report: &MeterReport, (seconds, faults): (f64, u64)) {
    let metered = *report.own.seconds.value().unwrap();
    assert!((metered / seconds - 1.0).abs() < 0.05, "{metered} s metered, {seconds} s by the burners' own log");
    let counted = report.counts.minor_faults.value().unwrap().count as f64;
    assert!((counted / faults as f64 - 1.0).abs() < 0.1, "{counted} faults counted, {faults} by the burners' own log");
    assert_eq!(report.own.source, Source::ExitRecords);
}

#[test]
fn processes_that_live_between_two_snapshots_are_counted() {
    for (order, burners) in [
        ("ignored(6, 0.25)", 6), // children that no parent waits for
        ("daemons(6, 0.25)", 12),
        ("ignored(2000, 0.001)", 2000),
        ("waited(2000, 0.001)", 2000),
    ] {
        let (report, truth) = Host::start().report_of(order, burners);
        agrees(&report, truth);
    }
}

#[test]
fn daemons_that_live_through_many_snapshots_are_counted() {
    let mut host = Host::start();
    let mut meter = meter(&host.program.subject());
    let first = meter.snapshot();
    host.run("daemons(3, 0.5)");
    let mut parts = Vec::new();
    let truth = host.truth(6, || parts.push(meter.report().unwrap()));
    parts.push(meter.report().unwrap());
    let sum: f64 = parts.iter().map(|part| part.own.seconds.value().unwrap()).sum();
    assert!((sum / truth.0 - 1.0).abs() < 0.05, "{sum} s in {} parts, {} s by the log", parts.len(), truth.0);
    agrees(&meter.report_since(&first).unwrap(), truth);
}

#[test]
fn separately_measured_parts_close_and_a_planted_error_breaks_it() {
    let report = Host::start().undisturbed("waited(4, 1.5)");
    let closure = &report.closure;
    let (accounted, stolen) = (*closure.accounted.value().unwrap(), *report.cpu.steal.value().unwrap());
    let counted_twice = if stolen > MOST_STOLEN { stolen } else { 0.0 };
    let right = 100.0 - closure.tolerance - closure.interrupts..=100.0 + closure.tolerance + counted_twice;
    assert!(right.contains(&accounted) && (closure.closes || counted_twice > 0.0), "{closure:?}");
    let parts: f64 = closure.parts.values().sum();
    assert!((parts - accounted).abs() < 1e-9, "{closure:?}");
    let (subject, others) = (closure.parts["subject"], closure.parts["others"]);
    assert!(others > 0.0, "others have no CPU time, although this test runs");
    // If a part is dropped, no other part takes its time.
    let largest = subject.max(others).max(closure.parts["idle"]);
    assert!(accounted - largest < 100.0 - closure.tolerance - closure.interrupts, "{closure:?}");
}
