//! A relay between a simulated person at a pseudo-terminal and a small host on a TCP line.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::thread;
use std::time::Duration;

use cuesta_cast::{Cast, EventKind};
use cuesta_lines::Login;
use cuesta_relay::{Relay, RelayConfig, RelayError};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

/// After this time a test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// A person at a pseudo-terminal, who types and reads at the master.
struct Person {
    terminal: OwnedFd,
    master: OwnedFd,
    seen: String,
}

impl Person {
    fn new() -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo-terminal");
        grantpt(&master).expect("granted");
        unlockpt(&master).expect("unlocked");
        let name = ptsname(&master, Vec::new()).expect("a name");
        let terminal = open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).expect("its other end");
        let person = Self { terminal, master, seen: String::new() };
        person.resize(100, 30);
        person
    }

    fn resize(&self, columns: u16, rows: u16) {
        let size = Winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.terminal, size).expect("a size");
    }

    fn types(&self, text: &str) {
        assert_eq!(rustix::io::write(&self.master, text.as_bytes()).expect("typed"), text.len());
    }

    fn sees(&mut self, wanted: &str) {
        let patience = Timespec { tv_sec: 20, tv_nsec: 0 };
        while !self.seen.contains(wanted) {
            let came = poll(&mut [PollFd::new(&self.master, PollFlags::IN)], Some(&patience)).expect("polls");
            assert!(came > 0, "{wanted:?} did not arrive, only {:?}", self.seen);
            let mut buffer = [0; 4096];
            let len = rustix::io::read(&self.master, &mut buffer).expect("reads");
            self.seen.push_str(&String::from_utf8_lossy(&buffer[..len]));
        }
    }

    fn is_raw(&self) -> bool {
        !tcgetattr(&self.terminal).expect("modes").local_modes.intersects(LocalModes::ICANON | LocalModes::ECHO)
    }

    fn config(&self, target: &str) -> RelayConfig {
        RelayConfig {
            target: target.parse().expect("a target"),
            login: Login::default(),
            terminal: "xterm".into(),
            charset: None,
            command: Some("a host of a few rows".into()),
            keyboard: self.terminal.try_clone().expect("a descriptor"),
            screen: self.terminal.try_clone().expect("a descriptor"),
        }
    }

    fn start_relay(&self, target: &str) -> Relay {
        Relay::start(self.config(target)).expect("starts")
    }
}

/// The target of a host that greets, echoes, and hangs up on `q`.
fn host() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let target = format!("tcp://{}", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        let mut line: TcpStream = listener.accept().expect("a line").0;
        line.write_all(b"hello\r\n").expect("greets");
        let mut byte = [0];
        while line.read(&mut byte).is_ok_and(|len| len > 0) && byte != *b"q" {
            line.write_all(&byte).expect("echoes");
        }
    });
    target
}

/// What was typed, and what was shown.
fn texts(cast: &Cast) -> (String, String) {
    let (mut typed, mut shown) = (String::new(), String::new());
    for event in &cast.events {
        match &event.kind {
            EventKind::Input { text, .. } => typed.push_str(text),
            EventKind::Output(text) => shown.push_str(text),
            _ => {}
        }
    }
    (typed, shown)
}

#[test]
fn a_session_is_forwarded_and_recorded() {
    let mut person = Person::new();
    let relay = person.start_relay(&host());
    person.sees("hello");
    assert!(person.is_raw());
    person.types("h\u{e9}");
    person.sees("h\u{e9}");
    person.types("q");
    assert!(relay.wait(PATIENCE), "the session did not end with the host's hangup");
    let cast = relay.finish().expect("a cast");
    assert!(!person.is_raw(), "the terminal's modes are not restored");
    assert_eq!(texts(&cast), ("h\u{e9}q".into(), "hello\r\nh\u{e9}".into()));
    assert_eq!((cast.header.columns, cast.header.rows), (100, 30));
    assert!(!cast.was_stopped());
}

#[test]
fn three_presses_of_the_escape_key_end_the_session() {
    let mut person = Person::new();
    let relay = person.start_relay(&host());
    person.sees("hello");
    // A single press is sent after the timeout, or at once with the next key.
    for echo in ["x", "\x1d", "y", "z\x1d"] {
        person.types(echo);
        person.sees(echo);
    }
    person.types("\x1da");
    person.sees("\x1da");
    person.types("\x1d\x1d\x1d");
    assert!(relay.wait(PATIENCE), "the escape key did not end the session");
    let cast = relay.finish().expect("a cast");
    let (typed, shown) = texts(&cast);
    assert_eq!(typed, "x\x1dyz\x1d\x1da");
    assert!(shown.ends_with('a'), "the host got a press of the escape key that was meant for the relay");
    assert!(cast.was_stopped() && !person.is_raw());
}

#[test]
fn stopping_keeps_the_recording() {
    let mut person = Person::new();
    let relay = person.start_relay(&host());
    person.sees("hello");
    assert!(!relay.wait(Duration::ZERO));
    person.resize(90, 40);
    person.types("x");
    person.sees("x");
    relay.stop();
    assert!(relay.wait(PATIENCE));
    let cast = relay.finish().expect("a cast");
    assert!(cast.was_stopped() && !person.is_raw());
    assert_eq!(texts(&cast).0, "x");
}

#[test]
fn dropping_the_relay_restores_the_terminal() {
    let mut person = Person::new();
    let relay = person.start_relay(&host());
    person.sees("hello");
    assert!(person.is_raw());
    drop(relay);
    assert!(!person.is_raw());
}

#[test]
fn a_failed_start_is_reported_and_leaves_the_terminal_alone() {
    let person = Person::new();
    let closed = TcpListener::bind("127.0.0.1:0").expect("a port");
    let target = format!("tcp://{}", closed.local_addr().expect("an address"));
    drop(closed);
    let relay = person.start_relay(&target);
    assert!(relay.wait(PATIENCE));
    assert!(matches!(relay.finish(), Err(RelayError::NoLine(_))));
    assert!(!person.is_raw());
    let null = || OwnedFd::from(std::fs::File::open("/dev/null").expect("there"));
    let wanted = RelayConfig { keyboard: null(), screen: null(), ..person.config(&target) };
    assert!(matches!(Relay::start(wanted), Err(RelayError::NoTerminal)));
}
