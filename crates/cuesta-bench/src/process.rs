//! Parts as child processes, each pinned to a core.

use std::env;
use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Child, Command, Stdio};

use rustix::process::{Resource, Rlimit, Signal, getrlimit, set_parent_process_death_signal, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::job::{HostJob, Job};
use crate::outcome::Outcome;
use crate::simulation::SimulationJob;
#[cfg(feature = "exact")]
use crate::wire::{AgentJob, Side};

/// At most this many lines go to one address: when about half of the ports to it are taken, the kernel looks through
/// thousands of them for each further line (`__inet_hash_connect`).
const LINES_OF_A_HOST: u32 = 10_000;

/// A running part. Dropping it kills the process.
pub(crate) struct Part {
    child: Child,
    output: BufReader<Box<dyn Read>>,
}

impl Part {
    /// Starts a part of this name.
    fn start(name: &str, job: &impl Serialize) -> Result<Self, Box<dyn Error>> {
        Self::run(Command::new(env::current_exe()?).arg(name).arg(serde_json::to_string(job)?))
    }

    /// The same at an end of a wire.
    #[cfg(feature = "exact")]
    fn start_at(side: &Side, name: &str, job: &impl Serialize) -> Result<Self, Box<dyn Error>> {
        Self::run(side.command(&env::current_exe()?).arg(name).arg(serde_json::to_string(job)?))
    }

    fn run(command: &mut Command) -> Result<Self, Box<dyn Error>> {
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let output: Box<dyn Read> = Box::new(child.stdout.take().ok_or("a part has no output")?);
        Ok(Self { child, output: BufReader::new(output) })
    }

    /// Starts a host, and returns its address too.
    pub(crate) fn host(job: HostJob) -> Result<(Self, String), Box<dyn Error>> {
        let mut host = Self::start("server", &job)?;
        let address = host.row()?;
        Ok((host, address))
    }

    /// Starts hosts for this number of users, and returns their addresses too.
    pub(crate) fn hosts(job: HostJob, users: u32) -> Result<(Vec<Self>, Vec<String>), Box<dyn Error>> {
        let hosts = (0..users.div_ceil(LINES_OF_A_HOST)).map(|_| Self::host(job));
        Ok(hosts.collect::<Result<Vec<_>, _>>()?.into_iter().unzip())
    }

    /// Starts `busybox telnetd`, and returns its address too, at which it will listen soon.
    pub(crate) fn telnetd(cpu: usize) -> Result<(Self, String), Box<dyn Error>> {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        let mut host = Self::start("telnetd", &(cpu, free.port()))?;
        let address = host.row()?;
        Ok((host, address))
    }

    /// Starts the limit.
    pub(crate) fn bare(job: &Job) -> Result<Self, Box<dyn Error>> {
        Self::start("bare", job)
    }

    /// Starts a host at its end of a wire, and returns its address too.
    #[cfg(feature = "exact")]
    pub(crate) fn host_at(side: &Side, job: HostJob) -> Result<(Self, String), Box<dyn Error>> {
        let mut host = Self::start_at(side, "server", &HostJob { address: side.address, cpu: side.cpu, ..job })?;
        let address = host.row()?;
        Ok((host, address))
    }

    /// Starts the limit at its end of a wire.
    #[cfg(feature = "exact")]
    pub(crate) fn bare_at(side: &Side, job: &Job) -> Result<Self, Box<dyn Error>> {
        Self::start_at(side, "bare", &Job { cpu: side.cpu, ..job.clone() })
    }

    /// Starts an agent of TMux, and waits until it works.
    #[cfg(feature = "exact")]
    pub(crate) fn agent(side: &Side, job: AgentJob) -> Result<Self, Box<dyn Error>> {
        let mut agent = Self::start_at(side, "agent", &job)?;
        agent.row()?;
        Ok(agent)
    }

    /// Starts Cuesta.
    pub(crate) fn driver(job: &Job) -> Result<Self, Box<dyn Error>> {
        Self::start("driver", job)
    }

    /// Starts a simulation.
    pub(crate) fn simulation(job: &SimulationJob) -> Result<Self, Box<dyn Error>> {
        Self::start("simulation", job)
    }

    /// Starts the same simulation in Ciw; `None` without it. `CUESTA_BENCH_CIW` names the Python that has it.
    pub(crate) fn ciw(job: &SimulationJob) -> Result<Option<Self>, Box<dyn Error>> {
        let Some(python) = env::var_os("CUESTA_BENCH_CIW") else { return Ok(None) };
        let script = ["-c", include_str!("ciw.py")];
        Self::run(Command::new(python).args(script).arg(serde_json::to_string(job)?)).map(Some)
    }

    /// Waits for the row that a part prints, and reads it as JSON.
    pub(crate) fn answer<T: DeserializeOwned>(&mut self) -> Result<T, Box<dyn Error>> {
        let answer = serde_json::from_str(&self.row()?)?;
        self.child.wait()?;
        Ok(answer)
    }

    /// Waits for a driver's outcome.
    pub(crate) fn outcome(&mut self) -> Result<Outcome, Box<dyn Error>> {
        self.answer()
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    fn row(&mut self) -> Result<String, Box<dyn Error>> {
        let mut row = String::new();
        self.output.read_line(&mut row)?;
        if row.is_empty() {
            return Err("a part ended without output; its error is above".into());
        }
        Ok(row.trim_end().to_owned())
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // It may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Two CPUs of our affinity mask: one for the drivers, one for the hosts.
pub(crate) fn two_cpus() -> Result<(usize, usize), Box<dyn Error>> {
    let allowed = sched_getaffinity(None)?;
    let mut cpus = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
    match (cpus.next(), cpus.next()) {
        (Some(drivers), Some(hosts)) => Ok((drivers, hosts)),
        _ => Err("two CPUs are needed: one for the drivers, one for their hosts".into()),
    }
}

/// Keeps the CPUs out of deep idle states as long as the file is open (Linux: `/dev/cpu_dma_latency`): waking one takes tens of
/// microseconds, three times in each answer.
///
/// # Errors
/// Without root.
pub(crate) fn stay_awake() -> io::Result<File> {
    let mut file = OpenOptions::new().write(true).open("/dev/cpu_dma_latency")?;
    file.write_all(&0_i32.to_ne_bytes())?;
    Ok(file)
}

/// Ends this process when the one that started it ends, even if that is killed.
pub(crate) fn end_with_parent() -> io::Result<()> {
    Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
}

/// Pins this process and its future threads to a CPU.
pub(crate) fn pin(cpu: usize) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(cpu);
    Ok(sched_setaffinity(None, &set)?)
}

/// Raises the descriptor limit to its maximum, and returns the number of lines that fit.
pub(crate) fn room_for_lines() -> u32 {
    const OTHER_FILES: u64 = 100;
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let most = if setrlimit(Resource::Nofile, raised).is_ok() { limit.maximum } else { limit.current };
    u32::try_from(most.unwrap_or(u64::MAX).saturating_sub(OTHER_FILES)).unwrap_or(u32::MAX)
}
