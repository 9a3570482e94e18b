//! The exact output of a host and its instants, in virtual time.

use std::time::Duration;

use crate::user::{User, front, in_virtual_time};
use cuesta_record::{Stamp, clock};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

async fn at(due: Stamp) {
    clock::sleep_until(due).await;
}

#[test]
fn a_delay_is_exact() {
    for millis in [1, 5, 20, 100] {
        let (echo, answer) = in_virtual_time(async move {
            let mut user = User::at(&front(&format!(r#"{{"service":{{"echo":{{}}}},"delay":"{millis}ms"}}"#)));
            let sent = clock::now();
            user.send(b"x").await.unwrap();
            user.receive(1).await.unwrap();
            let echo = clock::now().since(sent);

            let spec = format!(r#"{{"service":{{"transaction":{{"reply":150}}}},"echo":false,"delay":"{millis}ms"}}"#);
            let mut user = User::at(&front(&spec));
            user.receive(2).await.unwrap();
            let sent = clock::now();
            user.send(b"x\r").await.unwrap();
            user.receive(150).await.unwrap();
            (echo, clock::now().since(sent))
        });
        assert_eq!((echo, answer), (ms(millis), ms(millis)));
    }
}

#[test]
fn each_character_typed_ahead_has_its_own_delay() {
    let came = in_virtual_time(async {
        let mut user = User::at(&front(r#"{"service":{"echo":{}},"delay":"100ms"}"#));
        let start = clock::now();
        for key in 0..20 {
            at(start + ms(7 * key)).await;
            user.send(b"k").await.unwrap();
        }
        let mut came = Vec::new();
        for _ in 0..20 {
            user.receive(1).await.unwrap();
            came.push(clock::now().since(start));
        }
        came
    });
    // The test types until 133 ms before it reads.
    let due: Vec<Duration> = (0..20).map(|key| ms((7 * key + 100).max(133))).collect();
    assert_eq!(came, due);
}

#[test]
fn each_raw_character_is_a_message() {
    in_virtual_time(async {
        let front = front(r#"{"service":{"transaction":{"reply":6}},"input":"raw"}"#);
        let mut user = User::at(&front);
        user.send(b"abc").await.unwrap();
        user.receive(2 + 3 * 6).await.unwrap();
        assert_eq!(front.meters()["messages"], serde_json::json!({"in": 3, "out": 3}));
    });
}

#[test]
fn typing_faster_than_the_host_answers_loses_nothing() {
    let (back, took) = in_virtual_time(async {
        let front = front(r#"{"service":{"echo":{}},"service_time":"fixed 1ms","delay":"1h"}"#);
        let mut user = User::at(&front);
        let start = clock::now();
        let typed: Vec<u8> = (0..4000_u32).map(|n| b'a' + (n % 26) as u8).collect();
        user.send(&typed).await.unwrap();
        (user.receive(4000).await.unwrap() == typed, clock::now().since(start))
    });
    assert!(back && took > Duration::from_secs(3600));
}

#[test]
fn rows_of_one_line_are_served_one_after_the_other() {
    let (came, meters) = in_virtual_time(async {
        let front = front(r#"{"service":{"transaction":{"reply":4}},"service_time":"10ms","servers":4,"delay":"5ms"}"#);
        let mut user = User::at(&front);
        user.receive(2).await.unwrap();
        let start = clock::now();
        user.send(b"one\rtwo\rthree\r").await.unwrap();
        let mut came = Vec::new();
        assert_eq!(user.receive(14 + 3).await.unwrap(), b"one\r\ntwo\r\nthree\r\n");
        assert_eq!(clock::now(), start, "the echo waits for nothing");
        for _ in 0..3 {
            assert_eq!(user.receive(4).await.unwrap(), b"\r\n> ");
            came.push(clock::now().since(start));
        }
        (came, front.meters())
    });
    assert_eq!(came, [ms(15), ms(30), ms(45)]);
    let ahead = serde_json::json!({"messages": 2, "characters": 8, "waited_seconds": 0.015 + 0.03});
    assert_eq!((&meters["read_ahead"], &meters["lines"]["asking"]), (&ahead, &1.into()));
    assert_eq!(meters["messages"], serde_json::json!({"in": 3, "out": 3}));
    assert_eq!(meters["servers"]["busy_seconds"], 0.03);
}

#[test]
fn a_stalled_host_answers_everything_when_the_stall_ends() {
    let came = in_virtual_time(async {
        let front = front(r#"{"service":{"echo":{}},"stall":{"at":"10s","for":"1.4s"},"delay":"20ms"}"#);
        let start = clock::now();
        let mut came = Vec::new();
        for typed in [9_970, 9_990, 10_000, 11_399, 11_400] {
            at(start + ms(typed)).await;
            let mut user = User::at(&front);
            user.send(b"k").await.unwrap();
            came.push(tokio::task::spawn_local(async move {
                user.receive(1).await.unwrap();
                clock::now().since(start)
            }));
        }
        let mut instants = Vec::new();
        for task in came {
            instants.push(task.await.unwrap());
        }
        instants
    });
    // A line that is opened during the stall is served when it ends.
    assert_eq!(came, [ms(9_990), ms(11_400), ms(11_420), ms(11_420), ms(11_420)]);
}

#[test]
fn a_stalled_host_does_not_echo_either() {
    let came = in_virtual_time(async {
        let front = front(r#"{"service":{"transaction":{"reply":4}},"stall":{"at":"1s","for":"1s"}}"#);
        let mut user = User::at(&front);
        let start = clock::now();
        user.receive(2).await.unwrap();
        at(start + ms(1_300)).await;
        user.send(b"k").await.unwrap();
        user.receive(1).await.unwrap();
        clock::now().since(start)
    });
    assert_eq!(came, ms(2_000));
}

#[test]
fn the_echo_service_maps_characters_or_returns_rows() {
    in_virtual_time(async {
        let mut user = User::at(&front(r#"{"service":{"echo":{}},"echo_map":"a0b1"}"#));
        user.send(b"abc\r").await.unwrap();
        assert_eq!(user.receive(4).await.unwrap(), b"01c\r");

        let mut user = User::at(&front(r#"{"service":{"echo":{}},"input":"canonical","echo":true}"#));
        user.send(b"wrong@rite#\\#ht\r").await.unwrap();
        assert_eq!(user.receive(18).await.unwrap(), b"wrong@rite#\\#ht\r\nr");
        assert_eq!(user.receive(7).await.unwrap(), b"it#ht\r\n");
    });
}
