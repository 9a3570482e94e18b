//! Meters programs whose counts are known: counts that come from the kernel are exact.

#![allow(clippy::unwrap_used)] // A failed unwrap fails the test.

use std::process::Command;

use crate::running::{self, meter};
use cuesta_meters::{CounterSnapshot, Delta, MeterReport, Roots};

/// A program that runs one command at a time and reports when it is done.
struct Program {
    program: running::Program,
    /// The Python program's own figures for its last command: voluntary and involuntary switches, microseconds of CPU,
    /// children's voluntary switches.
    used: Vec<u64>,
}

impl Program {
    fn shell() -> Self {
        Self { program: running::Program::start(&mut Command::new("/bin/sh")), used: Vec::new() }
    }

    fn python() -> Self {
        let mut program = running::Program::start(Command::new("python3").args(["-c", PYTHON]));
        assert_eq!(program.row(), "ready");
        let mut python = Self { program, used: Vec::new() };
        python.run("touch(10)"); // the first call loads code
        python
    }

    /// Runs a command and waits for its end.
    fn run(&mut self, command: &str) {
        self.program.send(&format!("{command}; echo done"));
        loop {
            let row = self.program.row();
            if row == "done" {
                return;
            }
            if let Some(used) = row.strip_prefix("used ") {
                self.used = used.split_ascii_whitespace().map(|count| count.parse().unwrap()).collect();
            }
        }
    }

    fn read(&self) -> CounterSnapshot {
        CounterSnapshot::take(&Roots::default(), &self.program.subject().parse().unwrap())
    }

    fn report_of(&mut self, command: &str) -> MeterReport {
        let earlier = self.read();
        self.run(command);
        Delta::compare(&earlier, &self.read()).unwrap().report()
    }
}

const PYTHON: &str = "
import mmap, os, resource, sys
def touch(pages):
    memory = mmap.mmap(-1, pages * 4096)
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    for page in range(pages): memory[page * 4096] = 1
def pingpong(times):
    a, b = os.pipe(), os.pipe()
    if os.fork() == 0:
        for _ in range(times): os.read(a[0], 1); os.write(b[1], b'x')
        os._exit(0)
    for _ in range(times): os.write(a[1], b'x'); os.read(b[0], 1)
    os.wait()
def spin(times):
    for _ in range(times): pass
def used():
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_nvcsw, own.ru_nivcsw, int(1e6 * (own.ru_utime + own.ru_stime)), children.ru_nvcsw
print('ready', flush=True)
for row in sys.stdin:
    before = used()
    exec(row.replace('; echo done', ''))
    print('used', *(now - then for now, then in zip(used(), before)), flush=True)
    print('done', flush=True)
";

#[test]
fn pages_that_are_touched_are_faults() {
    let report = Program::python().report_of("touch(20000)");
    let faults = report.counts.minor_faults.value().unwrap().count;
    assert!((20_000..20_100).contains(&faults), "20,000 pages made {faults} faults");
    assert_eq!(report.counts.major_faults.value().unwrap().count, 0);
}

#[test]
fn short_lived_programs_between_snapshots_are_counted() {
    let mut shell = Program::shell();
    shell.run("/bin/true");
    let one = shell.report_of("/bin/true").counts.minor_faults.value().unwrap().count;
    let many = shell.report_of("for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done");
    let faults = many.counts.minor_faults.value().unwrap().count;
    assert!((7 * one..13 * one).contains(&faults), "ten programs made {faults} faults, one made {one}");
    assert!(many.counts.forks.value().unwrap().count >= 10, "the machine's forks include the ten programs");
}

#[test]
fn waits_for_a_pipe_are_voluntary_switches() {
    let mut program = Program::python();
    program.run("pingpong(10)");
    let report = program.report_of("pingpong(5000)");
    // Only the parent's switches count, because the child began and ended between two snapshots. The parent's last wait is for
    // the next command.
    let both = [(&report.counts.voluntary_switches, 3), (&report.counts.involuntary_switches, 40)];
    for ((counted, edges), known) in both.into_iter().zip(&program.used) {
        let counted = counted.value().unwrap().count;
        assert!(counted.abs_diff(*known) <= edges, "{counted} counted, {known} by the program's own account");
    }
    // On a full CPU it may have been preempted whenever it would have waited.
    assert!(program.used[0] + program.used[1] > 500, "it left the CPU: {:?}", program.used);
}

#[test]
fn a_listener_gets_the_switches_of_short_lived_children() {
    let mut program = Program::python();
    let mut meter = meter(&program.program.subject());
    program.run("pingpong(3000)");
    let report = meter.report().unwrap();
    let counted = report.counts.voluntary_switches.value().unwrap().count;
    let missing = report.notes.iter().any(|note| note.contains("CAP_NET_ADMIN"));
    let known = if missing { program.used[0] } else { program.used[0] + program.used[3] };
    assert!(counted.abs_diff(known) <= 5, "{counted} counted, {:?} by the program's own account", program.used);
}

#[test]
fn cpu_time_equals_the_programs_own_account() {
    let mut program = Program::python();
    let report = program.report_of("spin(20_000_000)");
    let (seconds, known) = (*report.own.seconds.value().unwrap(), program.used[2] as f64 / 1e6);
    assert!(
        (seconds - known).abs() < 0.01 * known + 0.005,
        "{seconds} s metered, {known} s by the program's own account"
    );
    let (user, system) = (report.own.usr.value().unwrap(), report.own.sys.value().unwrap());
    let own = report.own.percent.value().unwrap();
    assert!((user + system - own).abs() < 1e-9);
}

#[test]
fn synced_writes_are_counted_at_a_device() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut shell = Program::shell();
    let file = folder.path().join("file");
    let report =
        shell.report_of(&format!("dd if=/dev/zero of={} bs=1M count=8 conv=fsync 2>/dev/null", file.display()));
    let written: f64 = report.devices.values().map(|device| device.written_bytes_per_s * report.seconds).sum();
    assert!(written >= 8e6, "8 MiB were written, {written} bytes counted");
    assert!(report.counts.ios.value().unwrap().count > 0);
}

#[test]
fn a_task_that_waits_for_a_cpu_is_ready_and_not_running() {
    // Of three spinners on one CPU each waits two thirds of the time, so two are ready on average.
    let mut shell = Program::shell();
    // `timeout` ends them even if the test fails.
    let spin = "timeout 20 sh -c 'while :; do :; done' & spinners=\"$spinners $!\"";
    shell.run(&format!("taskset -p -c 0 $$ >/dev/null; for i in 1 2 3; do {spin}; done"));
    let earlier = shell.read();
    let mut later = shell.read();
    while later.at.since(earlier.at).as_secs_f64() < 0.8 {
        later = shell.read();
    }
    shell.run("kill $spinners");
    let report = Delta::compare(&earlier, &later).unwrap().report();
    let ready = *report.traffic.ready.value().unwrap();
    assert!((1.7..3.1).contains(&ready), "expected two ready tasks, or three while other work has the CPU: {ready}");
    assert_eq!(report.cpus, [0]);
    assert!(*report.traffic.running.value().unwrap() < 1.1);
    let delay = *report.traffic.run_delay.value().unwrap();
    assert!((ready * report.seconds - delay).abs() < 1e-9, "Little's law");
}
