//! ttyd 1.7.7 (`src/protocol.c`, `html/src/components/terminal/xterm/index.ts`): the first byte of a message is its type.
//!
//! The browser asks for `/token`, and repeats the token in its first message, which starts the program. The first output says that it
//! runs. Pause and resume are not sent: a browser sends them when a million characters wait to be drawn, and this version ignores them.

use std::ops::Range;

use data_encoding::BASE64;
use serde::{Deserialize, Serialize};

use super::{Messages, Place, Session, SessionError, Step, WebHost, WebTerminal, not_found, open_websocket};
use crate::ExitStatus;
use crate::wire::http::{CookieJar, Request, Response};
use crate::wire::websocket::MessageKind;

const SUBPROTOCOL: &str = "tty";

/// Types of messages, both ways: input or output; the browser's size or the host's title; the host's preferences.
const CHARACTERS: u8 = b'0';
const SIZE_OR_TITLE: u8 = b'1';
const PREFERENCES: u8 = b'2';

/// The first message.
#[derive(Serialize, Deserialize)]
struct First {
    #[serde(rename = "AuthToken")]
    token: String,
    columns: u16,
    rows: u16,
}

#[derive(Debug, Serialize, Deserialize)]
struct Size {
    columns: u16,
    rows: u16,
}

#[derive(Serialize, Deserialize)]
struct Token {
    token: String,
}

/// The terminal's end.
pub struct Terminal {
    place: Place,
    token: String,
    is_ready: bool,
    exit: Option<ExitStatus>,
}

impl Terminal {
    /// `arg=…` are arguments of the command, where ttyd allows them (`-a`).
    pub fn new(place: Place) -> Self {
        Self { place, token: String::new(), is_ready: false, exit: None }
    }
}

impl Session for Terminal {
    fn receive(&mut self, _: MessageKind, message: &mut [u8], _: &mut Messages) -> Result<Range<usize>, SessionError> {
        match message.first() {
            Some(&CHARACTERS) => {
                self.is_ready = true;
                Ok(1..message.len())
            }
            Some(&(SIZE_OR_TITLE | PREFERENCES)) => Ok(0..0),
            _ => {
                Err(SessionError::OtherProtocol("expected a message of ttyd, whose first byte is 0, 1 or 2".to_owned()))
            }
        }
    }

    fn encode(&self, characters: &[u8], payload: &mut Vec<u8>) -> Result<(usize, MessageKind), SessionError> {
        Ok(encode_characters(characters, payload))
    }

    fn is_ready(&self) -> bool {
        self.is_ready
    }
}

impl WebTerminal for Terminal {
    fn prepare(&mut self, answer: Option<&Response>, _: &CookieJar) -> Result<Step, SessionError> {
        let Some(answer) = answer else { return Ok(Step::Request(self.place.request("/token"))) };
        if !answer.is_success() {
            return Err(SessionError::Refused(format!("/token was answered by status {}", answer.status)));
        }
        let Token { token } = serde_json::from_slice(&answer.body)
            .map_err(|_| SessionError::OtherProtocol("expected the JSON of ttyd's /token, {\"token\":…}".to_owned()))?;
        self.token = token;
        let request = self.place.request(&format!("/ws{}", self.place.argument_query()));
        Ok(Step::Open(request, vec![SUBPROTOCOL.to_owned()]))
    }

    fn begin(&mut self, subprotocol: Option<&str>, messages: &mut Messages) -> Result<(), SessionError> {
        if subprotocol != Some(SUBPROTOCOL) {
            return Err(SessionError::OtherProtocol("it did not choose ttyd's subprotocol \"tty\"".to_owned()));
        }
        let (columns, rows) = self.place.window;
        let first = First { token: self.token.clone(), columns, rows };
        messages.binary(serde_json::to_vec(&first).unwrap_or_default());
        Ok(())
    }

    fn resize(&mut self, columns: u16, rows: u16, messages: &mut Messages) {
        let mut message = vec![SIZE_OR_TITLE];
        message.extend(serde_json::to_vec(&Size { columns, rows }).unwrap_or_default());
        messages.binary(message);
    }

    /// Status 0 ends in 1000. Another one ends in 1006, which the standard forbids on the wire, and tells no number.
    fn note_close(&mut self, code: u16) -> bool {
        if code == 1000 {
            self.exit = Some(ExitStatus::Exited(0));
        }
        matches!(code, 1000 | 1001 | 1005 | 1006)
    }

    fn exit(&self) -> Option<ExitStatus> {
        self.exit
    }
}

fn encode_characters(characters: &[u8], payload: &mut Vec<u8>) -> (usize, MessageKind) {
    payload.push(CHARACTERS);
    payload.extend_from_slice(characters);
    (characters.len(), MessageKind::Binary)
}

/// The host's end.
#[derive(Debug, Default)]
pub struct Host {
    /// User and password that it wants (`-c`).
    pub credential: Option<(String, String)>,
    window: Option<(u16, u16)>,
}

impl Host {
    fn token(&self) -> String {
        let pair = self.credential.as_ref().map(|(user, password)| format!("{user}:{password}"));
        BASE64.encode(pair.unwrap_or_default().as_bytes())
    }

    fn allows(&self, request: &Request) -> bool {
        let expected = self.credential.is_some().then(|| format!("Basic {}", self.token()));
        expected.is_none_or(|expected| request.headers.get("Authorization") == Some(&expected))
    }
}

impl Session for Host {
    fn receive(
        &mut self,
        _: MessageKind,
        message: &mut [u8],
        replies: &mut Messages,
    ) -> Result<Range<usize>, SessionError> {
        match (message.first(), self.is_ready()) {
            (Some(b'{'), false) => {
                let first: First = serde_json::from_slice(message)
                    .map_err(|_| SessionError::OtherProtocol("expected the first message of ttyd's page".to_owned()))?;
                if first.token != self.token() {
                    return Err(SessionError::Refused("wrong token".to_owned()));
                }
                self.window = Some((first.columns, first.rows));
                replies.binary(&b"1bash (host)"[..]);
                replies.binary(&b"2{}"[..]);
                Ok(0..0)
            }
            (Some(&CHARACTERS), true) => Ok(1..message.len()),
            (Some(&SIZE_OR_TITLE), true) => {
                let size = serde_json::from_slice(&message[1..]).ok();
                self.window = size.map(|Size { columns, rows }| (columns, rows)).or(self.window);
                Ok(0..0)
            }
            _ => Err(SessionError::OtherProtocol("expected a message of ttyd's page".to_owned())),
        }
    }

    fn encode(&self, characters: &[u8], payload: &mut Vec<u8>) -> Result<(usize, MessageKind), SessionError> {
        Ok(encode_characters(characters, payload))
    }

    fn is_ready(&self) -> bool {
        self.window.is_some()
    }
}

impl WebHost for Host {
    fn answer(&mut self, request: &Request) -> Response {
        if !self.allows(request) {
            return Response::new(401, "text/html", "").with("WWW-Authenticate", "Basic realm=\"ttyd\"");
        }
        match request.path_alone() {
            path if path.ends_with("/token") => {
                let token = Token { token: if self.credential.is_some() { self.token() } else { String::new() } };
                Response::new(200, "application/json;charset=utf-8", serde_json::to_vec(&token).unwrap_or_default())
            }
            path if path.ends_with("/ws") => {
                let offers = request.headers.lists("Sec-WebSocket-Protocol", SUBPROTOCOL);
                open_websocket(offers.then_some(SUBPROTOCOL))
            }
            _ => not_found(),
        }
    }

    fn window(&self) -> Option<(u16, u16)> {
        self.window
    }

    fn finish(&mut self, _: &mut Messages) -> Option<u16> {
        Some(1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::web::pairs::{Pair, place};

    #[test]
    fn keys_and_output_pass_and_the_first_output_says_that_the_program_runs() {
        let mut place = place();
        place.settings = vec![("arg".to_owned(), "a b".to_owned())];
        let mut pair = Pair::open(Terminal::new(place), Host::default());
        assert_eq!(pair.paths, ["GET /base/token", "GET /base/ws?arg=a%20b"]);
        assert!(!pair.terminal.is_ready());
        assert_eq!(pair.send_from_host(b"$ "), b"$ ");
        assert!(pair.terminal.is_ready());
        assert_eq!(pair.type_keys(b"ls\r"), b"ls\r");
        pair.resize(100, 30);
        assert_eq!(pair.host.window(), Some((100, 30)));
    }

    #[test]
    fn a_wrong_password_is_refused_before_the_websocket() {
        let host = || Host { credential: Some(("joe".to_owned(), "geheim".to_owned())), ..Host::default() };
        let mut place = place();
        place.account.user = Some("joe".to_owned());
        place.account.password = Some("geheim".to_owned());
        drop(Pair::open(Terminal::new(place.clone()), host()));
        place.account.password = Some("falsch".to_owned());
        let refused = Pair::try_open(Terminal::new(place), host()).err();
        assert_eq!(refused, Some(SessionError::Refused("/token was answered by status 401".to_owned())));
    }

    #[test]
    fn the_status_of_the_program_is_known_if_it_is_zero() {
        let mut terminal = Terminal::new(place());
        assert!(terminal.note_close(1006) && terminal.exit().is_none());
        assert!(terminal.note_close(1000) && terminal.exit() == Some(ExitStatus::Exited(0)));
        assert!(!terminal.note_close(1008));
    }
}
