//! Input typed as fast as a line goes, over real sockets: the host's own log of when each character came has the line's speed.

#![allow(clippy::unwrap_used)] // A failed unwrap fails the test.

mod harness;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::net::TcpListener;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use cuesta_driver::{Run, RunSpec, Scripts};
use cuesta_record::clock;
use serde_json::json;

/// Speeds in bits a second, and how many characters are typed: some three seconds at each.
const LINES: [(u32, usize); 4] = [(300, 90), (1200, 360), (4800, 1440), (9600, 2880)];
/// How far the measured speed may be from the line's.
const WITHIN: f64 = 0.02;

/// Takes one line and logs when each of its characters came, in seconds.
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

/// Seconds a character, by least squares: a single one that came late moves it little.
fn slope(log: &[f64]) -> f64 {
    let middle = (log.len() - 1) as f64 / 2.0;
    let mean = log.iter().sum::<f64>() / log.len() as f64;
    let offsets = || log.iter().enumerate().map(|(index, at)| (index as f64 - middle, at - mean));
    offsets().map(|(index, at)| index * at).sum::<f64>() / offsets().map(|(index, _)| index * index).sum::<f64>()
}

/// One user for each line, who types its characters at once.
fn plan(urls: &[String]) -> (RunSpec, Scripts) {
    let mut scripts = BTreeMap::new();
    let (mut groups, mut loads) = (Vec::new(), Vec::new());
    for ((speed, characters), url) in LINES.iter().zip(urls) {
        let name = speed.to_string();
        let tape = format!("Set TypingSpeed 0ms\nType \"{}\"\nThink 60s\n", "x".repeat(*characters));
        scripts.append(&mut harness::script(&name, &tape));
        groups.push(json!({"name": name, "script": name, "target": url, "line_speed": speed}));
        loads.push(json!({"users": 1, "stagger": 0, "load": {"kind": "closed"}}));
    }
    let steps = [json!({"settle": 0, "measure": 5_000_000_000_u64, "groups": loads})];
    (serde_json::from_value(json!({"seed": 1, "drain": 0, "groups": groups, "steps": steps})).unwrap(), scripts)
}

#[test]
fn keys_typed_at_line_rate_come_at_the_speed_of_the_line() {
    let (urls, logs): (Vec<_>, Vec<_>) = LINES.iter().map(|(_, characters)| logging_host(*characters)).unzip();
    let (spec, scripts) = plan(&urls);
    let folder = tempfile::tempdir().unwrap();
    let run = Run::start(spec, scripts, &folder.path().join("agent-0")).unwrap();
    let ratios = LINES.iter().zip(logs).map(|((speed, _), log)| {
        let ratio = slope(&log.join().unwrap()) * f64::from(*speed) / 10.0;
        println!("{speed} baud: {ratio:.4}");
        (*speed, ratio)
    });
    let ratios: Vec<_> = ratios.collect();
    run.stop();
    assert!(run.wait(Duration::from_secs(10)).unwrap());
    assert!(ratios.iter().all(|(_, ratio)| (ratio - 1.0).abs() < WITHIN), "{ratios:?}");
}
