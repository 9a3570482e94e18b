//! Pins the driver to one CPU, and the program under test and the trace to another. If they share a CPU, the program that a
//! key wakes delays the driver, which waits to read the echo.

use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;

use rustix::process::Pid;
use rustix::thread::{CpuSet, gettid, sched_getaffinity, sched_setaffinity};

/// The driver's CPU and the other one: the first two that this process may use, or the only one twice.
static CPUS: LazyLock<[usize; 2]> = LazyLock::new(|| {
    let allowed = sched_getaffinity(None).unwrap();
    let mut cpus = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
    let first = cpus.next().unwrap();
    [first, cpus.next().unwrap_or(first)]
});

/// Pins this thread, and the threads that it starts, to the driver's CPU.
pub fn pin_to_driver() {
    pin(None, CPUS[0]);
}

/// Sets real-time priority for this thread and for the threads and programs that it starts. Where the kernel refuses, the
/// machine has to be quiet.
pub fn use_real_time_priority() {
    let thread = gettid().as_raw_nonzero().to_string();
    let mut command = Command::new("chrt");
    command.args(["--fifo", "--pid", "1", &thread]).stderr(Stdio::null()).status().unwrap();
}

/// Pins a program and the programs that it starts, or this thread, to the other CPU.
pub fn pin_to_other(program: Option<&Child>) {
    pin(program.map(Pid::from_child), CPUS[1]);
}

/// The command line that runs `command` on the other CPU.
pub fn command_on_other(command: &str) -> String {
    format!("taskset --cpu-list {} {command}", CPUS[1])
}

fn pin(process: Option<Pid>, cpu: usize) {
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(process, &set).unwrap();
}
