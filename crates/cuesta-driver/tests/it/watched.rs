//! Screens that people look at while a run goes on, in real time at real programs.

#![allow(clippy::unwrap_used)] // A failed unwrap fails the test.

use std::time::Duration;

use crate::harness::{script, spec};
use cuesta_driver::{Run, UserScreen};
use cuesta_record::Snapshot;
use serde_json::json;

/// A host that says hello and then waits in silence.
const HOST: &str = r#"pty:sh -c 'printf "hello \033[31mworld\033[m\r\n> "; exec cat'"#;

/// Starts users who play a tape at the host, looks at some of them, and looks on until what is seen is as a test wants it.
fn look<T>(tape: &str, users: &[u32], mut see: impl FnMut(&[UserScreen], &Snapshot) -> Option<T>) -> T {
    let folder = tempfile::tempdir().unwrap();
    let more = json!({"group": {"target": HOST}});
    let run = Run::start(spec(3, 0.0, 3600.0, &more), &script("t", tape), &folder.path().join("agent-0")).unwrap();
    run.watch(serde_json::from_value(json!({"users": users, "series": true})).unwrap());
    let seen = loop {
        if let Some(seen) = see(&run.screens(), &run.snapshot()) {
            break seen;
        }
        assert!(!run.wait(Duration::from_millis(20)).unwrap(), "the run has ended");
    };
    run.stop();
    while !run.wait(Duration::from_secs(1)).unwrap() {}
    seen
}

fn rows(screen: &UserScreen) -> Vec<String> {
    screen.rows.iter().map(|row| row.iter().map(|span| span.text.as_str()).collect()).collect()
}

#[test]
fn a_user_that_waits_in_silence_shows_its_own_screen() {
    let screen = look("Wait+Screen /never/\n", &[1], |screens, _| {
        screens.iter().find(|screen| rows(screen)[1].starts_with('>')).cloned()
    });
    assert_eq!((screen.user, screen.columns, screen.cursor, screen.is_whole), (1, 80, Some((1, 2)), true));
    assert_eq!(screen.rows.len(), 24);
    assert_eq!(rows(&screen)[0], "hello world");
    assert_eq!(screen.rows[0][1].foreground.as_deref(), Some("1"));
}

#[test]
fn without_a_screen_of_its_own_a_user_shows_what_it_received_last() {
    let screen = look("Wait+Bytes 9999\n", &[2], |screens, _| {
        screens.iter().find(|screen| rows(screen).iter().any(|row| row.starts_with('>'))).cloned()
    });
    assert_eq!((screen.user, screen.is_whole), (2, false));
}

#[test]
fn only_watched_users_are_shown_and_what_users_do_is_told() {
    let (users, snapshot) = look("Wait+Screen /never/\n", &[0, 7], |screens, snapshot| {
        let users: Vec<u32> = screens.iter().map(|screen| screen.user).collect();
        (!users.is_empty() && snapshot.glimpses.len() >= 3).then(|| (users, snapshot.clone()))
    });
    assert_eq!(users, [0], "there is no user 7");
    assert_eq!(snapshot.doing.values().sum::<u64>(), 3);
    assert!(snapshot.glimpses.iter().all(|glimpse| glimpse.because == "slowest" && glimpse.group == "g"));
}

#[test]
fn users_whose_start_is_held_start_later() {
    let folder = tempfile::tempdir().unwrap();
    let more = json!({"group": {"target": HOST}, "load": {"stagger": 300_000_000}});
    let agent = folder.path().join("agent-0");
    let run = Run::start(spec(3, 0.0, 3600.0, &more), &script("t", "Wait+Screen /never/\n"), &agent).unwrap();
    let wait_until = |is_so: &dyn Fn(&Snapshot) -> bool| {
        while !is_so(&run.snapshot()) {
            assert!(!run.wait(Duration::from_millis(20)).unwrap(), "the run has ended");
        }
    };
    run.hold_starts(true);
    wait_until(&|seen| seen.seconds >= 2.0);
    assert!(run.snapshot().users < 3, "the last user was to start after 0.6 s");
    run.hold_starts(false);
    wait_until(&|seen| seen.users == 3);
    run.stop();
    while !run.wait(Duration::from_secs(1)).unwrap() {}
}
