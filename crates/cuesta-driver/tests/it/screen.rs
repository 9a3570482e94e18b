//! Users with a screen against hosts that draw on it, in virtual time, where every instant is exact.
#![allow(clippy::float_cmp)] // Counts, and instants of a virtual clock, are exact.
#![allow(clippy::unwrap_used)] // A failed unwrap fails the test.

use std::cell::RefCell;
use std::future::Future;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::harness::{RunRecords, play_connected, script, spec};
use cuesta_driver::{Connect, RunSpec};
use cuesta_lines::loopback::{self, Loopback};
use cuesta_lines::{Line, Received, Traffic, receive, send};
use cuesta_record::clock;
use serde_json::json;

/// Runs a tape with a host for each user.
fn play<H: Future<Output = ()> + 'static>(
    spec: RunSpec,
    tape: &str,
    wrap: impl Fn(Loopback, u32) -> Box<dyn Line> + 'static,
    host: impl Fn(Loopback, u32) -> H + 'static,
) -> RunRecords {
    let connect: Connect = Rc::new(move |_, user| {
        let (ours, theirs) = loopback::pair(65536);
        tokio::task::spawn_local(host(theirs, user));
        let line = wrap(ours, user);
        Box::pin(async move { Ok(line) })
    });
    play_connected(spec, &script("t", tape), connect, Vec::new())
}

/// A host's answer to a character: pieces of output, each after a delay in ms.
type Answers = fn(u8) -> Vec<(u64, &'static str)>;

/// A host that sends `greeting`, answers each character, and stores its input in `got`.
async fn answer(mut line: Loopback, greeting: &'static str, got: Rc<RefCell<Vec<u8>>>, answers: Answers) {
    let mut buffer = [0; 256];
    let mut greeted = send(&mut line, greeting.as_bytes()).await;
    while greeted.is_ok() {
        let Ok(received) = receive(&mut line, &mut buffer).await else { return };
        if received.len == 0 {
            return;
        }
        for character in &buffer[..received.len] {
            got.borrow_mut().push(*character);
            for (ms, text) in answers(*character) {
                clock::sleep_until(clock::now() + Duration::from_millis(ms)).await;
                greeted = send(&mut line, text.as_bytes()).await;
            }
        }
    }
}

/// Runs one user against such a host. Returns the records and the host's input.
fn one(seconds: f64, tape: &str, greeting: &'static str, answers: Answers) -> (RunRecords, String) {
    one_of(spec(1, 0.0, seconds, &json!({})), tape, greeting, answers)
}

fn one_of(spec: RunSpec, tape: &str, greeting: &'static str, answers: Answers) -> (RunRecords, String) {
    let got = Rc::<RefCell<Vec<u8>>>::default();
    let host_got = Rc::clone(&got);
    let host = move |line, _| answer(line, greeting, Rc::clone(&host_got), answers);
    let played = play(spec, tape, |line, _| Box::new(line), host);
    let got = String::from_utf8_lossy(&got.borrow()).into_owned();
    (played, got)
}

/// The least and the largest response time of a transaction, in ms.
fn response(played: &RunRecords, class: &str) -> (u64, u64) {
    let responses = played.histogram(&format!("g/{class}/response"));
    // Histograms keep three digits.
    let ms = |nanos: u64| (nanos as f64 / 1e7).round() as u64 * 10;
    (ms(responses.min()), ms(responses.max()))
}

#[test]
fn a_prompt_counts_only_with_the_cursor_behind_it() {
    let tape = "Set TypingSpeed 0ms\nSleep 1s\nSet Prompt /\\$ $/\nTransaction \"list\"\nType \"l\"\nEnter\nWait+Prompt\nEnd\n";
    let (played, _) = one(31.0, tape, "$ ", |key| match key {
        b'l' => vec![(0, "l")],
        // The prompt is drawn before the cursor moves behind it.
        b'\r' => vec![(0, "\r\n$ \r"), (300, "\x1b[2C")],
        _ => vec![],
    });
    assert_eq!(response(&played, "list"), (300, 300));
    // The cursor is first in another row.
    let (played, _) = one(31.0, tape, "$ ", |key| match key {
        b'l' => vec![(0, "l")],
        b'\r' => vec![(0, "\r\n$ \x1b[H"), (300, "\x1b[5;1H"), (700, "\x1b[2;3H\r\n\n$ ")],
        _ => vec![],
    });
    assert_eq!(response(&played, "list"), (1000, 1000));
}

#[test]
fn a_bare_wait_matches_the_cursors_row_without_trailing_blanks() {
    let tape = "Set TypingSpeed 0ms\nSleep 1s\nTransaction \"a\"\nEnter\nWait\nEnd\n";
    let (played, _) = one(21.0, tape, "> ", |_| vec![(250, "\r\nno > here"), (250, "\r\n> ")]);
    assert_eq!(response(&played, "a"), (500, 500));
}

#[test]
fn a_wait_for_the_cursor_ends_at_its_position() {
    let tape = "Set TypingSpeed 0ms\nSleep 1s\nTransaction \"go\"\nType \"x\"\nWait+Cursor 5,10\nEnd\n";
    let (played, _) = one(21.0, tape, "", |_| vec![(100, "\x1b[5;10H\x1b[H"), (100, "\x1b[5;9Hx"), (100, "\x1b[H")]);
    assert_eq!(response(&played, "go"), (200, 200));
}

#[test]
fn an_expectation_checks_the_current_screen() {
    let tape =
        "Set TypingSpeed 0ms\nSleep 1s\nType \"x\"\nWait+Bytes 10\nExpect+Screen /^top\\n/\nExpect+Screen /gone/\n";
    let (played, _) = one(10.5, tape, "top\r\n", |_| vec![(100, "\rgone\rhere")]);
    assert_eq!(played.errors(), [("expect".to_owned(), 9)]);
}

#[test]
fn keys_follow_the_modes_that_the_host_has_set() {
    let tape = "Set TypingSpeed 10ms\nUp\nType \"a\"\nWait+Bytes 1\nUp\nPress Home\nCopy \"ls\"\nPaste\nType \"b\"\nWait+Bytes 1\n\
                Down\nPaste\nSleep 60m\n";
    let (played, got) = one(10.0, tape, "", |key| match key {
        b'a' => vec![(50, "\x1b[?1h\x1b[?2004h")],
        b'b' => vec![(50, "\x1b[?1l\x1b[?2004l")],
        _ => vec![],
    });
    assert_eq!(got.replace('\x1b', "^"), "^[Aa^OA^OH^[200~ls^[201~b^[Bls");
    assert!(played.errors().is_empty());
}

#[test]
fn replies_to_the_host_do_not_count_as_keys() {
    let tape = "Set TypingSpeed 1s\nType \"ab\"\nWait+Screen /asked/\nSleep 60m\n";
    let (played, got) = one(10.0, tape, "\x1b[c\x1b[6n", |key| match key {
        b'b' => vec![(10, "xy\x1b[6n"), (10, "asked")],
        _ => vec![],
    });
    assert_eq!(got.replace('\x1b', "^"), "^[?6c^[1;1Rab^[1;3R");
    assert_eq!((played.sum("keys"), played.sum("characters/in")), (2.0, 2.0));
    assert_eq!(played.sum("characters/line_in"), got.len() as f64);
}

#[test]
fn a_key_that_is_never_shown_is_counted() {
    let tape = "Set TypingSpeed 100ms\nSleep 1s\nSet WaitTimeout 2s\nSet Echo screen\nType \"pw\"\nEnter\nWait+Prompt\nType \"ls\"\nWait+Echo\n";
    let (played, _) = one(40.0, tape, "Password: ", |key| match key {
        b'\r' => vec![(100, "\r\n$ ")],
        b'l' => vec![(40, "l")],
        b's' => vec![(40, "s")],
        _ => vec![],
    });
    let echoes = played.histogram("g/keys/echo").len();
    assert_eq!(echoes as f64, played.sum("transactions"));
    assert_eq!(played.errors(), [("unechoed".to_owned(), echoes)]);
}

/// A line that logs each read.
struct LoggedLine {
    line: Loopback,
    name: &'static str,
    log: Rc<RefCell<Vec<&'static str>>>,
}

impl Line for LoggedLine {
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<Received>> {
        let received = self.line.poll_receive(cx, into);
        if received.is_ready() {
            self.log.borrow_mut().push(self.name);
        }
        received
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.line.poll_send(cx, bytes)
    }

    fn traffic(&self) -> Traffic {
        self.line.traffic()
    }
}

/// Floods one user with 64 KiB. Every half KiB ends with a query, so the replies show how much of the flood is drawn. With the
/// flood, and again after each reply, the other user gets a character.
async fn flood(mut flooded: Loopback, mut other: Loopback, log: Rc<RefCell<Vec<&'static str>>>) {
    let mut buffer = [0; 256];
    let key = receive(&mut flooded, &mut buffer).await.unwrap();
    assert_eq!(key.len, 1);
    let piece = [&[b'x'; 508][..], b"\x1b[6n"].concat();
    send(&mut flooded, &piece.repeat(128)).await.unwrap();
    send(&mut other, b"e").await.unwrap();
    while let Ok(Received { len: 1.., .. }) = receive(&mut flooded, &mut buffer).await {
        log.borrow_mut().push("drawn");
        if send(&mut other, b"e").await.is_err() {
            return;
        }
    }
}

#[test]
fn drawing_a_screen_delays_no_other_users_stamps() {
    let log = Rc::<RefCell<Vec<&'static str>>>::default();
    let (of_lines, of_hosts) = (Rc::clone(&log), Rc::clone(&log));
    let wrap = move |line, user| -> Box<dyn Line> {
        Box::new(LoggedLine { line, name: ["flood", "echo"][user as usize], log: Rc::clone(&of_lines) })
    };
    let first = Rc::<RefCell<Option<Loopback>>>::default();
    let host = move |line, _| {
        let both = first.borrow_mut().take();
        let log = Rc::clone(&of_hosts);
        if both.is_none() {
            *first.borrow_mut() = Some(line);
            return Box::pin(async {}) as std::pin::Pin<Box<dyn Future<Output = ()>>>;
        }
        Box::pin(async move { flood(both.unwrap(), line, log).await })
    };
    let played = play(spec(2, 0.0, 5.0, &json!({})), "Type \"x\"\nWait+Screen@1s /never/\nSleep 60m\n", wrap, host);
    assert_eq!(played.sum("characters/out"), 65536.0 + 129.0);
    // The driver reads the other user's character before it draws the next piece.
    let log: Vec<_> = log.borrow().iter().copied().filter(|what| *what != "flood").collect();
    assert_eq!(log[0], "echo");
    assert_eq!(log.len(), 1 + 2 * 128);
    assert!(log[1..].chunks(2).all(|pair| pair == ["drawn", "echo"]), "{log:?}");
}

/// A host that echoes the row `echo DONE` late and in pieces, and answers 1.3 s after the Return.
fn late_echo(key: u8) -> Vec<(u64, &'static str)> {
    match key {
        b'\r' => vec![(300, "echo D"), (100, "ON"), (100, "E\r\n"), (800, "DONE\r\n$ ")],
        _ => vec![],
    }
}

#[test]
fn a_late_echo_of_the_command_is_no_answer() {
    for wait in ["Wait+Screen /DONE/", "Wait+Line /DONE|^\\$/", "Wait+Screen /\\$ $/", "Wait+Prompt", "Wait /[#$] $/"] {
        let tape = format!("Set KeyRate 0\nSleep 1s\nTransaction \"a\"\nType \"echo DONE\"\nEnter\n{wait}\nEnd\n");
        let (played, _) = one(31.0, &tape, "$ ", late_echo);
        assert_eq!(response(&played, "a"), (1300, 1300), "{wait}");
        assert!(played.errors().is_empty(), "{wait}: {:?}", played.errors());
    }
}

#[test]
fn an_expectation_is_not_met_by_a_late_echo() {
    let tape = "Set KeyRate 0\nSleep 1s\nType \"echo DONE\"\nEnter\nWait+Silence 200ms\nExpect /DONE/\nSleep 2s\n";
    let (played, _) = one(10.0, tape, "$ ", late_echo);
    assert!(played.errors().iter().all(|(name, _)| name == "expect") && !played.errors().is_empty());
    let answers = tape.replace("200ms", "1s");
    assert!(one(10.0, &answers, "$ ", late_echo).0.errors().is_empty());
}

#[test]
fn a_host_that_never_echoes_keeps_its_response_times() {
    let tape = "Set KeyRate 0\nSleep 1s\nTransaction \"a\"\nType \"sum\"\nEnter\nWait+Screen /42/\nEnd\n";
    let (played, _) = one(31.0, tape, "", |key| if key == b'\r' { vec![(700, "\r\n42\r\n")] } else { vec![] });
    assert_eq!(response(&played, "a"), (700, 700));
    assert!(played.errors().is_empty());
    // A pass takes 1.7 s: holding the output back costs no time.
    assert!(played.sum("transactions") >= 17.0);
}

#[test]
fn without_echo_an_answer_may_equal_the_end_of_the_typed_row() {
    // The first keys of the row count as unechoed while the last ones are typed.
    let tape = "Set TypingSpeed 100ms\nSet Echo timed\nSet WaitTimeout 450ms\nSleep 1s\nTransaction \"a\"\nType \"echo DONE\"\nEnter\nWait+Screen@5s /DONE/\nEnd\n";
    let (played, _) = one(61.0, tape, "$ ", |key| match key {
        b'\r' => vec![(700, "\r\nDONE\r\n"), (1, "$ ")],
        _ => vec![],
    });
    assert_eq!(response(&played, "a"), (700, 700));
    assert!(played.errors().iter().all(|(name, _)| name == "unechoed"), "{:?}", played.errors());
    assert!(played.sum("transactions") >= 22.0);
}

#[test]
fn an_answer_before_the_echo_leaves_each_key_its_own_echo() {
    let tape = "Set TypingSpeed 100ms\nSet Echo timed\nSleep 1s\nTransaction \"a\"\nType \"echo DONE\"\nEnter\nWait+Bytes 8\nEnd\nWait+Silence 1s\n";
    let host = |key| match key {
        b'\r' => vec![(100, "\r\nDONE\r\n"), (200, "echo DONE"), (0, "\r\n$ ")],
        _ => vec![],
    };
    let (played, _) = one(60.0, tape, "$ ", host);
    let echo = played.histogram("g/keys/echo");
    // The first of nine keys was sent 900 ms before the Return. The echo comes 300 ms after the Return.
    assert_eq!(((echo.min() as f64 / 1e7).round(), (echo.max() as f64 / 1e7).round()), (30.0, 120.0));
    assert_eq!(echo.len() as f64, played.sum("keys"));
    assert_eq!(response(&played, "a"), (100, 100));
    assert!(played.errors().is_empty(), "{:?}", played.errors());
}

#[test]
fn the_first_response_begins_after_the_echo() {
    let first = |echo: &str, tape: &str, host: Answers| {
        let tape = format!("Set KeyRate 0\nSet Echo {echo}\nSleep 1s\nTransaction \"a\"\n{tape}\nEnd\n");
        let (played, _) = one(31.0, &tape, "$ ", host);
        let first = played.histogram("g/a/first_response");
        [first.min(), first.max()].map(|nanos| (nanos as f64 / 1e7).round() as u64 * 10)
    };
    for echo in ["off", "timed", "screen"] {
        let command = "Type \"echo DONE\"\nEnter\nWait+Screen /\\$ $/";
        assert_eq!(first(echo, command, late_echo), [1300, 1300], "{echo}");
        // An answer in two pieces begins with the first.
        let pieces: Answers = |key| match key {
            b'\r' => vec![(100, "echo DONE\r\n"), (200, "DO"), (300, "NE\r\n$ ")],
            _ => vec![],
        };
        assert_eq!(first(echo, command, pieces), [300, 300], "{echo}");
        // In an editor the echo of the last key is the answer.
        let editor: Answers = |key| if key == b'o' { vec![(50, "hello")] } else { vec![] };
        assert_eq!(first(echo, "Type \"hello\"\nWait+Screen /hello/", editor), [50, 50], "{echo}");
    }
}

#[test]
fn an_unechoed_key_does_not_delay_other_echoes() {
    let echoes = |key| match key {
        b'a' => vec![(30, "a")],
        b'b' => vec![(30, "b")],
        _ => vec![],
    };
    let times = |keys: &str, each: f64| {
        let tape = format!("Set TypingSpeed 100ms\nSet Echo timed\nType \"{keys}\"\nWait+Echo\nSleep 3s\n");
        let (played, _) = one(40.0, &tape, "", echoes);
        let passes = played.sum("transactions");
        let echo = played.histogram("g/keys/echo");
        assert_eq!((echo.min() as f64 / 1e6).round(), 30.0, "{keys}");
        assert_eq!((echo.max() as f64 / 1e6).round(), 30.0, "{keys}");
        assert!(passes >= 10.0, "{keys}: {passes}");
        assert_eq!(played.errors(), [("unechoed".to_owned(), passes as u64)], "{keys}");
        assert!((echo.len() as f64 - each * passes).abs() <= each, "{keys}");
    };
    times("xab", 2.0);
    // No later echo shows that the last key's is missing, so the driver waits for it for a moment.
    times("xa", 1.0);
}

#[test]
fn no_count_shows_how_long_a_password_is() {
    let tape = "Set TypingSpeed 10ms\nSet Echo timed\nType \"${password}\"\nEnter\nWait+Bytes 3\nSleep 1s\n";
    let group = json!({"data": [{"password": "hunter2"}], "secret": ["password"]});
    let answers = |key| if key == b'\r' { vec![(10, "\r\nWelcome")] } else { vec![] };
    let (played, _) = one_of(spec(1, 0.0, 10.0, &json!({"group": group})), tape, "Password: ", answers);
    assert!(played.sum("transactions") >= 8.0);
    assert!(played.errors().is_empty(), "{:?}", played.errors());
}
