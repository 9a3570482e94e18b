//! A run whose users become more and fewer while it goes on, in virtual time: a step is cut, and another one follows.
#![allow(clippy::unwrap_used)] // A record that lacks a row must fail the test.

use std::time::Duration;

use cuesta_driver::{Announcement, RunSpec};
use serde_json::{Value, json};

use crate::harness::{RunRecords, SentKeys, close, play_announced_logged, play_logged, spec};

const TAPE: &str = "Set TypingSpeed 50ms\nType \"abc\"\nEnter\nWait+Bytes 40\nThink exp 4s\n";
const SLOW: &str = "Set TypingSpeed 50ms\nType \"abc\"\nEnter\nWait+Bytes 40\nThink 50s\n";
const SECOND: u64 = 1_000_000_000;
/// The start of a run on the virtual clock.
const START: u64 = SECOND;
/// From an announcement to its instant.
const AHEAD: u64 = 3;
/// Seconds from the last key of an input to the last character of the answer.
const ANSWER: f64 = 0.01;

/// A change of the users, in seconds from the start.
#[derive(Debug, Clone, Copy)]
struct Change {
    at: u64,
    users: u32,
    settled: u64,
    end: u64,
}

fn host() -> Value {
    json!({"service": {"transaction": {"reply": 40}}, "echo": false, "delay": "10ms"})
}

fn closed() -> Value {
    json!({"kind": "closed"})
}

/// Some users from 0 to 65 s, measured from 5 s on.
fn planned(users: u32, load: &Value) -> RunSpec {
    spec(users, 5.0, 60.0, &json!({"load": {"load": load}}))
}

fn may_be_cut(spec: RunSpec) -> RunSpec {
    RunSpec { most_users: Some(vec![100]), may_be_cut: true, ..spec }
}

fn play_changes(users: u32, tape: &str, load: &Value, changes: &[Change]) -> (RunRecords, SentKeys) {
    let announce = |change: &Change| -> (Duration, Announcement) {
        let groups = json!([{"users": change.users, "stagger": SECOND / 10, "load": load}]);
        let [at, settled, end] = [change.at, change.settled, change.end].map(|seconds| seconds * SECOND);
        let cut = json!({"cut": {"at": at, "groups": groups, "settled": settled, "end": end}});
        (Duration::from_secs(change.at - AHEAD), serde_json::from_value(cut).unwrap())
    };
    let changes = changes.iter().map(announce).collect();
    play_announced_logged(may_be_cut(planned(users, load)), tape, &host(), changes)
}

/// The instants at which a user has ended an input, s from the start.
fn inputs(keys: &SentKeys, user: u32) -> Vec<f64> {
    let of_user = keys.get(&user).into_iter().flatten();
    of_user.filter(|(_, key)| key == b"\r").map(|(at, _)| (at - START) as f64 / 1e9).collect()
}

fn between(keys: &SentKeys, user: u32, from: f64, to: f64) -> usize {
    inputs(keys, user).iter().filter(|at| (from..to).contains(*at)).count()
}

fn users_by_step(records: &RunRecords, steps: u64) -> Vec<usize> {
    (0..steps).map(|step| records.users.iter().filter(|row| row["step"] == step).count()).collect()
}

#[test]
fn two_users_become_four_and_then_one() {
    let changes =
        [Change { at: 23, users: 4, settled: 30, end: 65 }, Change { at: 43, users: 1, settled: 50, end: 70 }];
    let (records, keys) = play_changes(2, TAPE, &closed(), &changes);
    let (_, uncut) = play_logged(planned(2, &closed()), TAPE, &host());
    let until = |keys: &SentKeys, user: u32, end: u64| -> Vec<_> {
        keys[&user].iter().filter(|(at, _)| *at < START + end * SECOND).cloned().collect()
    };
    assert_eq!(until(&keys, 0, 65), until(&uncut, 0, 65), "who stays types on");
    assert_eq!(until(&keys, 1, 43), until(&uncut, 1, 43));
    assert!(between(&keys, 0, 65.0, 70.0) > 0, "the end has moved");
    assert!([2, 3].iter().all(|user| between(&keys, *user, 0.0, 23.0) == 0));
    assert!([2, 3].iter().all(|user| between(&keys, *user, 23.0, 43.0) > 0));
    assert!([1, 2, 3].iter().all(|user| between(&keys, *user, 44.0, 100.0) == 0));
    assert_eq!(records.errors(), []);
    assert_eq!(users_by_step(&records, 4), [2, 4, 1, 0]);
    for (step, users, from, to) in [(0, 2, 5, 23), (1, 4, 30, 43), (2, 1, 50, 70)] {
        close("length", records.sum_of_step(step, "length"), f64::from(to - from), 1e-9);
        let last = records.measured().rfind(|row| row["step"] == step).unwrap();
        assert_eq!(last["active"], json!(users), "in step {step}");
        let answered = (0..4).map(|user| between(&keys, user, f64::from(from) - ANSWER, f64::from(to) - ANSWER));
        close("transactions", records.sum_of_step(step, "transactions"), answered.sum::<usize>() as f64, 0.0);
    }
}

#[test]
fn a_run_that_is_not_cut_is_as_one_that_cannot_be() {
    for load in [closed(), json!({"kind": "paced", "cycle": 3 * SECOND})] {
        for tape in [TAPE, SLOW] {
            let (records, keys) = play_logged(planned(5, &load), tape, &host());
            let (same, same_keys) = play_logged(may_be_cut(planned(5, &load)), tape, &host());
            assert!(keys.len() == 5 && keys == same_keys);
            let without_cost = |records: RunRecords| -> Vec<Value> {
                let mut rows = records.series;
                for row in &mut rows {
                    for cost in ["cpu", "run_wait", "spun"] {
                        row[cost] = Value::Null;
                    }
                }
                [rows, records.users].concat()
            };
            assert!(records.histograms == same.histograms);
            assert!(without_cost(records) == without_cost(same));
        }
    }
}

#[test]
fn a_step_that_has_not_settled_is_not_measured() {
    let (records, keys) = play_changes(2, TAPE, &closed(), &[Change { at: 4, users: 3, settled: 10, end: 65 }]);
    assert_eq!(users_by_step(&records, 2), [0, 3]);
    assert!(records.sum_of_step(0, "length") < 1e-9);
    close("length", records.sum_of_step(1, "length"), 55.0, 1e-9);
    assert!(between(&keys, 2, 0.0, 4.0) == 0 && between(&keys, 2, 4.0, 65.0) > 0);
}

/// Their thinking takes them past the planned end, 65 s. It ends at 101 s for who stays.
#[test]
fn users_who_have_nothing_to_do_before_the_planned_end_go_on_or_leave() {
    let (records, keys) = play_changes(3, SLOW, &closed(), &[Change { at: 60, users: 2, settled: 70, end: 120 }]);
    assert_eq!([0, 1, 2].map(|user| between(&keys, user, 66.0, 120.0)), [1, 1, 0]);
    assert_eq!(users_by_step(&records, 2), [3, 2]);
    let users_at = |second: f64| {
        let row = records.series.iter().find(|row| row["start"].as_f64().unwrap() >= second).unwrap();
        row["users"].clone()
    };
    assert_eq!([59.0, 61.0].map(users_at), [json!(3), json!(2)]);
}

#[test]
fn users_of_a_paced_load_leave_and_come_back() {
    let paced = json!({"kind": "paced", "cycle": 4 * SECOND});
    let changes =
        [Change { at: 20, users: 1, settled: 25, end: 65 }, Change { at: 40, users: 3, settled: 45, end: 65 }];
    let (records, keys) = play_changes(3, "Set TypingSpeed 0ms\nType \"x\"\nEnter\nWait+Bytes 40\n", &paced, &changes);
    assert_eq!(records.errors(), []);
    assert_eq!(users_by_step(&records, 3), [3, 1, 3]);
    assert_eq!([1, 2].map(|user| between(&keys, user, 20.5, 40.0)), [0, 0]);
    assert_eq!([0, 1, 2].map(|user| between(&keys, user, 45.0, 65.0)), [5, 5, 5], "one input a cycle");
}
