//! The built-in host beside `busybox telnetd`: CPU time of a transaction, canonical input with echo, 13 characters in and 150 out.
//!
//! `telnetd` relays each line to a pseudo-terminal of its own, whose line discipline in the kernel collects the row and echoes it, and
//! at which `cuesta-bench-rows` answers: one `read` and one `write` for each. The built-in host does all of that itself. Both have
//! the same driver, one after the other, on the same CPU.

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use cuesta_record::clock;
use rustix::param::clock_ticks_per_second;

use crate::job::{Framing, HostJob, Job, Work};
use crate::outcome::Outcome;
use crate::process::{self, Part, wait_until};
use crate::table::{ResultRow, Spread, in_turn, median, with_errors};
use crate::usage::cpu_nanos;

/// Pairs of the two hosts.
const PAIRS: usize = 9;
const USERS: u32 = 96;
/// Largest CPU time per transaction, over that of telnetd and its programs.
const MOST: f64 = 0.25;
/// Between the starts of two users: telnetd lets one connection wait to be accepted, and starts a program for each.
const STAGGER: Duration = Duration::from_millis(30);
/// The CPU times are read this long before the window closes, because the users leave then.
const MARGIN: Duration = Duration::from_millis(200);
/// How long telnetd may take to listen.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a host took in a window.
#[derive(Debug, Clone, Copy)]
struct Taken {
    /// CPU time per transaction, in seconds.
    cost: f64,
    /// Transactions a second.
    rate: f64,
    errors: u64,
}

/// Measures users who send the next input as soon as the answer to the last is complete, and users of whom each sends one a second.
pub(crate) fn measure(cpus: (usize, usize)) -> Result<Vec<ResultRow>, Box<dyn Error>> {
    [("as fast as it answers", Duration::ZERO), ("one a second each", Duration::from_secs(1))]
        .into_iter()
        .map(|(pace, cycle)| beside_telnetd(pace, cycle, cpus))
        .collect()
}

fn beside_telnetd(pace: &str, cycle: Duration, cpus: (usize, usize)) -> Result<ResultRow, Box<dyn Error>> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..PAIRS {
        let (our, their) = in_turn(round, || play(true, cycle, cpus), || play(false, cycle, cpus))?;
        ours.push(our);
        theirs.push(their);
    }
    let ratios = Spread::new(ours.iter().zip(&theirs).map(|(ours, theirs)| ours.cost / theirs.cost));
    let [our, their] = [&ours, &theirs].map(|taken| {
        format!("{:.1} us at {:.0}/s", median(taken, |taken| taken.cost) * 1e6, median(taken, |taken| taken.rate))
    });
    let errors: u64 = ours.iter().chain(&theirs).map(|taken| taken.errors).sum();
    let measured = with_errors(format!("{ratios} x   ({our} beside {their})"), errors);
    let name = format!("host CPU per transaction beside busybox telnetd, {pace}");
    let met = ratios.median <= MOST && errors == 0;
    Ok(ResultRow::with_target(&name, measured, &format!("at most {MOST:.2} x"), met))
}

fn play(built_in: bool, cycle: Duration, (drivers, hosts): (usize, usize)) -> Result<Taken, Box<dyn Error>> {
    let (work, framing) = (Work::Echoed, Framing::Telnet);
    let (host, address) = if built_in {
        Part::host(HostJob { built_in, ..HostJob::small(work, framing, hosts) })?
    } else {
        start(hosts)?
    };
    let job = Job { cycle, stagger: STAGGER, ..Job::new(work, framing, USERS, address, drivers) };
    let mut driver = Part::driver(&job)?;
    wait_until(job.window_start())?;
    let (opened, before) = (clock::now(), FamilyCpu::read(host.id())?);
    wait_until(job.window_end() - MARGIN)?;
    let (closed, after) = (clock::now(), FamilyCpu::read(host.id())?);
    let outcome: Outcome = driver.answer()?;
    let programs = if built_in { 0 } else { USERS as usize };
    if after.programs() != programs {
        return Err(format!("{} programs for {USERS} users, expected {programs}", after.programs()).into());
    }
    let used = after.since(&before)?.as_secs_f64() / closed.since(opened).as_secs_f64();
    let rate = outcome.operations as f64 / job.measure.as_secs_f64();
    Ok(Taken { cost: used / rate, rate, errors: outcome.errors })
}

/// Starts telnetd on a CPU, waits until it listens, and returns its address too.
fn start(cpu: usize) -> Result<(Part, String), Box<dyn Error>> {
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
    let (host, address) = Part::start("telnetd", &(cpu, free.port()))?.announced()?;
    wait_for(&address)?;
    Ok((host, address))
}

/// Becomes telnetd on a CPU; prints its address first.
pub(crate) fn become_telnetd(job: &str) -> Result<(), Box<dyn Error>> {
    let (cpu, port): (usize, u16) = serde_json::from_str(job)?;
    process::pin(cpu)?;
    let program = env::current_exe()?.with_file_name("cuesta-bench-rows");
    writeln!(io::stdout(), "127.0.0.1:{port}")?;
    // It prints the contents of its issue file before the program begins.
    let mut telnetd = Command::new("busybox");
    telnetd.args(["telnetd", "-F", "-K", "-f", "/dev/null", "-b", "127.0.0.1", "-p", &port.to_string(), "-l"]);
    let error = telnetd.arg(program).exec();
    Err(format!("busybox telnetd does not start: {error}; ./scripts/setup --tests installs it").into())
}

/// Waits until a host listens at a port of 127.0.0.1, without connecting to it: telnetd would start a program. Linux:
/// `/proc/net/tcp`.
fn wait_for(address: &str) -> Result<(), Box<dyn Error>> {
    let port = address.parse::<SocketAddrV4>()?.port();
    let listening = format!("0100007F:{port:04X} 00000000:0000 0A");
    let end = clock::now() + PATIENCE;
    while clock::now() < end {
        if fs::read_to_string("/proc/net/tcp")?.contains(&listening) {
            return Ok(());
        }
        wait_until(clock::now() + Duration::from_millis(5))?;
    }
    Err(format!("nothing listens at {address}; ./scripts/setup --tests installs busybox").into())
}

/// CPU time of a process and its descendants.
#[derive(Debug)]
struct FamilyCpu {
    /// Nanoseconds so far of each process that is there.
    living: BTreeMap<u32, u64>,
    /// Of those of its children that have ended.
    ended: Duration,
}

impl FamilyCpu {
    fn read(root: u32) -> Result<Self, Box<dyn Error>> {
        let mut living = BTreeMap::new();
        let mut next = vec![root];
        while let Some(process) = next.pop() {
            for task in fs::read_dir(format!("/proc/{process}/task"))? {
                let children = fs::read_to_string(task?.path().join("children"))?;
                next.extend(children.split_ascii_whitespace().filter_map(|child| child.parse::<u32>().ok()));
            }
            living.insert(process, cpu_nanos(process)?);
        }
        Ok(Self { living, ended: ended_children(root)? })
    }

    /// How many processes there are besides the first.
    fn programs(&self) -> usize {
        self.living.len() - 1
    }

    /// CPU time since `earlier`, from when on the processes must be the same.
    fn since(&self, earlier: &Self) -> Result<Duration, Box<dyn Error>> {
        if !self.living.keys().eq(earlier.living.keys()) {
            return Err("a program of the host began or ended in the window".into());
        }
        let nanos = self.living.values().sum::<u64>() - earlier.living.values().sum::<u64>();
        Ok(Duration::from_nanos(nanos) + self.ended.saturating_sub(earlier.ended))
    }
}

/// CPU time of the children of a process that have ended. Linux: `cutime` and `cstime` of `/proc/PID/stat`.
fn ended_children(process: u32) -> Result<Duration, Box<dyn Error>> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    // After the name, which may contain blanks, the state is field 3; these are 16 and 17.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_ascii_whitespace().collect();
    let ticks: u64 =
        fields.get(13..15).ok_or("a short stat")?.iter().filter_map(|field| field.parse::<u64>().ok()).sum();
    Ok(Duration::from_secs(1).mul_f64(ticks as f64 / clock_ticks_per_second() as f64))
}
