//! Both ends together.

use super::*;
use crate::wire::http::{CookieJar, Response};
use crate::wire::web::pairs::{Pair, place};
use crate::wire::web::{Place, Session, WebHost, WebTerminal};

fn with(settings: &[(&str, &str)]) -> Place {
    let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Place { settings, ..place() }
}

fn refused<T>(reason: &str) -> Result<T, SessionError> {
    Err(SessionError::Refused(reason.to_owned()))
}

#[test]
fn keys_and_output_pass_as_they_are() {
    let mut pair = Pair::open(Terminal::new(place()), Host::default());
    assert_eq!(pair.paths, ["GET /base/cockpit/socket"]);
    assert!(pair.terminal.is_ready());
    assert_eq!(pair.host.window(), Some((80, 24)));
    let bytes = [&b"\n1:1\n\0\x1b[A\xff\xe2\x82"[..], &vec![b'x'; 200_000]].concat();
    assert_eq!(pair.type_keys(&bytes), bytes);
    assert_eq!(pair.send_from_host(&bytes), bytes);
    pair.resize(100, 30);
    assert_eq!(pair.host.window(), Some((100, 30)));
}

#[test]
fn a_channel_is_opened_as_the_page_does_and_others_are_ignored() {
    let mut terminal = Terminal::new(with(&[("spawn", "/bin/sh"), ("spawn", "-i"), ("directory", "/tmp")]));
    let mut replies = Messages::default();
    let mut init = b"\n{\"command\":\"init\",\"channel-seed\":\"7:\",\"capabilities\":[\"multi\"]}".to_vec();
    terminal.receive(MessageKind::Text, &mut init, &mut replies).unwrap();
    let open: serde_json::Value = serde_json::from_slice(&replies.0.pop().unwrap().1).unwrap();
    let expected = serde_json::json!({
        "command": "open", "channel": "7:1", "payload": "stream", "spawn": ["/bin/sh", "-i"], "environ": ["TERM=xterm-256color"],
        "directory": "/tmp", "pty": true, "binary": "raw", "flow-control": true, "window": {"rows": 24, "cols": 80},
    });
    assert_eq!(open, expected);
    for mut other in [&b"\n{\"command\":\"ready\",\"channel\":\"7:2\"}"[..], b"7:2\nx", b"\n{\"command\":\"ping\"}"]
        .map(<[u8]>::to_vec)
    {
        assert_eq!(terminal.receive(MessageKind::Text, &mut other, &mut replies), Ok(0..0));
    }
    assert!(!terminal.is_ready() && replies.0.len() == 1);
    for mut bad in [&b"no row end"[..], b"\nno JSON"].map(<[u8]>::to_vec) {
        assert!(terminal.receive(MessageKind::Text, &mut bad, &mut replies).is_err());
    }
}

#[test]
fn the_host_stops_at_2_mib_unless_its_pings_are_answered() {
    for (setting, goes_on) in [("on", true), ("off", false)] {
        let mut pair = Pair::open(Terminal::new(with(&[("ack", setting)])), Host::default());
        let output = vec![b'x'; 64 << 10];
        for _ in 0..40 {
            pair.send_from_host(&output);
        }
        assert_eq!(pair.host.is_ready(), goes_on);
    }
}

#[test]
fn a_login_is_needed_and_left_at_the_end() {
    let host = || {
        let mut host = Host::default();
        host.credential = Some(("joe".to_owned(), "geheim".to_owned()));
        host
    };
    let mut place = place();
    assert_eq!(Pair::try_open(Terminal::new(place.clone()), host()).map(drop), refused("no-session"));
    place.account.user = Some("joe".to_owned());
    place.account.password = Some("falsch".to_owned());
    let wrong = refused(
        "/cockpit/login was answered by status 401: no login, or a wrong one; it needs the columns user and password (--data users.csv)",
    );
    assert_eq!(Pair::try_open(Terminal::new(place.clone()), host()).map(drop), wrong);
    place.account.password = Some("geheim".to_owned());
    let leave = |place: &Place| {
        let mut pair = Pair::open(Terminal::new(place.clone()), host());
        assert_eq!(pair.paths, ["GET /base/cockpit/login", "GET /base/cockpit/socket"]);
        let mut messages = Messages::default();
        pair.terminal.finish(&mut messages);
        assert!(messages.0[0].1.starts_with(b"\n{\"command\":\"close\",\"channel\":\"1:1\""));
        messages.0.split_off(1)
    };
    assert!(leave(&place)[0].1.starts_with(b"\n{\"command\":\"logout\""));
    place.account.is_shared = true;
    assert_eq!(leave(&place), []);
}

#[test]
fn a_program_ends_with_a_status_or_by_a_signal() {
    for exit in [ExitStatus::Exited(3), ExitStatus::Killed(libc::SIGKILL)] {
        let mut pair = Pair::open(Terminal::new(place()), Host::default());
        pair.host.exit = Some(exit);
        pair.end_program();
        assert!(pair.terminal.has_ended());
        assert_eq!(pair.terminal.exit(), Some(exit));
        assert_eq!(pair.finish(), b"");
    }
    let mut close =
        b"\n{\"command\":\"close\",\"channel\":\"1:1\",\"problem\":\"access-denied\",\"message\":\"no\"}".to_vec();
    let mut pair = Pair::open(Terminal::new(place()), Host::default());
    assert_eq!(
        pair.terminal.receive(MessageKind::Text, &mut close, &mut Messages::default()),
        refused("access-denied: no")
    );
}

#[test]
fn a_login_that_asks_for_more_is_named() {
    let asking = Response::new(401, "text/html", "").with("WWW-Authenticate", "X-Conversation 1 VG9rZW46");
    let answer = Terminal::new(place()).prepare(Some(&asking), &CookieJar::default());
    assert_eq!(answer, refused("asks for more than a password"));
}
