//! One CPU for the driver, another for the program that it types at and for the trace. On one CPU, or left to the scheduler, a
//! program that a key wakes delays the driver that is to read its echo.

use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;

use rustix::process::Pid;
use rustix::thread::{CpuSet, gettid, sched_getaffinity, sched_setaffinity};

/// The driver's and the others', of those that the test was started on: the first two, or the only one twice.
static CPUS: LazyLock<[usize; 2]> = LazyLock::new(|| {
    let allowed = sched_getaffinity(None).unwrap();
    let mut cpus = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
    let first = cpus.next().unwrap();
    [first, cpus.next().unwrap_or(first)]
});

/// Keeps this thread, and those that it starts, to the driver's CPU.
pub fn with_the_driver() {
    keep(None, CPUS[0]);
}

/// Real-time priority for this thread and for the threads and programs that it starts: whatever else runs here waits for them.
/// Where that is refused, the machine has to be quiet.
pub fn before_all_else() {
    let thread = gettid().as_raw_nonzero().to_string();
    let mut command = Command::new("chrt");
    command.args(["--fifo", "--pid", "1", &thread]).stderr(Stdio::null()).status().unwrap();
}

/// Keeps this thread to the others' CPU, or a program and those that it starts.
pub fn with_the_others(program: Option<&Child>) {
    keep(program.map(Pid::from_child), CPUS[1]);
}

/// A command, kept to the others' CPU.
pub fn others(command: &str) -> String {
    format!("taskset --cpu-list {} {command}", CPUS[1])
}

fn keep(who: Option<Pid>, to: usize) {
    let mut cpu = CpuSet::new();
    cpu.set(to);
    sched_setaffinity(who, &cpu).unwrap();
}
