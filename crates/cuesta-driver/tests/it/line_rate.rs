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

/// Seconds per character by least squares, which a single late character hardly changes.
fn slope(log: &[f64]) -> f64 {
    let middle = (log.len() - 1) as f64 / 2.0;
    let mean = log.iter().sum::<f64>() / log.len() as f64;
    let offsets = || log.iter().enumerate().map(|(index, at)| (index as f64 - middle, at - mean));
    offsets().map(|(index, at)| index * at).sum::<f64>() / offsets().map(|(index, _)| index * index).sum::<f64>()
}

/// A run with one user for each line, who types all characters without pauses.
fn plan(urls: &[String]) -> (RunSpec, Scripts) {
    let mut scripts = BTreeMap::new();
    let (mut groups, mut loads) = (Vec::new(), Vec::new());
    for ((speed, characters), url) in LINES.iter().zip(urls) {
        let name = speed.to_string();
        let tape = format!("Set TypingSpeed 0ms\nType \"{}\"\nThink 60s\n", "x".repeat(*characters));
        scripts.append(&mut crate::harness::script(&name, &tape));
        groups.push(json!({"name": name, "script": name, "target": url, "line_speed": speed}));
        loads.push(json!({"users": 1, "stagger": 0, "load": {"kind": "closed"}}));
    }
    let steps = [json!({"settle": 0, "measure": 5_000_000_000_u64, "groups": loads})];
    (serde_json::from_value(json!({"seed": 1, "drain": 0, "groups": groups, "steps": steps})).unwrap(), scripts)
}

#[test]
fn keys_typed_at_line_rate_arrive_at_the_line_speed() {
    let (urls, logs): (Vec<_>, Vec<_>) = LINES.iter().map(|(_, characters)| logging_host(*characters)).unzip();
    let (spec, scripts) = plan(&urls);
    let folder = tempfile::tempdir().unwrap();
    let run = Run::start(spec, &scripts, &folder.path().join("agent-0")).unwrap();
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
