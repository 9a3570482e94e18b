//! Both ends together.

use super::frames::{Frames, HEAD, Kind};
use super::*;
use crate::ExitStatus;
use crate::wire::web::pairs::{Pair, place};
use crate::wire::web::{Messages, Place, Session, SessionError, WebHost, WebTerminal};
use crate::wire::websocket::MessageKind;

const QUERY: &str =
    "reconnectionToken=b54f5f3c-0000-4000-8000-000000000001&reconnection=false&skipWebSocketFrames=false";

fn with(settings: &[(&str, &str)]) -> Place {
    let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Place { settings, ..place() }
}

fn open(settings: &[(&str, &str)]) -> Pair<Terminal, Host> {
    Pair::open(Terminal::new(with(settings)), Host::default())
}

#[test]
fn keys_and_output_pass_and_the_shell_is_the_hosts_unless_one_is_named() {
    for settings in [&[][..], &[("shell", "/bin/sh"), ("arg", "-i")]] {
        let mut pair = open(settings);
        let version = "stable-409c64e0df4d53530e59c16acc2b5d5766f717b0";
        assert_eq!(pair.paths, ["GET /base/".to_owned(), format!("GET /base/{version}?{QUERY}")]);
        assert!(pair.terminal.is_ready() && pair.host.is_ready());
        assert_eq!(pair.host.window(), Some((80, 24)));
        let text = "\0\u{1b}[A\"\\\r\n\u{7f}€😀".repeat(10_000);
        assert_eq!(pair.type_keys(text.as_bytes()), text.as_bytes());
        assert_eq!(pair.send_from_host(text.as_bytes()), text.as_bytes());
        assert_eq!(pair.send_from_host(b"a\xffb"), "a\u{fffd}b".as_bytes());
        pair.resize(100, 30);
        assert_eq!(pair.host.window(), Some((100, 30)));
        assert_eq!(pair.terminal.encode(b"\xff", &mut Vec::new()), Err(SessionError::NotText));
    }
}

#[test]
fn the_host_stops_after_100_000_characters_unless_they_are_acknowledged() {
    for (setting, goes_on) in [("on", true), ("off", false)] {
        let mut pair = open(&[("ack", setting)]);
        pair.send_from_host(&vec![b'x'; 200_000]);
        assert_eq!(pair.host.is_ready(), goes_on);
    }
}

#[test]
fn a_password_is_needed() {
    let host = || {
        let mut host = Host::default();
        host.password = Some("geheim & mehr".to_owned());
        host
    };
    let mut place = place();
    let refused = |place: &Place| Pair::try_open(Terminal::new(place.clone()), host()).err();
    assert_eq!(refused(&place), Some(SessionError::Refused("asks for a password".to_owned())));
    place.account.password = Some("falsch".to_owned());
    assert_eq!(refused(&place), Some(SessionError::Refused("Incorrect password".to_owned())));
    place.account.password = Some("geheim & mehr".to_owned());
    let pair = Pair::open(Terminal::new(place), host());
    assert_eq!(pair.paths[..2], ["POST /base/login", "GET /base/"]);
}

#[test]
fn a_program_ends_with_a_status_and_is_shut_down_otherwise() {
    let mut pair = open(&[]);
    pair.host.status = 3;
    pair.end_program();
    assert!(pair.terminal.has_ended());
    assert_eq!(pair.terminal.exit(), Some(ExitStatus::Exited(3)));
    let mut pair = open(&[]);
    pair.finish();
    assert!(!pair.host.is_ready());
}

#[test]
fn output_of_other_terminals_and_unknown_kinds_are_dropped_and_refusals_are_named() {
    let mut pair = open(&[]);
    let mut server = Frames::default();
    let mut take = |kind, body: &[u8]| {
        let mut messages = Messages::default();
        server.put(kind, body, &mut messages);
        pair.terminal.receive(MessageKind::Binary, &mut messages.0[0].1, &mut Messages::default())
    };
    assert_eq!(take(Kind::Regular, b"\x04\x02\x06\xcc\x01\x06\x00\x05\x14{\"id\":2,\"event\":\"x\"}"), Ok(0..0));
    assert_eq!(take(Kind::Regular, b"\x04\x02\x06\xcc\x01\x06\x00\x05\x14{\"id\":1,\"event\":\"x\"}"), Ok(0..1));
    let object = b"\x04\x02\x06\xcc\x01\x06\x00\x05\x1e{\"id\":1,\"event\":{\"data\":\"xy\"}}";
    assert_eq!(take(Kind::Regular, object), Ok(0..2));
    assert_eq!(take(Kind::KeepAlive, b""), Ok(0..0));
    assert!(matches!(take(Kind::Regular, b"nonsense"), Err(SessionError::OtherProtocol(_))));
    let refusal = br#"{"type":"error","reason":"Unauthorized client refused: auth mismatch"}"#;
    let reason = "Unauthorized client refused: auth mismatch".to_owned();
    assert_eq!(take(Kind::Control, refusal), Err(SessionError::Refused(reason)));
}

#[test]
fn a_connection_is_kept_by_a_message_that_says_what_was_received() {
    let mut pair = open(&[]);
    pair.send_from_host(b"x");
    let mut messages = Messages::default();
    pair.terminal.put_keep_alive(&mut messages);
    let frame = &messages.0[0].1;
    // The host has sent: that it is ready, three answers, and the output.
    assert_eq!((frame.len(), frame[0], frame[8]), (HEAD, Kind::KeepAlive as u8, 5));
}
