//! Lines that misbehave: the host continues, loses no characters of other lines, and counts how each line ended.

use std::time::Duration;

use crate::user::{User, front, in_virtual_time};
use cuesta_lines::{Disconnection, Faults, Faulty, Telnet, loopback};
use cuesta_record::clock;

async fn a_while() {
    clock::sleep_until(clock::now() + Duration::from_secs(60)).await;
}

/// Seeded random bytes, including telnet commands and incomplete sequences.
fn garbage(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    };
    (0..len).map(|_| if next() % 4 == 0 { 240 + (next() % 16) as u8 } else { next() as u8 }).collect()
}

#[test]
fn garbage_on_one_line_does_not_harm_the_others() {
    for service in [r#"{"echo":{}}"#, r#"{"transaction":{"reply":40}}"#, r#"{"output":{"rows":3}}"#] {
        let spec = format!(r#"{{"service":{service},"delay":"3ms","service_time":"exp 1ms","servers":2}}"#);
        let meters = in_virtual_time(async move {
            let front = front(&spec);
            for seed in 0..30 {
                let (line, served) = loopback::pair(300);
                let mut user = User::on(line, Telnet::host(served), &front);
                tokio::task::spawn_local(async move {
                    for piece in garbage(seed, 5000).chunks(1 + seed as usize * 7) {
                        // The host stops reading at too much unread output; what it read by then is enough.
                        let gone = clock::sleep_until(clock::now() + Duration::from_millis(seed));
                        if user.send_or(piece, gone).await.is_err() {
                            return;
                        }
                    }
                });
            }
            a_while().await;
            front.meters()
        });
        assert_eq!(meters["lines"]["closes"], serde_json::json!({"closed": 30}), "{meters}");
        assert_eq!((&meters["pool"]["used"], &meters["lines"]["connected"]), (&0.into(), &0.into()));
    }
}

#[test]
fn a_line_may_end_at_any_moment() {
    for (ending, name) in [(Disconnection::Close, "closed"), (Disconnection::Reset, "reset")] {
        for service in [r#"{"echo":{}}"#, r#"{"transaction":{"reply":10000}}"#] {
            let spec = format!(r#"{{"service":{service},"delay":"1ms"}}"#);
            let meters = in_virtual_time(async move {
                let front = front(&spec);
                for at in 0..40 {
                    let (line, served) = loopback::pair(64);
                    let faults = Faults { end: Some((at, ending)), ..Faults::default() };
                    let mut user = User::on(line, Faulty::new(served, faults), &front);
                    tokio::task::spawn_local(async move {
                        let _ = user.send(&b"row\r".repeat(20)).await;
                        let _ = user.receive_all().await;
                    });
                }
                a_while().await;
                front.meters()
            });
            assert_eq!(meters["lines"]["closes"], serde_json::json!({name: 40}), "{service}: {meters}");
            assert_eq!(meters["pool"]["used"], 0);
        }
    }
}
