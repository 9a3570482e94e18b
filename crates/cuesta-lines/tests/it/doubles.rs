//! Lines for tests: loopback, faulty and tap.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::task::{Context, Waker};
use std::time::Duration;

use cuesta_lines::{
    Direction, Disconnection, Enter, Faults, Faulty, Line, Options, Tap, Telnet, failure_of, loopback, receive, send,
};
use cuesta_record::{Failure, clock};
use tokio::task::spawn_local;

fn in_virtual_time<T: 'static>(future: impl Future<Output = T> + 'static) -> T {
    clock::run(clock::Time::Virtual, future).expect("a runtime")
}

async fn receive_all(line: &mut impl Line) -> io::Result<Vec<u8>> {
    let mut buffer = [0; 64];
    let mut all = Vec::new();
    loop {
        let received = receive(line, &mut buffer).await?;
        if received.len == 0 {
            return Ok(all);
        }
        all.extend_from_slice(&buffer[..received.len]);
    }
}

#[test]
fn a_full_loopback_line_holds_the_writer_and_loses_nothing() {
    in_virtual_time(async {
        let (mut near, mut far) = loopback::pair(3);
        let text: Vec<u8> = (0..=255).collect();
        let sent = text.clone();
        let sender = spawn_local(async move {
            send(&mut near, &sent).await.unwrap();
            near.traffic()
        });
        assert_eq!(receive_all(&mut far).await.unwrap(), text);
        assert_eq!((sender.await.unwrap().sent, far.traffic().received), (256, 256));
    });
}

#[test]
fn dropping_one_end_closes_the_other() {
    in_virtual_time(async {
        let (mut near, mut far) = loopback::pair(2);
        send(&mut near, b"ab").await.unwrap();
        let waiting = spawn_local(async move { (send(&mut far, b"abc").await, receive_all(&mut far).await) });
        clock::sleep_until(clock::now() + Duration::from_secs(1)).await;
        drop(near);
        let (sent, received) = waiting.await.unwrap();
        assert_eq!(failure_of(&sent.unwrap_err()), Failure::Closed);
        assert_eq!(received.unwrap(), b"ab");
    });
}

#[test]
fn a_line_is_cut_both_ways_at_its_instant() {
    for (ending, fault) in [(Disconnection::Close, Failure::Closed), (Disconnection::Reset, Failure::Reset)] {
        in_virtual_time(async move {
            let (line, mut far) = loopback::pair(64);
            let at = clock::now() + Duration::from_secs(1);
            let mut line = Faulty::new(line, Faults { cut: Some((at, ending)), ..Faults::default() });
            send(&mut far, b"before").await.unwrap();
            assert_eq!(receive(&mut line, &mut [0; 64]).await.unwrap().len, 6);
            // Nothing else wakes the reader.
            match receive(&mut line, &mut [0; 64]).await {
                Ok(received) => assert_eq!((received.len, ending), (0, Disconnection::Close)),
                Err(error) => assert_eq!(failure_of(&error), fault),
            }
            assert_eq!(clock::now(), at);
            send(&mut far, b"after").await.unwrap();
            assert!(!matches!(receive(&mut line, &mut [0; 64]).await, Ok(received) if received.len > 0));
            assert_eq!(failure_of(&send(&mut line, b"x").await.unwrap_err()), fault);
        });
    }
}

/// The part of `text` that a faulty line delivers, and the time that it takes.
fn through(faults: Faults, text: &'static [u8]) -> (io::Result<Vec<u8>>, Duration) {
    in_virtual_time(async move {
        let (mut near, far) = loopback::pair(4096);
        send(&mut near, text).await.expect("room");
        drop(near);
        let start = clock::now();
        let all = receive_all(&mut Faulty::new(far, faults)).await;
        (all, clock::now().since(start))
    })
}

#[test]
fn garbled_and_lost_characters_are_the_same_with_the_same_seed() {
    const TEXT: &[u8] = &[b'x'; 4000];
    let garbled = |seed| through(Faults { seed, garble: 0.1, ..Faults::default() }, TEXT).0.unwrap();
    let lost = |seed| through(Faults { seed, lose: 0.1, ..Faults::default() }, TEXT).0.unwrap();
    assert_eq!((garbled(1), lost(1)), (garbled(1), lost(1)));
    assert_ne!(garbled(1), garbled(2));
    let wrong = garbled(1).iter().filter(|character| **character != b'x').count();
    assert!((300..500).contains(&wrong), "{wrong} of 4000 were garbled");
    assert!((3500..3700).contains(&lost(1).len()), "{} of 4000 arrived", lost(1).len());
}

#[test]
fn delay_and_stall() {
    let delay = Duration::from_millis(7);
    let (all, took) = through(Faults { delay, ..Faults::default() }, b"abc");
    assert_eq!((all.unwrap(), took), (b"abc".to_vec(), delay));
    let stall = Some((2, Duration::from_secs(3)));
    let (all, took) = through(Faults { delay, stall, ..Faults::default() }, b"abc");
    assert_eq!((all.unwrap(), took), (b"abc".to_vec(), delay + Duration::from_secs(3)));
}

#[test]
fn ends() {
    let close = Faults { end: Some((2, Disconnection::Close)), ..Faults::default() };
    assert_eq!(through(close, b"abc").0.unwrap(), b"ab");
    let reset = Faults { end: Some((2, Disconnection::Reset)), ..Faults::default() };
    assert_eq!(failure_of(&through(reset, b"abc").0.unwrap_err()), Failure::Reset);
}

#[test]
fn a_deaf_line_accepts_no_input() {
    in_virtual_time(async {
        let (near, _far) = loopback::pair(64);
        let mut near = Faulty::new(near, Faults { deaf: true, ..Faults::default() });
        let mut cx = Context::from_waker(Waker::noop());
        assert!(near.poll_send(&mut cx, b"a").is_pending());
        assert_eq!(near.traffic().sent, 0);
    });
}

/// Both ends of a telnet line that delivers every character alone.
fn telnet_pair() -> (Telnet<impl Line>, Telnet<impl Line>) {
    let (near, far) = loopback::pair(16);
    let [near, far] = [near, far].map(|line| Faulty::new(line, Faults { fragment: true, ..Faults::default() }));
    let options = Options { columns: 132, rows: 43, terminal: "VT100".to_owned(), ..Options::default() };
    (Telnet::terminal(near, &options, Enter::default()), Telnet::host(far))
}

#[test]
fn telnet_negotiates_a_character_at_a_time() {
    in_virtual_time(async {
        let (mut terminal, mut host) = telnet_pair();
        let served = spawn_local(async move {
            let mut buffer = [0; 64];
            let mut typed = Vec::new();
            for _ in 0..20 {
                send(&mut host, b">").await.unwrap();
                let received = receive(&mut host, &mut buffer).await.unwrap();
                typed.extend_from_slice(&buffer[..received.len]);
            }
            send(&mut host, b"answer\xff\r\n\rprompt\r").await.unwrap();
            let terminal = host.terminal().unwrap();
            (typed, terminal.window(), terminal.name().map(str::to_owned))
        });
        for key in b"twenty characters \xff\r" {
            assert_eq!(receive(&mut terminal, &mut [0; 64]).await.unwrap().len, 1);
            send(&mut terminal, &[*key]).await.unwrap();
        }
        assert_eq!(receive_all(&mut terminal).await.unwrap(), b"answer\xff\r\n\rprompt\r");
        let (typed, window, name) = served.await.unwrap();
        assert_eq!(typed, b"twenty characters \xff\r");
        assert_eq!((window, name.as_deref()), (Some((132, 43)), Some("vt100")));
    });
}

#[test]
fn input_received_before_a_fault_is_still_read() {
    in_virtual_time(async {
        let (near, mut far) = loopback::pair(64);
        // A query that can no longer be answered, and text.
        send(&mut far, b"\xff\xfd\x18bye").await.unwrap();
        drop(far);
        let mut terminal = Telnet::terminal(near, &Options::default(), Enter::default());
        assert_eq!(receive_all(&mut terminal).await.unwrap(), b"bye");
    });
}

#[test]
fn a_tap_shows_both_directions() {
    in_virtual_time(async {
        let (near, mut far) = loopback::pair(64);
        let seen = Rc::new(RefCell::new(Vec::new()));
        let sink = Rc::clone(&seen);
        let mut near = Tap::new(near, move |passed: cuesta_lines::TapEvent<'_>| {
            sink.borrow_mut().push((passed.direction, passed.at, passed.bytes.to_vec()));
        });
        let start = clock::now();
        send(&mut near, b"question").await.unwrap();
        let later = start + Duration::from_secs(1);
        clock::sleep_until(later).await;
        send(&mut far, b"answer").await.unwrap();
        drop(far);
        receive_all(&mut near).await.unwrap();
        let expected = [
            (Direction::Sent, start, b"question".to_vec()),
            (Direction::Received, later, b"answer".to_vec()),
            (Direction::Received, later, vec![]),
        ];
        assert_eq!(*seen.borrow(), expected);
    });
}
