//! Coder 2.20's reconnecting terminal (`site/src/pages/TerminalPage/TerminalPage.tsx`, `coderd/workspaceapps/proxy.go`): keys and sizes are
//! JSON in binary messages, output is bare. The session is ready at its first byte.
//!
//! The terminal's end names the session by a UUID. The agent keeps it for 5 minutes after the line, so its shell is told to end.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{
    Messages, Place, Session, SessionError, Step, WebHost, WebTerminal, head_of_text, not_found, open_websocket,
};
use crate::percent::{Encoded, decode};
use crate::wire::http::{CookieJar, Request, Response};
use crate::wire::websocket::MessageKind;

/// Most characters of a message: even if each is escaped (`\u001b`), it is shorter than the 32 KiB that the host reads at most.
const MOST: usize = 4096;

/// What ends a program and then the shell below it: Ctrl-C, Ctrl-U and Ctrl-D. At Ctrl-C Bash keeps a half typed row when more keys wait.
const ENDS_SHELL: &str = "\u{3}\u{15}\u{4}";

/// Header with the token of a user; the page has it in a cookie.
const TOKEN: &str = "Coder-Session-Token";
const TOKEN_COOKIE: &str = "coder_session_token";

/// What a page sends.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Sent<Text> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    data: Option<Text>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    height: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    width: Option<u16>,
}

impl<Text: Serialize> Sent<Text> {
    fn keys(text: Text) -> Self {
        Self { data: Some(text), height: None, width: None }
    }

    fn put(&self, payload: &mut Vec<u8>) {
        // Text and numbers always have a form in JSON, and a vector takes all of it.
        drop(serde_json::to_writer(payload, self));
    }

    fn send(&self, messages: &mut Messages) {
        let mut payload = Vec::new();
        self.put(&mut payload);
        messages.binary(payload);
    }
}

/// The terminal's end.
#[derive(Debug)]
pub struct Terminal {
    place: Place,
    is_ready: bool,
}

impl Terminal {
    /// The path of the target ends in the agent's UUID. `command=…` is run instead of the user's shell; `reconnect=UUID` names the session
    /// to attach to, which is left at the end; `keep` leaves a new one.
    pub fn new(place: Place) -> Self {
        Self { place, is_ready: false }
    }

    fn path(&self) -> String {
        let (base, agent) = self.place.base.rsplit_once('/').unwrap_or_default();
        let session = self.place.setting("reconnect").unwrap_or(&self.place.session);
        let (width, height) = self.place.window;
        let command = self.place.setting("command").unwrap_or_default();
        format!(
            "{base}/api/v2/workspaceagents/{agent}/pty?reconnect={}&width={width}&height={height}&command={}",
            Encoded(session),
            Encoded(command)
        )
    }
}

impl Session for Terminal {
    fn receive(&mut self, _: MessageKind, message: &mut [u8], _: &mut Messages) -> Result<Range<usize>, SessionError> {
        self.is_ready |= !message.is_empty();
        Ok(0..message.len())
    }

    fn encode(&self, characters: &[u8], payload: &mut Vec<u8>) -> Result<(usize, MessageKind), SessionError> {
        let text = head_of_text(characters, MOST)?;
        Sent::keys(text).put(payload);
        Ok((text.len(), MessageKind::Binary))
    }

    fn is_ready(&self) -> bool {
        self.is_ready
    }
}

impl WebTerminal for Terminal {
    fn prepare(&mut self, _: Option<&Response>, _: &CookieJar) -> Result<Step, SessionError> {
        let mut request = Request::new("GET", self.path());
        if let Some(token) = &self.place.account.token {
            request.headers.add(TOKEN, token);
        }
        Ok(Step::Open(request, Vec::new()))
    }

    fn begin(&mut self, _: Option<&str>, _: &mut Messages) -> Result<(), SessionError> {
        Ok(())
    }

    fn resize(&mut self, columns: u16, rows: u16, messages: &mut Messages) {
        Sent::<&str> { data: None, height: Some(rows), width: Some(columns) }.send(messages);
    }

    fn finish(&mut self, messages: &mut Messages) {
        if self.place.setting("keep").or(self.place.setting("reconnect")).is_none() {
            Sent::keys(ENDS_SHELL).send(messages);
        }
    }
}

/// The host's end.
#[derive(Debug, Default)]
pub struct Host {
    /// The token that it wants.
    pub token: Option<String>,
    window: Option<(u16, u16)>,
}

impl Host {
    fn allows(&self, request: &Request) -> bool {
        self.token.as_deref().is_none_or(|token| {
            let cookies = request.headers.get("Cookie").map(CookieJar::from_header).unwrap_or_default();
            request.headers.get(TOKEN) == Some(token) || cookies.get(TOKEN_COOKIE) == Some(token)
        })
    }
}

impl Session for Host {
    /// A message may hold several values, as the host reads one stream of them.
    fn receive(
        &mut self,
        kind: MessageKind,
        message: &mut [u8],
        _: &mut Messages,
    ) -> Result<Range<usize>, SessionError> {
        if kind == MessageKind::Text {
            return Err(SessionError::OtherProtocol("expected binary messages: text is refused by 1003".to_owned()));
        }
        let mut keys = String::new();
        for sent in serde_json::Deserializer::from_slice(message).into_iter::<Sent<String>>() {
            let Sent { data, height, width } =
                sent.map_err(|error| SessionError::OtherProtocol(format!("expected JSON of Coder's page: {error}")))?;
            keys.push_str(data.as_deref().unwrap_or_default());
            self.window = width.zip(height).or(self.window);
        }
        message[..keys.len()].copy_from_slice(keys.as_bytes());
        Ok(0..keys.len())
    }

    fn encode(&self, characters: &[u8], payload: &mut Vec<u8>) -> Result<(usize, MessageKind), SessionError> {
        payload.extend_from_slice(characters);
        Ok((characters.len(), MessageKind::Binary))
    }

    fn is_ready(&self) -> bool {
        self.window.is_some()
    }
}

impl WebHost for Host {
    fn answer(&mut self, request: &Request) -> Response {
        if !request.path_alone().ends_with("/pty") {
            return not_found();
        }
        if !self.allows(request) {
            return Response::new(
                401,
                "application/json",
                r#"{"message":"Cookie \"coder_session_token\" or query parameter must be provided."}"#,
            );
        }
        let query = request.path.split_once('?').map_or("", |(_, query)| query);
        let parameter = |name| {
            let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.find(|(known, _)| *known == name).and_then(|(_, value)| decode(value))
        };
        let size = |name| parameter(name).and_then(|value| value.parse().ok());
        if parameter("reconnect").is_none_or(|session| session.len() != 36) {
            return Response::new(
                400,
                "application/json",
                r#"{"message":"Query param \"reconnect\" must be a valid uuid."}"#,
            );
        }
        self.window = Some((size("width").unwrap_or(80), size("height").unwrap_or(80)));
        open_websocket(None)
    }

    fn window(&self) -> Option<(u16, u16)> {
        self.window
    }

    /// It hangs up without a close frame.
    fn finish(&mut self, _: &mut Messages) -> Option<u16> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::web::pairs::{Pair, place};

    const SESSION: &str = "b54f5f3c-0000-4000-8000-000000000001";

    fn at_agent(settings: &[(&str, &str)]) -> Place {
        let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Place { base: "/4f0e".to_owned(), settings, ..place() }
    }

    #[test]
    fn keys_and_output_pass_and_the_first_byte_says_that_the_session_is_ready() {
        let terminal = Terminal::new(at_agent(&[("command", "bash --norc")]));
        let mut pair = Pair::open(terminal, Host::default());
        let path = format!("/pty?reconnect={SESSION}&width=80&height=24&command=bash%20--norc");
        assert_eq!(pair.paths, [format!("GET /api/v2/workspaceagents/4f0e{path}")]);
        assert_eq!((pair.host.window(), pair.terminal.is_ready()), (Some((80, 24)), false));
        assert_eq!(pair.send_from_host(b"half a character: \xe2\x82"), b"half a character: \xe2\x82");
        assert!(pair.terminal.is_ready());
        let keys = "\0\u{1b}[A\"\\\r\n\u{7f}€😀".repeat(1000);
        assert_eq!(pair.type_keys(keys.as_bytes()), keys.as_bytes());
        pair.resize(100, 30);
        assert_eq!(pair.host.window(), Some((100, 30)));
        assert_eq!(pair.end_program(), None);
    }

    #[test]
    fn messages_are_short_and_hold_only_text() {
        let terminal = Terminal::new(at_agent(&[]));
        let mut payload = Vec::new();
        assert_eq!(terminal.encode(&[0x1b; 10_000], &mut payload), Ok((MOST, MessageKind::Binary)));
        assert!(payload.len() < 32 << 10);
        assert_eq!(terminal.encode(b"\xff", &mut payload), Err(SessionError::NotText));
    }

    #[test]
    fn the_shell_is_ended_unless_the_session_is_to_be_kept() {
        let mut pair = Pair::open(Terminal::new(at_agent(&[])), Host::default());
        assert_eq!(pair.finish(), b"\x03\x15\x04");
        let mut pair = Pair::open(
            Terminal::new(at_agent(&[("keep", ""), ("reconnect", &SESSION.replace('1', "2"))])),
            Host::default(),
        );
        assert!(pair.paths[0].contains("000000000002"));
        assert_eq!(pair.finish(), b"");
    }

    #[test]
    fn a_token_is_needed_and_text_messages_are_refused() {
        let host = || Host { token: Some("secret".to_owned()), ..Host::default() };
        let mut place = at_agent(&[]);
        let refused = Pair::try_open(Terminal::new(place.clone()), host()).err();
        assert_eq!(refused, Some(SessionError::Refused("upgrade 401".to_owned())));
        place.account.token = Some("secret".to_owned());
        let mut pair = Pair::open(Terminal::new(place), host());
        let mut keys = br#"{"data":"a"} {"data":"b","width":1,"height":2}"#.to_vec();
        assert_eq!(pair.host.receive(MessageKind::Binary, &mut keys, &mut Messages::default()), Ok(0..2));
        assert_eq!((&keys[..2], pair.host.window()), (&b"ab"[..], Some((1, 2))));
        assert!(pair.host.receive(MessageKind::Text, &mut keys, &mut Messages::default()).is_err());
    }
}
