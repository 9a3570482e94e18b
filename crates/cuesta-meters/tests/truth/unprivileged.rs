//! The sampler without privileges: it sees less and reports what is missing.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use cuesta_meters::Subject;
use cuesta_meters::sampled::cause::{CauseShares, ClockedCpu, Sampler, SamplerOptions, Visibility};
use cuesta_record::clock;
use serde::{Deserialize, Serialize};

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
    let mut found = Figures { visibility: None, limits: Vec::new(), user: [0.0; 2] };
    match Sampler::start(&[Subject::Process(std::process::id())], SamplerOptions::default()) {
        Err(error) => found.limits.push(error.to_string()),
        Ok(sampler) => {
            found.limits = sampler.limits().to_vec();
            found.user =
                [share(&sampler, &mut found.visibility, compute), share(&sampler, &mut found.visibility, call)];
        }
    }
    writeln!(io::stdout(), "{}", serde_json::to_string(&found).expect("plain data")).expect("stdout is open");
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
    causes.by_cause.get(&cuesta_meters::sampled::cause::Cause::User).map_or(0.0, |share| share.percent)
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
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("unprivileged");
    fs::copy(std::env::current_exe().expect("this program"), &program).expect("copied");
    for path in [folder.path(), &program] {
        fs::set_permissions(path, Permissions::from_mode(0o755)).expect("permissions set");
    }
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all", "--"])
        .arg(&program)
        .arg(ARGUMENT)
        .current_dir("/")
        .output()
        .expect("setpriv of util-linux is needed");
    let found: Figures = serde_json::from_slice(&output.stdout).map_err(|error| format!("    {error}: {output:?}"))?;
    let level = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").expect("a kernel with a sampler");
    let report = format!("    kernel.perf_event_paranoid {}: {found:?}", level.trim());
    let advised = found.limits.iter().any(|limit| limit.contains("sysctl kernel.perf_event_paranoid="));
    let good = match level.trim().parse::<i64>().expect("a number") {
        ..=0 => found.visibility.is_some(),
        1 => found.visibility == Some(Visibility::Whole) && advised,
        2 => found.visibility == Some(Visibility::UserOnly) && advised && found.user[0] > 80.0 && found.user[1] < 70.0,
        _ => found.visibility.is_none() && advised,
    };
    if good { Ok(report) } else { Err(report) }
}
