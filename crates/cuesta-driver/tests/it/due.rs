//! Open loads: each arrival that was due in the measurement interval is done, under way, waiting or left out. The response time
//! of an arrival that waits for a free user counts from its due time.
#![allow(clippy::float_cmp)] // Counts, and instants of a virtual clock, are exact.
#![allow(clippy::unwrap_used)] // A failed unwrap fails the test.

use crate::harness::{LEFT_OUT, RunRecords, close, play, play_over, spec};
use cuesta_lines::{Disconnection, Faults, Faulty};
use serde_json::{Value, json};

const ONE_INPUT: &str = "Set TypingSpeed 0ms\nEnter\nWait+Bytes 10\n";

fn open(per_s: f64, arrivals: &str) -> Value {
    json!({"load": {"load": {"kind": "open", "per_s": per_s, "arrivals": arrivals}}})
}

fn host(service_time: &str, delay: &str) -> Value {
    json!({"service": {"transaction": {"reply": 10}}, "echo": false, "service_time": service_time, "delay": delay})
}

/// The counts at the end of the last step: due, done, failed (a part of done), under way, waiting, left out. They must add up in each
/// second.
fn checked_counts(played: &RunRecords) -> [u64; 6] {
    for row in played.measured() {
        let count = |name: &str| row["due"][name].as_u64().unwrap();
        assert_eq!(count("count"), count("done") + count("under_way") + count("waiting") + count(LEFT_OUT), "{row}");
    }
    let last = played.last_measured();
    ["count", "done", "failed", "under_way", "waiting", LEFT_OUT].map(|name| last["due"][name].as_u64().unwrap())
}

#[test]
fn a_host_that_keeps_up_serves_all_arrivals() {
    for arrivals in ["inputs", "sessions"] {
        let played = play(spec(50, 0.0, 200.0, &open(20.0, arrivals)), ONE_INPUT, &host("fixed 1ms", "0ms"));
        let [count, done, failed, under_way, waiting, left_out] = checked_counts(&played);
        close("due", count as f64, 4000.0, 0.05);
        assert_eq!((failed, waiting, left_out), (0, 0, 0));
        assert!(under_way <= 1, "{under_way}");
        assert_eq!(done, played.sum("transactions") as u64, "{arrivals}");
        assert_eq!(done, played.sum("passes") as u64, "{arrivals}");
    }
}

#[test]
fn sessions_beyond_the_queue_are_left_out() {
    for arrivals in ["inputs", "sessions"] {
        let played = play(spec(1, 0.0, 10.0, &open(100.0, arrivals)), ONE_INPUT, &host("fixed 0ms", "4s"));
        let [count, done, _, under_way, waiting, left_out] = checked_counts(&played);
        assert_eq!((done, under_way, waiting), (2, 1, 256));
        assert_eq!(left_out, count - 259);
        assert_eq!(left_out as f64, played.sum(LEFT_OUT));
    }
}

#[test]
fn at_a_frozen_host_all_is_under_way_or_waiting() {
    for arrivals in ["inputs", "sessions"] {
        let mut load = open(5.0, arrivals);
        load["spec"] = json!({"drain": 1_000_000_000});
        let played = play(spec(10, 0.0, 12.0, &load), ONE_INPUT, &host("fixed 0ms", "10m"));
        let [count, done, _, under_way, waiting, left_out] = checked_counts(&played);
        assert_eq!((done, under_way, waiting, left_out), (0, 10, count - 10, 0));
        let last = played.last_measured();
        assert_eq!(last["waiting"]["answers"], 10);
        assert!(last["waiting"]["oldest"].as_f64().unwrap() > 9.0, "{last}");
    }
}

#[test]
fn a_session_that_lost_its_line_or_gave_up_is_done_and_failed() {
    let closes = |line, _| -> Box<dyn cuesta_lines::Line> {
        Box::new(Faulty::new(line, Faults { end: Some((5, Disconnection::Close)), ..Faults::default() }))
    };
    let sessions = spec(10, 0.0, 60.0, &open(5.0, "sessions"));
    let played = play_over(sessions, ONE_INPUT, &host("fixed 0ms", "0ms"), closes);
    let [_, done, failed, ..] = checked_counts(&played);
    assert!(done > 10 && failed == done, "{done} {failed}");
    assert_eq!(played.sum("unanswered") as u64, failed, "each failed session has one unanswered transaction");

    let timeout = "Set WaitTimeout 1s\nSet TypingSpeed 0ms\nEnter\nWait+Bytes 10\n";
    let played = play(spec(10, 0.0, 60.0, &open(5.0, "inputs")), timeout, &host("fixed 0ms", "10m"));
    let [_, done, failed, ..] = checked_counts(&played);
    assert!(done > 200 && failed == done, "{done} {failed}");
    assert_eq!(played.sum("unanswered") as u64, failed);
}

#[test]
fn each_step_has_counts_of_its_own() {
    let mut spec = spec(2, 5.0, 20.0, &open(4.0, "sessions"));
    spec.steps.push(spec.steps[0].clone());
    // More arrives than is done. Sessions that wait at the end of the first step count in it, and are not played in the second.
    let played = play(spec, ONE_INPUT, &host("fixed 0ms", "1s"));
    checked_counts(&played);
    for step in [0, 1] {
        let last = played.measured().rfind(|row| row["step"] == step).unwrap();
        close("due", last["due"]["count"].as_f64().unwrap(), 80.0, 0.3);
        // Two users do two sessions a second. Those that arrived while the load settled come before those of the interval.
        close("done", last["due"]["done"].as_f64().unwrap(), 25.0, 0.25);
    }
    assert!(played.series.iter().all(|row| row["phase"] == "measure" || row["due"].is_null()));
}

#[test]
fn waiting_for_a_free_user_is_response() {
    // One user is one server: M/D/1 with ρ = 0.5, mean response S + ρS / 2(1 − ρ).
    let played = play(spec(1, 60.0, 3600.0, &open(5.0, "sessions")), ONE_INPUT, &host("fixed 0ms", "100ms"));
    checked_counts(&played);
    close("mean response", played.sum("sums/response") / played.sum("transactions"), 0.150, 0.05);
    close("since sent", played.sum("sums/response_from_sent") / played.sum("transactions"), 0.100, 0.001);
    close("in the histogram", played.histogram("g/t/response").mean() / 1e9, 0.150, 0.05);
    assert_eq!(played.quantile("g/keys/lateness", 1.0), 0.0, "waiting for a user is not the driver's lateness");
}

#[test]
fn only_the_first_transaction_of_a_session_includes_the_wait_for_a_user() {
    let tape = "Set TypingSpeed 0ms\nTransaction \"first\"\nEnter\nWait+Bytes 10\nEnd\n\
                Transaction \"second\"\nEnter\nWait+Bytes 10\nEnd\n";
    let played = play(spec(1, 0.0, 60.0, &open(20.0, "sessions")), tape, &host("fixed 0ms", "100ms"));
    assert!(played.quantile("g/first/response", 0.5) > 10.0);
    assert!(played.quantile("g/line/connect", 0.5) > 10.0, "a line is due when its session arrives");
    close("the second", played.quantile("g/second/response", 1.0), 0.1, 0.01);
}
