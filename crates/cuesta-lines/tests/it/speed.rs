//! Lines with a speed, in virtual time.

use std::future::poll_fn;
use std::time::Duration;

use cuesta_lines::{Line, RateLimited, loopback, receive, send};
use cuesta_record::{Stamp, clock};
use tokio::task::spawn_local;

const SPEEDS: [u32; 5] = [300, 1200, 4800, 9600, 115_200];

/// The time of `characters` at `speed`: ten bits each.
fn line_time(characters: usize, speed: u32) -> f64 {
    characters as f64 * 10.0 / f64::from(speed)
}

fn assert_within_2_percent(seconds: f64, expected: f64, what: &str) {
    assert!((seconds / expected - 1.0).abs() < 0.02, "{what}: {seconds} s, expected {expected} s");
}

/// Receives until the other end closes, and returns each character with its instant.
async fn receive_all(line: &mut impl Line) -> Vec<(Stamp, u8)> {
    let mut buffer = [0; 4096];
    let mut all = Vec::new();
    loop {
        let received = receive(line, &mut buffer).await.expect("no fault");
        if received.len == 0 {
            return all;
        }
        all.extend((0..received.len).map(|index| (received.at_character(index), buffer[index])));
    }
}

#[test]
fn output_arrives_at_the_line_speed() {
    for speed in SPEEDS {
        let all = clock::run(clock::Time::Virtual, async move {
            let start = clock::now();
            let (near, mut far) = loopback::pair(64);
            spawn_local(async move { send(&mut far, &[b'x'; 1000]).await });
            let all = receive_all(&mut RateLimited::new(near, speed)).await;
            all.into_iter().map(|(at, _)| at.since(start).as_secs_f64()).collect::<Vec<_>>()
        })
        .unwrap();
        assert_eq!(all.len(), 1000);
        for (index, at) in all.iter().enumerate() {
            assert_within_2_percent(*at, line_time(index + 1, speed), "a character's instant");
        }
    }
}

#[test]
fn the_host_waits_for_the_queue() {
    clock::run(clock::Time::Virtual, async {
        let start = clock::now();
        let (near, mut far) = loopback::pair(1);
        let sent = spawn_local(async move {
            send(&mut far, &[b'x'; 480]).await.unwrap();
            clock::now()
        });
        receive_all(&mut RateLimited::new(near, 4800)).await;
        let took = sent.await.unwrap().since(start).as_secs_f64();
        // The line may be ahead by its lead, and one character is in transit.
        assert!((0.98..=1.0).contains(&took), "the last of one second's characters was sent after {took} s");
    })
    .unwrap();
}

#[test]
fn a_pause_neither_costs_nor_saves_line_time() {
    clock::run(clock::Time::Virtual, async {
        let (near, mut far) = loopback::pair(64);
        let start = clock::now();
        spawn_local(async move {
            for _ in 0..3 {
                send(&mut far, b"ab").await.unwrap();
                clock::sleep_until(clock::now() + Duration::from_secs(1)).await;
            }
        });
        let all = receive_all(&mut RateLimited::new(near, 1000)).await;
        let millis: Vec<u128> = all.iter().map(|(at, _)| at.since(start).as_millis()).collect();
        assert_eq!(millis, [10, 20, 1010, 1020, 2010, 2020]);
    })
    .unwrap();
}

#[test]
fn input_is_sent_at_the_line_speed() {
    for speed in SPEEDS {
        let all = clock::run(clock::Time::Virtual, async move {
            let start = clock::now();
            let (near, mut far) = loopback::pair(64);
            let mut near = RateLimited::new(near, speed);
            spawn_local(async move {
                send(&mut near, &[b'x'; 1000]).await.unwrap();
                let done = near.pace().unwrap().free_at();
                drain(&mut near, done).await;
            });
            let all = receive_all(&mut far).await;
            all.into_iter().map(|(at, _)| at.since(start).as_secs_f64()).collect::<Vec<_>>()
        })
        .unwrap();
        assert_eq!(all.len(), 1000);
        for (index, at) in all.iter().enumerate() {
            assert_within_2_percent(*at, line_time(index + 1, speed), "a character's instant");
        }
    }
}

/// Receives until shortly after `until`, as users do; polling also advances the sending side.
async fn drain(line: &mut impl Line, until: Stamp) {
    let mut buffer = [0; 64];
    let mut wait = Box::pin(clock::sleep_until(until + Duration::from_millis(1)));
    poll_fn(|cx| {
        let _ = line.poll_receive(cx, &mut buffer);
        wait.as_mut().poll(cx)
    })
    .await;
}

#[test]
fn a_key_arrives_when_its_last_bit_does() {
    clock::run(clock::Time::Virtual, async {
        let start = clock::now();
        let (near, mut far) = loopback::pair(64);
        let mut near = RateLimited::new(near, 1000);
        assert_eq!(near.pace().unwrap().free_at(), Stamp::ZERO);
        spawn_local(async move {
            send(&mut near, b"a").await.unwrap();
            assert_eq!(near.pace().unwrap().free_at(), start + Duration::from_millis(10));
            // Typed while the first key is still in transit.
            drain(&mut near, start + Duration::from_millis(4)).await;
            send(&mut near, b"b").await.unwrap();
            assert_eq!(near.pace().unwrap().free_at(), start + Duration::from_millis(20));
            drain(&mut near, start + Duration::from_millis(99)).await;
            send(&mut near, b"c").await.unwrap();
            drain(&mut near, start + Duration::from_millis(200)).await;
        });
        let all = receive_all(&mut far).await;
        let millis: Vec<_> = all.iter().map(|(at, key)| (at.since(start).as_millis(), *key)).collect();
        assert_eq!(millis, [(10, b'a'), (20, b'b'), (110, b'c')]);
    })
    .unwrap();
}

#[test]
fn the_two_directions_do_not_slow_each_other() {
    for speed in SPEEDS {
        let (sent, received) = clock::run(clock::Time::Virtual, async move {
            let start = clock::now();
            let (near, far) = loopback::pair(16);
            let ends = [RateLimited::new(near, speed), RateLimited::new(far, speed)]
                .map(|end| spawn_local(exchange(end, 500)));
            let mut times = Vec::new();
            for end in ends {
                times.push(end.await.unwrap().since(start).as_secs_f64());
            }
            (times[0], times[1])
        })
        .unwrap();
        // Both ends are paced: a character passes the sender's, then the receiver's.
        assert_within_2_percent(sent, line_time(501, speed), "one way");
        assert_within_2_percent(received, line_time(501, speed), "the other way");
    }
}

/// Sends and receives `count` characters, and returns the instant of the last one received.
async fn exchange(mut line: impl Line, count: usize) -> Stamp {
    let (mut to_send, mut got, mut last) = (count, 0, Stamp::ZERO);
    let mut buffer = [0; 256];
    poll_fn(|cx| {
        while to_send > 0 {
            match line.poll_send(cx, &buffer[..to_send.min(100)]) {
                std::task::Poll::Ready(len) => to_send -= len.expect("no fault"),
                std::task::Poll::Pending => break,
            }
        }
        while got < count {
            let received = std::task::ready!(line.poll_receive(cx, &mut buffer)).expect("no fault");
            assert!(received.len > 0, "the other end closed after {got}");
            got += received.len;
            last = received.at_character(received.len - 1);
        }
        std::task::Poll::Ready(())
    })
    .await;
    drain(&mut line, last.max(clock::now()) + Duration::from_secs(1)).await;
    last
}

#[test]
fn the_pacer_does_not_wake_for_each_character() {
    clock::run(clock::Time::Virtual, async {
        let (near, mut far) = loopback::pair(4096);
        send(&mut far, &[b'x'; 960]).await.unwrap();
        drop(far);
        let mut near = RateLimited::new(near, 9600);
        let mut polls = 0;
        let mut buffer = [0; 4096];
        let mut got = 0;
        while got < 960 {
            got += poll_fn(|cx| {
                polls += 1;
                near.poll_receive(cx, &mut buffer)
            })
            .await
            .unwrap()
            .len;
        }
        assert!(polls <= 2 * 20 + 2, "one second's characters took {polls} polls");
    })
    .unwrap();
}

#[test]
fn unread_output_is_not_lost() {
    clock::run(clock::Time::Virtual, async {
        let (near, mut far) = loopback::pair(4);
        let mut near = RateLimited::new(near, 9600);
        let text: Vec<u8> = (0..200).collect();
        let sent = text.clone();
        spawn_local(async move {
            send(&mut near, &sent).await.unwrap();
            drain(&mut near, clock::now() + Duration::from_secs(60)).await;
        });
        clock::sleep_until(clock::now() + Duration::from_secs(10)).await;
        let all: Vec<u8> = receive_all(&mut far).await.into_iter().map(|(_, character)| character).collect();
        assert_eq!(all, text);
    })
    .unwrap();
}

#[test]
fn a_sender_late_for_each_character_keeps_the_line_speed() {
    for speed in SPEEDS {
        let all = clock::run(clock::Time::Virtual, async move {
            let start = clock::now();
            let (near, mut far) = loopback::pair(64);
            let mut near = RateLimited::new(near, speed);
            spawn_local(async move {
                for _ in 0..500 {
                    let begin = near.pace().unwrap().free_at().max(start);
                    drain(&mut near, begin).await; // a millisecond late
                    near.pace().unwrap().begin_next_at(begin);
                    send(&mut near, b"x").await.unwrap();
                }
                let done = near.pace().unwrap().free_at();
                drain(&mut near, done).await;
            });
            let all = receive_all(&mut far).await;
            all.last().unwrap().0.since(start).as_secs_f64()
        })
        .unwrap();
        // Each is sent at most one millisecond late; delays do not accumulate.
        let late = all - line_time(500, speed);
        assert!((-1e-6..0.0011).contains(&late), "{speed} baud: {late} s late");
    }
}

#[test]
fn being_late_gains_no_line_time() {
    clock::run(clock::Time::Virtual, async {
        let start = clock::now();
        let (near, mut far) = loopback::pair(64);
        let mut near = RateLimited::new(near, 1000);
        spawn_local(async move {
            near.pace().unwrap().begin_next_at(start + Duration::from_secs(5)); // an instant in the future counts as now
            send(&mut near, b"a").await.unwrap();
            near.pace().unwrap().begin_next_at(start);
            send(&mut near, b"b").await.unwrap();
            drain(&mut near, start + Duration::from_millis(99)).await;
        });
        let all = receive_all(&mut far).await;
        let millis: Vec<_> = all.iter().map(|(at, key)| (at.since(start).as_millis(), *key)).collect();
        assert_eq!(millis, [(10, b'a'), (20, b'b')]);
    })
    .unwrap();
}
