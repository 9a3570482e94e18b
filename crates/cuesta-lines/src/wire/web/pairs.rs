//! Both ends of a kind of web terminal, joined without a WebSocket, for tests.

use super::{Account, Messages, Place, SessionError, Step, WebHost, WebTerminal};
use crate::wire::http::{CookieJar, Response};
use crate::wire::websocket::MessageKind;

/// A user at `/base`, with a window of 80 columns and 24 rows.
pub(super) fn place() -> Place {
    Place {
        base: "/base".to_owned(),
        window: (80, 24),
        terminal: "xterm-256color".to_owned(),
        session: "b54f5f3c-0000-4000-8000-000000000001".to_owned(),
        account: Account::default(),
        ..Place::default()
    }
}

/// A terminal and a host whose WebSocket is open.
#[derive(Debug)]
pub(super) struct Pair<T, H> {
    pub(super) terminal: T,
    pub(super) host: H,
    /// The requests so far, `METHOD PATH`.
    pub(super) paths: Vec<String>,
    pub(super) cookies: CookieJar,
    /// What the host decoded of what it received since the last look.
    at_host: Vec<u8>,
    at_terminal: Vec<u8>,
}

impl<T: WebTerminal, H: WebHost> Pair<T, H> {
    /// Plays all requests and the first messages.
    pub(super) fn open(terminal: T, host: H) -> Self {
        Self::try_open(terminal, host).unwrap()
    }

    pub(super) fn try_open(terminal: T, host: H) -> Result<Self, SessionError> {
        let cookies = CookieJar::default();
        let (at_host, at_terminal) = (Vec::new(), Vec::new());
        let mut pair = Self { terminal, host, paths: Vec::new(), cookies, at_host, at_terminal };
        let answer = pair.prepare()?;
        let mut messages = Messages::default();
        pair.terminal.begin(answer.headers.get("Sec-WebSocket-Protocol"), &mut messages)?;
        let mut from_host = Messages::default();
        pair.host.begin(&mut from_host);
        pair.pass(messages, from_host)?;
        Ok(pair)
    }

    fn prepare(&mut self) -> Result<Response, SessionError> {
        let mut answer = None;
        loop {
            let step = self.terminal.prepare(answer.as_ref(), &self.cookies)?;
            let (mut request, offered, opens) = match step {
                Step::Request(request) => (request, Vec::new(), false),
                Step::Open(request, offered) => (request, offered, true),
            };
            self.paths.push(format!("{} {}", request.method, request.path));
            if !offered.is_empty() {
                request.headers.add("Sec-WebSocket-Protocol", offered.join(", "));
            }
            request.headers.add("Origin", "http://h");
            if let Some(cookies) = self.cookies.header_for(&request.path) {
                request.headers.add("Cookie", cookies);
            }
            let response = self.host.answer(&request);
            for cookie in response.headers.all("Set-Cookie") {
                self.cookies.take(cookie, request.path_alone());
            }
            if opens {
                let refused = || SessionError::Refused(format!("upgrade {}", response.status));
                return if response.status == 101 { Ok(response) } else { Err(refused()) };
            }
            answer = Some(response);
        }
    }

    /// Passes messages both ways until there are no more.
    fn pass(&mut self, mut to_host: Messages, mut to_terminal: Messages) -> Result<(), SessionError> {
        while !to_host.0.is_empty() || !to_terminal.0.is_empty() {
            let (mut from_host, mut from_terminal) = (Messages::default(), Messages::default());
            for (kind, mut message) in to_host.0 {
                let characters = self.host.receive(kind, &mut message, &mut from_host)?;
                self.at_host.extend_from_slice(&message[characters]);
                self.at_host.extend(self.host.take_overflow());
            }
            for (kind, mut message) in to_terminal.0 {
                let characters = self.terminal.receive(kind, &mut message, &mut from_terminal)?;
                self.at_terminal.extend_from_slice(&message[characters]);
                self.at_terminal.extend(self.terminal.take_overflow());
            }
            (to_host, to_terminal) = (from_terminal, from_host);
        }
        Ok(())
    }

    /// Types at the terminal; returns what the host decoded.
    pub(super) fn type_keys(&mut self, mut keys: &[u8]) -> Vec<u8> {
        while !keys.is_empty() {
            let (len, message) = encode(&self.terminal, keys);
            let mut messages = Messages(vec![message]);
            self.terminal.note_sent(&keys[..len], &mut messages);
            self.pass(messages, Messages::default()).unwrap();
            keys = &keys[len..];
        }
        std::mem::take(&mut self.at_host)
    }

    /// Sends output from the host; returns what the terminal decoded.
    pub(super) fn send_from_host(&mut self, mut output: &[u8]) -> Vec<u8> {
        while !output.is_empty() {
            let (len, message) = encode(&self.host, output);
            let mut messages = Messages(vec![message]);
            self.host.note_sent(&output[..len], &mut messages);
            self.pass(Messages::default(), messages).unwrap();
            output = &output[len..];
        }
        std::mem::take(&mut self.at_terminal)
    }

    pub(super) fn resize(&mut self, columns: u16, rows: u16) {
        let mut messages = Messages::default();
        self.terminal.resize(columns, rows, &mut messages);
        self.pass(messages, Messages::default()).unwrap();
    }

    /// Ends the line at the terminal; returns what the host decoded of it.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        let mut messages = Messages::default();
        self.terminal.finish(&mut messages);
        self.pass(messages, Messages::default()).unwrap();
        std::mem::take(&mut self.at_host)
    }

    /// Ends the program at the host; returns the code of the close frame.
    pub(super) fn end_program(&mut self) -> Option<u16> {
        let mut messages = Messages::default();
        let code = self.host.finish(&mut messages);
        self.pass(Messages::default(), messages).unwrap();
        code
    }
}

fn encode(session: &(impl super::Session + ?Sized), characters: &[u8]) -> (usize, (MessageKind, Vec<u8>)) {
    let mut payload = Vec::new();
    let (len, kind) = session.encode(characters, &mut payload).unwrap();
    assert!((1..=characters.len()).contains(&len));
    (len, (kind, payload))
}
