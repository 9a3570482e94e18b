//! Compares the closed loop of the driver and the built-in host, in virtual time, with its exact solution, as a snapshot. Review
//! a changed table before you accept it.
#![allow(clippy::float_cmp)] // Counts, and instants of a virtual clock, are exact.

use std::fmt::Write;

use crate::harness::{close, play, spec};
use serde_json::json;

/// X and R of users with exponential think times at a queue with exponential services of mean `demand` at some servers (the machine
/// repairman model).
fn exact(users: u32, servers: u32, demand: f64, think: f64) -> (f64, f64) {
    // The probability of k users at the host, from that of k − 1.
    let mut weights = vec![1.0];
    for k in 1..=users {
        let arrivals = f64::from(users - k + 1) / think;
        let completions = f64::from(k.min(servers)) / demand;
        weights.push(weights[k as usize - 1] * arrivals / completions);
    }
    let busy: f64 = (0..=users).map(|k| weights[k as usize] * f64::from(k.min(servers))).sum();
    let x = busy / weights.iter().sum::<f64>() / demand;
    (x, f64::from(users) / x - think)
}

#[test]
fn the_solution_gives_the_published_values() {
    // By mean value analysis (Reiser and Lavenberg 1980): D = 0.03, Z = 3, N = 96.
    close("X", exact(96, 1, 0.03, 3.0).0, 29.941_915_84, 1e-8);
    close("R by hand", exact(2, 1, 1.0, 1.0).1, 1.5, 1e-12);
}

#[test]
fn throughput_and_response_are_those_of_theory() {
    const TAPE: &str = "Set TypingSpeed 0ms\nType \"x\"\nEnter\nWait+Bytes 40\nThink exp 1s\n";
    let mut table =
        String::from("    N servers         X   X exact    error         R   R exact    error  law error  U of host\n");
    // Each run is long enough for ten to forty thousand transactions.
    let one = [(1, 4.0), (10, 0.6), (50, 0.12), (75, 0.12), (100, 0.12), (200, 0.12)].map(|case| (case, 1));
    let four = [(60, 0.12), (150, 0.12)].map(|case| (case, 4));
    for ((users, hours), servers) in one.into_iter().chain(four) {
        // The host as a whole serves 100 transactions a second.
        let demand = 0.010 * f64::from(servers);
        let host = json!({
            "service": {"transaction": {"reply": 40}}, "echo": false,
            "service_time": format!("exp {demand}s"), "servers": servers,
        });
        let played = play(spec(users, 60.0, hours * 3600.0, &json!({})), TAPE, &host);
        let (exact_x, exact_r) = exact(users, servers, demand, 1.0);
        let count = played.sum("transactions");
        let x = count / played.seconds();
        let r = played.sum("sums/response_from_sent") / count;
        let (z, k) = (played.sum("sums/think") / count, played.sum("sums/keying") / count);
        let law = f64::from(users) / x - z - k;
        close(&format!("X of {users}"), x, exact_x, 0.02);
        close(&format!("R of {users}"), r, exact_r, 0.02);
        close(&format!("the response-time law at {users}"), law + z + k, r + z + k, 0.02);
        writeln!(
            table,
            "{users:5} {servers:7} {x:9.4} {exact_x:9.4} {:7.2}% {r:9.5} {exact_r:9.5} {:7.2}% {:9.2}% {:9.1}%",
            (x / exact_x - 1.0) * 100.0,
            (r / exact_r - 1.0) * 100.0,
            (law - r) / (r + z + k) * 100.0,
            x * 0.010 * 100.0,
        )
        .expect("memory");
    }
    insta::assert_snapshot!(table);
}

#[test]
fn the_response_time_law_holds_when_think_times_exceed_the_interval() {
    const TAPE: &str = "Set TypingSpeed 200ms\nType \"0123456789ab\"\nEnter\nWait+Bytes 40\nThink exp 10s\n";
    let host = json!({"service": {"transaction": {"reply": 40}}, "echo": false, "service_time": "exp 10ms"});
    let played = play(spec(96, 5.0, 30.0, &json!({"load": {"stagger": 50_000_000}})), TAPE, &host);
    let (count, users) = (played.sum("transactions"), 96.0);
    let time = users * played.seconds();
    let waited = time - played.sum("sums/think") - played.sum("sums/keying");
    let error = (waited - played.sum("sums/response_from_sent")) / time;
    assert!(count > 100.0 && error.abs() < 0.02, "off by {:.2} % of N/X over {count} transactions", error * 100.0);
}

#[test]
fn silence_is_not_counted_in_response() {
    const TAPE: &str = "Set TypingSpeed 0ms\nType \"x\"\nEnter\nWait+Silence 1s\n";
    let host = json!({"service": {"transaction": {"reply": 40}}, "echo": false, "delay": "20ms"});
    let played = play(spec(5, 1.0, 60.0, &json!({})), TAPE, &host);
    close("the largest response", played.quantile("g/t/response", 1.0), 0.020, 0.001);
    close("think time", played.sum("sums/think"), played.sum("transactions"), 0.001);
    close("throughput", played.sum("transactions"), 5.0 * 60.0 / 1.020, 0.02);
}

#[test]
fn exact_delays_are_measured_exactly() {
    for delay in [1, 5, 20, 100] {
        let host = json!({"service": {"echo": {}}, "input": "raw", "delay": format!("{delay}ms")});
        let tape = "Set TypingSpeed 100ms\nType \"a\"\nWait+Echo\n";
        let played = play(spec(50, 1.0, 20.0, &json!({})), tape, &host);
        close("median", played.quantile("g/t/response", 0.5), f64::from(delay) / 1e3, 0.001);
        close("largest", played.quantile("g/t/response", 1.0), f64::from(delay) / 1e3, 0.001);
    }
}
