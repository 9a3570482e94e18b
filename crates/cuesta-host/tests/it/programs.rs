//! Hosts whose service runs programs: how tests reach them, and what is left of their programs.

use std::fs;
use std::io::Read;
use std::net::TcpStream;
use std::time::Duration;

use cuesta_host::{Host, Spec};
use cuesta_record::clock::{self, Time};

const PATIENCE: Duration = Duration::from_secs(60);

/// The paths between lines and programs on sockets that are built in. The in-kernel path needs root.
pub(crate) const PATHS: &[&str] = if cfg!(feature = "kernel-path") { &["user", "kernel"] } else { &["user"] };

/// A host on one thread whose service `name` runs a command, with lines of this kind.
pub(crate) fn start(name: &str, command: &str, kind: &str) -> Host {
    start_on("user", name, command, kind)
}

/// The same with a path of its choice.
pub(crate) fn start_on(path: &str, name: &str, command: &str, kind: &str) -> Host {
    let spec = serde_json::json!({
        "listen": [format!("{kind}://127.0.0.1:0")],
        "service": { name: { "command": command } },
        "path": path,
    });
    let host = Host::start(&Spec::parse(&spec.to_string()).expect("sound JSON")).expect("it starts");
    let refused = host.notes().iter().find(|note| note.contains("in-kernel path"));
    assert_eq!(refused, None);
    host
}

pub(crate) fn connect(host: &Host) -> TcpStream {
    let line = TcpStream::connect(host.addresses()[0].rsplit('/').next().expect("a place")).expect("it listens");
    line.set_read_timeout(Some(PATIENCE)).expect("is not zero");
    line
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
    let commands = process_files("cmdline");
    commands.iter().filter(|command| command.contains(mark)).count()
}

/// Children of this process that have ended and are not reaped.
pub(crate) fn zombies() -> usize {
    let parent = format!("PPid:\t{}\n", std::process::id());
    process_files("status").iter().filter(|status| status.contains(&parent) && status.contains("State:\tZ")).count()
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

pub(crate) fn wait_for_close(host: &Host, closes: &serde_json::Value) {
    wait_until(&format!("lines ended as {closes}"), || host.meters()["lines"]["closes"] == *closes);
}

/// A millisecond for others.
pub(crate) fn pause() {
    let due = clock::now() + Duration::from_millis(1);
    clock::run(Time::Real, clock::sleep_until(due)).expect("a descriptor for the timer");
}
