//! Hosts on threads of their own: how tests start and reach them, and what is left of their programs.

use std::fs;
use std::io::Read;
use std::net::TcpStream;
use std::time::Duration;

use cuesta_host::{Host, HostError, Spec};
use cuesta_record::clock::{self, Time};
use serde_json::Value;

/// After this time a test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// Answers each `a` with a `0`, as the host program of the 1993 tests did.
pub(crate) const TYPIST_ECHO: &str = "perl -e '$|=1; while (sysread STDIN, $_, 4096) { y/a/0/; syswrite STDOUT, $_ }'";

/// The ways in which a host runs a program: a path between line and program, and a service. The in-kernel path needs root.
pub(crate) const WAYS: &[(&str, &str)] = if cfg!(feature = "kernel-path") {
    &[("user", "shell"), ("user", "socket"), ("kernel", "socket")]
} else {
    &[("user", "shell"), ("user", "socket")]
};

pub(crate) fn start(spec: &str) -> Result<Host, HostError> {
    Host::start(&Spec::parse(spec)?)
}

/// A host on one thread that runs a command, with lines of this kind.
pub(crate) fn start_program((path, service): (&str, &str), command: &str, kind: &str) -> Host {
    let spec = serde_json::json!({
        "listen": [format!("{kind}://127.0.0.1:0")],
        "service": { service: { "command": command } },
        "path": path,
    });
    let host = start(&spec.to_string()).expect("it starts");
    let refused = host.notes().iter().find(|note| note.contains("in-kernel path"));
    assert_eq!(refused, None);
    host
}

pub(crate) fn connect(host: &Host) -> TcpStream {
    let line = TcpStream::connect(host.addresses()[0].rsplit('/').next().expect("a place")).expect("it listens");
    line.set_read_timeout(Some(PATIENCE)).expect("is not zero");
    line
}

pub(crate) fn receive(mut line: &TcpStream, len: usize) -> Vec<u8> {
    let mut text = vec![0; len];
    line.read_exact(&mut text).expect("this many characters");
    text
}

pub(crate) fn receive_until(line: &mut TcpStream, end: &str) -> String {
    let mut text = Vec::new();
    while !text.ends_with(end.as_bytes()) {
        let mut next = [0];
        line.read_exact(&mut next).unwrap_or_else(|error| panic!("{error} after {:?}", String::from_utf8_lossy(&text)));
        text.push(next[0]);
    }
    String::from_utf8_lossy(&text).into_owned()
}

pub(crate) fn receive_all(mut line: TcpStream) -> String {
    let mut text = Vec::new();
    line.read_to_end(&mut text).expect("it ends");
    String::from_utf8_lossy(&text).into_owned()
}

/// A word for a program's arguments that no other test's programs have.
pub(crate) fn mark(word: &str) -> String {
    format!("mark_{word}_of_{}_", std::process::id())
}

/// The processes that have `mark` among their arguments.
pub(crate) fn processes(mark: &str) -> usize {
    process_files("cmdline").iter().filter(|command| command.contains(mark)).count()
}

/// Waits until all children of this process that have ended are reaped.
pub(crate) fn wait_for_zombies() {
    let parent = format!("PPid:\t{}\n", std::process::id());
    let is_zombie = |status: &String| status.contains(&parent) && status.contains("State:\tZ");
    wait_until("no zombie is left", || !process_files("status").iter().any(is_zombie));
}

fn process_files(file: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").expect("Linux").filter_map(Result::ok);
    processes.filter_map(|process| fs::read_to_string(process.path().join(file)).ok()).collect()
}

/// Waits for a condition; a child of another test may be a zombie for a moment.
pub(crate) fn wait_until(what: &str, mut so: impl FnMut() -> bool) {
    for _ in 0..PATIENCE.as_millis() {
        if so() {
            return;
        }
        pause();
    }
    panic!("not within the time limit: {what}");
}

/// Waits until the meters satisfy a condition.
pub(crate) fn wait_for_meters(host: &Host, condition: impl Fn(&Value) -> bool) -> Value {
    let mut meters = Value::Null;
    wait_until("the meters satisfy the condition", || {
        meters = host.meters();
        condition(&meters)
    });
    meters
}

pub(crate) fn wait_for_close(host: &Host, closes: &Value) {
    wait_until(&format!("lines ended as {closes}"), || host.meters()["lines"]["closes"] == *closes);
}

/// A millisecond for others.
pub(crate) fn pause() {
    let due = clock::now() + Duration::from_millis(1);
    clock::run(Time::Real, clock::sleep_until(due)).expect("a descriptor for the timer");
}
