//! GoTTY 1.5.0 (`webtty/webtty.go`, `js/src/webtty.tsx`): text messages, whose first character is their type.
//!
//! The browser asks for `auth_token.js`, and repeats the token in its first message, which starts the program. It sends its keys as
//! base64, in messages that the host's buffer can hold: a longer one ends the session. A host without `-w` drops all keys and says nothing.

use std::ops::Range;

use data_encoding::BASE64;
use serde::{Deserialize, Serialize};

use super::payload::{decode_base64, put_base64};
use super::{Messages, Place, Session, SessionError, Step, WebHost, WebTerminal, not_found, open_websocket};
use crate::wire::http::{CookieJar, Request, Response};
use crate::wire::websocket::MessageKind;

const SUBPROTOCOL: &str = "webtty";

/// Types of messages, both ways: characters; ping or pong.
const CHARACTERS: u8 = b'1';
const PING: u8 = b'2';
/// To the host: the window's size; what keys are encoded in.
const SIZE: u8 = b'3';
const ENCODING: u8 = b'4';
/// From the host: title, preferences, seconds until the page should connect again, and the size of its buffer.
const TITLE: u8 = b'3';
const PREFERENCES: u8 = b'4';
const RECONNECT: u8 = b'5';
const BUFFER: u8 = b'6';

/// The host's buffer, unless it says another size: bytes of a message, and of a piece of output.
const BUFFER_SIZE: usize = 1024;

/// The smallest buffer in which a message carries a key.
const SMALLEST_BUFFER: usize = 5;

/// The first message.
#[derive(Serialize, Deserialize)]
struct First {
    #[serde(rename = "Arguments")]
    arguments: String,
    #[serde(rename = "AuthToken")]
    token: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Size {
    columns: u16,
    rows: u16,
}

/// The terminal's end.
pub struct Terminal {
    place: Place,
    token: String,
    buffer_size: usize,
    is_ready: bool,
}

impl Terminal {
    /// `arg=…` are arguments of the command, where GoTTY allows them (`--permit-arguments`).
    pub fn new(place: Place) -> Self {
        Self { place, token: String::new(), buffer_size: BUFFER_SIZE, is_ready: false }
    }
}

impl Session for Terminal {
    fn receive(
        &mut self,
        kind: MessageKind,
        message: &mut [u8],
        _: &mut Messages,
    ) -> Result<Range<usize>, SessionError> {
        let other = || SessionError::OtherProtocol("expected a message of GoTTY: a digit, then text".to_owned());
        match (kind, message.split_first_mut()) {
            (MessageKind::Text, Some((&mut CHARACTERS, output))) => {
                self.is_ready = true;
                decode_base64(output).map(|len| 1..1 + len).ok_or_else(other)
            }
            // The program runs before the host sends anything.
            (MessageKind::Text, Some((&mut BUFFER, size))) => {
                let size = serde_json::from_slice(size).ok().filter(|size| *size >= SMALLEST_BUFFER);
                self.buffer_size = size.ok_or_else(other)?;
                self.is_ready = true;
                Ok(0..0)
            }
            (MessageKind::Text, Some((&mut (PING | TITLE | PREFERENCES | RECONNECT), _))) => Ok(0..0),
            _ => Err(other()),
        }
    }

    fn encode(&self, characters: &[u8], payload: &mut Vec<u8>) -> Result<(usize, MessageKind), SessionError> {
        let len = characters.len().min((self.buffer_size - 1) / 4 * 3);
        Ok(encode_characters(&characters[..len], payload))
    }

    fn is_ready(&self) -> bool {
        self.is_ready
    }
}

impl WebTerminal for Terminal {
    fn prepare(&mut self, answer: Option<&Response>, _: &CookieJar) -> Result<Step, SessionError> {
        let Some(answer) = answer else { return Ok(Step::Request(self.place.request("/auth_token.js"))) };
        if !answer.is_success() {
            return Err(SessionError::Refused(format!("auth_token.js was answered by status {}", answer.status)));
        }
        self.token = find_token(&answer.body).ok_or_else(|| {
            SessionError::OtherProtocol("expected GoTTY's auth_token.js, var gotty_auth_token = '…';".to_owned())
        })?;
        let request = self.place.request(&format!("/ws{}", self.place.argument_query()));
        Ok(Step::Open(request, vec![SUBPROTOCOL.to_owned()]))
    }

    /// GoTTY serves those too to whom it grants no subprotocol, but browsers do not.
    fn begin(&mut self, subprotocol: Option<&str>, messages: &mut Messages) -> Result<(), SessionError> {
        if subprotocol != Some(SUBPROTOCOL) {
            return Err(SessionError::OtherProtocol("it did not choose GoTTY's subprotocol \"webtty\"".to_owned()));
        }
        let first = First { arguments: self.place.argument_query(), token: self.token.clone() };
        messages.text(serde_json::to_string(&first).unwrap_or_default());
        let (columns, rows) = self.place.window;
        self.resize(columns, rows, messages);
        messages.text("4base64");
        Ok(())
    }

    fn resize(&mut self, columns: u16, rows: u16, messages: &mut Messages) {
        let size = serde_json::to_string(&Size { columns, rows }).unwrap_or_default();
        messages.text(format!("{}{size}", char::from(SIZE)));
    }

    fn keep_alive_interval(&self) -> Option<u64> {
        Some(30)
    }

    fn put_keep_alive(&mut self, messages: &mut Messages) {
        messages.text("2");
    }
}

fn encode_characters(characters: &[u8], payload: &mut Vec<u8>) -> (usize, MessageKind) {
    payload.push(CHARACTERS);
    put_base64(characters, payload);
    (characters.len(), MessageKind::Text)
}

/// The token in `auth_token.js`, where it stands in clear.
fn find_token(script: &[u8]) -> Option<String> {
    let rest = std::str::from_utf8(script).ok()?.trim().strip_prefix("var gotty_auth_token")?;
    let value = rest.trim_start().strip_prefix('=')?.trim_start().strip_prefix('\'')?;
    value.trim_end_matches(';').strip_suffix('\'').map(str::to_owned)
}

/// The host's end.
#[derive(Debug, Default)]
pub struct Host {
    /// User and password that it wants (`-c`).
    pub credential: Option<(String, String)>,
    /// The arguments that the page was called with.
    pub arguments: String,
    has_begun: bool,
    is_base64: bool,
    window: Option<(u16, u16)>,
}

impl Host {
    fn token(&self) -> String {
        self.credential.as_ref().map(|(user, password)| format!("{user}:{password}")).unwrap_or_default()
    }

    fn begin_session(&mut self, message: &[u8], replies: &mut Messages) -> Result<(), SessionError> {
        let first: First = serde_json::from_slice(message)
            .map_err(|_| SessionError::OtherProtocol("expected the first message of GoTTY's page".to_owned()))?;
        if first.token != self.token() {
            return Err(SessionError::Refused("wrong token".to_owned()));
        }
        self.arguments = first.arguments;
        self.has_begun = true;
        replies.text("3bash@host");
        replies.text(format!("6{BUFFER_SIZE}"));
        Ok(())
    }

    fn take_keys(&self, message: &mut [u8]) -> Result<Range<usize>, SessionError> {
        if !self.is_base64 {
            return Ok(1..message.len());
        }
        let len = decode_base64(&mut message[1..]);
        len.map(|len| 1..1 + len).ok_or_else(|| SessionError::OtherProtocol("expected base64".to_owned()))
    }
}

impl Session for Host {
    fn receive(
        &mut self,
        kind: MessageKind,
        message: &mut [u8],
        replies: &mut Messages,
    ) -> Result<Range<usize>, SessionError> {
        if kind != MessageKind::Text || message.len() > BUFFER_SIZE {
            return Err(SessionError::OtherProtocol("expected a text message of at most 1024 bytes".to_owned()));
        }
        match (message.first(), self.has_begun) {
            (_, false) => self.begin_session(message, replies)?,
            (Some(&CHARACTERS), true) => return self.take_keys(message),
            (Some(&PING), true) => replies.text("2"),
            (Some(&SIZE), true) => {
                let size = serde_json::from_slice(&message[1..]).ok();
                self.window = size.map(|Size { columns, rows }| (columns, rows)).or(self.window);
            }
            (Some(&ENCODING), true) => self.is_base64 = &message[1..] == b"base64",
            _ => return Err(SessionError::OtherProtocol("expected a message of GoTTY's page".to_owned())),
        }
        Ok(0..0)
    }

    fn encode(&self, characters: &[u8], payload: &mut Vec<u8>) -> Result<(usize, MessageKind), SessionError> {
        Ok(encode_characters(&characters[..characters.len().min(BUFFER_SIZE)], payload))
    }

    fn is_ready(&self) -> bool {
        self.has_begun
    }
}

impl WebHost for Host {
    fn answer(&mut self, request: &Request) -> Response {
        let expected = format!("Basic {}", BASE64.encode(self.token().as_bytes()));
        match request.path_alone() {
            path if path.ends_with("/ws") => {
                let offers = request.headers.lists("Sec-WebSocket-Protocol", SUBPROTOCOL);
                open_websocket(offers.then_some(SUBPROTOCOL))
            }
            _ if self.credential.is_some() && request.headers.get("Authorization") != Some(&expected) => {
                Response::new(401, "text/plain", "authorization failed")
                    .with("WWW-Authenticate", "Basic realm=\"GoTTY\"")
            }
            path if path.ends_with("/auth_token.js") => {
                let script = format!("var gotty_auth_token = '{}';", self.token());
                Response::new(200, "application/javascript", script)
            }
            _ => not_found(),
        }
    }

    fn window(&self) -> Option<(u16, u16)> {
        self.window
    }

    fn finish(&mut self, _: &mut Messages) -> Option<u16> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::web::pairs::{Pair, place};

    fn joe(password: &str) -> Place {
        let mut place = place();
        place.account.user = Some("joe".to_owned());
        place.account.password = Some(password.to_owned());
        place
    }

    fn host() -> Host {
        Host { credential: Some(("joe".to_owned(), "ge'heim".to_owned())), ..Host::default() }
    }

    #[test]
    fn keys_and_output_pass_as_base64() {
        let mut place = joe("ge'heim");
        place.settings = vec![("arg".to_owned(), "-l".to_owned()), ("arg".to_owned(), "a b".to_owned())];
        let mut pair = Pair::open(Terminal::new(place), host());
        assert_eq!(pair.paths, ["GET /base/auth_token.js", "GET /base/ws?arg=-l&arg=a%20b"]);
        assert_eq!(pair.host.arguments, "?arg=-l&arg=a%20b");
        assert!(pair.terminal.is_ready() && pair.host.is_base64);
        assert_eq!(pair.host.window(), Some((80, 24)));
        assert_eq!(pair.send_from_host("\u{1b}[1m😀 ä\0".as_bytes()), "\u{1b}[1m😀 ä\0".as_bytes());
        let every_byte: Vec<_> = (0..=255).collect();
        assert_eq!(pair.type_keys(&every_byte), every_byte);
        pair.resize(100, 30);
        assert_eq!(pair.host.window(), Some((100, 30)));
        assert_eq!(pair.end_program(), None);
    }

    #[test]
    fn a_paste_is_cut_as_the_host_says() {
        let mut pair = Pair::open(Terminal::new(joe("ge'heim")), host());
        let paste = vec![b'x'; 5000];
        assert_eq!(pair.type_keys(&paste), paste);
        let mut size = *b"616";
        pair.terminal.receive(MessageKind::Text, &mut size, &mut Messages::default()).unwrap();
        let mut payload = Vec::new();
        assert_eq!(pair.terminal.encode(&paste, &mut payload), Ok((9, MessageKind::Text)));
        assert_eq!(payload.len(), 13);
        let refused = pair.terminal.receive(MessageKind::Text, &mut b"64".to_owned(), &mut Messages::default());
        assert!(matches!(refused, Err(SessionError::OtherProtocol(_))));
        let long = pair.host.receive(MessageKind::Text, &mut vec![CHARACTERS; 1025], &mut Messages::default());
        assert!(matches!(long, Err(SessionError::OtherProtocol(_))));
    }

    #[test]
    fn a_wrong_password_or_token_is_refused() {
        let refused = Pair::try_open(Terminal::new(joe("falsch")), host()).err();
        assert_eq!(refused, Some(SessionError::Refused("auth_token.js was answered by status 401".to_owned())));
        let first = &mut br#"{"Arguments":"","AuthToken":"joe:falsch"}"#.to_owned();
        let refused = host().receive(MessageKind::Text, first, &mut Messages::default());
        assert_eq!(refused, Err(SessionError::Refused("wrong token".to_owned())));
    }

    #[test]
    fn another_protocol_is_named() {
        let mut terminal = Terminal::new(place());
        let html = Response::new(200, "text/html", "<html>");
        let named = |result: Result<_, _>| matches!(result, Err(SessionError::OtherProtocol(_)));
        assert!(named(terminal.prepare(Some(&html), &CookieJar::default()).map(drop)));
        assert!(named(terminal.begin(None, &mut Messages::default())));
        for (kind, message) in [
            (MessageKind::Text, &b""[..]),
            (MessageKind::Text, b"7"),
            (MessageKind::Text, b"1eA="),
            (MessageKind::Binary, b"1eA=="),
        ] {
            assert!(named(terminal.receive(kind, &mut message.to_vec(), &mut Messages::default()).map(drop)));
        }
    }

    #[test]
    fn a_ping_is_answered() {
        let mut pair = Pair::open(Terminal::new(joe("ge'heim")), host());
        let (mut pings, mut replies) = (Messages::default(), Messages::default());
        pair.terminal.put_keep_alive(&mut pings);
        pair.host.receive(MessageKind::Text, &mut pings.0[0].1, &mut replies).unwrap();
        let reply = &mut replies.0[0].1;
        assert_eq!(pair.terminal.receive(MessageKind::Text, reply, &mut Messages::default()), Ok(0..0));
    }
}
