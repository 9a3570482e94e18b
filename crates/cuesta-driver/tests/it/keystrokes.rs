//! Compares the driver's echo times on real programs with those of an independent trace.
//!
//! A user types into Emacs, vim, nano and bash. tcpdump records the packets of a telnet line, or script(1) the bytes of a
//! terminal. A second terminal model (avt) reads the trace and finds when each key appears where the cursor stood.
//!
//! The trace lies between the driver and the program: it sees a key after the driver has sent it, and the echo before the driver
//! gets it. So the driver's echo times are longer than those in the trace, by the hops between the two, each the wake-up of a thread.
//! On a busy machine most hops take long, but not those of all keys: the least differences are those of two short hops, and show
//! what the driver itself adds. The few below them do not count: script(1) hands an echo on before it stamps it, and may lose its
//! CPU in between.
#![allow(clippy::unwrap_used)] // A failed unwrap fails the test.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;
use std::{fs, thread};

use crate::harness::{RunRecords, close, script, spec, stop_after};
use crate::trace::packets::Tcpdump;
use crate::trace::{Echoes, echoes, terminal};
use cuesta_driver::Run;
use serde_json::json;

const COLUMNS: u16 = 80;
const ROWS: u16 = 24;
/// Most that the driver adds to an echo time, with two short hops: ns.
const MOST_ADDED: i64 = 200_000;
/// Most that an echo time in a trace is too long: script(1) rounds to microseconds.
const ROUNDED: i64 = 5_000;
/// The program is typed at until the driver has sent this many keys.
const KEYS: u64 = 150;
/// The telnet daemon's port. Each test has a network of its own (`.config/nextest.toml`).
const PORT: u16 = 2323;
/// After this time a test fails.
const PATIENCE: Duration = Duration::from_secs(60);

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
    /// Types rows for ever, each key as a transaction. A row begins only when the program is idle, because the trace takes the
    /// cursor's position at that time for the place of the next key.
    fn tape(&self) -> String {
        let key = |key| format!("  Transaction \"{KEY}\"\n    Type \"{key}\"\n    Wait+Echo\n  End\n");
        let row: String = TEXT.chars().map(key).collect();
        let rows = format!("Forever\n{row}  Enter\n  Wait+Bytes 1\n  Wait+Silence 200ms\nEnd\n");
        format!("Set KeyRate 30cps\n{}\nWait+Silence 200ms\nSet Echo screen\n{rows}", self.begin)
    }
}

/// The name of a key's transaction.
const KEY: &str = "key";
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

/// Runs the program's tape against a target; returns the echo time of each key since it was sent, by the driver, in ns.
fn typed(program: &Program, target: &str, folder: &Path) -> Vec<u64> {
    let agent = folder.join("agent-0");
    let group = json!({"target": target, "columns": COLUMNS, "rows": ROWS});
    let more = json!({"group": group, "spec": {"log_transactions": true}});
    let run = Run::start(spec(1, 0.0, 3600.0, &more), &script("t", &program.tape()), &agent).unwrap();
    stop_after(&run, KEYS, |interval| interval.keys);
    let played = RunRecords::read(&agent);
    assert_eq!(played.errors(), [], "{}", program.name);
    let log = fs::read_to_string(agent.join("transactions.csv")).unwrap();
    let echo = |row: &str| {
        let [_, name, _, _, sent, _, done] = row.split(',').collect::<Vec<_>>()[..] else { panic!("{row}") };
        (name.trim_matches('"') == KEY).then(|| done.parse::<u64>().unwrap() - sent.parse::<u64>().unwrap())
    };
    let echoes: Vec<u64> = log.lines().filter_map(echo).collect();
    let median = played.quantile("g/keys/echo_from_sent", 0.5) * 1e9;
    let mut sorted = echoes.clone();
    sorted.sort_unstable();
    close("the median of the series", median, sorted[(sorted.len() - 1) / 2] as f64, 0.01);
    echoes
}

/// Waits until the program of the starter has ended.
fn is_gone(folder: &Path) {
    let pid = fs::read_to_string(folder.join("pid")).unwrap();
    let stat = Path::new("/proc").join(pid.trim()).join("stat");
    wait_until("the program has ended", || fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z ")));
}

fn wait_until(what: &str, so: impl Fn() -> bool) {
    let pause = Duration::from_millis(10);
    let is_so = (0..PATIENCE.as_millis() / pause.as_millis()).any(|_| {
        thread::park_timeout(pause);
        so()
    });
    assert!(is_so, "not within {PATIENCE:?}: {what}");
}

/// One play on a line: the echo times by the driver and in a trace.
type Play = fn(&Program, &Path) -> (Vec<u64>, Echoes);

fn agrees(play: Play, program: &Program) {
    let folder = tempfile::tempdir().unwrap();
    let (driver, trace) = play(program, folder.path());
    is_gone(folder.path());
    let name = program.name;
    assert_eq!(trace.missing, 0, "{name}: keys that the trace never showed");
    // The run may have been stopped before the driver got the last echo.
    let (logged, traced) = (driver.len(), trace.times.len());
    assert!((logged..=logged + 2).contains(&traced), "{name}: {traced} keys in the trace, {logged} by the driver");
    let mut added: Vec<i64> =
        driver.iter().zip(&trace.times).map(|(driver, traced)| driver.cast_signed() - traced.cast_signed()).collect();
    added.sort_unstable();
    let least = added[added.len() / 20];
    assert!((-ROUNDED..MOST_ADDED).contains(&least), "{name}: the driver adds {added:?} ns");
}

fn over_telnet(program: &Program, folder: &Path) -> (Vec<u64>, Echoes) {
    let tcpdump = Tcpdump::start(PORT, folder);
    let daemon = Daemon::start(&starter(program, folder));
    let driver = typed(program, &format!("telnet://127.0.0.1:{PORT}"), folder);
    drop(daemon);
    (driver, echoes(&tcpdump.events(), b':', COLUMNS.into(), ROWS.into()))
}

fn on_a_terminal(program: &Program, folder: &Path) -> (Vec<u64>, Echoes) {
    let target = format!("pty:{}", terminal::traced(&starter(program, folder).display().to_string(), folder));
    let driver = typed(program, &target, folder);
    // script(1) has then written all.
    is_gone(folder);
    (driver, echoes(&terminal::events(folder), b':', COLUMNS.into(), ROWS.into()))
}

// A program takes 10 s: one is played on each line for every change, and the others by `scripts/nightly`.

#[test]
fn packets_of_emacs_agree() {
    agrees(over_telnet, &EMACS);
}

#[test]
fn a_trace_of_vim_agrees() {
    agrees(on_a_terminal, &VIM);
}

#[test]
#[ignore = "nightly"]
fn packets_and_traces_of_the_other_programs_agree() {
    for program in [NANO, VIM, BASH] {
        agrees(over_telnet, &program);
    }
    for program in [BASH, EMACS, NANO] {
        agrees(on_a_terminal, &program);
    }
}

/// busybox's telnet daemon. It starts the program for each connection.
struct Daemon(Child);

impl Daemon {
    fn start(program: &Path) -> Self {
        let daemon = Command::new("busybox")
            .args(["telnetd", "-F", "-b", "127.0.0.1", "-p", &PORT.to_string(), "-l"])
            .arg(program)
            .spawn()
            .expect("busybox is needed: ./scripts/setup --tests installs it");
        let listening = format!("0100007F:{PORT:04X} 00000000:0000 0A");
        wait_until("busybox telnetd listens", || fs::read_to_string("/proc/net/tcp").unwrap().contains(&listening));
        Self(daemon)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}
