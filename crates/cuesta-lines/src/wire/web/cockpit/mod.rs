//! Cockpit's terminal (`doc/protocol.md`, `pkg/systemd/terminal.jsx`; seen with 287): messages whose first row names a channel, or is empty
//! before control messages in JSON. The session is ready when its channel is.
//!
//! Output stops at 2 MiB unless the host's pings of flow control are answered. Without a login, the host sends the reason after 101.
//!
//! [`Terminal`] and [`Host`] are the two ends; here is what they both know.

mod host;
mod terminal;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Messages, SessionError};
use crate::ExitStatus;
use crate::wire::websocket::MessageKind;

pub use host::Host;
pub use terminal::Terminal;

const SUBPROTOCOL: &str = "cockpit1";
const COOKIE: &str = "cockpit";

/// Most bytes of keys in a message; the host takes 128 KiB.
const MOST: usize = 64 << 10;

/// Bytes of output from one ping of flow control to the next, and how many may be sent beyond what was answered.
const PING_EVERY: u64 = 16 << 10;
const WINDOW: u64 = 2 << 20;

/// A control message, as far as it is read.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
struct Control {
    command: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    channel: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    channel_seed: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_status: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_signal: Option<String>,
    /// Bytes of output so far, in pings of flow control.
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<Window>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Window {
    rows: u16,
    #[serde(rename = "cols")]
    columns: u16,
}

/// Opens a channel to a program, with the options of Cockpit's page.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Open<'a> {
    command: &'a str,
    channel: &'a str,
    payload: &'a str,
    spawn: Vec<&'a str>,
    environ: [String; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    directory: Option<&'a str>,
    pty: bool,
    binary: &'a str,
    flow_control: bool,
    window: Window,
}

impl Control {
    fn new(command: &str, channel: &str) -> Self {
        Self { command: command.to_owned(), channel: channel.to_owned(), ..Self::default() }
    }

    fn status(&self) -> Option<ExitStatus> {
        let signal = self.exit_signal.as_deref().and_then(signal_number).map(ExitStatus::Killed);
        self.exit_status.map(ExitStatus::Exited).or(signal)
    }
}

/// A message: of a channel, where its characters stand; or of control.
enum Content {
    Characters(Range<usize>),
    Control(Box<Control>),
    /// Of another channel, or an empty one.
    Other,
}

/// Reads a message in a session with this channel.
fn read_message(message: &[u8], channel: &str) -> Result<Content, SessionError> {
    let expected =
        || SessionError::OtherProtocol("expected a message of Cockpit: a channel's name and a row end".to_owned());
    let first = memchr::memchr(b'\n', message).ok_or_else(expected)?;
    match &message[..first] {
        [] => {
            let control = serde_json::from_slice(&message[first..]);
            control.map(|control| Content::Control(Box::new(control))).map_err(|error| {
                SessionError::OtherProtocol(format!("expected JSON in a control message of Cockpit: {error}"))
            })
        }
        its if its == channel.as_bytes() => Ok(Content::Characters(first + 1..message.len())),
        _ => Ok(Content::Other),
    }
}

fn put_control(control: &impl Serialize, messages: &mut Messages) {
    messages.text(format!("\n{}", serde_json::to_string(control).unwrap_or_default()));
}

fn encode_characters(channel: &str, characters: &[u8], payload: &mut Vec<u8>) -> (usize, MessageKind) {
    let piece = &characters[..characters.len().min(MOST)];
    payload.extend_from_slice(channel.as_bytes());
    payload.push(b'\n');
    payload.extend_from_slice(piece);
    (piece.len(), MessageKind::Binary)
}

/// The signals that end programs, by the names that the host gives them.
const SIGNALS: [(&str, i32); 14] = [
    ("HUP", libc::SIGHUP),
    ("INT", libc::SIGINT),
    ("QUIT", libc::SIGQUIT),
    ("ILL", libc::SIGILL),
    ("TRAP", libc::SIGTRAP),
    ("ABRT", libc::SIGABRT),
    ("BUS", libc::SIGBUS),
    ("FPE", libc::SIGFPE),
    ("KILL", libc::SIGKILL),
    ("SEGV", libc::SIGSEGV),
    ("PIPE", libc::SIGPIPE),
    ("ALRM", libc::SIGALRM),
    ("TERM", libc::SIGTERM),
    ("USR1", libc::SIGUSR1),
];

fn signal_number(name: &str) -> Option<i32> {
    SIGNALS.iter().find(|(its, _)| *its == name).map(|(_, number)| *number)
}

fn signal_name(number: i32) -> Option<&'static str> {
    SIGNALS.iter().find(|(_, its)| *its == number).map(|(name, _)| *name)
}

#[cfg(test)]
mod tests;
