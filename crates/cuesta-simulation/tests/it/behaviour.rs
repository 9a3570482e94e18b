//! What users meet at a simulated host.
#![allow(missing_docs, clippy::unwrap_used, clippy::float_cmp)] // Instants of a virtual clock are exact.

use crate::harness::{Network, covers, play, play_tape};
use cuesta_record::Failure;
use cuesta_simulation::Simulated;
use serde_json::{Value, json};

fn max(simulated: &Simulated, series: &str) -> f64 {
    simulated.histograms[&format!("0/g/{series}")].max() as f64 / 1e9
}

fn close(found: f64, wanted: f64, within: f64) {
    assert!((found - wanted).abs() <= within * wanted.abs(), "{found}, expected {wanted}");
}

#[test]
fn the_same_seed_gives_the_same_figures() {
    let tape = "Set Echo timed\nType \"ls\"\nEnter\nWait+Bytes 40\nThink exp 2s\n";
    let stations = json!([{"name": "cpu", "demand": "exp 20ms", "key_demand": "exp 1ms", "discipline": "ps"},
                          {"name": "disk", "demand": "exp 50ms", "servers": 2}]);
    let figures = |seed: u64| {
        let more = json!({"run": {"seed": seed}, "load": {"users": 40}, "stations": stations});
        let simulated = play_tape(tape, [10.0, 200.0], &more).unwrap();
        let mut figures = serde_json::to_value(&simulated.figures).unwrap();
        figures["cpu"] = Value::Null;
        figures["steps"][0]["counts"]["cpu"] = Value::Null;
        figures["steps"][0]["counts"]["run_wait"] = Value::Null;
        figures
    };
    assert_eq!(figures(7), figures(7));
    assert_ne!(figures(7), figures(8));
}

#[test]
fn a_fixed_service_is_measured_exactly() {
    let tape = "Set TypingSpeed 100ms\nType \"a\"\nEnter\nWait+Bytes 1\nThink 1s\n";
    let stations =
        json!([{"name": "cpu", "demand": "fixed 20ms"}, {"name": "net", "demand": "fixed 5ms", "servers": null}]);
    let simulated = play_tape(tape, [1.0, 100.0], &json!({"stations": stations})).unwrap();
    let step = &simulated.figures.steps[0];
    close(max(&simulated, "t/response"), 0.025, 1e-3);
    close(step.response.unwrap().value, 0.025, 1e-9);
    close(step.throughput.value, 1.0 / 1.225, 0.02);
    assert!(step.counts.errors.is_empty());
}

#[test]
fn any_wait_of_a_tape_ends_with_the_response() {
    let tape = "Set Echo screen\nWait+Screen /login:/\nType \"ann\"\nEnter\nWait+Prompt\nSet Echo timed\nTransaction \"look\"\n\
                Type \"ls\"\nEnter\nWait+Screen /total/\nExpect+Screen /rwx/\nWait+Bytes 100\nEnd\nTransaction \"quiet\"\nDown\n\
                Wait+Silence 200ms\nEnd\nTransaction \"key\"\nType \"q\"\nWait+Echo\nEnd\nTransaction \"leave\"\n\
                Type \"exit\"\nEnter\nWait+Disconnect\nEnd\nThink exp 1s\n";
    let stations = json!([{"name": "cpu", "demand": "fixed 10ms", "transactions": {"look": "fixed 30ms"}}]);
    let simulated = play_tape(tape, [1.0, 200.0], &json!({"stations": stations})).unwrap();
    let counts = &simulated.figures.steps[0].counts;
    assert!(counts.errors.is_empty() && counts.unanswered == 0 && counts.stray == 0, "{counts:?}");
    assert!(counts.transactions > 100);
    for (transaction, response) in [("look", 0.030), ("quiet", 0.010), ("key", 0.010), ("leave", 0.010), ("t", 0.010)] {
        close(max(&simulated, &format!("{transaction}/response")), response, 1e-3);
    }
    close(simulated.histograms["0/g/keys/echo"].value_at_quantile(0.1) as f64, 0.0, 0.0);
}

#[test]
fn a_tape_whose_passes_take_no_time_is_refused() {
    let refused = |tape: &str, more: &Value| play_tape(tape, [1.0, 10.0], more).unwrap_err().to_string();
    let users = json!({"users": 3});
    let served = json!([{"name": "cpu", "key_demand": "fixed 20ms"}]);
    let at_once = json!([{"name": "cpu", "demand": "fixed 0s"}]);
    for (tape, stations) in [
        ("Set TypingSpeed 0ms\nType \"a\"\n", json!([])),
        ("Set TypingSpeed 0ms\nSet Echo timed\nType \"a\"\n", served),
        ("Set TypingSpeed 0ms\nEnter\nWait+Bytes 1\n", at_once),
    ] {
        let said = refused(tape, &json!({"load": users, "stations": stations}));
        assert!(said.starts_with("tape t: a pass takes no time at all"), "{said}");
    }
    // A user of a paced load whose tape takes no time waits for its next cycle.
    let paced = json!({"users": 3, "load": {"kind": "paced", "cycle": 1_000_000_000}});
    let played = play_tape("Set TypingSpeed 0ms\nType \"a\"\n", [1.0, 10.0], &json!({"load": paced, "stations": []}));
    assert_eq!(played.unwrap().figures.steps[0].counts.keys, 30);
}

#[test]
fn keys_are_served_one_after_another() {
    let tape = "Set TypingSpeed 5ms\nSet Echo timed\nType \"ab\"\nEnter\nWait+Bytes 1\nThink 1s\n";
    let stations = json!([{"name": "cpu", "demand": "fixed 10ms", "key_demand": "fixed 20ms"}]);
    let simulated = play_tape(tape, [1.0, 100.0], &json!({"stations": stations})).unwrap();
    // Keys at 0, 5 and 10 ms; echoes at 20, 40 and 60 ms; the response at 70 ms.
    close(max(&simulated, "keys/echo"), 0.050, 1e-3);
    close(max(&simulated, "t/response"), 0.060, 1e-3);
    assert_eq!(simulated.figures.steps[0].stations[0].visits, simulated.figures.steps[0].counts.transactions * 4);
}

#[test]
fn a_slow_line_carries_keys_and_responses() {
    let tape = "Set LineSpeed 1200\nSet TypingSpeed 100ms\nType \"a\"\nEnter\nWait+Bytes 120\nThink 1s\n";
    let stations = json!([{"name": "cpu", "demand": "fixed 20ms"}]);
    let simulated = play_tape(tape, [1.0, 100.0], &json!({"stations": stations})).unwrap();
    // 8.33 ms for the key, 20 ms of service, and 120 characters of 8.33 ms.
    close(max(&simulated, "t/response"), 0.00833 + 0.020 + 1.0, 2e-3);
}

#[test]
fn a_cliff_above_a_population_slows_every_service() {
    let network = |users| Network { users, think: 10.0, settle: 100.0, measure: 5_000.0 };
    let stations = |speeds: Value| json!([{"name": "cpu", "demand": "exp 100ms", "speeds": speeds}]);
    let cliff = |of: &str, above: u32| json!([{"above": above, "of": of, "speed": 0.1}]);
    let response = |users, speeds| play(&network(users), &stations(speeds)).response.unwrap();
    let before = response(24, cliff("users", 24));
    assert!(covers(&before, response(24, json!([])).value, 2.0), "no cliff up to 24: {before:?}");
    let after = play(&network(25), &stations(cliff("users", 24)));
    // One server of 1 s: saturated.
    close(after.throughput.value, 1.0, 0.05);
    let (exact_x, _) = crate::harness::exact(25, 10.0, &[(1.0, Some(1))]);
    assert!(covers(&after.throughput, exact_x, 2.0), "{:?} is not {exact_x}", after.throughput);
    assert!(response(24, cliff("requests", 3)).value > 3.0 * before.value);
}

#[test]
fn a_response_that_takes_too_long_is_given_up() {
    let tape = "Set TypingSpeed 0ms\nEnter\nWait+Bytes@2s 1\nThink 1s\n";
    let stations = json!([{"name": "cpu", "demand": "fixed 3s", "discipline": "ps"}]);
    let simulated = play_tape(tape, [0.0, 60.0], &json!({"load": {"users": 2}, "stations": stations})).unwrap();
    let counts = &simulated.figures.steps[0].counts;
    assert!(counts.errors[&Failure::Timeout] > 10 && counts.unanswered == counts.errors[&Failure::Timeout]);
    let more = json!({"load": {"users": 2}, "stations": stations, "patient": true});
    let step = &play_tape(tape, [10.0, 600.0], &more).unwrap().figures.steps[0];
    assert!(step.counts.errors.is_empty());
    // Both begin together, are served together for 6 s, and think for 1 s.
    close(step.throughput.value, 2.0 / 7.0, 0.02);
}

#[test]
fn an_echo_that_takes_too_long_is_given_up_too() {
    // The second key is sent 16 s after the first, whose echo comes after 20 s. Echoes are given up after 15 s.
    let tape = "Set Echo timed\nSet TypingSpeed 16s\nType \"ab\"\nThink 100s\n";
    let stations = json!([{"name": "cpu", "key_demand": "fixed 20s"}]);
    let unechoed = |patient: bool| {
        let more = json!({"load": {"users": 1}, "stations": stations, "patient": patient});
        let errors = play_tape(tape, [0.0, 6000.0], &more).unwrap().figures.steps[0].counts.errors.clone();
        errors.get(&Failure::Unechoed).copied().unwrap_or(0)
    };
    assert!(unechoed(false) > 10);
    assert_eq!(unechoed(true), 0);
}

#[test]
fn paced_and_open_loads_bring_what_they_say() {
    let tape = "Set TypingSpeed 0ms\nEnter\nWait+Bytes 1\n";
    let stations = json!([{"name": "cpu", "demand": "exp 5ms"}]);
    let loads = [json!({"kind": "paced", "cycle": 1_000_000_000}), json!({"kind": "open", "per_s": 100.0})];
    for load in loads {
        let more = json!({"load": {"users": 100, "load": load}, "stations": stations});
        let step = play_tape(tape, [10.0, 1_000.0], &more).unwrap().figures.steps.remove(0);
        close(step.throughput.value, 100.0, 0.01);
        close(step.stations[0].utilization.unwrap(), 0.5, 0.03);
    }
}

#[test]
fn an_impossible_host_is_refused_with_its_place() {
    let tape = "Enter\nWait+Bytes 1\n";
    let refused =
        |station: Value| play_tape(tape, [0.0, 1.0], &json!({"stations": [station]})).unwrap_err().to_string();
    assert_eq!(
        refused(json!({"name": "cpu", "servers": 0})),
        "station `cpu`: 0 servers; expected 1 or more, or null for a delay"
    );
    assert_eq!(
        refused(json!({"name": "cpu", "speeds": [{"above": 1, "speed": 0.0}]})),
        "station `cpu`: a speed of 0; expected more than 0"
    );
    assert_eq!(
        refused(json!({"name": "cpu", "transactions": {"edit": 1}})),
        "station `cpu`: no transaction is called `edit`; the tapes have `t`"
    );
}
