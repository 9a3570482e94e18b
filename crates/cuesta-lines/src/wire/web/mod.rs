//! What the WebSocket messages of web terminals carry, pure: one file or folder for each kind, with both roles of it.
//!
//! The terminal's end is a [`WebTerminal`]: a browser's page, from its first HTTP request to what it leaves behind at the end. The host's
//! end is a [`WebHost`], enough of a server to be typed at. Both are a [`Session`] while characters pass.
//!
//! Kinds: `ttyd`; `gotty`; `jupyter`; `wetty`; `kubernetes`; `coder`; `cockpit`; `code_server`, VS Code's integrated terminal; `teleport`;
//! `attach`, bare characters as xterm.js's `AttachAddon` sends them. What JSON and base64 carry in several of them is decoded by
//! `payload`.

pub mod attach;
pub mod cockpit;
pub mod code_server;
pub mod coder;
pub mod gotty;
pub mod jupyter;
pub mod kubernetes;
#[cfg(test)]
mod pairs;
mod payload;
pub mod teleport;
pub mod ttyd;
pub mod wetty;

use std::ops::Range;

use thiserror::Error;

use super::http::{CookieJar, Request, Response};
use super::websocket::MessageKind;
use crate::ExitStatus;
use crate::percent::Encoded;

/// One end of a web terminal's WebSocket, while it is open.
pub trait Session {
    /// Takes a whole message, and decodes it in place. Returns where the characters stand in it, and adds what must be sent at once.
    ///
    /// # Errors
    /// When the message does not belong to this kind of web terminal, or the other end refuses the session.
    fn receive(
        &mut self,
        kind: MessageKind,
        message: &mut [u8],
        replies: &mut Messages,
    ) -> Result<Range<usize>, SessionError>;

    /// Takes the characters of earlier messages that became whole with the last one and have no room in it. Asked after each
    /// [`Session::receive`]; they come after those in the message.
    fn take_overflow(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// Appends the payload of one message that carries the head of `characters`. Returns how many characters that are, at least one.
    /// Changes nothing: the message may not be sent. [`Session::note_sent`] tells that it was.
    ///
    /// # Errors
    /// When the protocol carries only text and this is none.
    fn encode(&self, characters: &[u8], payload: &mut Vec<u8>) -> Result<(usize, MessageKind), SessionError>;

    /// Notes that the message of [`Session::encode`] was sent with these characters, and adds what follows it, such as a ping of flow control.
    /// Messages that were added before it must be sent before it.
    fn note_sent(&mut self, _characters: &[u8], _messages: &mut Messages) {}

    /// Whether characters can be sent: the other end has said that the session is ready, and flow control does not stop this end.
    fn is_ready(&self) -> bool;

    /// Whether the session is over though the connection is open.
    fn has_ended(&self) -> bool {
        false
    }
}

/// The terminal's end: what a browser does for one user.
pub trait WebTerminal: Session {
    /// The next step before the WebSocket is open, given the answer to the request before, if there was one. Redirects were followed.
    ///
    /// # Errors
    /// When the answer is a refusal, or not what this kind of web terminal answers.
    fn prepare(&mut self, answer: Option<&Response>, cookies: &CookieJar) -> Result<Step, SessionError>;

    /// Checks the subprotocol that the host chose, and adds the messages that a browser sends first.
    ///
    /// # Errors
    /// When this subprotocol was not offered, or none was chosen though one is needed.
    fn begin(&mut self, subprotocol: Option<&str>, messages: &mut Messages) -> Result<(), SessionError>;

    /// Adds the message that announces another size of the window.
    fn resize(&mut self, columns: u16, rows: u16, messages: &mut Messages);

    /// Seconds after which a browser sends again what keeps the session; none = it sends nothing.
    fn keep_alive_interval(&self) -> Option<u64> {
        None
    }

    /// Adds the message that keeps the session; adds none if a ping of WebSocket does that.
    fn put_keep_alive(&mut self, _messages: &mut Messages) {}

    /// How the program ended, once the host has said it.
    fn exit(&self) -> Option<ExitStatus> {
        None
    }

    /// Notes the code of the host's close frame, 1005 if it has none. Returns whether sessions of this kind end so.
    fn note_close(&mut self, code: u16) -> bool {
        matches!(code, 1000 | 1001 | 1005)
    }

    /// Adds what ends the program at the host, if the host lets it run on when the connection closes.
    fn finish(&mut self, _messages: &mut Messages) {}

    /// The request that removes what the session leaves at the host, once its connection is closed.
    fn removal(&self, _cookies: &CookieJar) -> Option<Request> {
        None
    }
}

/// The host's end: answers the requests of a page, then takes one session.
pub trait WebHost: Session {
    /// Answers a request; status 101 opens the WebSocket, with the chosen subprotocol in its headers.
    fn answer(&mut self, request: &Request) -> Response;

    /// Adds the messages that the host sends first.
    fn begin(&mut self, _messages: &mut Messages) {}

    /// Columns and rows of the terminal's window, once they are known.
    fn window(&self) -> Option<(u16, u16)>;

    /// Adds what the host sends when the program has ended, and returns the code of its close frame, 1005 if that has none; none = it just
    /// hangs up.
    fn finish(&mut self, messages: &mut Messages) -> Option<u16>;
}

/// A step before the WebSocket is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// An HTTP request, to be answered. Cookies and the origin are added to it.
    Request(Request),
    /// The request that opens the WebSocket: its path, the subprotocols that it offers and its own headers.
    Open(Request, Vec<String>),
}

/// Messages to be sent, in their order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Messages(pub Vec<(MessageKind, Vec<u8>)>);

impl Messages {
    pub fn text(&mut self, payload: impl Into<String>) {
        self.0.push((MessageKind::Text, payload.into().into_bytes()));
    }

    pub fn binary(&mut self, payload: impl Into<Vec<u8>>) {
        self.0.push((MessageKind::Binary, payload.into()));
    }
}

/// Why a session is not opened or cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SessionError {
    /// The host refuses: what it said.
    #[error("{0}")]
    Refused(String),
    /// The host is something else than this kind of web terminal: what was expected.
    #[error("{0}")]
    OtherProtocol(String),
    /// The characters are no UTF-8, and the protocol carries only text.
    #[error("this kind of line carries only text, and these bytes are no UTF-8")]
    NotText,
}

impl SessionError {
    /// A refusal in the host's words, which may be long.
    fn refused(said: &str) -> Self {
        const MOST: usize = 500;
        Self::Refused(said.chars().take(MOST).collect())
    }
}

/// One user at one web terminal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The path of the target, without a slash at its end: empty or `/wetty`.
    pub base: String,
    /// Where a page of the target has its address, as browsers write it: `https://h:8443`.
    pub origin: String,
    /// The query of the target, with its mark, for kinds that pass it on; else empty.
    pub query: String,
    /// The kind's own settings, by name, in their order.
    pub settings: Vec<(String, String)>,
    pub account: Account,
    /// Columns and rows of the window.
    pub window: (u16, u16),
    /// The terminal's name (`TERM`).
    pub terminal: String,
    /// Names a session that the terminal's end names: a version 4 UUID (RFC 9562).
    pub session: String,
}

impl Place {
    /// A request for a page below the base, with user and password if there are any.
    fn request(&self, path: &str) -> Request {
        let request = Request::new("GET", format!("{}{path}", self.base));
        match self.account.basic() {
            Some(basic) => request.with("Authorization", basic),
            None => request,
        }
    }

    /// The query that passes `arg=…` to a command, with its mark; empty without any.
    fn argument_query(&self) -> String {
        let arguments: Vec<_> = self.list_values("arg").map(|value| format!("arg={}", Encoded(value))).collect();
        if arguments.is_empty() { String::new() } else { format!("?{}", arguments.join("&")) }
    }

    /// The value of a setting of the kind.
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.settings.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The values of a setting that may be repeated.
    pub fn list_values(&self, name: &str) -> impl Iterator<Item = &str> {
        self.settings.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// What a user logs in with.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Account {
    pub user: Option<String>,
    pub password: Option<String>,
    pub token: Option<String>,
    /// The cookies of an earlier login are in the jar: no other is needed.
    pub is_logged_in: bool,
    /// Others type with the same login: whoever leaves does not log out.
    pub is_shared: bool,
}

impl Account {
    /// The value of an `Authorization` header by user and password (RFC 7617); none without them.
    pub fn basic(&self) -> Option<String> {
        let (user, password) = (self.user.as_deref()?, self.password.as_deref()?);
        let pair = format!("{user}:{password}");
        Some(format!("Basic {}", data_encoding::BASE64.encode(pair.as_bytes())))
    }
}

/// Secrets are not printed.
impl std::fmt::Debug for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Account").field("user", &self.user).finish_non_exhaustive()
    }
}

/// Why a page's request was refused: its status, and what to do. `columns` of the users' table log in at this kind of host.
fn refused_by(page: &str, status: u16, columns: &str) -> SessionError {
    let advice = match status {
        401 => format!(": no login, or a wrong one; it needs {columns} (--data users.csv)"),
        403 => format!(": no login, a wrong one, or a session of another user; it needs {columns} (--data users.csv)"),
        404 => ": the target's path is wrong, or its kind".to_owned(),
        _ => String::new(),
    };
    SessionError::Refused(format!("{page} was answered by status {status}{advice}"))
}

/// The longest head of `characters` that is UTF-8, at most `most` bytes of it.
///
/// # Errors
/// When not even its first character is.
fn head_of_text(characters: &[u8], most: usize) -> Result<&str, SessionError> {
    let piece = &characters[..characters.len().min(most)];
    let len = std::str::from_utf8(piece).map_or_else(|error| error.valid_up_to(), str::len);
    match std::str::from_utf8(&piece[..len]) {
        Ok(text) if !text.is_empty() => Ok(text),
        _ => Err(SessionError::NotText),
    }
}

/// Answers a request to open a WebSocket: status 101, with the subprotocol that the host chose.
fn open_websocket(subprotocol: Option<&str>) -> Response {
    let response = Response { status: 101, reason: "Switching Protocols".to_owned(), ..Response::default() };
    match subprotocol {
        Some(chosen) => response.with("Sec-WebSocket-Protocol", chosen),
        None => response,
    }
}

/// The answer to a request that a host does not know.
fn not_found() -> Response {
    Response::new(404, "text/plain", "Not Found")
}
