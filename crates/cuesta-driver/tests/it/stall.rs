//! The host stalls for 1.4 s while 400 typists continue at 5 keys a second for 30 s. A driver that measures from the instant of
//! sending hides the stall (coordinated omission; see Gil Tene's demonstration in wrk2). Closed form: p99 of `done − due` =
//! 1.4 s − 1 % of 30 s = 1.10 s.
#![allow(clippy::float_cmp)] // Counts, and instants of a virtual clock, are exact.

use crate::harness::{LEFT_OUT, close, play, play_over, spec};
use cuesta_lines::{Line, RateLimited};
use serde_json::json;

fn stalled(tape: &str) -> crate::harness::RunRecords {
    let load = json!({"load": {"load": {"kind": "paced", "cycle": 200_000_000}, "key_rate": 0.0}});
    let host = json!({"service": {"echo": {}}, "input": "raw", "delay": "3ms", "stall": {"at": "20s", "for": "1.4s"}});
    play(spec(400, 5.0, 30.0, &load), tape, &host)
}

#[test]
fn typists_who_wait_see_the_stall_from_due_and_not_from_sent() {
    let played = stalled("Set TypingSpeed 0ms\nType \"a\"\nWait+Echo@10s\n");
    assert_eq!(played.sum("transactions"), 400.0 * 150.0);
    close("p99 of done − due", played.quantile("g/t/response", 0.99), 1.10, 0.05);
    close("p99 of done − sent", played.quantile("g/t/response_from_sent", 0.99), 0.003, 0.05);
    close("the largest", played.quantile("g/t/response_from_sent", 1.0), 1.403, 0.01);
    // The host held the users back; the driver was never late.
    assert_eq!(played.quantile("g/keys/lateness", 1.0), 0.0);
}

#[test]
fn typists_who_type_ahead_see_the_stall_in_both() {
    let played = stalled("Set TypingSpeed 0ms\nSet Echo timed\nType \"a\"\n");
    assert_eq!(played.histogram("g/keys/echo").len(), 400 * 150);
    close("p99 of done − due", played.quantile("g/keys/echo", 0.99), 1.10, 0.05);
    close("p99 of done − sent", played.quantile("g/keys/echo_from_sent", 0.99), 1.10, 0.05);
    assert_eq!(played.sum(LEFT_OUT), 0.0);
}

#[test]
fn a_line_with_a_speed_hides_nothing_of_the_stall() {
    let load = json!({"load": {"load": {"kind": "paced", "cycle": 200_000_000}}});
    let host = json!({"service": {"echo": {}}, "input": "raw", "delay": "3ms", "stall": {"at": "20s", "for": "1.4s"}});
    let tape = "Set TypingSpeed 0ms\nType \"a\"\nWait+Echo@10s\n";
    let paced = |line, _| -> Box<dyn Line> { Box::new(RateLimited::new(line, 9600)) };
    let played = play_over(spec(40, 5.0, 30.0, &load), tape, &host, paced);
    close("p99 of done − due", played.quantile("g/t/response", 0.99), 1.10, 0.05);
    close("p99 of done − sent", played.quantile("g/t/response_from_sent", 0.99), 0.003 + 2.0 / 960.0, 0.05);
    assert_eq!(played.quantile("g/keys/lateness", 1.0), 0.0);
}
