//! Teleport's web terminal (`web/packages/teleport/src/lib/term/tty.ts`, `lib/web/terminal/terminal.go`): after a token in text, protobuf
//! envelopes of three strings: version, type, payload. The session is ready at the answer to the token, or at its first output.
//!
//! The host drops keys silently when 100 envelopes wait. A browser draws output 10 ms late; here it counts when it comes.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::payload::head_of_output;
use super::{
    Messages, Place, Session, SessionError, Step, WebHost, WebTerminal, head_of_text, not_found, open_websocket,
};
use crate::percent::{Encoded, decode};
use crate::wire::http::{CookieJar, Request, Response};
use crate::wire::websocket::MessageKind;

/// The version of envelopes.
const VERSION: &str = "1";

/// Most bytes of an envelope's payload.
const MOST: usize = 4096;

/// Types of envelopes.
const RAW: &str = "r";
const RESIZE: &str = "w";
const CLOSE: &str = "c";
const SECOND_FACTOR: &str = "n";
const ERROR: &str = "e";

/// The session that is asked for, in the query.
#[derive(Debug, Serialize, Deserialize)]
struct Parameters {
    server_id: String,
    login: String,
    term: Window,
}

#[derive(Debug, Serialize, Deserialize)]
struct Window {
    #[serde(rename = "w")]
    columns: u16,
    #[serde(rename = "h")]
    rows: u16,
}

/// The first message.
#[derive(Serialize, Deserialize)]
struct First {
    token: String,
}

/// The answer to it.
#[derive(Debug, Serialize, Deserialize)]
struct Answer {
    #[serde(rename = "type")]
    kind: String,
    status: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    message: String,
}

/// Columns and rows, `80:24`.
#[derive(Debug, Serialize, Deserialize)]
struct Size {
    size: String,
}

/// The terminal's end.
#[derive(Debug)]
pub struct Terminal {
    place: Place,
    is_ready: bool,
    has_ended: bool,
}

impl Terminal {
    /// The path of the target is `/CLUSTER/SERVER`. `user=…` is the user there; else the account's name.
    pub fn new(place: Place) -> Self {
        Self { place, is_ready: false, has_ended: false }
    }

    fn take_answer(&mut self, message: &[u8]) -> Result<(), SessionError> {
        let answer: Answer = serde_json::from_slice(message)
            .map_err(|_| SessionError::OtherProtocol("expected Teleport's answer to the token, in JSON".to_owned()))?;
        if answer.status != "ok" {
            let reason = if answer.message.is_empty() { answer.status } else { answer.message };
            return Err(SessionError::refused(&reason));
        }
        self.is_ready = true;
        Ok(())
    }
}

impl Session for Terminal {
    fn receive(
        &mut self,
        kind: MessageKind,
        message: &mut [u8],
        _: &mut Messages,
    ) -> Result<Range<usize>, SessionError> {
        if kind == MessageKind::Text {
            return self.take_answer(message).map(|()| 0..0);
        }
        let (kind, payload) = read_envelope(message)?;
        match kind {
            RAW => {
                self.is_ready = true;
                return Ok(payload);
            }
            CLOSE => self.has_ended = true,
            SECOND_FACTOR => return Err(SessionError::Refused("asks for a second factor".to_owned())),
            ERROR => return Err(SessionError::refused(&String::from_utf8_lossy(&message[payload]))),
            // Times of round trips, the recording's events, the session's name.
            _ => {}
        }
        Ok(0..0)
    }

    fn encode(&self, characters: &[u8], payload: &mut Vec<u8>) -> Result<(usize, MessageKind), SessionError> {
        let text = head_of_text(characters, MOST)?;
        write_envelope(RAW, text, payload);
        Ok((text.len(), MessageKind::Binary))
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
        let (cluster, server) = self.place.base.trim_start_matches('/').split_once('/').unwrap_or_default();
        let (columns, rows) = self.place.window;
        let login = self.place.setting("user").or(self.place.account.user.as_deref()).unwrap_or_default();
        let parameters =
            Parameters { server_id: server.to_owned(), login: login.to_owned(), term: Window { columns, rows } };
        let parameters = serde_json::to_string(&parameters).unwrap_or_default();
        let path = format!("/v1/webapi/sites/{cluster}/connect/ws?params={}", Encoded(&parameters));
        Ok(Step::Open(Request::new("GET", path), Vec::new()))
    }

    fn begin(&mut self, _: Option<&str>, messages: &mut Messages) -> Result<(), SessionError> {
        let first = First { token: self.place.account.token.clone().unwrap_or_default() };
        messages.text(serde_json::to_string(&first).unwrap_or_default());
        Ok(())
    }

    fn resize(&mut self, columns: u16, rows: u16, messages: &mut Messages) {
        let size = serde_json::to_string(&Size { size: format!("{columns}:{rows}") }).unwrap_or_default();
        messages.binary(envelope(RESIZE, &size));
    }

    fn finish(&mut self, messages: &mut Messages) {
        messages.binary(envelope(CLOSE, ""));
    }
}

/// The host's end.
#[derive(Debug, Default)]
pub struct Host {
    /// The token that it wants.
    pub token: Option<String>,
    /// Whether it asks for a second factor.
    pub asks_for_second_factor: bool,
    window: Option<(u16, u16)>,
    is_ready: bool,
}

impl Host {
    fn take_token(&mut self, message: &[u8], replies: &mut Messages) -> Result<(), SessionError> {
        let First { token } = serde_json::from_slice(message)
            .map_err(|_| SessionError::OtherProtocol("expected Teleport's first message, {\"token\":…}".to_owned()))?;
        self.is_ready = self.token.as_ref().is_none_or(|expected| *expected == token);
        let (status, reason) = if self.is_ready { ("ok", "") } else { ("error", "invalid token") };
        let answer = Answer {
            kind: "create_session_response".to_owned(),
            status: status.to_owned(),
            message: reason.to_owned(),
        };
        replies.text(serde_json::to_string(&answer).unwrap_or_default());
        if self.asks_for_second_factor {
            replies.binary(envelope(SECOND_FACTOR, "{}"));
        }
        Ok(())
    }
}

impl Session for Host {
    fn receive(
        &mut self,
        kind: MessageKind,
        message: &mut [u8],
        replies: &mut Messages,
    ) -> Result<Range<usize>, SessionError> {
        if kind == MessageKind::Text {
            return self.take_token(message, replies).map(|()| 0..0);
        }
        let (kind, payload) = read_envelope(message)?;
        match kind {
            RAW if self.is_ready => return Ok(payload),
            RESIZE => {
                let size = serde_json::from_slice(&message[payload]).ok();
                self.window = size.and_then(|Size { size }| parse_size(&size)).or(self.window);
            }
            _ => {}
        }
        Ok(0..0)
    }

    fn encode(&self, characters: &[u8], payload: &mut Vec<u8>) -> Result<(usize, MessageKind), SessionError> {
        let (len, text) = head_of_output(characters, MOST);
        write_envelope(RAW, text, payload);
        Ok((len, MessageKind::Binary))
    }

    fn is_ready(&self) -> bool {
        self.is_ready
    }
}

impl WebHost for Host {
    fn answer(&mut self, request: &Request) -> Response {
        if !request.path_alone().ends_with("/connect/ws") {
            return not_found();
        }
        let parameters = request.path.split_once("?params=").and_then(|(_, value)| decode(value));
        match parameters.and_then(|json| serde_json::from_str(&json).ok()) {
            Some(Parameters { term: Window { columns, rows }, .. }) => {
                self.window = Some((columns, rows));
                open_websocket(None)
            }
            None => Response::new(400, "application/json", r#"{"error":{"message":"missing params"}}"#),
        }
    }

    fn window(&self) -> Option<(u16, u16)> {
        self.window
    }

    fn finish(&mut self, messages: &mut Messages) -> Option<u16> {
        messages.binary(envelope(CLOSE, ""));
        Some(1000)
    }
}

fn parse_size(size: &str) -> Option<(u16, u16)> {
    let (columns, rows) = size.split_once(':')?;
    Some((columns.parse().ok()?, rows.parse().ok()?))
}

fn envelope(kind: &str, payload: &str) -> Vec<u8> {
    let mut message = Vec::new();
    write_envelope(kind, payload, &mut message);
    message
}

/// Appends an envelope: fields 1, 2 and 3, each a string (wire type 2).
fn write_envelope(kind: &str, payload: &str, message: &mut Vec<u8>) {
    for (field, text) in [(1, VERSION), (2, kind), (3, payload)] {
        message.push(field << 3 | 2);
        let mut len = text.len();
        while len >= 0x80 {
            message.push(len as u8 | 0x80);
            len >>= 7;
        }
        message.push(len as u8);
        message.extend_from_slice(text.as_bytes());
    }
}

/// Reads an envelope: its type, and where its payload stands.
fn read_envelope(message: &[u8]) -> Result<(&str, Range<usize>), SessionError> {
    parse_envelope(message)
        .ok_or_else(|| SessionError::OtherProtocol("expected an envelope of Teleport, in protobuf".to_owned()))
}

fn parse_envelope(message: &[u8]) -> Option<(&str, Range<usize>)> {
    let (mut kind, mut payload) = ("", 0..0);
    let mut at = 0;
    while at < message.len() {
        let key = read_varint(message, &mut at)?;
        let value = match key & 7 {
            0 => {
                read_varint(message, &mut at)?;
                at..at
            }
            1 => at..at.checked_add(8)?,
            2 => {
                let len = usize::try_from(read_varint(message, &mut at)?).ok()?;
                at..at.checked_add(len)?
            }
            5 => at..at.checked_add(4)?,
            _ => return None,
        };
        let bytes = message.get(value.clone())?;
        at = value.end;
        match key >> 3 {
            2 => kind = std::str::from_utf8(bytes).ok()?,
            3 => payload = value,
            _ => {}
        }
    }
    (!kind.is_empty()).then_some((kind, payload))
}

fn read_varint(message: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0;
    for shift in (0..63).step_by(7) {
        let byte = *message.get(*at)?;
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::web::pairs::{Pair, place};

    fn at_server(token: &str) -> Place {
        let mut place = Place { base: "/example.org/7a1c".to_owned(), ..place() };
        place.settings = vec![("user".to_owned(), "joe".to_owned())];
        place.account.token = Some(token.to_owned());
        place
    }

    fn host() -> Host {
        Host { token: Some("secret".to_owned()), ..Host::default() }
    }

    #[test]
    fn keys_and_output_pass_in_envelopes() {
        let mut pair = Pair::open(Terminal::new(at_server("secret")), host());
        let query = "%7B%22server_id%22%3A%227a1c%22%2C%22login%22%3A%22joe%22%2C%22term%22%3A%7B%22w%22%3A80%2C%22h%22%3A24%7D%7D";
        assert_eq!(pair.paths, [format!("GET /v1/webapi/sites/example.org/connect/ws?params={query}")]);
        assert!(pair.terminal.is_ready());
        let text = "\0\u{1b}[A\"\\\r\n\u{7f}€😀".repeat(1000);
        assert_eq!(pair.type_keys(text.as_bytes()), text.as_bytes());
        assert_eq!(pair.send_from_host(text.as_bytes()), text.as_bytes());
        assert_eq!(pair.send_from_host(b"a\xffb"), "a\u{fffd}b".as_bytes());
        pair.resize(100, 30);
        assert_eq!(pair.host.window(), Some((100, 30)));
        assert!(!pair.terminal.has_ended());
        pair.end_program();
        assert!(pair.terminal.has_ended());
    }

    #[test]
    fn an_envelope_stands_as_protobuf_writes_it_and_other_fields_are_skipped() {
        assert_eq!(envelope(RAW, "ls"), b"\x0a\x011\x12\x01r\x1a\x02ls");
        let message = b"\x20\x96\x01\x0a\x011\x2d1234\x1a\x02ls\x3112345678\x12\x01r";
        assert_eq!(parse_envelope(message).map(|(kind, payload)| (kind, &message[payload])), Some(("r", &b"ls"[..])));
        for bad in
            [&b""[..], b"\x12", b"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", b"\x12\x05r", b"\x13", b"\x12\x01\xff"]
        {
            assert_eq!(parse_envelope(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn a_wrong_token_and_a_second_factor_are_refused() {
        let refuse = |token, host| Pair::try_open(Terminal::new(at_server(token)), host).err();
        assert_eq!(refuse("wrong", host()), Some(SessionError::Refused("invalid token".to_owned())));
        let asking = Host { asks_for_second_factor: true, ..host() };
        assert_eq!(refuse("secret", asking), Some(SessionError::Refused("asks for a second factor".to_owned())));
        assert_eq!(Terminal::new(at_server("")).encode(b"\x80", &mut Vec::new()), Err(SessionError::NotText));
    }
}
