//! Feeds both ends of each kind of web terminal with any messages: none panics, and what they make of them is bounded.
#![no_main]

use cuesta_lines::wire::http::{CookieJar, Response};
use cuesta_lines::wire::web::{Messages, Place, Session, WebHost, WebTerminal};
use cuesta_lines::wire::web::{attach, cockpit, code_server, coder, gotty, jupyter, kubernetes, teleport, ttyd, wetty};
use cuesta_lines::wire::websocket::MessageKind;
use libfuzzer_sys::fuzz_target;

/// More than all bytes of one input (scripts/fuzz).
const LONGEST_INPUT: usize = 1 << 20;

fuzz_target!(|input: (u8, bool, Vec<(bool, Vec<u8>)>)| {
    let (kind, is_host, messages) = input;
    match (kind % 10, is_host) {
        (0, false) => feed_terminal(ttyd::Terminal::new, &messages),
        (1, false) => feed_terminal(gotty::Terminal::new, &messages),
        (2, false) => feed_terminal(jupyter::Terminal::new, &messages),
        (3, false) => feed_terminal(wetty::Terminal::new, &messages),
        (4, false) => feed_terminal(kubernetes::Terminal::new, &messages),
        (5, false) => feed_terminal(coder::Terminal::new, &messages),
        (6, false) => feed_terminal(cockpit::Terminal::new, &messages),
        (7, false) => feed_terminal(code_server::Terminal::new, &messages),
        (8, false) => feed_terminal(teleport::Terminal::new, &messages),
        (_, false) => feed_terminal(attach::Bare::new, &messages),
        (0, true) => feed_host(ttyd::Host::default(), &messages),
        (1, true) => feed_host(gotty::Host::default(), &messages),
        (2, true) => feed_host(jupyter::Host::default(), &messages),
        (3, true) => feed_host(wetty::Host::default(), &messages),
        (4, true) => feed_host(kubernetes::Host::default(), &messages),
        (5, true) => feed_host(coder::Host::default(), &messages),
        (6, true) => feed_host(cockpit::Host::default(), &messages),
        (7, true) => feed_host(code_server::Host::default(), &messages),
        (8, true) => feed_host(teleport::Host::default(), &messages),
        (_, true) => feed_host(attach::Bare::new(Place::default()), &messages),
    }
});

/// The first message is the answer to each request before the WebSocket is open, and whether the subprotocol of Kubernetes is text.
fn feed_terminal<T: WebTerminal>(terminal: impl Fn(Place) -> T, messages: &[(bool, Vec<u8>)]) {
    let Some(((is_text, body), messages)) = messages.split_first() else { return };
    let protocol = if *is_text { "base64" } else { "v4" };
    let settings = vec![("protocol".to_owned(), protocol.to_owned())];
    let place = Place { base: "/a/b".to_owned(), settings, ..Place::default() };
    let (mut terminal, cookies) = (terminal(place), CookieJar::default());
    let answer = Response::new(200, "text/html", body.clone());
    let mut asked = terminal.prepare(None, &cookies).is_ok();
    for _ in 0..4 {
        asked = asked && terminal.prepare(Some(&answer), &cookies).is_ok();
    }
    let chosen = if *is_text { "v4.base64.channel.k8s.io" } else { "v4.channel.k8s.io" };
    drop(terminal.begin(Some(chosen), &mut Messages::default()));
    feed(&mut terminal, messages);
    terminal.finish(&mut Messages::default());
    drop(terminal.removal(&cookies));
}

fn feed_host(mut host: impl WebHost, messages: &[(bool, Vec<u8>)]) {
    host.begin(&mut Messages::default());
    feed(&mut host, messages);
    host.finish(&mut Messages::default());
}

fn feed(session: &mut impl Session, messages: &[(bool, Vec<u8>)]) {
    for (is_text, message) in messages {
        // WebSocket has checked that text is text.
        let is_text = *is_text && std::str::from_utf8(message).is_ok();
        let kind = if is_text { MessageKind::Text } else { MessageKind::Binary };
        let (mut copy, mut replies) = (message.clone(), Messages::default());
        match session.receive(kind, &mut copy, &mut replies) {
            Ok(characters) => assert!(characters.end <= message.len()),
            Err(error) => assert!(error.to_string().len() < 3000),
        }
        assert!(session.take_overflow().len() <= LONGEST_INPUT);
        // A message of VS Code may hold many calls, each of which is answered.
        assert!(replies.0.iter().map(|(_, reply)| reply.len()).sum::<usize>() < 1000 + 20 * message.len());
        encode(session, message);
    }
}

fn encode(session: &mut impl Session, characters: &[u8]) {
    let mut payload = Vec::new();
    if let (false, Ok((len, _))) = (characters.is_empty(), session.encode(characters, &mut payload)) {
        assert!(len > 0 && len <= characters.len() && payload.len() <= 6 * len + 100);
        session.note_sent(&characters[..len], &mut Messages::default());
    }
}
