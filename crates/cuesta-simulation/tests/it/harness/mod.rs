//! Simulations of one group of users, and the exact figures of a closed network.
#![allow(dead_code, unreachable_pub, missing_docs, clippy::unwrap_used)] // Each test uses a part of it.

use cuesta_driver::Scripts;
use cuesta_simulation::{Estimate, Simulated, SimulationError, StepFigures, simulate};
use serde_json::{Value, json};

/// Users who press a key, wait for the response and think.
pub struct Network {
    pub users: u32,
    /// Mean think time (exponential) and the times of the step, in seconds.
    pub think: f64,
    pub settle: f64,
    pub measure: f64,
}

/// Whether a value lies in an estimate's interval, made wider by a factor.
pub fn covers(estimate: &Estimate, value: f64, factor: f64) -> bool {
    (value - estimate.value).abs() <= estimate.within * factor
}

/// Simulates a closed network with these stations.
pub fn play(network: &Network, stations: &Value) -> StepFigures {
    let tape = format!("Set TypingSpeed 0ms\nEnter\nWait+Bytes@86400s 1\nThink exp {}s\n", network.think);
    let load = json!({"users": network.users});
    let simulated = play_tape(&tape, [network.settle, network.measure], &json!({"load": load, "stations": stations}));
    let mut simulated = simulated.unwrap();
    assert!(simulated.figures.steps[0].counts.errors.is_empty(), "{:?}", simulated.figures.steps[0].counts.errors);
    simulated.figures.steps.remove(0)
}

/// Simulates users who play a tape. `more` overrides fields of the spec (`run`), of the load, and gives the `stations`.
pub fn play_tape(tape: &str, [settle, measure]: [f64; 2], more: &Value) -> Result<Simulated, SimulationError> {
    let ns = |seconds: f64| (seconds * 1e9) as u64;
    let mut load = json!({"users": 1, "stagger": 0, "load": {"kind": "closed"}});
    let mut run = json!({"seed": 1, "drain": 0});
    for (part, into) in [("load", &mut load), ("run", &mut run)] {
        for (name, value) in more[part].as_object().into_iter().flatten() {
            into[name] = value.clone();
        }
    }
    run["groups"] = json!([{"name": "g", "script": "t", "target": "loopback"}]);
    run["steps"] = json!([{"settle": ns(settle), "measure": ns(measure), "groups": [load]}]);
    let patient = more["patient"] == json!(true);
    let host = json!({"stations": more["stations"]});
    let spec = serde_json::from_value(json!({"run": run, "host": host, "patient": patient})).unwrap();
    simulate(spec, &scripts(tape))
}

fn scripts(tape: &str) -> Scripts {
    let no_files = |_: &str| Err("no files here".to_owned());
    let tape = cuesta_tape::parse(tape, "t", &no_files).unwrap_or_else(|errors| panic!("{errors}"));
    [("t".to_owned(), tape.script)].into()
}

/// Exact throughput, and the mean number of requests at each station, by convolution (Buzen 1973; with several servers, Bruell and
/// Balbo 1980). A station is its demand (s) and servers; none: a delay.
pub fn exact(users: u32, think: f64, stations: &[(f64, Option<u32>)]) -> (f64, Vec<f64>) {
    let all: Vec<_> = [(think, None)].iter().chain(stations).copied().collect();
    let whole = constants(users, all.iter());
    let n = users as usize;
    let queue = |left_out: usize| {
        let others = constants(users, all.iter().enumerate().filter(|(at, _)| *at != left_out).map(|(_, s)| s));
        let own = factors(users, &all[left_out]);
        (1..=n).map(|k| k as f64 * own[k] * others[n - k] / whole[n]).sum()
    };
    (whole[n - 1] / whole[n], (1..all.len()).map(queue).collect())
}

/// The normalization constants of all populations.
fn constants<'a>(users: u32, stations: impl Iterator<Item = &'a (f64, Option<u32>)>) -> Vec<f64> {
    let mut constants = vec![0.0; users as usize + 1];
    constants[0] = 1.0;
    for station in stations {
        let own = factors(users, station);
        constants = (0..constants.len()).map(|n| (0..=n).map(|k| own[k] * constants[n - k]).sum()).collect();
    }
    constants
}

/// The weight of each number of requests at a station.
fn factors(users: u32, (demand, servers): &(f64, Option<u32>)) -> Vec<f64> {
    let mut weight = 1.0;
    let mut factors = vec![1.0];
    for n in 1..=users {
        weight *= demand / f64::from(n.min(servers.unwrap_or(u32::MAX)));
        factors.push(weight);
    }
    factors
}
