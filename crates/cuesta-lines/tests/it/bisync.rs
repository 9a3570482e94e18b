//! Bisync lines, both ends, in virtual time.

use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use cuesta_lines::wire::bisync::Role;
use cuesta_lines::{Bisync, BisyncTotals, Delivery, Line, Received, Target, Traffic, loopback, receive, send};
use cuesta_record::{Stamp, clock};
use tokio::task::spawn_local;

/// A station at the end of a line, with the settings of a target's query.
fn station(line: impl Line + 'static, role: Role, query: &str) -> Bisync {
    let Ok(Target::Bisync(target)) = format!("bsc://127.0.0.1:1?{query}").parse() else { panic!("{query}") };
    Bisync::new(line, &target, role, 0)
}

/// Two stations, each at one end.
fn pair(query: &str) -> (Bisync, Bisync) {
    let (near, far) = loopback::pair(8192);
    (station(near, Role::Primary, query), station(far, Role::Secondary, query))
}

/// Reads until `len` characters have come.
async fn read(line: &mut impl Line, len: usize) -> String {
    let (mut text, mut buffer) = (Vec::new(), [0; 512]);
    while text.len() < len {
        let received = receive(line, &mut buffer).await.expect("no fault");
        assert!(received.len > 0, "the line ended after {:?}", String::from_utf8_lossy(&text));
        text.extend_from_slice(&buffer[..received.len]);
    }
    String::from_utf8(text).expect("text")
}

/// Serves a line until all that was sent has an outcome.
async fn delivery(line: &mut Bisync) -> Delivery {
    poll_fn(|cx| {
        line.poll_serve(cx);
        match line.delivery() {
            Delivery::Pending => Poll::Pending,
            outcome => Poll::Ready(outcome),
        }
    })
    .await
}

/// What a station has carried: messages sent, received, lost.
fn messages(line: &Bisync) -> (u64, u64, u64) {
    let BisyncTotals { sent, received, not_delivered, in_doubt, .. } = line.totals();
    (sent, received, not_delivered + in_doubt)
}

#[test]
fn rows_pass_both_ways_in_every_code_and_framing() {
    for query in
        ["", "code=ascii", "framing=hercules", "block_size=7", "block_size=50&record_size=9", "transparency=always"]
    {
        clock::run(clock::Time::Virtual, async move {
            let (mut near, mut far) = pair(query);
            let row = format!("{}\x01\x10\x10#~", "The quick brown fox. ".repeat(9));
            let rows = format!("{row}\r\n{row}\r\n\r\n");
            let (typed, wanted) = (format!("{row}\r{row}\r\r"), rows.clone());
            let far_end = spawn_local(async move {
                let text = read(&mut far, wanted.len()).await;
                send(&mut far, b"answer\r").await.expect("no fault");
                let delivered = delivery(&mut far).await;
                (text, delivered, messages(&far))
            });
            send(&mut near, typed.as_bytes()).await.expect("no fault");
            assert_eq!(read(&mut near, 8).await, "answer\r\n", "{query}");
            assert!(matches!(delivery(&mut near).await, Delivery::Done(_)));
            assert_eq!(messages(&near), (3, 1, 0), "{query}");
            // Its answer is acknowledged once this end goes on reading.
            let keep = spawn_local(async move { receive(&mut near, &mut [0; 9]).await.expect("no fault").len });
            let (text, delivered, counts) = far_end.await.expect("no panic");
            assert_eq!(text, rows, "{query}");
            assert!(matches!(delivered, Delivery::Done(_)));
            assert_eq!(counts, (1, 3, 0), "{query}");
            assert_eq!(keep.await.expect("no panic"), 0);
        })
        .expect("a clock");
    }
}

#[test]
fn a_line_with_a_speed_carries_eight_bits_a_character() {
    clock::run(clock::Time::Virtual, async {
        let (mut near, mut far) = pair("baud=9600&block_size=250");
        let keep = spawn_local(async move {
            let text = read(&mut far, 252).await;
            (text.len(), receive(&mut far, &mut [0; 9]).await.expect("no fault").len)
        });
        let start = clock::now();
        send(&mut near, &[&[b'x'; 250][..], b"\r"].concat()).await.expect("no fault");
        let Delivery::Done(at) = delivery(&mut near).await else { panic!("not delivered") };
        // EOT follows the last answer.
        poll_fn(|cx| {
            near.poll_serve(cx);
            if near.traffic().sent > 267 { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        let traffic = near.traffic();
        // Bid, block and EOT there, two answers back.
        let characters = traffic.sent + traffic.received;
        let took = at.since(start);
        assert!((270..330).contains(&characters), "{characters}");
        let whole = Duration::from_secs_f64(characters as f64 * 8.0 / 9600.0);
        assert!(took <= whole && took > whole.mul_f64(0.97), "{took:?} for {characters} characters, {whole:?}");
        drop(near);
        assert_eq!(keep.await.expect("no panic"), (252, 0));
    })
    .expect("a clock");
}

/// A line that damages every n-th byte that it sends; `every` is n.
#[derive(Debug)]
struct Noisy<L> {
    line: L,
    every: u64,
    sent: Rc<Cell<u64>>,
}

impl<L: Line> Line for Noisy<L> {
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<Received>> {
        self.line.poll_receive(cx, into)
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let damaged: Vec<u8> = bytes
            .iter()
            .map(|byte| {
                self.sent.set(self.sent.get() + 1);
                if self.sent.get().is_multiple_of(self.every) { byte ^ 0x14 } else { *byte }
            })
            .collect();
        self.line.poll_send(cx, &damaged)
    }

    fn traffic(&self) -> Traffic {
        self.line.traffic()
    }
}

#[test]
fn noise_on_the_line_loses_and_doubles_nothing() {
    clock::run(clock::Time::Virtual, async {
        let damaged = Rc::new(Cell::new(0));
        let (near, far) = loopback::pair(8192);
        let near = Noisy { line: near, every: 977, sent: Rc::clone(&damaged) };
        let query = "block_size=100&enq_limit=5&nak_limit=20&block_wait=60s";
        let (mut near, mut far) = (station(near, Role::Primary, query), station(far, Role::Secondary, query));
        let rows: Vec<String> = (0..300).map(|number| format!("row {number} {}", "x".repeat(number % 180))).collect();
        let wanted = rows.join("\r\n") + "\r\n";
        let len = wanted.len();
        let far_end = spawn_local(async move {
            let text = read(&mut far, len).await;
            // The last acknowledgement may be asked for again.
            let more = receive(&mut far, &mut [0; 9]).await.expect("no fault").len;
            (text, more, far.totals().counters)
        });
        for row in &rows {
            send(&mut near, format!("{row}\r").as_bytes()).await.expect("no fault");
            assert!(matches!(delivery(&mut near).await, Delivery::Done(_)), "{row}");
        }
        let counters = near.totals().counters;
        assert_eq!(messages(&near), (300, 0, 0));
        assert!(damaged.get() / 977 > 30);
        drop(near);
        let (text, more, far_counters) = far_end.await.expect("no panic");
        assert!(text == wanted, "rows are lost, doubled or in another order");
        assert_eq!(more, 0);
        // Each NAK that one end sent the other received, because only this direction is noisy.
        assert_eq!(counters.rejected_output, far_counters.invalid_input);
        assert!(far_counters.invalid_input > 10, "{far_counters:?}");
    })
    .expect("a clock");
}

#[test]
fn a_reader_that_is_full_makes_the_other_station_wait() {
    clock::run(clock::Time::Virtual, async {
        let (mut near, mut far) = pair("block_size=1000");
        let row = [&[b'x'; 1000][..], b"\r"].concat();
        let far_end = spawn_local(async move {
            // Serves the line for a minute without reading it.
            let until = clock::now() + Duration::from_secs(60);
            let mut sleep = clock::sleep_until(until);
            poll_fn(|cx| {
                far.poll_serve(cx);
                std::pin::Pin::new(&mut sleep).poll(cx)
            })
            .await;
            let wacks = far.totals().counters.wacks_sent;
            (read(&mut far, 10 * 1002).await.len(), wacks, far.totals().received)
        });
        let mut took = Vec::new();
        for _ in 0..10 {
            send(&mut near, &row).await.expect("no fault");
            assert!(matches!(delivery(&mut near).await, Delivery::Done(_)));
            took.push(clock::now().since(Stamp::ZERO).as_secs());
        }
        let counters = near.totals().counters;
        let (len, wacks, received) = far_end.await.expect("no panic");
        assert_eq!((len, received), (10 * 1002, 10));
        // Some 4,000 characters were taken unread, the others after a minute of a WACK each second.
        assert!((50..70).contains(&wacks) && counters.wacks_received == wacks, "{wacks} {counters:?}");
        assert!(counters.retries_exceeded == 0 && counters.timeouts == 0);
    })
    .expect("a clock");
}

#[test]
fn a_line_that_drops_within_a_block_reports_what_was_not_acknowledged() {
    clock::run(clock::Time::Virtual, async {
        let (near, mut far) = loopback::pair(8192);
        let mut near = station(near, Role::Primary, "framing=hercules");
        send(&mut near, b"first\rsecond\r").await.expect("no fault");
        let mut buffer = [0; 99];
        let bid = receive(&mut far, &mut buffer).await.expect("no fault").len;
        assert_eq!(&buffer[..bid], b"\x2d");
        // The bid is accepted, the block comes, and the line is dropped before it is acknowledged.
        send(&mut far, b"\x10\x70").await.expect("no fault");
        poll_fn(|cx| {
            near.poll_serve(cx);
            Poll::Ready(())
        })
        .await;
        let block = receive(&mut far, &mut buffer).await.expect("no fault").len;
        assert_eq!(&buffer[..block], b"\x02\x86\x89\x99\xa2\xa3\x03");
        drop(far);
        let error = receive(&mut near, &mut buffer).await.expect_err("within a transmission");
        assert!(error.to_string().contains("within"), "{error}");
        assert_eq!(messages(&near), (0, 0, 2));
        assert_eq!(near.delivery(), Delivery::Lost);
        assert_eq!(send(&mut near, b"x").await.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    })
    .expect("a clock");
}

#[test]
fn a_row_that_may_not_be_sent_is_lost_and_the_line_goes_on() {
    clock::run(clock::Time::Virtual, async {
        let (mut near, mut far) = pair("transparency=never");
        let far_end = spawn_local(async move {
            let text = read(&mut far, 6).await;
            (text, receive(&mut far, &mut [0; 9]).await.expect("no fault").len)
        });
        let long = [&[b'x'; 2500][..], b"\x01", &[b'y'; 2500], b"\r"].concat();
        for (number, row) in [b"a\x01b\r", &long[..], &[&[b'x'; 2001][..], b"\r"].concat()].into_iter().enumerate() {
            send(&mut near, row).await.expect("no fault");
            let lost = number as u64 + 1;
            assert_eq!((delivery(&mut near).await, messages(&near)), (Delivery::Lost, (0, 0, lost)));
        }
        send(&mut near, b"good\r").await.expect("no fault");
        assert!(matches!(delivery(&mut near).await, Delivery::Done(_)));
        drop(near);
        assert_eq!(far_end.await.expect("no panic"), ("good\r\n".to_owned(), 0));
    })
    .expect("a clock");
}
