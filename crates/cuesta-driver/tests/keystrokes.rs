//! Keystroke to screen on real programs: the driver's echo times beside those of an independent trace.
//!
//! Emacs, vim, nano and bash are typed at. tcpdump takes down the packets of a telnet line, script(1) what passes on a
//! terminal; another terminal model finds in the trace when each key stood where the cursor had been. The medians of the
//! two must agree within 200 µs, but for the hops that lie between the driver and the trace: tcpdump has the instant at which
//! a packet goes, so there is the way back alone, script(1) is woken for each key and wakes the driver for what is shown. A
//! hop takes 20 to 130 µs, as the machine pleases, and is measured in the same seconds. On a machine with other work to do a
//! try may be spoilt, so it is the median of five tries that must agree: if one try in twenty is spoilt, one program in 860
//! fails for nothing.
#![allow(clippy::unwrap_used, clippy::print_stderr)] // What breaks here breaks the test; and it says what it found.

mod stand;
mod trace;

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use std::{fs, thread};

use cuesta_driver::Run;
use serde_json::json;
use stand::{Played, script, spec};
use trace::hops::Hops;
use trace::packets::Tcpdump;
use trace::{Echoes, apart, echoes, terminal};

const COLUMNS: u16 = 80;
const ROWS: u16 = 24;
/// Most that the medians may differ beyond that, in seconds.
const AGREE: f64 = 200e-6;
const TRIES: usize = 5;
const SECONDS: f64 = 5.0;
/// Two at a time would delay each other.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

struct Program {
    name: &'static str,
    command: &'static str,
    /// From its start to where text is typed.
    begin: &'static str,
}

const PROGRAMS: [Program; 4] = [
    Program {
        name: "emacs",
        command: "emacs -nw -Q --eval '(switch-to-buffer \"proof\")'",
        begin: "Wait+Screen@30s /\\(Fundamental\\)/",
    },
    Program {
        name: "vim",
        command: "vim --clean -n",
        // Where it was asked for its mode while it drew, the cursor stays in the last row until something is typed.
        begin: "Wait+Screen@30s /VIM - Vi IMproved/ Type \"i\" Wait+Screen /-- INSERT --/ Enter Wait+Cursor 2,1",
    },
    Program { name: "nano", command: "nano --ignorercfiles", begin: "Wait+Screen@30s /GNU nano/" },
    Program { name: "bash", command: "bash --norc --noprofile -i", begin: "Wait+Line@30s /\\$$/" },
];

impl Program {
    /// Types in rows, for ever. Each begins when the program has done with what came before it, its start or the row's end:
    /// the trace tells where a key belongs by where the cursor is then.
    fn tape(&self) -> String {
        let rows = format!("Forever\n  Type \"{TEXT}\"\n  Enter\n  Wait+Bytes 1\n  Wait+Silence 200ms\nEnd\n");
        format!("Set KeyRate 30cps\n{}\nWait+Silence 200ms\nSet Echo screen\n{rows}", self.begin)
    }
}

/// What bash takes for a command that does nothing; every row is typed from its begin, and none is full.
const TEXT: &str = ": the quick brown fox jumps over the lazy dog";

/// A script that starts the program in a home of its own, and leaves its number. It first waits for the window's size, which a
/// telnet daemon learns after it has started the script: nano loses the key that it reads together with a change of the window.
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

/// What the driver says of a run.
struct Measured {
    /// Median echo time since sent, in seconds.
    echo: f64,
    shown: u64,
    unechoed: u64,
}

/// Types at a target.
fn typed(program: &Program, target: &str, folder: &Path) -> Measured {
    let agent = folder.join("agent-0");
    // The last key may be on its way when the run ends.
    let drain = json!({"drain": 2_000_000_000_u64});
    let more = json!({"group": {"target": target, "columns": COLUMNS, "rows": ROWS}, "spec": drain});
    let run = Run::start(spec(1, 0.0, SECONDS, &more), script("t", &program.tape()), &agent).unwrap();
    assert!(run.wait(Duration::from_secs(60)).unwrap());
    let played = Played::read(&agent);
    let errors = || played.series.iter().flat_map(|row| row["errors"].as_object().unwrap());
    assert!(errors().all(|(name, _)| name == "unechoed"), "{}: {:?}", program.name, errors().collect::<Vec<_>>());
    let unechoed = errors().map(|(_, keys)| keys.as_u64().unwrap()).sum();
    let tag = "g/keys/echo_from_sent";
    Measured { echo: played.quantile(tag, 0.5), shown: played.histogram(tag).len(), unechoed }
}

/// The program of the starter, and whoever started it, must be gone.
fn is_gone(folder: &Path) {
    let pid = fs::read_to_string(folder.join("pid")).unwrap();
    let process = Path::new("/proc").join(pid.trim());
    let gone = (0..500).any(|_| {
        thread::park_timeout(Duration::from_millis(10));
        !process.exists() || fs::read_to_string(process.join("stat")).is_ok_and(|stat| stat.contains(") Z "))
    });
    assert!(gone, "process {pid} is left over");
}

/// One try: the driver's figures, and those of the trace.
type Try = fn(&Program, &Path) -> (Measured, Echoes);

fn agree(what: &str, hops: (f64, fn() -> Hops), one: Try) {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let _awake = stay_awake();
    apart::with_the_driver();
    apart::before_all_else();
    for program in &PROGRAMS {
        let mut differences = Vec::new();
        let agree = |differences: &[f64]| differences.iter().filter(|seconds| seconds.abs() < AGREE).count();
        while differences.len() < TRIES && agree(&differences) <= TRIES / 2 {
            differences.push(difference(what, program, hops, one));
        }
        let agrees = agree(&differences) > TRIES / 2;
        assert!(agrees, "{what} {}: the medians differ by {differences:?} s", program.name);
    }
}

/// Keeps the CPUs from sleeping for as long as the file is open: waking one can take more than is measured here.
fn stay_awake() -> File {
    let mut file = OpenOptions::new().write(true).open("/dev/cpu_dma_latency").unwrap();
    file.write_all(&0_i32.to_ne_bytes()).unwrap();
    file
}

/// By how much the driver's median is longer than that of the trace and the hops between them, in seconds; both must have
/// seen every key.
fn difference(what: &str, program: &Program, (number, start): (f64, fn() -> Hops), one: Try) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let hops = start();
    let (driver, mut traced) = one(program, folder.path());
    let hop = hops.median();
    is_gone(folder.path());
    let (name, seen) = (program.name, traced.times.len() as u64);
    let count = driver.shown;
    assert!(count >= 90, "{name}: only {count} keys were shown");
    let missing = (driver.unechoed, traced.missing);
    assert_eq!(missing, (0, 0), "{name}: keys that were never shown, by the driver and by the trace");
    assert!(seen.abs_diff(count) <= 2, "{name}: {seen} keys in the trace, {count} by the driver");
    let trace = traced.median() as f64 / 1e9;
    let [driver_us, trace_us, hop_us] = [driver.echo, trace, hop].map(|seconds| seconds * 1e6);
    eprintln!(
        "{what} {name}: {count} keys, median echo {driver_us:.0} µs, in the trace {trace_us:.0} µs; a hop {hop_us:.0} µs"
    );
    driver.echo - trace - number * hop
}

#[test]
fn packets_of_a_telnet_line_agree() {
    agree("packets", (1.0, Hops::over_a_connection), |program, folder| {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let tcpdump = Tcpdump::start(port, folder);
        let daemon = Daemon::start(port, &starter(program, folder));
        let measured = typed(program, &format!("telnet://127.0.0.1:{port}"), folder);
        drop(daemon);
        (measured, echoes(&tcpdump.events(), b':', COLUMNS.into(), ROWS.into()))
    });
}

#[test]
fn a_trace_of_a_terminal_agrees() {
    agree("terminal", (2.0, Hops::over_a_terminal), |program, folder| {
        let target = format!("pty:{}", terminal::traced(&starter(program, folder).display().to_string(), folder));
        let measured = typed(program, &target, folder);
        is_gone(folder);
        (measured, echoes(&terminal::events(folder), b':', COLUMNS.into(), ROWS.into()))
    });
}

/// busybox's telnet daemon; each line gets the program.
struct Daemon(Child);

impl Daemon {
    fn start(port: u16, program: &Path) -> Self {
        let daemon = Command::new("busybox")
            .args(["telnetd", "-F", "-b", "127.0.0.1", "-p", &port.to_string(), "-l"])
            .arg(program)
            .spawn()
            .expect("busybox is there: ./scripts/setup --tests");
        apart::with_the_others(Some(&daemon));
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
