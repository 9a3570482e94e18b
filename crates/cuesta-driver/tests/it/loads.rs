//! Closed, paced and open loads; steps; barriers; inputs that are left out.
#![allow(clippy::float_cmp)] // Counts, and instants of a virtual clock, are exact.
#![allow(clippy::unwrap_used)] // A failed unwrap fails the test.

use crate::harness::{LEFT_OUT, close, play, play_logged, play_over, spec};
use serde_json::json;

const ECHO: &str = "Set TypingSpeed 0ms\nType \"a\"\nWait+Echo\n";

#[test]
fn a_paced_load_does_not_depend_on_the_response() {
    for delay in ["1ms", "150ms"] {
        let host = json!({"service": {"echo": {}}, "input": "raw", "delay": delay});
        let load = json!({"load": {"load": {"kind": "paced", "cycle": 200_000_000}}});
        let played = play(spec(20, 1.0, 10.0, &load), ECHO, &host);
        close("keys", played.sum("keys"), 20.0 * 50.0, 0.001);
        assert_eq!(played.quantile("g/keys/lateness", 1.0), 0.0);
    }
}

/// The instants at which keys of 20 typists with a cycle of 200 ms were sent, in two steps of which the second has a grid of 20 ms.
fn key_instants() -> Vec<u64> {
    let load = json!({"load": {"load": {"kind": "paced", "cycle": 200_000_000}, "stagger": 3_000_000}});
    let mut spec = spec(20, 0.0, 10.0, &load);
    let mut aligned = spec.steps[0].clone();
    aligned.groups[0].align = Some(20_000_000);
    spec.steps.push(aligned);
    let host = json!({"service": {"echo": {}}, "input": "raw", "delay": "1ms"});
    let (_, sent) = play_logged(spec, ECHO, &host);
    let mut instants: Vec<_> = sent.into_values().flatten().map(|(at, _)| at).collect();
    instants.sort_unstable();
    instants
}

#[test]
fn keys_of_all_users_fall_on_the_grid_that_they_are_aligned_to() {
    let keys = key_instants();
    let first = keys[0];
    let (free, aligned): (Vec<_>, Vec<_>) = keys.iter().partition(|at| **at < first + 10_000_000_000);
    let off_grid = |keys: &[u64]| keys.iter().filter(|at| *at % 20_000_000 != 0).count();
    assert!(off_grid(&free) > free.len() * 9 / 10, "without a grid users do not type in step");
    let in_second_step: Vec<_> = aligned.into_iter().filter(|at| *at > first + 10_300_000_000).collect();
    assert_eq!(off_grid(&in_second_step), 0);
    close("keys", in_second_step.len() as f64, 20.0 * 5.0 * 9.7, 0.03);
    let instants: std::collections::BTreeSet<_> = in_second_step.iter().map(|at| at % 200_000_000).collect();
    assert!((5..=10).contains(&instants.len()), "users share the ten instants of a cycle: {instants:?}");
}

#[test]
fn inputs_that_a_paced_user_cannot_catch_up_with_are_left_out_and_counted() {
    // Each echo takes five cycles: once 256 inputs are behind, four of five are left out.
    let host = json!({"service": {"echo": {}}, "input": "raw", "delay": "500ms"});
    let load = json!({"load": {"load": {"kind": "paced", "cycle": 100_000_000}}});
    let played = play(spec(3, 60.0, 100.0, &load), ECHO, &host);
    close("done", played.sum("transactions"), 3.0 * 200.0, 0.01);
    close("left out", played.sum(LEFT_OUT), 3.0 * 800.0, 0.02);
    // Completed inputs were due long before.
    assert!(played.quantile("g/t/response", 0.5) > 25.0);
}

#[test]
fn an_open_load_arrives_at_its_rate_whatever_the_host_does() {
    // M/M/1 at 80 %: mean response S / (1 − ρ).
    let host = json!({"service": {"transaction": {"reply": 4}}, "echo": false, "service_time": "exp 20ms"});
    let load = json!({"load": {"load": {"kind": "open", "per_s": 40.0}}});
    let tape = "Set TypingSpeed 0ms\nEnter\nWait+Bytes 4\n";
    let played = play(spec(400, 60.0, 1800.0, &load), tape, &host);
    close("rate", played.sum("transactions") / played.seconds(), 40.0, 0.01);
    close("mean response", played.sum("sums/response") / played.sum("transactions"), 0.1, 0.05);
    assert_eq!(played.sum(LEFT_OUT), 0.0);
}

#[test]
fn each_session_opens_its_own_line() {
    let host = json!({"service": {"transaction": {"reply": 10}}, "echo": false});
    let load = json!({"load": {"load": {"kind": "open", "per_s": 5.0, "arrivals": "sessions"}}});
    let tape = "Type \"hello\"\nEnter\nWait+Bytes 10\nThink 2s\n";
    let played = play(spec(100, 10.0, 600.0, &load), tape, &host);
    close("sessions", played.histogram("g/line/connect").len() as f64, 3000.0, 0.05);
    close("transactions", played.sum("transactions"), 3000.0, 0.05);
}

#[test]
fn all_users_meet_at_a_barrier() {
    let host = json!({"service": {"echo": {}}, "input": "raw"});
    let load = json!({"load": {"stagger": 900_000_000}});
    let tape = "Set TypingSpeed 0ms\nBarrier \"all in\"\nForever\nType \"a\"\nWait+Echo\nThink 10s\nEnd\n";
    let played = play(spec(4, 0.0, 25.0, &load), tape, &host);
    // The last user arrives at second 2.7: all type then, and at seconds 12.7 and 22.7.
    let keys: Vec<_> = played.series.iter().map(|row| row["keys"].as_u64().unwrap()).collect();
    assert_eq!((keys[2], keys[12], keys[22]), (4, 4, 4));
    assert_eq!(keys.iter().sum::<u64>(), 12);
}

#[test]
fn columns_of_the_users_table_are_typed_and_other_placeholders_stay() {
    let host = json!({"service": {"transaction": {"reply": 4}}, "echo": false});
    let group = json!({"group": {"data": [{"name": "ann"}]}});
    let tape = "Set TypingSpeed 0ms\nType \"${name} ${HOME}\"\nEnter\nWait+Bytes 4\nThink 60s\n";
    let (played, sent) = play_logged(spec(1, 0.0, 5.0, &group), tape, &host);
    assert_eq!(sent[&0].iter().map(|(_, key)| key.as_slice()).collect::<Vec<_>>().concat(), b"ann ${HOME}\r");
    assert_eq!(played.sum("transactions"), 1.0);
}

#[test]
fn a_slow_user_is_visible_in_its_own_row() {
    use cuesta_lines::{Faults, Faulty};
    use std::time::Duration;

    let host = json!({"service": {"echo": {}}, "input": "raw", "delay": "10ms"});
    let played =
        play_over(spec(100, 1.0, 30.0, &json!({})), "Type \"a\"\nWait+Echo\n", &host, |line, user| match user {
            42 => Box::new(Faulty::new(line, Faults { delay: Duration::from_millis(90), ..Faults::default() })),
            _ => line,
        });
    let mean = |user: u64| {
        let row = played.users.iter().find(|row| row["user"] == user).unwrap();
        row["mean"].as_f64().unwrap()
    };
    close("an ordinary user", mean(7), 0.010, 0.01);
    close("the slowed user", mean(42), 0.100, 0.01);
}

#[test]
fn echo_is_timed_from_one_set_to_the_next() {
    let host = json!({"service": {"echo": {}}, "input": "raw", "delay": "5ms"});
    let tape = "Set TypingSpeed 100ms\nSet Echo timed\nType \"ab\"\nSet Echo off\nType \"cde\"\nWait+Bytes 3\n";
    let played = play(spec(2, 1.0, 20.0, &json!({})), tape, &host);
    close("echoes to keys", played.histogram("g/keys/echo").len() as f64 / played.sum("keys"), 0.4, 0.03);
    close("echo", played.quantile("g/keys/echo", 0.5), 0.005, 0.001);
}

#[test]
fn an_expected_hangup_is_no_failure() {
    use cuesta_lines::{Disconnection, Faults, Faulty};

    let host = json!({"service": {"transaction": {"reply": 10}}, "echo": false, "delay": "10ms"});
    let tape = "Type \"bye\"\nEnter\nTransaction \"logout\"\nEnter\nWait+Disconnect\nEnd\nThink 1s\n";
    let played = play_over(spec(3, 0.0, 20.0, &json!({})), tape, &host, |line, _| {
        Box::new(Faulty::new(line, Faults { end: Some((20, Disconnection::Close)), ..Faults::default() }))
    });
    assert_eq!(played.errors(), []);
    assert!(played.histogram("g/line/connect").len() > 20);
    assert_eq!(played.histogram("g/logout/response").len(), played.sum("transactions") as u64);
}

#[test]
fn users_who_join_or_rejoin_in_a_later_step_keep_the_load() {
    let mut spec = spec(8, 0.0, 20.0, &json!({"load": {"load": {"kind": "paced", "cycle": 500_000_000}}}));
    for users in [2, 8, 12] {
        let mut step = spec.steps[0].clone();
        step.groups[0].users = users;
        spec.steps.push(step);
    }
    let host = json!({"service": {"echo": {}}, "input": "raw", "delay": "5ms"});
    let played = play(spec, ECHO, &host);
    for (step, users) in [(0, 8.0), (1, 2.0), (2, 8.0), (3, 12.0)] {
        close(&format!("keys of step {step}"), played.sum_of_step(step, "keys"), users * 40.0, 0.03);
    }
    close("the largest response", played.quantile("g/t/response", 1.0), 0.005, 0.01);
    assert_eq!(played.sum(LEFT_OUT), 0.0);
}

#[test]
fn sessions_end_with_their_step() {
    let sessions = json!({"load": {"load": {"kind": "open", "per_s": 4.0, "arrivals": "sessions"}}});
    let mut spec = spec(20, 0.0, 50.0, &sessions);
    let mut step = spec.steps[0].clone();
    step.groups[0].load = cuesta_driver::LoadKind::Closed;
    spec.steps.push(step.clone());
    step.groups[0].load = spec.steps[0].groups[0].load;
    spec.steps.push(step);
    let host = json!({"service": {"transaction": {"reply": 10}}, "echo": false, "delay": "10ms"});
    let played = play(spec, "Enter\nWait+Bytes 10\nThink 1s\n", &host);
    for (step, transactions, within) in [(0, 200.0, 0.15), (1, 20.0 * 50.0 / 1.06, 0.05), (2, 200.0, 0.15)] {
        close(&format!("step {step}"), played.sum_of_step(step, "transactions"), transactions, within);
    }
}

#[test]
fn typing_longer_than_the_cycle_is_not_the_drivers_lateness() {
    let host = json!({"service": {"echo": {}}, "input": "raw"});
    let load = json!({"load": {"load": {"kind": "paced", "cycle": 1_000_000_000}}});
    let played =
        play(spec(4, 0.0, 30.0, &load), "Set TypingSpeed 100ms\nSet Echo timed\nType \"0123456789abc\"\n", &host);
    assert!(played.quantile("g/keys/lateness", 1.0) < 0.001);
}
