//! Whole runs in real time over TCP against the built-in host: threads, the transaction log, and an early stop.

#![allow(clippy::unwrap_used)] // A failed unwrap fails the test.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use crate::harness::{LEFT_OUT, RunRecords, script, spec, stop_after};
use cuesta_driver::Run;
use cuesta_host::Host;
use serde_json::{Value, json};

const TAPE: &str = "Set KeyRate 20cps\nSet KeyLaw human\nSet Echo timed\nType \"hey\"\nEnter\nWait+Bytes 20\n";

fn host() -> (Host, String) {
    let spec = json!({"listen": ["telnet://127.0.0.1:0"], "service": {"transaction": {"reply": 20}}});
    let host = Host::start(&serde_json::from_value(spec).unwrap()).unwrap();
    let address = host.addresses()[0].clone();
    (host, address)
}

/// Plays until some transactions have been measured, stops the run, and returns how many there were.
fn play(address: &str, threads: u32, transactions: u64, agent: &Path) -> u64 {
    let more = json!({
        "spec": {"threads": threads, "log_transactions": true, "drain": 2_000_000_000_u64, "seed": 5, "stamps": 4},
        "group": {"target": address},
        "load": {"load": {"kind": "paced", "cycle": 400_000_000}},
    });
    let run = Run::start(spec(24, 0.2, 3600.0, &more), &script("t", TAPE), agent).unwrap();
    stop_after(&run, transactions, |interval| interval.transactions)
}

/// The due instants of each user's transactions, in ns from the start, in order.
fn due(agent: &Path) -> BTreeMap<u32, Vec<u64>> {
    let timeline: Value = serde_json::from_reader(File::open(agent.join("timeline.json")).unwrap()).unwrap();
    let start = timeline["start_at"].as_u64().unwrap();
    let log = fs::read_to_string(agent.join("transactions.csv")).unwrap();
    let mut all = BTreeMap::<u32, Vec<u64>>::new();
    for row in log.lines().skip(1) {
        let fields: Vec<&str> = row.split(',').collect();
        all.entry(fields[2].parse().unwrap()).or_default().push(fields[3].parse::<u64>().unwrap() - start);
    }
    all
}

#[test]
fn one_seed_gives_the_same_due_instants_on_1_2_and_8_threads() {
    let (_host, address) = host();
    let on = |threads| loop {
        let folder = tempfile::tempdir().unwrap();
        let agent = folder.path().join("agent-0");
        play(&address, threads, 200, &agent);
        let played = RunRecords::read(&agent);
        assert!(played.series.iter().all(|row| row["threads"] == threads), "every row has all threads");
        // A user who logs in late leaves out what it cannot catch up with, which the run says: such a run cannot be compared.
        if played.series.iter().all(|row| row[LEFT_OUT] == 0) {
            assert!(played.histogram("g/stamped/kernel_response").len() > 5);
            break due(&agent);
        }
    };
    let one = on(1);
    for threads in [2, 8] {
        let many = on(threads);
        let (none, mut compared) = (Vec::new(), 0);
        for (user, due) in &one {
            let other = many.get(user).unwrap_or(&none);
            // When a run is stopped, some users are ahead of others.
            let both = due.len().min(other.len());
            assert_eq!(due[..both], other[..both], "user {user} on {threads} threads");
            compared += both;
        }
        assert!(compared > 24, "{compared} transactions of 24 users");
    }
}

#[test]
fn a_stopped_run_keeps_its_records() {
    let (_host, address) = host();
    let folder = tempfile::tempdir().unwrap();
    let agent = folder.path().join("agent-0");
    let shown = play(&address, 2, 1, &agent);
    let ending: Value = serde_json::from_reader(File::open(agent.join("agent.json")).unwrap()).unwrap();
    assert_eq!(ending["ended"], "interrupted");
    assert!(RunRecords::read(&agent).sum("transactions") >= shown as f64);
    assert!(!due(&agent).is_empty());
}

#[test]
fn a_long_wait_is_shown_with_the_row_of_the_cursor_and_without_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let target = "pty:printf 'hello, s3cret> '; sleep 3600";
    let group = json!({"target": target, "data": [{"password": "s3cret"}], "secret": ["password"]});
    let spec = spec(2, 0.0, 3600.0, &json!({"group": group, "spec": {"threads": 2}}));
    let run = Run::start(spec, &script("t", "Wait /root@vm/\n"), &folder.path().join("agent-0")).unwrap();
    let shown = loop {
        assert!(!run.wait(Duration::from_millis(100)).unwrap(), "it ended by itself");
        if let Some(wait) = run.snapshot().long_wait.filter(|wait| wait.users == 2) {
            break wait;
        }
    };
    run.stop();
    assert_eq!((shown.condition.as_str(), shown.row.as_deref()), ("Wait+Line /root@vm/", Some("hello, …> ")));
    assert!(shown.seconds > 5.0, "{shown:?}");
}

#[test]
fn an_existing_file_or_a_missing_script_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let spec = || spec(1, 0.0, 1.0, &json!({}));
    let missing = Run::start(spec(), &script("other", TAPE), folder.path()).unwrap_err();
    assert_eq!(missing.to_string(), "no script is called `t`");
    let file = folder.path().join("file");
    File::create(&file).unwrap();
    assert!(Run::start(spec(), &script("t", TAPE), &file.join("agent-0")).is_err());
}
