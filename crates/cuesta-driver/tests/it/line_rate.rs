//! Input typed at line speed over real sockets: the characters arrive at the host at the line's speed, by the host's own log.

#![allow(clippy::unwrap_used)] // A failed unwrap fails the test.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::net::TcpListener;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use cuesta_driver::{Run, RunSpec, Scripts};
use cuesta_record::clock;
use serde_json::json;

/// Speeds in bits a second, each with the characters of three seconds.
const LINES: [(u32, usize); 4] = [(300, 90), (1200, 360), (4800, 1440), (9600, 2880)];
/// Largest relative error of the measured speed.
const WITHIN: f64 = 0.02;

/// Accepts one line and logs the arrival of each character, in seconds.
fn logging_host(characters: usize) -> (String, JoinHandle<Vec<f64>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("tcp://{}", listener.local_addr().unwrap());
    let log = thread::spawn(move || {
        let (mut line, _) = listener.accept().unwrap();
        let mut log = Vec::new();
        let mut buffer = [0; 4096];
        while log.len() < characters {
            let len = line.read(&mut buffer).unwrap();
            assert!(len > 0, "the line was closed after {} characters", log.len());
            let at = clock::now().as_nanos() as f64 / 1e9;
            log.extend(std::iter::repeat_n(at, len));
        }
        log
    });
    (url, log)
}

/// How much slower than its line the text was, as a share: from the earliest characters, measured by their line time, of the first
/// third to those of the last. A busy machine makes characters late, none early.
fn slowness(log: &[f64], speed: u32) -> f64 {
    let character = 10.0 / f64::from(speed);
    let lateness: Vec<_> = log.iter().enumerate().map(|(index, at)| at - index as f64 * character).collect();
    let third = log.len() / 3;
    let earliest = |part: &[f64]| part.iter().copied().fold(f64::INFINITY, f64::min);
    let gained = earliest(&lateness[log.len() - third..]) - earliest(&lateness[..third]);
    gained / ((log.len() - third) as f64 * character)
}

/// A run with one user for each line, who types all characters without pauses. It goes on until it is stopped.
fn plan(urls: &[String]) -> (RunSpec, Scripts) {
    let mut scripts = BTreeMap::new();
    let (mut groups, mut loads) = (Vec::new(), Vec::new());
    for ((speed, characters), url) in LINES.iter().zip(urls) {
        let name = speed.to_string();
        let tape = format!("Set TypingSpeed 0ms\nType \"{}\"\nThink 3600s\n", "x".repeat(*characters));
        scripts.append(&mut crate::harness::script(&name, &tape));
        groups.push(json!({"name": name, "script": name, "target": url, "line_speed": speed}));
        loads.push(json!({"users": 1, "stagger": 0, "load": {"kind": "closed"}}));
    }
    let steps = [json!({"settle": 0, "measure": 3_600_000_000_000_u64, "groups": loads})];
    (serde_json::from_value(json!({"seed": 1, "drain": 0, "groups": groups, "steps": steps})).unwrap(), scripts)
}

#[test]
fn keys_typed_at_line_rate_arrive_at_the_line_speed() {
    let (urls, logs): (Vec<_>, Vec<_>) = LINES.iter().map(|(_, characters)| logging_host(*characters)).unzip();
    let (spec, scripts) = plan(&urls);
    let folder = tempfile::tempdir().unwrap();
    let run = Run::start(spec, &scripts, &folder.path().join("agent-0")).unwrap();
    let found = LINES.iter().zip(logs).map(|((speed, _), log)| (*speed, slowness(&log.join().unwrap(), *speed)));
    let found: Vec<_> = found.collect();
    run.stop();
    assert!(run.wait(Duration::from_secs(60)).unwrap());
    assert!(found.iter().all(|(_, slowness)| slowness.abs() < WITHIN), "{found:?}");
}
