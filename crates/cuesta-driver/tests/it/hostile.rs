//! Hosts that misbehave: each failure is counted under its own name, other users continue, and no run hangs.
#![allow(clippy::float_cmp)] // Counts, and instants of a virtual clock, are exact.
#![allow(clippy::unwrap_used)] // A failed unwrap fails the test.

use std::time::Duration;

use crate::harness::{RunRecords, play, play_over, spec};
use cuesta_lines::{Enter, Options, RateLimited, Telnet, loopback};
use cuesta_record::clock;
use serde_json::{Value, json};

const TAPE: &str = "Set TypingSpeed 0ms\nType \"ls\"\nEnter\nWait+Bytes@2s 20\nThink 1s\n";

fn host() -> Value {
    json!({"service": {"transaction": {"reply": 20}}, "echo": false})
}

/// Runs against a host that sends `bytes` over telnet on each line and closes it.
fn play_telnet_bytes(bytes: &'static [u8]) -> RunRecords {
    play_over(spec(2, 0.0, 9.0, &json!({})), TAPE, &host(), move |_, _| {
        let (near, mut far) = loopback::pair(4096);
        tokio::task::spawn_local(async move { cuesta_lines::send(&mut far, bytes).await });
        Box::new(Telnet::terminal(near, &Options::default(), Enter::default()))
    })
}

#[test]
fn an_incomplete_telnet_sequence_has_its_own_error_name() {
    let named = |bytes| play_telnet_bytes(bytes).errors().into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(named(b"whole\xff\xf1"), ["closed"]);
    for half in [&b"x\xff"[..], b"\xff\xfd", b"\xff\xfa\x18\x01", b"\xff\xfa\x18\x01\xff"] {
        assert_eq!(named(half), ["half-sequence"], "{half:?}");
    }
}

#[test]
fn invalid_window_sizes_of_a_peer_are_counted_or_ignored() {
    // A NAWS message with four bytes for each side instead of RFC 1073's two; then one longer than the limit.
    let absurd = b"\xff\xfd\x1f\xff\xfa\x1f\xff\xff\xff\xff\xff\xff\xff\xff\xff\xf0";
    let errors_of = |bytes: &[u8]| {
        let bytes: &'static [u8] = Box::leak(bytes.to_vec().into_boxed_slice());
        play_telnet_bytes(bytes).errors().into_iter().collect::<std::collections::BTreeMap<_, _>>()
    };
    assert_eq!(errors_of(absurd).into_keys().collect::<Vec<_>>(), ["closed"], "a well-framed message is ignored");
    let long = [&b"\xff\xfa\x1f"[..], &[b'9'; 3000], b"\xff\xf0"].concat();
    let errors = errors_of(&long);
    assert_eq!(errors["dropped-sequence"], errors["closed"], "{errors:?}");
}

#[test]
fn a_line_lost_after_the_measurement_is_no_error() {
    let lost_after = |seconds| {
        let (spec, tape) =
            (spec(2, 0.0, 9.0, &json!({"spec": {"drain": 2_000_000_000}})), "Enter\nWait+Bytes@10m 20\n");
        let played = play_over(spec, tape, &host(), move |_, _| {
            let (near, far) = loopback::pair(4096);
            tokio::task::spawn_local(async move {
                clock::sleep_until(clock::now() + Duration::from_secs(seconds)).await;
                drop(far);
            });
            Box::new(near)
        });
        played.errors()
    };
    assert_eq!(lost_after(8), [("closed".to_owned(), 2)]);
    assert_eq!(lost_after(9), []);
}

#[test]
fn a_flood_keeps_no_other_user_from_typing() {
    // In virtual time a line without a speed would carry endless output in no time, so this one has 1 Mbit/s.
    let flood = json!({"service": {"output": {"rows": 1000}}, "echo": false});
    let tape = "Type \"x\"\nWait+Bytes 100\n";
    let played =
        play_over(spec(5, 0.0, 1.0, &json!({})), tape, &flood, |line, _| Box::new(RateLimited::new(line, 1_000_000)));
    assert!(played.sum("keys") > 5.0);
    assert!(played.sum("characters/out") > 1000.0);
}

#[test]
fn a_wrong_echo_is_found_with_an_echo_map() {
    let tape = "Set TypingSpeed 100ms\nSet EchoMap \"a0\"\nType \"a\"\nWait+Echo\n";
    let right = json!({"service": {"echo": {}}, "input": "raw", "echo_map": "a0"});
    let wrong = json!({"service": {"echo": {}}, "input": "raw", "echo_map": "a1"});
    assert!(play(spec(2, 0.0, 10.0, &json!({})), tape, &right).errors().is_empty());
    let played = play(spec(2, 0.0, 10.0, &json!({})), tape, &wrong);
    assert_eq!(played.errors()[0].0, "wrong-echo");
    assert!(played.sum("stray") > 100.0);
}
