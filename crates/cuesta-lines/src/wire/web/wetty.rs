//! WeTTY 3.2.0 (`src/server/spawn.ts`, `src/client/wetty.ts`): events of Socket.IO 4 over a WebSocket, without the polling that a page
//! begins with, which the protocol allows.
//!
//! An event sent before the host has confirmed the connection closes it, and keys are dropped until something listens to them: the host says
//! `login`, or it asks for the user's name itself. The page confirms each 256 Ki characters of output, counted as JavaScript counts
//! them; after 2 Mi unconfirmed characters the host stops sending.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::payload::{Event, head_of_output, put_event, take_event};
use super::{
    Messages, Place, Session, SessionError, Step, WebHost, WebTerminal, head_of_text, not_found, open_websocket,
};
use crate::percent::Encoded;
use crate::wire::http::{CookieJar, Request, Response};
use crate::wire::websocket::MessageKind;

/// UTF-16 units of output that one event of the page confirms.
const CONFIRMED: usize = 256 * 1024;

/// Units that the host sends without a confirmation, and how many may be unconfirmed when it goes on.
const STOPS_AT: usize = 2 * 1024 * 1024;
const GOES_ON_AT: usize = 512 * 1024;

/// Bytes of keys in a message. The host takes 1 MB of JSON, where each may take six.
const LONGEST_KEYS: usize = 128 * 1024;
const LONGEST_OUTPUT: usize = 512 * 1024;

/// An event, in a message of Engine.IO: its types, before the JSON.
const EVENT: &[u8; 2] = b"42";

#[derive(Debug, Serialize, Deserialize)]
struct Size {
    cols: u16,
    rows: u16,
}

#[derive(Debug, Deserialize)]
struct Refusal {
    message: String,
}

/// The terminal's end.
#[derive(Debug)]
pub struct Terminal {
    place: Place,
    is_connected: bool,
    is_ready: bool,
    has_ended: bool,
    unconfirmed: usize,
}

impl Terminal {
    /// `ssh=USER` is the user that the page's address names (`/wetty/ssh/USER`); `ack=off` confirms no output.
    pub fn new(place: Place) -> Self {
        Self { place, is_connected: false, is_ready: false, has_ended: false, unconfirmed: 0 }
    }

    fn take_packet(&mut self, message: &mut [u8], replies: &mut Messages) -> Result<Range<usize>, SessionError> {
        match &*message {
            [b'0', b'{', ..] => replies.text("40"),
            b"2" => replies.text("3"),
            [b'4', b'0', ..] => {
                self.is_connected = true;
                self.send_size(replies);
            }
            [b'4', b'2', b'[', ..] => return self.take_event(message, replies),
            [b'4', b'4', refusal @ ..] => {
                let refusal = serde_json::from_slice(refusal).map(|Refusal { message }| message);
                return Err(SessionError::refused(refusal.as_deref().unwrap_or("no reason given")));
            }
            b"1" | [b'4', b'1', ..] => self.has_ended = true,
            b"6" => {}
            _ => return Err(not_wetty()),
        }
        Ok(0..0)
    }

    fn take_event(&mut self, message: &mut [u8], replies: &mut Messages) -> Result<Range<usize>, SessionError> {
        let json = &mut message[EVENT.len()..];
        match take_event(json, "data").ok_or_else(not_wetty)? {
            Event::Characters(output) => {
                self.is_ready = true;
                self.confirm(&json[output.clone()], replies);
                return Ok(output.start + EVENT.len()..output.end + EVENT.len());
            }
            Event::Other(name) if name == "login" => {
                self.is_ready = true;
                self.send_size(replies);
            }
            Event::Other(name) if name == "logout" => self.has_ended = true,
            Event::Other(_) => {}
        }
        Ok(0..0)
    }

    /// Confirms output, once for a message, however long it is: so does the page.
    fn confirm(&mut self, output: &[u8], replies: &mut Messages) {
        self.unconfirmed += count_units(output);
        if self.unconfirmed >= CONFIRMED && self.place.setting("ack") != Some("off") {
            self.unconfirmed -= CONFIRMED;
            send_event("commit", CONFIRMED, replies);
        }
    }

    fn send_size(&self, messages: &mut Messages) {
        let (cols, rows) = self.place.window;
        send_event("resize", Size { cols, rows }, messages);
    }
}

impl Session for Terminal {
    fn receive(
        &mut self,
        kind: MessageKind,
        message: &mut [u8],
        replies: &mut Messages,
    ) -> Result<Range<usize>, SessionError> {
        match kind {
            MessageKind::Text => self.take_packet(message, replies),
            MessageKind::Binary => Err(not_wetty()),
        }
    }

    fn encode(&self, characters: &[u8], payload: &mut Vec<u8>) -> Result<(usize, MessageKind), SessionError> {
        let keys = head_of_text(characters, LONGEST_KEYS)?;
        payload.extend_from_slice(EVENT);
        put_event("input", keys, payload);
        Ok((keys.len(), MessageKind::Text))
    }

    fn is_ready(&self) -> bool {
        self.is_ready
    }

    fn has_ended(&self) -> bool {
        self.has_ended
    }
}

impl WebTerminal for Terminal {
    fn prepare(&mut self, _: Option<&Response>, _: &CookieJar) -> Result<Step, SessionError> {
        let base = &self.place.base;
        let request = Request::new("GET", format!("{base}/socket.io/?EIO=4&transport=websocket"));
        let request = match self.place.setting("ssh") {
            Some(user) => request.with("Referer", format!("{}{base}/ssh/{}", self.place.origin, Encoded(user))),
            None => request,
        };
        Ok(Step::Open(request, Vec::new()))
    }

    fn begin(&mut self, subprotocol: Option<&str>, _: &mut Messages) -> Result<(), SessionError> {
        match subprotocol {
            None => Ok(()),
            Some(_) => Err(SessionError::OtherProtocol("it chose a subprotocol, but WeTTY has none".to_owned())),
        }
    }

    fn resize(&mut self, columns: u16, rows: u16, messages: &mut Messages) {
        self.place.window = (columns, rows);
        if self.is_connected {
            self.send_size(messages);
        }
    }
}

fn not_wetty() -> SessionError {
    SessionError::OtherProtocol("expected a text message of WeTTY, as Socket.IO 4 writes it".to_owned())
}

fn send_event(name: &str, value: impl Serialize, messages: &mut Messages) {
    let mut payload = EVENT.to_vec();
    put_event(name, value, &mut payload);
    messages.0.push((MessageKind::Text, payload));
}

/// The length of a text of UTF-8 in UTF-16: two units for a character of four bytes, else one.
fn count_units(text: &[u8]) -> usize {
    text.iter().map(|byte| usize::from(byte & 0xc0 != 0x80) + usize::from(*byte >= 0xf0)).sum()
}

/// The host's end.
#[derive(Debug, Default)]
pub struct Host {
    /// The user that the page's address names.
    pub user: Option<String>,
    is_connected: bool,
    window: Option<(u16, u16)>,
    /// Units that were sent and not confirmed, and whether the host waits because there are too many.
    unconfirmed: usize,
    is_paused: bool,
}

impl Host {
    fn take_event(&mut self, message: &mut [u8]) -> Result<Range<usize>, SessionError> {
        let json = &mut message[EVENT.len()..];
        match take_event(json, "input").ok_or_else(not_wetty)? {
            Event::Characters(keys) => return Ok(keys.start + EVENT.len()..keys.end + EVENT.len()),
            Event::Other(name) if name == "resize" => {
                let size = serde_json::from_slice(json).ok();
                self.window = size.map(|(_, Size { cols, rows }): (String, _)| (cols, rows)).or(self.window);
            }
            Event::Other(name) if name == "commit" => {
                let (_, units): (String, usize) = serde_json::from_slice(json).map_err(|_| not_wetty())?;
                self.unconfirmed = self.unconfirmed.saturating_sub(units);
                self.is_paused &= self.unconfirmed >= GOES_ON_AT;
            }
            Event::Other(_) => {}
        }
        Ok(0..0)
    }
}

impl Session for Host {
    fn receive(
        &mut self,
        kind: MessageKind,
        message: &mut [u8],
        replies: &mut Messages,
    ) -> Result<Range<usize>, SessionError> {
        match (kind, &*message, self.is_connected) {
            (MessageKind::Text, b"40" | [b'4', b'0', b'{', ..], false) => {
                self.is_connected = true;
                replies.text(r#"40{"sid":"b"}"#);
                replies.text(r#"42["login"]"#);
            }
            (MessageKind::Text, [b'4', b'2', b'[', ..], true) => return self.take_event(message),
            (MessageKind::Text, b"3", _) => {}
            _ => return Err(not_wetty()),
        }
        Ok(0..0)
    }

    fn encode(&self, characters: &[u8], payload: &mut Vec<u8>) -> Result<(usize, MessageKind), SessionError> {
        let (len, output) = head_of_output(characters, LONGEST_OUTPUT);
        payload.extend_from_slice(EVENT);
        put_event("data", output, payload);
        Ok((len, MessageKind::Text))
    }

    fn note_sent(&mut self, output: &[u8], _: &mut Messages) {
        self.unconfirmed += count_units(output);
        self.is_paused |= self.unconfirmed > STOPS_AT;
    }

    fn is_ready(&self) -> bool {
        self.is_connected && !self.is_paused
    }
}

impl WebHost for Host {
    fn answer(&mut self, request: &Request) -> Response {
        if !request.path_alone().ends_with("/socket.io/") {
            return not_found();
        }
        let referer = request.headers.get("Referer").unwrap_or_default();
        self.user = referer.rsplit_once("/ssh/").map(|(_, user)| user.to_owned());
        open_websocket(None)
    }

    fn begin(&mut self, messages: &mut Messages) {
        messages.text(r#"0{"sid":"a","upgrades":[],"pingInterval":3000,"pingTimeout":7000,"maxPayload":1000000}"#);
    }

    fn window(&self) -> Option<(u16, u16)> {
        self.window
    }

    /// The socket stays open after it.
    fn finish(&mut self, messages: &mut Messages) -> Option<u16> {
        messages.text(r#"42["logout"]"#);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::web::pairs::{Pair, place};

    fn receive(terminal: &mut Terminal, message: &str) -> Result<Messages, SessionError> {
        let mut replies = Messages::default();
        terminal.receive(MessageKind::Text, &mut message.as_bytes().to_vec(), &mut replies)?;
        Ok(replies)
    }

    fn text(message: &str) -> Messages {
        let mut messages = Messages::default();
        messages.text(message);
        messages
    }

    #[test]
    fn keys_and_output_pass_as_events() {
        let mut place = place();
        place.origin = "http://h:3000".to_owned();
        place.settings = vec![("ssh".to_owned(), "joe".to_owned())];
        let mut pair = Pair::open(Terminal::new(place), Host::default());
        assert_eq!(pair.paths, ["GET /base/socket.io/?EIO=4&transport=websocket"]);
        assert_eq!(pair.host.user.as_deref(), Some("joe"));
        assert!(pair.terminal.is_ready() && pair.host.window() == Some((80, 24)));
        let keys: String = (0..128).map(char::from).chain("äß😀\u{fffd}".chars()).collect();
        assert_eq!(pair.type_keys(keys.as_bytes()), keys.as_bytes());
        assert_eq!(pair.send_from_host(keys.as_bytes()), keys.as_bytes());
        assert_eq!(pair.send_from_host(b"a\xffb"), "a\u{fffd}b".as_bytes());
        pair.resize(100, 30);
        assert_eq!(pair.host.window(), Some((100, 30)));
        assert_eq!((pair.terminal.has_ended(), pair.end_program(), pair.terminal.has_ended()), (false, None, true));
        assert_eq!(pair.terminal.encode(b"\xff", &mut Vec::new()), Err(SessionError::NotText));
    }

    #[test]
    fn nothing_is_sent_before_the_host_has_connected_and_no_key_before_it_listens() {
        let mut terminal = Terminal::new(place());
        let mut messages = Messages::default();
        terminal.begin(None, &mut messages).unwrap();
        terminal.resize(90, 25, &mut messages);
        assert_eq!(messages, Messages::default());
        assert_eq!(receive(&mut terminal, r#"0{"sid":"x"}"#), Ok(text("40")));
        assert_eq!(receive(&mut terminal, "2"), Ok(text("3")));
        assert_eq!(receive(&mut terminal, r#"40{"sid":"y"}"#), Ok(text(r#"42["resize",{"cols":90,"rows":25}]"#)));
        assert!(!terminal.is_ready());
        receive(&mut terminal, r#"42["data","Enter your username: "]"#).unwrap();
        assert!(terminal.is_ready());
    }

    #[test]
    fn output_stops_unless_it_is_confirmed() {
        let output = "ä😀x".repeat(5_000);
        for (setting, stops) in [("on", false), ("off", true)] {
            let mut place = place();
            place.settings = vec![("ack".to_owned(), setting.to_owned())];
            let mut pair = Pair::open(Terminal::new(place), Host::default());
            let mut units = 0;
            while pair.host.is_ready() && units < 3 * STOPS_AT {
                pair.send_from_host(output.as_bytes());
                units += 20_000;
            }
            assert_eq!(units, if stops { 2_100_000 } else { 6_300_000 });
            assert!(stops || pair.terminal.unconfirmed == 6_300_000 % CONFIRMED);
        }
        assert_eq!(count_units("aä€😀".as_bytes()), "aä€😀".encode_utf16().count());
    }

    #[test]
    fn a_long_paste_is_cut_so_that_the_host_takes_it() {
        let mut pair = Pair::open(Terminal::new(place()), Host::default());
        let paste = vec![b'\x01'; 200_000];
        let mut payload = Vec::new();
        pair.terminal.encode(&paste, &mut payload).unwrap();
        assert!(payload.len() < 1_000_000);
        assert_eq!(pair.type_keys(&paste), paste);
    }

    #[test]
    fn refusals_and_other_protocols_are_named() {
        let mut terminal = Terminal::new(place());
        let refused = receive(&mut terminal, r#"44{"message":"Invalid namespace"}"#);
        assert_eq!(refused, Err(SessionError::Refused("Invalid namespace".to_owned())));
        for message in ["", "0", "hello", "43[]", r#"451-["data",{}]"#, "42{}", r#"42["data",5]"#, "427[]", "5"] {
            assert_eq!(receive(&mut terminal, message), Err(not_wetty()), "{message}");
        }
        let binary = terminal.receive(MessageKind::Binary, &mut [b'2'], &mut Messages::default());
        assert_eq!(binary, Err(not_wetty()));
        assert_eq!(receive(&mut terminal, "41").map(|_| terminal.has_ended()), Ok(true));
        let mut early = br#"42["input","x"]"#.to_vec();
        assert_eq!(Host::default().receive(MessageKind::Text, &mut early, &mut Messages::default()), Err(not_wetty()));
    }
}
