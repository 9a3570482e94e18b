//! Probe lines: where their keys and echoes are in the streams (`followed.csv`).

#![allow(clippy::unwrap_used)] // A failed unwrap fails the test.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::task::{Context, Poll};
use std::thread;

use cuesta_driver::Run;
use cuesta_host::Host;
use cuesta_lines::{Line, LineMark, RateLimited, Received};
use cuesta_record::FOLLOWED_PORTS;
use serde_json::{Value, json};

use crate::harness::{FollowedCells, RunRecords, play_over, script, spec, stop_after};

/// A line that is marked as one over TCP.
struct Marked(Box<dyn Line>, u16);

impl Line for Marked {
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<std::io::Result<Received>> {
        self.0.poll_receive(cx, into)
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        self.0.poll_send(cx, bytes)
    }

    fn inner(&self) -> Option<&dyn Line> {
        Some(&*self.0)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Line> {
        Some(&mut *self.0)
    }

    fn mark(&self) -> Option<LineMark> {
        Some(LineMark::Port(self.1))
    }
}

const TAPE: &str = "Set TypingSpeed 100ms\nSet Echo timed\nType \"ab\"\nEnter\nWait+Bytes 20\nThink 1s\n";

/// The rows of one user of two over lines that `wrap` makes, as `what key echo_from-echo_to time in ms`.
fn rows_of(tape: &str, host: &Value, wrap: fn(Marked) -> Box<dyn Line>) -> Vec<String> {
    let more = json!({"group": {"path": 2}});
    let marked = move |line, user: u32| wrap(Marked(line, 20_000 + user as u16));
    let played = play_over(spec(2, 0.0, 3.0, &more), tape, host, marked);
    assert!(played.followed.iter().all(|row| row.user == 0 && row.port == Some(20_000)));
    let row = |row: &FollowedCells| {
        format!("{} {} {}-{} {:.1}", row.what, row.key, row.echo.0, row.echo.1, row.sent_to_shown as f64 / 1e6)
    };
    played.followed.iter().map(row).collect()
}

/// The rows of a login, and of three passes that take some time each.
fn rows_of_passes(login: &str, echo: &str, answer: &str) -> Vec<String> {
    let mut rows = vec![format!("login 0 0-2 {login}")];
    for pass in 0..3 {
        let (key, from) = (3 * pass, 24 * pass);
        let parts = [("echo", 1, 2, 3), ("echo", 2, 3, 4), ("echo", 3, 4, 6), ("answer", 3, 6, 26)];
        rows.extend(parts.map(|(what, end, begins, ends)| {
            let took = if what == "echo" { echo } else { answer };
            format!("{what} {} {}-{} {took}", key + end, from + begins, from + ends)
        }));
    }
    rows
}

#[test]
fn each_key_and_answer_of_a_probe_line_has_its_place_in_the_streams() {
    let host = json!({"service": {"transaction": {"reply": 20}}, "delay": "5ms"});
    let rows = rows_of(TAPE, &host, |line| Box::new(line));
    assert_eq!(rows, rows_of_passes("0.0", "0.0", "5.0"));
}

#[test]
fn a_key_on_a_line_with_a_speed_ends_where_its_last_bit_has_left() {
    let host = json!({"service": {"transaction": {"reply": 20}}, "delay": "5ms"});
    let rows = rows_of(TAPE, &host, |line| Box::new(RateLimited::new(line, 9600)));
    assert_eq!(rows, rows_of_passes("1.0", "2.1", "26.9"));
}

/// Plays one followed user at a target until some keys were echoed; returns the records.
fn play_really(target: &str, tape: &str) -> RunRecords {
    play_long(target, tape, 20)
}

fn play_long(target: &str, tape: &str, keys: u64) -> RunRecords {
    let more = json!({"group": {"target": target, "path": 1}});
    let folder = tempfile::tempdir().unwrap();
    let agent = folder.path().join("agent-0");
    let run = Run::start(spec(1, 0.0, 3600.0, &more), &script("t", tape), &agent).unwrap();
    stop_after(&run, keys, |interval| interval.transactions);
    RunRecords::read(&agent)
}

/// Checks that keys and echoes follow one another in their streams; returns the port and the end of the last key.
fn check_order(rows: &[FollowedCells]) -> (u16, u32) {
    assert_eq!(rows[0].what, "login");
    let echoes: Vec<_> = rows.iter().filter(|row| row.what == "echo").collect();
    assert!(echoes.len() > 15, "{rows:?}");
    for pair in echoes.windows(2) {
        assert!(pair[0].key < pair[1].key && pair[0].echo.1 <= pair[1].echo.0, "{pair:?}");
    }
    let port = rows[0].port.unwrap();
    assert!(FOLLOWED_PORTS.contains(&port) && rows.iter().all(|row| row.port == Some(port)), "{rows:?}");
    (port, rows.iter().map(|row| row.key).max().unwrap())
}

const TYPED: &str = "Wait+Bytes 2\nSet KeyRate 50cps\nSet Echo timed\nForever\n  Type \"a\"\n  Wait+Echo\nEnd\n";

#[test]
fn offsets_are_those_of_the_connection_as_the_host_sees_it() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = format!("tcp://{}", listener.local_addr().unwrap());
    let host = thread::spawn(move || {
        let (mut line, from) = listener.accept().unwrap();
        line.write_all(b"$ ").unwrap();
        let (mut piece, mut received) = ([0; 64], 0);
        while let Ok(len @ 1..) = line.read(&mut piece) {
            received += len as u32;
            if line.write_all(&piece[..len]).is_err() {
                break;
            }
        }
        (from.port(), received)
    });
    let records = play_really(&target, TYPED);
    let (port, received) = host.join().unwrap();
    let (marked, last) = check_order(&records.followed);
    assert_eq!(port, marked);
    assert!(last <= received && received - last <= 1, "{last} {received}");
    let echoes = records.followed.iter().filter(|row| row.what == "echo");
    echoes.for_each(|row| assert!(row.echo == (row.key + 1, row.key + 2), "{row:?}"));
}

#[test]
fn the_kernel_of_a_telnet_line_sees_no_more_than_the_driver() {
    let spec = json!({"listen": ["telnet://127.0.0.1:0"], "service": {"echo": {}}, "input": "raw"});
    let host = Host::start(&serde_json::from_value(spec).unwrap()).unwrap();
    let records = play_really(&host.addresses()[0], TYPED.strip_prefix("Wait+Bytes 2\n").unwrap());
    let rows: Vec<_> = records.followed.iter().filter(|row| row.what == "echo").collect();
    assert!(rows.len() > 15 && rows[0].key > 10, "its options come before: {rows:?}");
    for row in &rows {
        let (sent, shown) = row.kernel.unwrap();
        assert!(
            sent < shown && shown - sent < row.sent_to_shown && FOLLOWED_PORTS.contains(&row.port.unwrap()),
            "{row:?}"
        );
    }
    assert!(rows.windows(2).all(|pair| pair[0].key + 1 == pair[1].key && pair[0].echo.1 == pair[1].echo.0), "{rows:?}");
}

#[test]
fn a_terminal_is_known_by_its_number() {
    let records = play_really("pty:exec cat", TYPED.strip_prefix("Wait+Bytes 2\n").unwrap());
    let rows: Vec<_> = records.followed.iter().filter(|row| row.what == "echo").collect();
    assert!(rows.len() > 15, "{rows:?}");
    for (row, end) in rows.iter().zip(1..) {
        assert!(row.port.is_none() && row.terminal == rows[0].terminal && row.terminal.is_some(), "{row:?}");
        assert_eq!((row.key, row.echo), (end, (end - 1, end)), "{row:?}");
    }
}

#[test]
fn a_line_that_no_tracer_can_know_has_no_rows_and_is_counted() {
    let records = play_really("pipe:exec cat", "Set KeyRate 50cps\nForever\n  Type \"a\"\n  Wait+Bytes 1\nEnd\n");
    assert!(records.followed.is_empty());
    let unmarked: u64 = records.series.iter().filter_map(|row| row["unmarked"].as_u64()).sum();
    assert_eq!(unmarked, 1);
}

/// Plays at a host that writes each echo in two pieces; returns, for each key, whether its echo was acknowledged at once, segments that came,
/// acknowledgements that were sent, and ms.
fn play_at_pieces(nodelay: bool) -> Vec<(bool, u32, u32, f64)> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = format!("tcp://{}", listener.local_addr().unwrap());
    let host = thread::spawn(move || {
        let (mut line, _) = listener.accept().unwrap();
        line.set_nodelay(nodelay).unwrap();
        let mut key = [0];
        while line.read_exact(&mut key).is_ok() && line.write_all(b"\x1b[m").is_ok() && line.write_all(&key).is_ok() {}
    });
    let records = play_long(&target, TYPED.strip_prefix("Wait+Bytes 2\n").unwrap(), 40);
    host.join().unwrap();
    let echoes = records.followed.iter().filter(|row| row.what == "echo");
    let keys = echoes.map(|row| {
        let (at_once, segments, acknowledgements) = row.acknowledged.unwrap();
        (at_once, segments, acknowledgements, row.sent_to_shown as f64 / 1e6)
    });
    keys.collect()
}

#[test]
fn an_echo_that_nagles_algorithm_holds_follows_how_its_first_piece_is_acknowledged() {
    let held = play_at_pieces(false);
    let median = |at_once: bool| {
        let mut times: Vec<_> = held.iter().filter(|key| key.0 == at_once).map(|key| key.3).collect();
        assert!(times.len() > 5, "{held:?}");
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let [put_off, at_once] = [false, true].map(median);
    assert!(put_off > 35.0 && at_once < 20.0, "{put_off} {at_once}: {held:?}");
    let late = held.iter().filter(|key| key.3 > 35.0);
    late.for_each(|(at_once, segments, acknowledgements, _)| {
        assert!(!at_once && *segments == 2 && *acknowledgements >= 1, "{held:?}");
    });
    // One seed gives one sequence; and without that algorithm nothing waits.
    let free = play_at_pieces(true);
    assert!(held.iter().zip(&free).all(|(held, free)| held.0 == free.0));
    assert!(free.iter().filter(|key| key.3 > 35.0).count() < 3, "{free:?}");
}
