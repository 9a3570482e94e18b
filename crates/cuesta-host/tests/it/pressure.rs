//! Users who do not read: memory is bounded, other lines continue, nothing is lost.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use crate::user::{User, front, in_virtual_time};
use cuesta_host::FrontEnd;
use cuesta_lines::loopback;
use cuesta_record::clock;
use tokio::task;

/// Characters that a line may hold even if the pool is empty.
const OWN: u64 = 64;

fn used(front: &FrontEnd) -> u64 {
    front.meters()["pool"]["used"].as_u64().expect("a number")
}

async fn a_while() {
    clock::sleep_until(clock::now() + Duration::from_secs(1)).await;
}

#[test]
fn unread_output_is_bounded_by_pool_and_share() {
    in_virtual_time(async {
        let front = front(r#"{"service":{"output":{"rows":1000}},"pool":20000}"#);
        let deaf: Vec<User> = (0..500).map(|_| User::at(&front)).collect();
        a_while().await;
        let meters = front.meters();
        assert!(used(&front) <= 20_000 + 500 * OWN, "{meters}");
        assert_eq!(meters["pool"]["least_free"], 0);
        assert!(meters["pool"]["overflows"].as_u64().unwrap() >= 490, "{meters}");
        assert_eq!((&meters["output_blocks"]["count"], &meters["lines"]["blocked"]), (&500.into(), &500.into()));
        drop(deaf);
        a_while().await;
        let lines = &front.meters()["lines"];
        assert_eq!((used(&front), &lines["connected"], &lines["blocked"]), (0, &0.into(), &0.into()));
    });
}

#[test]
fn reading_lines_continue_when_others_hold_the_whole_pool() {
    in_virtual_time(async {
        let front = front(r#"{"service":{"transaction":{"reply":9000}},"pool":8192}"#);
        let mut deaf = Vec::new();
        for _ in 0..50 {
            let mut user = User::at(&front);
            user.send(b"x\r").await.unwrap();
            deaf.push(user);
        }
        a_while().await;
        assert_eq!(front.meters()["pool"]["free"], 0);

        let mut reader = User::at(&front);
        reader.receive(2).await.unwrap();
        for _ in 0..3 {
            reader.send(b"typed\r").await.unwrap();
            assert_eq!(reader.receive(7).await.unwrap(), b"typed\r\n");
            assert!(reader.receive(9000).await.unwrap().ends_with(b"\r\n> "));
        }
        // The output of the lines that did not read is not lost.
        for mut user in deaf {
            let text = user.receive(2 + 3 + 9000).await.unwrap();
            assert!(text.starts_with(b"> x\r\n") && text.ends_with(b"\r\n> "));
        }
        a_while().await;
        assert_eq!(used(&front), 0);
    });
}

#[test]
fn a_pool_pared_to_a_minimum_delays_output_and_loses_none() {
    const LINES: u64 = 96;
    const REPLY: usize = 2000;
    let service = format!(r#""service":{{"transaction":{{"reply":{REPLY}}}}}"#);
    // What a line says that has all the room that it wants.
    let whole = {
        let spec = format!("{{{service}}}");
        in_virtual_time(async move {
            let mut user = User::at(&front(&spec));
            user.send(b"list\r").await.unwrap();
            user.receive(2 + 6 + REPLY).await.unwrap()
        })
    };
    in_virtual_time(async move {
        let front = front(&format!(r#"{{{service},"pool":{OWN}}}"#));
        let mut users = Vec::new();
        for _ in 0..LINES {
            // The line itself holds little, so that the host has to.
            let (line, served) = loopback::pair(16);
            let mut user = User::on(line, served, &front);
            user.send(b"list\r").await.unwrap();
            users.push(user);
        }
        let bound = 1..=OWN + LINES * OWN;
        for _ in 0..60 {
            a_while().await;
            assert!(bound.contains(&used(&front)), "{} characters wait", used(&front));
        }
        let meters = front.meters();
        assert_eq!((&meters["lines"]["blocked"], &meters["pool"]["free"]), (&LINES.into(), &0.into()), "{meters}");
        assert!(meters["output_blocks"]["count"].as_u64().unwrap() >= LINES, "{meters}");
        assert!(meters["pool"]["overflows"].as_u64().unwrap() >= LINES - 1, "{meters}");
        assert_eq!(meters["messages"], serde_json::json!({"in": LINES, "out": 0}));

        // Then all read, and the pool fills and empties many times.
        let most = Rc::new(Cell::new(0));
        task::spawn_local(watch(Rc::clone(&front), Rc::clone(&most)));
        let readers: Vec<_> = users
            .into_iter()
            .map(|mut user| {
                task::spawn_local(async move {
                    let mut text = Vec::new();
                    for _ in 0..(2 + 6 + REPLY) / 8 {
                        text.extend(user.receive(8).await.unwrap());
                        clock::sleep_until(clock::now() + Duration::from_millis(1)).await;
                    }
                    (user, text)
                })
            })
            .collect();
        for reader in readers {
            let (_user, text) = reader.await.unwrap();
            assert!(text == whole, "{}", String::from_utf8_lossy(&text));
        }
        let meters = front.meters();
        assert_eq!(meters["messages"], serde_json::json!({"in": LINES, "out": LINES}));
        assert_eq!(meters["characters"]["out"], LINES * (2 + REPLY as u64));
        assert!(meters["output_blocks"]["count"].as_u64().unwrap() > 10 * LINES, "{meters}");
        assert!(bound.contains(&most.get()), "{} characters waited", most.get());
    });
}

/// Keeps the most characters that ever waited. Lines are read each millisecond, so that looking ten times as often sees all.
async fn watch(front: Rc<FrontEnd>, most: Rc<Cell<u64>>) {
    loop {
        most.set(most.get().max(used(&front)));
        clock::sleep_until(clock::now() + Duration::from_micros(100)).await;
    }
}

#[test]
fn a_flood_without_reading_stops_at_the_lines_limit() {
    let (sent, back) = in_virtual_time(async {
        let front = front(r#"{"service":{"echo":{}},"pool":4096}"#);
        let (line, served) = loopback::pair(1000);
        let mut user = User::on(line, served, &front);
        let sent = Rc::new(Cell::new(0_u64));
        let flooding = Rc::clone(&sent);
        task::spawn_local(async move {
            while user.send(b"f").await.is_ok() {
                flooding.set(flooding.get() + 1);
            }
        });
        a_while().await;
        let meters = front.meters();
        (sent.get(), meters["characters"]["out"].as_u64().unwrap())
    });
    assert!(sent < 1000 + 512 + 64 + 4096 + 1000 + 1, "{sent}");
    assert!(back <= 4096 + 1000, "{back}");
}

#[test]
fn a_listing_comes_whole_at_any_pace() {
    in_virtual_time(async {
        let front = front(r#"{"service":{"output":{"rows":50}},"pool":64}"#);
        let (line, served) = loopback::pair(7);
        let mut slow = User::on(line, served, &front);
        let first = slow.receive(50 * 74).await.unwrap();
        let second = slow.receive(50 * 74).await.unwrap();
        assert!(first == second && first.ends_with(b"\r\n"));
        assert!(front.meters()["messages"]["out"].as_u64().unwrap() >= 1);
    });
}

#[test]
fn a_listing_may_wait_for_a_row() {
    in_virtual_time(async {
        let front = front(r#"{"service":{"output":{"rows":2,"start":"input"}}}"#);
        let mut user = User::at(&front);
        a_while().await;
        assert_eq!(front.meters()["characters"]["out"], 0);
        user.send(b"list\r").await.unwrap();
        assert!(user.receive(6 + 74).await.unwrap().starts_with(b"list\r\n000000  "));
    });
}
