//! Why a web terminal could not be opened, or broke: each error has a name and a remedy.

use std::io;
use std::time::Duration;

use cuesta_record::Failure;
use thiserror::Error;

use super::secrets::Secrets;
use crate::wire::http::HttpError;
use crate::wire::web::SessionError;
use crate::wire::websocket::FrameError;

/// Most characters of what a host said.
const LONGEST_SAID: usize = 200;

/// Why a web terminal could not be opened.
#[derive(Debug, Error)]
pub enum WebError {
    /// The target names a column of the users' table.
    #[error("the users' table has no column \"{0}\", or an empty cell there: the target names it (--data users.csv)")]
    Column(String),
    #[error("the environment has no variable {0}, which the target names for the token")]
    NoToken(String),
    #[error("the {0} has a control character, which no header may have")]
    Unsendable(&'static str),
    /// A request before the WebSocket failed.
    #[error("{address}: {request}: {why}")]
    Prepare { address: String, request: String, why: String },
    /// The host answered the request to open the WebSocket by another status than 101.
    #[error("{address} does not open a WebSocket at {path}: it answered {status}{}", after_colon(.said))]
    Upgrade { address: String, path: String, status: u16, said: String },
    /// The host gave no answer, or one that cannot be read.
    #[error("{address} does not open a WebSocket at {path}: {why}")]
    NoUpgrade { address: String, path: String, why: String },
    /// The answer or a frame breaks the WebSocket protocol.
    #[error("{address} does not speak WebSocket: {why}")]
    NotWebSocket { address: String, why: String },
    /// The host is another kind of web terminal.
    #[error("{address} is no {kind}: {why}; see docs/web.md for which scheme is yours")]
    OtherProtocol { address: String, kind: String, why: String },
    /// The host ended the session before it was ready.
    #[error("{address} did not start a session: {why}")]
    NoSession { address: String, why: String },
    #[error("{address} sends too much: {why}")]
    TooLong { address: String, why: String },
    #[error(
        "no TLS with {address}: {}. ca=FILE names a certificate of its own, sni=NAME another name; insecure trusts any", explain_tls(.cause)
    )]
    Tls { address: String, cause: String },
    #[error(
        "{address} did not answer within {} s: what was awaited is {awaited}; it is overloaded or stopped (let users start further apart: \
        --stagger; let them share a login: login=once)",
        waited.as_secs_f64()
    )]
    Timeout { address: String, waited: Duration, awaited: String },
    #[error("the proxy {proxy} does not connect to {address}: {why}")]
    Proxy { proxy: String, address: String, why: String },
    #[error("{address} broke the connection while the session was opened: {cause}")]
    HungUp { address: String, cause: io::Error },
}

impl WebError {
    /// What it is counted as.
    pub fn failure(&self) -> Failure {
        match self {
            Self::Column(_) | Self::NoToken(_) | Self::Unsendable(_) => Failure::Failed,
            Self::Prepare { .. } => Failure::WebLogin,
            Self::Upgrade { status: 401, .. } => Failure::Upgrade401,
            Self::Upgrade { status: 403, .. } => Failure::Upgrade403,
            Self::Upgrade { status: 404, .. } => Failure::Upgrade404,
            Self::Upgrade { .. } | Self::NoUpgrade { .. } => Failure::NoUpgrade,
            Self::NotWebSocket { .. } => Failure::NotWebSocket,
            Self::OtherProtocol { .. } => Failure::OtherWebTerminal,
            Self::NoSession { .. } => Failure::NoSession,
            Self::TooLong { .. } => Failure::MessageTooLong,
            Self::Timeout { .. } => Failure::Timeout,
            Self::Tls { .. } => Failure::Tls,
            Self::Proxy { .. } => Failure::Proxy,
            Self::HungUp { .. } => Failure::HungUp,
        }
    }

    /// Whether another login may help.
    pub(super) fn is_of_login(&self) -> bool {
        matches!(self.failure(), Failure::WebLogin | Failure::Upgrade401 | Failure::Upgrade403 | Failure::NoSession)
    }

    /// The same error, with secrets blacked out in what the host said and in what it was asked for, and not all of a long text.
    pub(super) fn without(mut self, secrets: &Secrets) -> Self {
        match &mut self {
            Self::Prepare { request: asked, why: said, .. }
            | Self::Upgrade { path: asked, said, .. }
            | Self::NoUpgrade { path: asked, why: said, .. } => {
                *asked = secrets.hide(asked);
                *said = clean(&secrets.hide(said));
            }
            Self::NotWebSocket { why, .. }
            | Self::OtherProtocol { why, .. }
            | Self::NoSession { why, .. }
            | Self::TooLong { why, .. }
            | Self::Timeout { awaited: why, .. } => *why = clean(&secrets.hide(why)),
            Self::Column(_)
            | Self::NoToken(_)
            | Self::Unsendable(_)
            | Self::Tls { .. }
            | Self::Proxy { .. }
            | Self::HungUp { .. } => {}
        }
        self
    }

    /// A request whose answer cannot be read.
    pub(super) fn unreadable(address: &str, request: &str, error: HttpError) -> Self {
        let (address, why) = (address.to_owned(), error.to_string());
        match error {
            HttpError::LongBody => Self::TooLong { address, why },
            _ => Self::Prepare { address, request: request.to_owned(), why },
        }
    }

    /// A session that broke before it was ready.
    pub(super) fn before_ready(address: &str, kind: &str, broken: Break) -> Self {
        let address = address.to_owned();
        let why = broken.to_string();
        match broken {
            Break::Frame(FrameError::TooLong) => Self::TooLong { address, why },
            Break::Frame(_) => Self::NotWebSocket { address, why },
            Break::Session(SessionError::OtherProtocol(why)) => {
                Self::OtherProtocol { address, kind: kind.to_owned(), why }
            }
            _ => Self::NoSession { address, why },
        }
    }
}

/// Why TLS failed, where `rustls` has only the name of its own error.
fn explain_tls(cause: &str) -> &str {
    const CAUSES: [(&str, &str); 2] = [
        ("InvalidContentType", "it does not speak TLS (ws is without)"),
        ("UnknownIssuer", "no trusted authority has signed its certificate"),
    ];
    CAUSES.iter().find(|(name, _)| cause.contains(name)).map_or(cause, |(_, words)| words)
}

/// The first row of what a host said, without control characters, and not all of a long one.
fn clean(said: &str) -> String {
    first_row(said).chars().take(LONGEST_SAID).collect()
}

/// The first row of what a host said, without control characters.
pub(super) fn first_row(said: &str) -> String {
    let row = said.trim().lines().next().unwrap_or_default();
    row.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn after_colon(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(": {said}") }
}

/// How an open session broke.
#[derive(Debug, Clone, Error)]
pub(crate) enum Break {
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error("it closed the session with code {code}{}", after_colon(reason))]
    Closed { code: u16, reason: String },
    #[error("it answered no ping for a minute")]
    NoPong,
    /// Before the session was ready.
    #[error("it closed the connection and gave no reason")]
    Hangup,
    /// Before the session was ready.
    #[error("the connection broke ({0})")]
    Failed(io::ErrorKind),
}

impl Break {
    /// What it is counted as.
    pub(crate) fn failure(&self) -> Failure {
        match self {
            Self::Frame(FrameError::TooLong) => Failure::MessageTooLong,
            Self::Frame(_) => Failure::NotWebSocket,
            Self::Session(SessionError::NotText) => Failure::NotText,
            Self::Session(SessionError::OtherProtocol(_)) => Failure::OtherWebTerminal,
            Self::Closed { .. } => Failure::CloseCode,
            Self::NoPong => Failure::PingTimeout,
            Self::Session(SessionError::Refused(_)) | Self::Hangup | Self::Failed(_) => Failure::NoSession,
        }
    }
}
