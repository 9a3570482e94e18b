//! The sampler without privileges: it sees less and reports what is missing.

use std::fs;
use std::io::{self, Write};

use cuesta_meters::Subject;
use cuesta_meters::sampled::cause::{Cause, CauseShares, ClockedCpu, Sampler, SamplerOptions, Visibility};
use cuesta_record::clock;
use serde::{Deserialize, Serialize};

use crate::running::run_as_nobody;

/// Makes this program print its figures.
pub(crate) const ARGUMENT: &str = "unprivileged";

#[derive(Debug, Serialize, Deserialize)]
struct Figures {
    visibility: Option<Visibility>,
    /// Missing permissions.
    limits: Vec<String>,
    /// Percent of user time in a loop that only computes, and in one that only makes system calls.
    user: [f64; 2],
}

/// Samples this process and prints the figures.
pub(crate) fn print_figures() {
    let mut figures = Figures { visibility: None, limits: Vec::new(), user: [0.0; 2] };
    match Sampler::start(&[Subject::Process(std::process::id())], SamplerOptions::default()) {
        Err(error) => figures.limits.push(error.to_string()),
        Ok(sampler) => {
            figures.limits = sampler.limits().to_vec();
            figures.user = [compute, call].map(|work: fn()| share(&sampler, &mut figures.visibility, work));
        }
    }
    writeln!(io::stdout(), "{}", serde_json::to_string(&figures).expect("plain data")).expect("stdout is open");
}

/// Percent of user time in half a second of `work`.
fn share(sampler: &Sampler, visibility: &mut Option<Visibility>, work: fn()) -> f64 {
    sampler.window().expect("the sampler lives");
    let start = clock::thread_cpu();
    while clock::thread_cpu().saturating_sub(start).as_millis() < 500 {
        work();
    }
    let cpu = clock::thread_cpu().saturating_sub(start).as_secs_f64();
    let window = sampler.window().expect("the sampler lives");
    *visibility = Some(window.visibility);
    let exact = ClockedCpu { cpu, fault_count: None, capacity: cpu };
    let causes = CauseShares::new(&window.tallies[0], &window, exact, None);
    causes.by_cause.get(&Cause::User).map_or(0.0, |share| share.percent)
}

fn compute() {
    let mut sum = 0_u64;
    for n in 0..1_000_000_u64 {
        sum = std::hint::black_box(sum ^ n);
    }
}

fn call() {
    for _ in 0..10_000 {
        std::hint::black_box(rustix::process::getppid());
    }
}

/// Starts this program again without privileges and compares its figures with what the kernel's settings allow.
pub(crate) fn run() -> Result<String, String> {
    let output = run_as_nobody(&[ARGUMENT], &[]);
    let figures: Figures =
        serde_json::from_slice(&output.stdout).map_err(|error| format!("    {error}: {output:?}"))?;
    let level = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").expect("a kernel with a sampler");
    let report = format!("    kernel.perf_event_paranoid {}: {figures:?}", level.trim());
    let advised = figures.limits.iter().any(|limit| limit.contains("sysctl kernel.perf_event_paranoid="));
    let good = match level.trim().parse::<i64>().expect("a number") {
        ..=0 => figures.visibility.is_some(),
        1 => figures.visibility == Some(Visibility::Whole) && advised,
        2 => {
            figures.visibility == Some(Visibility::UserOnly)
                && advised
                && figures.user[0] > 80.0
                && figures.user[1] < 70.0
        }
        _ => figures.visibility.is_none() && advised,
    };
    if good { Ok(report) } else { Err(report) }
}
