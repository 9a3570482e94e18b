//! One run of a program under the sampler, and whether the machine disturbed it.

use std::fs;
use std::num::NonZero;
use std::process::Command;
use std::thread::available_parallelism;

use cuesta_meters::Subject;
use cuesta_meters::plain::kernel::pid_stat::PidStat;
use cuesta_meters::plain::kernel::schedstat::SchedStat;
use cuesta_meters::sampled::cause::{CauseShares, ClockedCpu, Constants, Sampler, SamplerOptions, calibrate};

use crate::running::Program;
use crate::work::Truth;

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Trial {
    pub(crate) truth: Truth,
    pub(crate) causes: CauseShares,
    /// CPU time as the scheduler counts it: seconds.
    pub(crate) exact: f64,
    /// Page faults as the kernel counts them.
    pub(crate) faults: u64,
    pub(crate) constants: Constants,
    /// Steal, in percent of the machine's time.
    pub(crate) stolen: f64,
}

impl Trial {
    /// Runs a program that does these kinds of work for `seconds` of its CPU time.
    pub(crate) fn run(kinds: &str, seconds: f64) -> Self {
        let constants = calibrate().expect("this test must be allowed to sample: run it as root");
        let mut program = start(kinds, seconds);
        program.row();
        let subject = Subject::Process(program.pid());
        let sampler = Sampler::start(&[subject], SamplerOptions::default()).expect("may sample");
        let stolen = Stolen::now();
        let before = kernel_counts(program.pid());
        sampler.window().expect("the sampler lives");
        program.send("");
        let truth: Truth = serde_json::from_str(&program.row()).expect("the truth");
        let window = sampler.window().expect("the sampler lives");
        let after = kernel_counts(program.pid());
        let (cpu, faults) = (after.0 - before.0, after.1 - before.1);
        let exact =
            ClockedCpu { cpu, fault_count: Some(faults), capacity: window.until.since(window.from).as_secs_f64() };
        let causes = CauseShares::new(&window.tallies[0], &window, exact, Some(&constants));
        Self { truth, causes, exact: cpu, faults, constants, stolen: stolen.percent() }
    }

    /// How the machine disturbed the run, if it did: by steal, which the sampler's timer counts but the CPU clock does not, or
    /// by lost records. It does not look at the figures that the cases check.
    pub(crate) fn disturbance(&self) -> Option<String> {
        if self.stolen > MOST_STOLEN {
            return Some(format!("steal was {:.1} %", self.stolen));
        }
        let lost = self.causes.about.lost.value().filter(|lost| **lost > 0.0)?;
        Some(format!("{lost} records were lost"))
    }

    /// The part of the program's time that the hypervisor took at most, of a run that it disturbed: all that it took of any CPU.
    pub(crate) fn stolen_part(&self) -> f64 {
        let cpus = available_parallelism().map_or(1, NonZero::get) as f64;
        if self.stolen > MOST_STOLEN { self.stolen / 100.0 * cpus } else { 0.0 }
    }
}

/// Largest steal, in percent of the machine's time.
const MOST_STOLEN: f64 = 5.0;

/// Starts the program under test.
fn start(kinds: &str, seconds: f64) -> Program {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    Program::start(command.args(["work", kinds, &seconds.to_string()]))
}

/// CPU time in seconds and page faults of a process, as the kernel counts them.
fn kernel_counts(pid: u32) -> (f64, u64) {
    let file = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).expect("it runs");
    let run = SchedStat::parse(&file("schedstat")).expect("an account").run;
    let stat = PidStat::parse(&file("stat")).expect("an account");
    (run as f64 * 1e-9, stat.minor + stat.major)
}

/// The machine's steal and total time, in ticks.
struct Stolen(f64, f64);

impl Stolen {
    fn now() -> Self {
        let text = fs::read_to_string("/proc/stat").expect("a kernel");
        let ticks: Vec<f64> =
            text.lines().next().unwrap_or_default().split(' ').filter_map(|word| word.parse().ok()).collect();
        // user nice system idle iowait irq softirq steal
        Self(ticks.get(7).copied().unwrap_or(0.0), ticks.iter().take(8).sum())
    }

    fn percent(&self) -> f64 {
        let now = Self::now();
        100.0 * (now.0 - self.0) / (now.1 - self.1).max(1.0)
    }
}
