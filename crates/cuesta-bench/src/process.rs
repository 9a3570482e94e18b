//! Parts as child processes, each pinned to a core.

use std::env;
use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

use cuesta_record::Stamp;
use cuesta_record::clock::{self, Time};
use rustix::process::{Resource, Rlimit, Signal, getrlimit, set_parent_process_death_signal, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::job::{HostJob, Job};
#[cfg(feature = "exact")]
use crate::wire::Side;

/// At most this many lines go to one address: when about half of the ports to it are taken, the kernel looks through
/// thousands of them for each further line (`__inet_hash_connect`).
const LINES_OF_A_HOST: u32 = 10_000;

/// Starts a driver of one kind.
pub(crate) type Start = fn(&Job) -> Result<Part, Box<dyn Error>>;

/// A running part. Dropping it kills the process.
pub(crate) struct Part {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Part {
    /// Starts a part by its name.
    pub(crate) fn start(name: &str, job: &impl Serialize) -> Result<Self, Box<dyn Error>> {
        Self::run(Command::new(env::current_exe()?).arg(name).arg(serde_json::to_string(job)?))
    }

    /// The same at an end of a wire.
    #[cfg(feature = "exact")]
    pub(crate) fn start_at(side: &Side, name: &str, job: &impl Serialize) -> Result<Self, Box<dyn Error>> {
        Self::run(side.command(&env::current_exe()?).arg(name).arg(serde_json::to_string(job)?))
    }

    pub(crate) fn run(command: &mut Command) -> Result<Self, Box<dyn Error>> {
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let output = BufReader::new(child.stdout.take().ok_or("a part has no output")?);
        Ok(Self { child, output })
    }

    /// Starts Cuesta.
    pub(crate) fn driver(job: &Job) -> Result<Self, Box<dyn Error>> {
        Self::start("driver", job)
    }

    /// Starts the limit.
    pub(crate) fn bare(job: &Job) -> Result<Self, Box<dyn Error>> {
        Self::start("bare", job)
    }

    /// Starts a host, and returns its address too.
    pub(crate) fn host(job: HostJob) -> Result<(Self, String), Box<dyn Error>> {
        Self::start("server", &job)?.announced()
    }

    /// Starts hosts for this number of users, and returns their addresses too.
    pub(crate) fn hosts(job: HostJob, users: u32) -> Result<(Vec<Self>, Vec<String>), Box<dyn Error>> {
        let hosts = (0..users.div_ceil(LINES_OF_A_HOST)).map(|_| Self::host(job));
        Ok(hosts.collect::<Result<Vec<_>, _>>()?.into_iter().unzip())
    }

    /// Waits for the row that it prints when it is ready, and returns that too.
    pub(crate) fn announced(mut self) -> Result<(Self, String), Box<dyn Error>> {
        let row = self.row()?;
        Ok((self, row))
    }

    /// Waits for the row that a part prints at its end, and reads it as JSON.
    pub(crate) fn answer<T: DeserializeOwned>(&mut self) -> Result<T, Box<dyn Error>> {
        let answer = serde_json::from_str(&self.row()?)?;
        self.child.wait()?;
        Ok(answer)
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

/// Prints the answer of a part for the process that started it.
pub(crate) fn print_answer(answer: &impl Serialize) -> Result<(), Box<dyn Error>> {
    Ok(writeln!(io::stdout(), "{}", serde_json::to_string(answer)?)?)
}

/// Blocks this thread until an instant.
pub(crate) fn wait_until(instant: Stamp) -> io::Result<()> {
    clock::run(Time::Real, clock::sleep_until(instant))
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
