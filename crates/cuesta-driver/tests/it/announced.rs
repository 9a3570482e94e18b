//! Steps that are announced while a run goes on, in virtual time.
#![allow(clippy::unwrap_used)] // A record that lacks a row must fail the test.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use crate::harness::{RunRecords, close, play_announced, spec};
use cuesta_driver::Announcement;
use cuesta_lines::{Line, OpenError};
use cuesta_record::clock;
use serde_json::{Value, json};

const TAPE: &str = "Set TypingSpeed 0ms\nType \"x\"\nEnter\nWait+Bytes 40\nThink exp 2s\n";
const SECOND: u64 = 1_000_000_000;

const MINUTES: Duration = Duration::from_secs(150);

fn load(users: u32) -> Value {
    group(users, &json!({"kind": "closed"}))
}

fn group(users: u32, load: &Value) -> Value {
    json!({"users": users, "stagger": SECOND / 10, "load": load})
}

fn host() -> Value {
    json!({"service": {"transaction": {"reply": 40}}, "echo": false, "service_time": "exp 10ms"})
}

/// Steps of some users, each measured for a minute after 30 s; and how many lines were opened.
fn announced(users: &[u32]) -> (RunRecords, usize) {
    announced_loads(users[0], TAPE, &users.iter().map(|users| load(*users)).collect::<Vec<_>>())
}

fn announced_loads(users: u32, tape: &str, loads: &[Value]) -> (RunRecords, usize) {
    let opened = Rc::new(RefCell::new(0));
    let lines = Rc::clone(&opened);
    let records = announced_over(users, tape, loads, move |line, _| {
        *lines.borrow_mut() += 1;
        Ok(line)
    });
    let opened = *opened.borrow();
    (records, opened)
}

fn announced_over(
    users: u32,
    tape: &str,
    loads: &[Value],
    wrap: impl Fn(Box<dyn Line>, u32) -> Result<Box<dyn Line>, OpenError> + 'static,
) -> RunRecords {
    let mut first = spec(users, 0.0, 1.0, &json!({"load": loads[0]}));
    first.most_users = Some(vec![100]);
    let mut changes = Vec::new();
    for (number, load) in loads.iter().enumerate() {
        let begin = number as u64 * 95;
        if number > 0 {
            let step = json!({"step": {"begin": begin * SECOND, "groups": [load]}});
            changes.push((Duration::from_secs(begin - 3), step));
        }
        let measure = json!({"measure": {"settled": (begin + 30) * SECOND, "end": (begin + 90) * SECOND}});
        changes.push((Duration::from_secs(begin + 25), measure));
    }
    let end = loads.len() as u64 * 95;
    changes.push((Duration::from_secs(end - 3), json!({"end": {"at": end * SECOND}})));
    let parsed = |(after, change)| -> (Duration, Announcement) { (after, serde_json::from_value(change).unwrap()) };
    play_announced(first, tape, &host(), wrap, changes.into_iter().map(parsed).collect())
}

#[test]
fn users_come_and_go_and_those_who_stay_keep_their_lines() {
    let users = [10, 40, 25, 60, 30];
    let (records, opened) = announced(&users);
    assert_eq!(opened, 10 + 30 + 35, "only users who come open a line");
    assert_eq!(records.errors(), []);
    for (step, users) in (0..).zip(users) {
        let last = records.measured().rfind(|row| row["step"] == step).unwrap();
        assert_eq!((&last["active"], &last["users"]), (&json!(users), &json!(users)), "in step {step}");
        let seconds = records.sum_of_step(step, "length");
        close("length", seconds, 60.0, 1e-9);
        // X = N / (R + Z), R about the service time: these users hardly wait for one another.
        close("throughput", records.sum_of_step(step, "transactions") / seconds, f64::from(users) / 2.012, 0.12);
    }
    let of_step = |step: u64| records.users.iter().filter(|row| row["step"] == step).count();
    assert_eq!([0, 1, 2, 3, 4].map(of_step), [10, 40, 25, 60, 30]);
}

#[test]
fn removed_users_do_not_work() {
    let (records, _) = announced(&[30, 5]);
    let settling = records.series.iter().filter(|row| row["phase"] == "settle" && row["step"] == 1);
    // The last of 25 users leaves 2.5 s after the begin of the step at 95 s, and notices within a second.
    let late: f64 = settling
        .filter(|row| row["start"].as_f64().unwrap() >= 100.0)
        .map(|row| row["transactions"].as_f64().unwrap())
        .sum();
    close("transactions of 5 users in 25 s", late, 25.0 * 5.0 / 2.012, 0.35);
}

/// The host has time for 100 rows a second. What an overload left behind is not typed in the step after it.
#[test]
fn a_step_begins_without_the_arrears_of_the_one_before() {
    let tape = "Set TypingSpeed 0ms\nType \"x\"\nEnter\nWait+Bytes 40\n";
    let open = |per_s: f64| group(20, &json!({"kind": "open", "per_s": per_s}));
    let paced = |users| group(users, &json!({"kind": "paced", "cycle": SECOND / 5}));
    for (users, loads) in [(20, [open(300.0), open(20.0)]), (60, [paced(60), paced(4)])] {
        let (records, _) = announced_loads(users, tape, &loads);
        let response = |step| records.sum_of_step(step, "sums/response") / records.sum_of_step(step, "transactions");
        assert!(response(0) > 1.0, "the first step is an overload: {}", response(0));
        assert!(response(1) < 0.02, "{}", response(1));
        close("throughput", records.sum_of_step(1, "transactions") / records.sum_of_step(1, "length"), 20.0, 0.12);
    }
}

/// The second user is turned away all the time in the first step, does not belong to the second, and is turned away once in the
/// third. Then it tries again after a second, and not after the half minute that it had come to wait.
#[test]
fn a_user_who_comes_back_in_a_later_step_tries_again_soon() {
    let tries = Rc::new(RefCell::new(Vec::new()));
    let of_the_user = Rc::clone(&tries);
    let records = announced_over(2, TAPE, &[load(2), load(1), load(2)], move |line, user| {
        if user == 0 {
            return Ok(line);
        }
        let mut tries = of_the_user.borrow_mut();
        tries.push(clock::now());
        let is_back = tries.iter().filter(|at| at.since(tries[0]) > MINUTES).count() > 1;
        if is_back { Ok(line) } else { Err(OpenError::Reset { address: "host".into() }) }
    });
    let tries = tries.borrow();
    let gaps: Vec<_> = tries.windows(2).map(|pair| pair[1].since(pair[0]).as_secs()).collect();
    assert_eq!(gaps[..5], [1, 2, 4, 8, 16], "in the first step");
    assert!(gaps[gaps.len() - 2] > 90, "it waited for the third step: {gaps:?}");
    assert_eq!(gaps.last(), Some(&1), "in the third step: {gaps:?}");
    assert_eq!(records.last_measured()["active"], 2);
}
