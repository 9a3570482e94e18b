//! Waits that are not answered are recorded with how long they lasted and how they ended.
#![allow(clippy::float_cmp)] // Instants of a virtual clock are exact.

use std::time::Duration;

use cuesta_lines::{Disconnection, Faults, Faulty, OpenError};
use serde_json::{Value, json};

use crate::harness::{RunRecords, close, play, play_announced, play_over, spec};

const TAPE: &str = "Set TypingSpeed 0ms\nType \"ls\"\nEnter\nWait+Bytes@2s 20\nThink 1s\n";

fn host(more: &Value) -> Value {
    let Value::Object(mut host) = json!({"service": {"transaction": {"reply": 20}}, "echo": false}) else { panic!() };
    host.extend(more.as_object().expect("a table").clone());
    Value::Object(host)
}

/// Users stay for 2 s after the measurement.
fn drained() -> Value {
    json!({"spec": {"drain": 2_000_000_000}})
}

/// The number of values of a series, and the largest in seconds.
fn series(played: &RunRecords, tag: &str) -> (u64, f64) {
    played.histograms.get(tag).map_or((0, 0.0), |histogram| (histogram.len(), histogram.max() as f64 / 1e9))
}

#[test]
fn a_wait_that_timed_out_lasted_until_then() {
    let played = play(spec(4, 0.0, 21.0, &json!({})), TAPE, &host(&json!({"delay": "10m"})));
    for figure in ["response", "response_from_sent"] {
        let (count, longest) = series(&played, &format!("g/t/{figure}_timed_out"));
        assert_eq!((count, series(&played, &format!("g/t/{figure}")).0), (4 * 7, 0));
        close(figure, longest, 2.0, 0.001);
    }
    assert_eq!((played.errors(), played.sum("transactions")), (vec![("timeout".to_owned(), 4 * 7)], 0.0));
    assert_eq!(played.series.last().expect("a row")["unfinished"], 0);
    // Each line's first input is followed by the host's prompt.
    assert_eq!(series(&played, "g/t/first_response_timed_out").0, 4 * 6);
}

#[test]
fn a_first_sign_of_an_answer_that_is_never_complete_is_answered() {
    let played =
        play(spec(1, 0.0, 9.0, &json!({})), &TAPE.replace("2s 20", "2s 30"), &host(&json!({"delay": "100ms"})));
    assert_eq!(series(&played, "g/t/response_timed_out").0, 3);
    assert_eq!(series(&played, "g/t/first_response_timed_out").0, 0);
    close("first response", series(&played, "g/t/first_response").1, 0.1, 0.001);
}

#[test]
fn an_answer_that_is_only_to_be_confirmed_when_the_run_ends_has_lasted_until_it_came() {
    // The silence is not over yet, and where no key was echoed, what has come might be an echo.
    for (wait, think) in [("Wait+Silence 500ms", "1s"), ("Wait+Screen /\\S/", "1500ms")] {
        let tape = TAPE.replace("Wait+Bytes@2s 20", wait).replace("Think 1s", &format!("Think {think}"));
        let played = play(spec(1, 0.0, 2.0, &drained()), &tape, &host(&json!({"delay": "100ms"})));
        let (count, longest) = series(&played, "g/t/response_unfinished");
        assert_eq!(count, 1, "{wait}");
        close(wait, longest, 0.1, 0.01);
    }
}

#[test]
fn a_transaction_of_which_a_later_wait_times_out_is_not_answered() {
    let tape = "Set TypingSpeed 0ms\nTransaction \"ask\"\nEnter\nWait+Bytes@2s 20\nWait+Bytes@2s 40\nEnd\nThink 1s\n";
    let played = play(spec(1, 0.0, 9.0, &json!({})), tape, &host(&json!({"delay": "100ms"})));
    let (count, longest) = series(&played, "g/ask/response_timed_out");
    assert_eq!((count as f64, series(&played, "g/ask/response").0), (played.sum("unanswered"), 0));
    assert!(count >= 2, "{count}");
    close("wait", longest, 2.1, 0.01);
    close("first response", series(&played, "g/ask/first_response").1, 0.1, 0.001);
}

#[test]
fn a_wait_whose_line_is_lost_is_never_answered() {
    let ends = || Faults { end: Some((50, Disconnection::Close)), ..Faults::default() };
    let played =
        play_over(spec(2, 0.0, 20.0, &json!({})), TAPE, &host(&json!({"delay": "500ms"})), move |line, user| {
            if user == 0 { Box::new(Faulty::new(line, ends())) } else { line }
        });
    let lost = series(&played, "g/t/response_lost").0;
    assert!(lost >= 2, "{:?}", played.histograms.keys());
    assert_eq!(lost as f64, played.sum("unanswered"));
}

/// Users whose host stalls from 6 s on.
fn stalled(settle: f64, measure: f64, stall: &str) -> RunRecords {
    let tape = "Set TypingSpeed 0ms\nEnter\nWait+Bytes@10m 20\n";
    let host = host(&json!({"delay": "10ms", "stall": {"at": "6s", "for": stall}}));
    play(spec(4, settle, measure, &drained()), tape, &host)
}

#[test]
fn waits_under_way_at_the_end_are_counted_by_their_age() {
    let played = stalled(0.0, 10.0, "10m");
    let (count, age) = series(&played, "g/t/response_unfinished");
    let last = played.last_measured();
    assert_eq!((count, &last["unfinished"]), (4, &json!(4)));
    close("age", age, 4.0, 0.01);
    close("oldest", last["oldest"].as_f64().expect("a number"), 4.0, 0.01);
}

#[test]
fn waits_of_before_the_measurement_are_counted_by_their_age_at_its_beginning() {
    let played = stalled(7.0, 4.0, "3s");
    let (count, age) = series(&played, "g/t/response_begun_before");
    assert_eq!(count, 4);
    close("age", age, 1.0, 0.02);
    close("response", series(&played, "g/t/response").1, 3.0, 0.02);
}

#[test]
fn a_key_without_echo_waited_as_long_as_it_was_waited_for() {
    let tape = "Set Echo timed\nSet WaitTimeout 3s\nSet TypingSpeed 500ms\nType \"abcdefghijklmnopqrst\"\n";
    let played = play(spec(1, 0.0, 10.0, &drained()), tape, &host(&json!({})));
    let (given_up, longest) = series(&played, "g/keys/echo_timed_out");
    assert!(given_up >= 10, "{given_up}");
    close("wait", longest, 3.0, 0.001);
    let (unfinished, age) = series(&played, "g/keys/echo_unfinished");
    assert_eq!(given_up + unfinished, played.sum("keys") as u64);
    assert_eq!(played.last_measured()["unfinished"], 1);
    close("age", age, 3.0, 0.2);
}

#[test]
fn a_line_that_is_refused_is_never_open_and_its_user_not_at_work() {
    let refuse = |line, user| match user {
        0 => Err(OpenError::Refused { address: "there".into() }),
        _ => Ok(line),
    };
    let played = play_announced(spec(2, 0.0, 10.0, &json!({})), TAPE, &host(&json!({})), refuse, Vec::new());
    let errors: u64 = played.errors().into_iter().map(|(_, count)| count).sum();
    assert_eq!(series(&played, "g/line/connect_lost").0, errors);
    let at_work: Vec<_> = played.users.iter().map(|row| &row["at_work"]).collect();
    assert_eq!(at_work, [false, true]);
}

#[test]
fn a_user_whose_prompt_never_comes_is_not_at_work() {
    let tape = "Wait+Bytes@10m 5\nForever\nEnter\nWait+Bytes@10m 20\nEnd\n";
    let played = play(spec(1, 0.0, 10.0, &drained()), tape, &host(&json!({})));
    assert_eq!((&played.users[0]["at_work"], &played.users[0]["waits"]), (&json!(false), &json!("prompt")));
    assert!(Duration::from_secs_f64(played.users[0]["waited"].as_f64().expect("a number")) >= Duration::from_secs(9));
}
