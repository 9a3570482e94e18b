//! Compares the driver's echo times on real programs with those of an independent trace.
//!
//! A user types into Emacs, vim, nano and bash. tcpdump records the packets of a telnet line, or script(1) the bytes of a
//! terminal. A second terminal model (avt) reads the trace and finds when each key appears where the cursor stood.
//!
//! The median echo times of driver and trace must agree within 200 µs, after the hops between the two are subtracted. A hop is
//! one wake-up of a waiting thread: 20 to 130 µs, depending on the machine's state, so it is measured during the same seconds.
//! tcpdump stamps a packet when it is sent, so only the way back to the driver is a hop. script(1) is woken for each key and
//! wakes the driver for the output: two hops.
//!
//! Other work on the machine can disturb a try, so three of five tries must agree. If one try in twenty is disturbed, a program
//! fails by chance once in 860 times.
#![allow(clippy::unwrap_used, clippy::print_stderr)] // A failed unwrap fails the test; the medians are printed.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;
use std::{fs, thread};

use crate::harness::{RunRecords, script, spec};
use crate::trace::hops::Hops;
use crate::trace::packets::Tcpdump;
use crate::trace::{Echoes, cpus, echoes, terminal};
use cuesta_driver::Run;
use serde_json::json;

const COLUMNS: u16 = 80;
const ROWS: u16 = 24;
/// Largest difference of the medians after the hops are subtracted, in seconds.
const AGREE: f64 = 200e-6;
const TRIES: usize = 5;
const SECONDS: f64 = 5.0;

struct Program {
    name: &'static str,
    command: &'static str,
    /// Tape from the program's start until it takes text.
    begin: &'static str,
}

const EMACS: Program = Program {
    name: "emacs",
    command: "emacs -nw -Q --eval '(switch-to-buffer \"proof\")'",
    begin: "Wait+Screen@30s /\\(Fundamental\\)/",
};
const VIM: Program = Program {
    name: "vim",
    command: "vim --clean -n",
    // If `i` arrives while vim draws, the cursor stays in the last row until the next key: hence Enter.
    begin: "Wait+Screen@30s /VIM - Vi IMproved/ Type \"i\" Wait+Screen /-- INSERT --/ Enter Wait+Cursor 2,1",
};
const NANO: Program = Program { name: "nano", command: "nano --ignorercfiles", begin: "Wait+Screen@30s /GNU nano/" };
const BASH: Program = Program { name: "bash", command: "bash --norc --noprofile -i", begin: "Wait+Line@30s /\\$$/" };

impl Program {
    /// Types rows for ever. A row begins only when the program is idle, because the trace takes the cursor's position at that
    /// time for the place of the next key.
    fn tape(&self) -> String {
        let rows = format!("Forever\n  Type \"{TEXT}\"\n  Enter\n  Wait+Bytes 1\n  Wait+Silence 200ms\nEnd\n");
        format!("Set KeyRate 30cps\n{}\nWait+Silence 200ms\nSet Echo screen\n{rows}", self.begin)
    }
}

/// A command that does nothing in bash, shorter than a row.
const TEXT: &str = ": the quick brown fox jumps over the lazy dog";

/// Writes a script that starts the program in its own home folder and writes its process number to `pid`.
///
/// The script first waits for the window's size, which a telnet daemon learns only after it has started the script. Without
/// the wait nano would lose a key that arrives together with a change of the window.
fn starter(program: &Program, folder: &Path) -> PathBuf {
    let path = folder.join("start");
    let home = folder.display();
    let text = format!(
        "#!/bin/sh\nexport HOME={home} TERM=xterm-256color PS1='$ ' SHELL=/bin/sh\ncd {home}\necho $$ >{home}/pid\n\
         until [ \"$(stty size)\" = \"{ROWS} {COLUMNS}\" ]; do :; done\nexec {}\n",
        program.command
    );
    fs::write(&path, text).unwrap();
    Command::new("chmod").arg("+x").arg(&path).status().unwrap();
    path
}

/// The driver's figures of a run.
struct Measured {
    /// Median echo time since sent, in seconds.
    echo: f64,
    shown: u64,
    unechoed: u64,
}

/// Runs the program's tape against a target.
fn typed(program: &Program, target: &str, folder: &Path) -> Measured {
    let agent = folder.join("agent-0");
    // The echo of the last key may still be on its way when the run ends.
    let drain = json!({"drain": 2_000_000_000_u64});
    let more = json!({"group": {"target": target, "columns": COLUMNS, "rows": ROWS}, "spec": drain});
    let run = Run::start(spec(1, 0.0, SECONDS, &more), &script("t", &program.tape()), &agent).unwrap();
    assert!(run.wait(Duration::from_secs(60)).unwrap());
    let played = RunRecords::read(&agent);
    let errors = || played.series.iter().flat_map(|row| row["errors"].as_object().unwrap());
    assert!(errors().all(|(name, _)| name == "unechoed"), "{}: {:?}", program.name, errors().collect::<Vec<_>>());
    let unechoed = errors().map(|(_, keys)| keys.as_u64().unwrap()).sum();
    let tag = "g/keys/echo_from_sent";
    Measured { echo: played.quantile(tag, 0.5), shown: played.histogram(tag).len(), unechoed }
}

/// Asserts that the program of the starter ends within five seconds.
fn is_gone(folder: &Path) {
    let pid = fs::read_to_string(folder.join("pid")).unwrap();
    let process = Path::new("/proc").join(pid.trim());
    let gone = (0..500).any(|_| {
        thread::park_timeout(Duration::from_millis(10));
        !process.exists() || fs::read_to_string(process.join("stat")).is_ok_and(|stat| stat.contains(") Z "))
    });
    assert!(gone, "process {pid} is left over");
}

/// A trace that the driver's figures are compared with.
struct Trace {
    name: &'static str,
    /// Hops between the driver and the trace, and how to measure one.
    hops: (f64, fn() -> Hops),
    /// One try: the figures of the driver and of the trace.
    play: fn(&Program, &Path) -> (Measured, Echoes),
}

const PACKETS: Trace = Trace { name: "packets", hops: (1.0, Hops::over_a_connection), play: play_over_telnet };
const TERMINAL: Trace = Trace { name: "terminal", hops: (2.0, Hops::over_a_terminal), play: play_on_a_terminal };

fn agrees(trace: &Trace, program: &Program) {
    let _awake = stay_awake();
    cpus::pin_to_driver();
    cpus::use_real_time_priority();
    let mut differences = Vec::new();
    let agreeing = |differences: &[f64]| differences.iter().filter(|seconds| seconds.abs() < AGREE).count();
    while differences.len() < TRIES && agreeing(&differences) <= TRIES / 2 {
        differences.push(difference(trace, program));
    }
    let agrees = agreeing(&differences) > TRIES / 2;
    assert!(agrees, "{} {}: the medians differ by {differences:?} s", trace.name, program.name);
}

/// Keeps the CPUs from sleeping while the file is open: to wake one can take longer than the times measured here.
fn stay_awake() -> File {
    let mut file = OpenOptions::new().write(true).open("/dev/cpu_dma_latency").unwrap();
    file.write_all(&0_i32.to_ne_bytes()).unwrap();
    file
}

/// The driver's median minus the trace's median and the hops between them, in seconds. Asserts that both saw every key.
fn difference(trace: &Trace, program: &Program) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let (number, start_hops) = trace.hops;
    let hops = start_hops();
    let (driver, mut traced) = (trace.play)(program, folder.path());
    let hop = hops.median();
    is_gone(folder.path());
    let (name, seen) = (program.name, traced.times.len() as u64);
    let count = driver.shown;
    assert!(count >= 90, "{name}: only {count} keys were shown");
    let missing = (driver.unechoed, traced.missing);
    assert_eq!(missing, (0, 0), "{name}: keys that were never shown, by the driver and by the trace");
    assert!(seen.abs_diff(count) <= 2, "{name}: {seen} keys in the trace, {count} by the driver");
    let (what, traced) = (trace.name, traced.median() as f64 / 1e9);
    let [driver_us, trace_us, hop_us] = [driver.echo, traced, hop].map(|seconds| seconds * 1e6);
    eprintln!(
        "{what} {name}: {count} keys, median echo {driver_us:.0} µs, in the trace {trace_us:.0} µs; a hop {hop_us:.0} µs"
    );
    driver.echo - traced - number * hop
}

fn play_over_telnet(program: &Program, folder: &Path) -> (Measured, Echoes) {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let tcpdump = Tcpdump::start(port, folder);
    let daemon = Daemon::start(port, &starter(program, folder));
    let measured = typed(program, &format!("telnet://127.0.0.1:{port}"), folder);
    drop(daemon);
    (measured, echoes(&tcpdump.events(), b':', COLUMNS.into(), ROWS.into()))
}

fn play_on_a_terminal(program: &Program, folder: &Path) -> (Measured, Echoes) {
    let target = format!("pty:{}", terminal::traced(&starter(program, folder).display().to_string(), folder));
    let measured = typed(program, &target, folder);
    is_gone(folder);
    (measured, echoes(&terminal::events(folder), b':', COLUMNS.into(), ROWS.into()))
}

// A program takes 20 s: one is played on each line for every change, and the others by `scripts/nightly`.

#[test]
fn packets_of_emacs_agree() {
    agrees(&PACKETS, &EMACS);
}

#[test]
#[ignore = "nightly"]
fn packets_of_nano_agree() {
    agrees(&PACKETS, &NANO);
}

#[test]
fn a_trace_of_vim_agrees() {
    agrees(&TERMINAL, &VIM);
}

#[test]
#[ignore = "nightly"]
fn a_trace_of_bash_agrees() {
    agrees(&TERMINAL, &BASH);
}

#[test]
#[ignore = "nightly"]
fn packets_of_vim_agree() {
    agrees(&PACKETS, &VIM);
}

#[test]
#[ignore = "nightly"]
fn packets_of_bash_agree() {
    agrees(&PACKETS, &BASH);
}

#[test]
#[ignore = "nightly"]
fn a_trace_of_emacs_agrees() {
    agrees(&TERMINAL, &EMACS);
}

#[test]
#[ignore = "nightly"]
fn a_trace_of_nano_agrees() {
    agrees(&TERMINAL, &NANO);
}

/// busybox's telnet daemon. It starts the program for each connection.
struct Daemon(Child);

impl Daemon {
    fn start(port: u16, program: &Path) -> Self {
        let daemon = Command::new("busybox")
            .args(["telnetd", "-F", "-b", "127.0.0.1", "-p", &port.to_string(), "-l"])
            .arg(program)
            .spawn()
            .expect("busybox is needed: ./scripts/setup --tests installs it");
        cpus::pin_to_other(Some(&daemon));
        let listens = (0..500).any(|_| {
            thread::park_timeout(Duration::from_millis(10));
            let listening = fs::read_to_string("/proc/net/tcp").unwrap();
            listening.contains(&format!("0100007F:{port:04X} 00000000:0000 0A"))
        });
        assert!(listens, "busybox telnetd does not listen");
        Self(daemon)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}
