//! Bisync lines at the built-in host, which wraps them in pairs, in virtual time.
#![allow(clippy::float_cmp)] // Counts, and instants of a virtual clock, are exact.
#![allow(clippy::unwrap_used)] // A failed unwrap fails the test.

use std::collections::BTreeMap;

use crate::harness::{RunRecords, play, script, spec};
use cuesta_driver::Run;
use serde_json::{Value, json};

/// A message of 250 characters again and again, each when the one before is acknowledged.
fn tape() -> String {
    format!(
        "Set TypingSpeed 0ms\nForever\n  Transaction \"message\"\n    Type \"{}\"\n    Enter\n    Wait+Delivered\n  End\nEnd\n",
        "x".repeat(250)
    )
}

fn at(query: &str) -> Value {
    json!({"group": {"target": format!("bsc://127.0.0.1:1?{query}")}})
}

fn loop_host() -> Value {
    json!({"service": {"bsc_loop": {}}})
}

/// What each user's line carried.
fn lines(played: &RunRecords) -> Vec<BTreeMap<String, u64>> {
    played.users.iter().map(|row| serde_json::from_value(row["bisync"].clone()).unwrap()).collect()
}

#[test]
fn wrapped_lines_carry_what_their_speed_allows_and_lose_nothing() {
    let played = play(spec(12, 10.0, 60.0, &at("baud=9600&block_size=250")), &tape(), &loop_host());
    assert_eq!(played.errors(), []);
    let lines = lines(&played);
    assert_eq!(lines.len(), 12);
    for (user, line) in lines.iter().enumerate() {
        let peer = &lines[user ^ 1];
        // Characters of text on one line, both ways: at most 1,200 a second, of which bids, answers and framing take a part.
        let per_s = (line["text_sent"] + line["text_received"]) as f64 / 60.0;
        assert!((900.0..1120.0).contains(&per_s), "{per_s} characters a second: {line:?}");
        assert_eq!(line["text_sent"], 250 * line["sent"]);
        // What one of a pair sends the other receives; a message or two are under way at each end of the interval.
        assert!(peer["received"].abs_diff(line["sent"]) <= 3, "{line:?} {peer:?}");
        assert!(line["sequence"] >= line["sent"]);
        for lost in ["not_delivered", "in_doubt", "retries_exceeded", "bids_failed", "invalid_input"] {
            assert_eq!(line[lost], 0, "{lost}");
        }
    }
    let sent: u64 = lines.iter().map(|line| line["sent"]).sum();
    assert_eq!(played.histogram("g/message/response").len(), sent);
}

#[test]
fn a_line_without_a_pair_is_told_to_wait_and_loses_nothing() {
    // Messages of one line go nowhere until the host's room for them is full; then its station answers WACK.
    let played = play(spec(1, 0.0, 60.0, &at("")), &tape(), &loop_host());
    let lines = lines(&played);
    assert!((15..50).contains(&lines[0]["sent"]), "{lines:?}");
    assert!((45..62).contains(&lines[0]["wacks_received"]), "{lines:?}");
    assert_eq!((lines[0]["not_delivered"], lines[0]["in_doubt"]), (0, 0));
    // The tape waits 15 s for each delivery.
    assert_eq!(played.errors(), [("timeout".to_owned(), 3)]);
}

#[test]
fn only_bisync_lines_tell_of_delivery() {
    let folder = tempfile::tempdir().unwrap();
    let error = Run::start(spec(1, 0.0, 1.0, &json!({})), &script("t", &tape()), folder.path()).unwrap_err();
    assert!(error.to_string().contains("Wait+Delivered is for bsc:// targets"), "{error}");
}
