//! Kubernetes exec and attach (`k8s.io/streaming/pkg/httpstream/wsstream`, client-go `tools/remotecommand/websocket.go`): the first byte of a
//! message is its channel. Each message is one frame: a host takes a fragment for a message of its own.
//!
//! A pod's shell may outlive its connection, so it is typed to its end; but not the pod's own program, which `attach` joins.

mod host;
#[cfg(test)]
mod tests;

use std::ops::Range;

pub use host::Host;
use serde::{Deserialize, Serialize};

use super::payload::{decode_base64, put_base64};
use super::{Messages, Place, Session, SessionError, Step, WebTerminal};
use crate::ExitStatus;
use crate::percent::Encoded;
use crate::wire::http::{CookieJar, Request, Response};
use crate::wire::websocket::MessageKind;

const STDIN: u8 = 0;
const STDOUT: u8 = 1;
const STDERR: u8 = 2;
const STATUS: u8 = 3;
const SIZE: u8 = 4;
/// Before the number of a channel that its sender closes, in version 5.
const CLOSE: u8 = 255;

/// Bytes of keys in a message, as many as kubectl reads at once.
const LONGEST_KEYS: usize = 32 * 1024;

/// A subprotocol, and what it makes different.
#[derive(Debug, PartialEq, Eq)]
struct Protocol {
    name: &'static str,
    /// Its value in the target.
    setting: &'static str,
    /// A channel is a digit, and what follows is base64, as text.
    is_base64: bool,
    closes_channels: bool,
    /// The status at the end is an object; else it is the text of an error, and without an error there is none.
    has_status: bool,
}

/// The first two are offered unless a setting says otherwise, as kubectl does.
const PROTOCOLS: [Protocol; 4] = [
    Protocol { name: "v5.channel.k8s.io", setting: "v5", is_base64: false, closes_channels: true, has_status: true },
    Protocol { name: "v4.channel.k8s.io", setting: "v4", is_base64: false, closes_channels: false, has_status: true },
    Protocol {
        name: "v4.base64.channel.k8s.io",
        setting: "base64",
        is_base64: true,
        closes_channels: false,
        has_status: true,
    },
    Protocol {
        name: "base64.channel.k8s.io",
        setting: "base64",
        is_base64: true,
        closes_channels: false,
        has_status: false,
    },
];

impl Protocol {
    /// Those that a target offers.
    fn offered(setting: Option<&str>) -> &'static [Self] {
        match setting {
            Some("v5") => &PROTOCOLS[..1],
            Some("v4") => &PROTOCOLS[1..2],
            Some("base64") => &PROTOCOLS[2..],
            _ => &PROTOCOLS[..2],
        }
    }

    fn put(&self, channel: u8, bytes: &[u8], payload: &mut Vec<u8>) -> MessageKind {
        if self.is_base64 {
            payload.push(b'0' + channel);
            put_base64(bytes, payload);
            MessageKind::Text
        } else {
            payload.push(channel);
            payload.extend_from_slice(bytes);
            MessageKind::Binary
        }
    }

    fn send(&self, channel: u8, bytes: &[u8], messages: &mut Messages) {
        let mut payload = Vec::new();
        let kind = self.put(channel, bytes, &mut payload);
        messages.0.push((kind, payload));
    }

    /// The channel of a message, and where its bytes stand.
    fn take(&self, kind: MessageKind, message: &mut [u8]) -> Result<(u8, Range<usize>), SessionError> {
        let expected = if self.is_base64 { MessageKind::Text } else { MessageKind::Binary };
        match message.split_first_mut() {
            Some((channel, bytes)) if kind == expected && self.is_base64 => {
                let len = decode_base64(bytes).ok_or_else(|| self.mismatch())?;
                Ok((channel.wrapping_sub(b'0'), 1..1 + len))
            }
            Some((channel, _)) if kind == expected => Ok((*channel, 1..message.len())),
            _ => Err(self.mismatch()),
        }
    }

    fn mismatch(&self) -> SessionError {
        SessionError::OtherProtocol(format!("expected a message of {}: a channel, then its bytes", self.name))
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Size {
    width: u16,
    height: u16,
}

/// How a program ended, as an API server says it (`meta/v1.Status`).
#[derive(Debug, Default, Serialize, Deserialize)]
struct Status {
    #[serde(rename = "status")]
    result: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    details: Option<Details>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    code: Option<u16>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Details {
    causes: Option<Vec<Cause>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Cause {
    reason: Option<String>,
    message: Option<String>,
}

impl Status {
    fn parse(bytes: &[u8], protocol: &Protocol) -> Result<Self, SessionError> {
        if protocol.has_status {
            return serde_json::from_slice(bytes).map_err(|_| protocol.mismatch());
        }
        let text = String::from_utf8_lossy(bytes).into_owned();
        let code = text.rsplit_once("exit status ").or_else(|| text.rsplit_once("exit code "));
        Ok(match code.and_then(|(_, code)| code.trim().parse().ok()) {
            Some(code) => Self::exited(code),
            None => Self { result: "Failure".to_owned(), message: Some(text), ..Self::default() },
        })
    }

    fn exited(code: i32) -> Self {
        if code == 0 {
            return Self { result: "Success".to_owned(), ..Self::default() };
        }
        let cause = Cause { reason: Some("ExitCode".to_owned()), message: Some(code.to_string()) };
        Self {
            result: "Failure".to_owned(),
            message: Some(format!("command terminated with non-zero exit code: exit status {code}")),
            reason: Some("NonZeroExitCode".to_owned()),
            details: Some(Details { causes: Some(vec![cause]) }),
            code: None,
        }
    }

    /// The status of the program; none if it has none, because something else went wrong.
    fn exit(&self) -> Option<ExitStatus> {
        if self.result == "Success" {
            return Some(ExitStatus::Exited(0));
        }
        let mut causes = self.details.as_ref()?.causes.iter().flatten();
        let cause = causes.find(|cause| cause.reason.as_deref() == Some("ExitCode"))?;
        cause.message.as_ref()?.parse().ok().map(ExitStatus::Exited)
    }

    fn explain(&self) -> &str {
        let said = self.message.as_deref().filter(|message| !message.is_empty()).or(self.reason.as_deref());
        said.unwrap_or("no reason given")
    }
}

/// The terminal's end.
#[derive(Debug)]
pub struct Terminal {
    place: Place,
    protocol: &'static Protocol,
    is_ready: bool,
    has_output: bool,
    has_ended: bool,
    exit: Option<ExitStatus>,
}

impl Terminal {
    /// The path is `/NAMESPACE/POD` or `/NAMESPACE/POD/CONTAINER`. `command=…` are the words of the command, `sh` without any; `attach` joins
    /// the container's own program; `protocol` is v5, v4 or base64.
    pub fn new(place: Place) -> Self {
        let protocol = &Protocol::offered(place.setting("protocol"))[0];
        Self { place, protocol, is_ready: false, has_output: false, has_ended: false, exit: None }
    }

    fn is_attached(&self) -> bool {
        self.place.setting("attach").is_some()
    }

    fn path(&self) -> Result<String, SessionError> {
        let mut names = self.place.base.trim_start_matches('/').splitn(3, '/');
        let (Some(namespace), Some(pod), container) = (names.next(), names.next(), names.next()) else {
            return Err(SessionError::Refused(
                "the path must be /NAMESPACE/POD or /NAMESPACE/POD/CONTAINER".to_owned(),
            ));
        };
        let mut query = Vec::new();
        if !self.is_attached() {
            query.extend(self.place.list_values("command").map(|word| format!("command={}", Encoded(word))));
            if query.is_empty() {
                query.push("command=sh".to_owned());
            }
        }
        query.extend(container.map(|name| format!("container={name}")));
        query.push("stdin=true&stdout=true&tty=true".to_owned());
        let verb = if self.is_attached() { "attach" } else { "exec" };
        Ok(format!("/api/v1/namespaces/{namespace}/pods/{pod}/{verb}?{}", query.join("&")))
    }

    fn take_status(&mut self, bytes: &[u8]) -> Result<(), SessionError> {
        let status = Status::parse(bytes, self.protocol)?;
        self.exit = status.exit();
        self.has_ended = true;
        if self.exit.is_none() && !self.has_output {
            return Err(SessionError::refused(status.explain()));
        }
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
        match self.protocol.take(kind, message)? {
            (STDOUT | STDERR, output) => {
                self.is_ready = true;
                self.has_output |= !output.is_empty();
                Ok(output)
            }
            (STATUS, status) if status.is_empty() => Ok(0..0),
            (STATUS, status) => self.take_status(&message[status]).map(|()| 0..0),
            _ => Err(self.protocol.mismatch()),
        }
    }

    fn encode(&self, characters: &[u8], payload: &mut Vec<u8>) -> Result<(usize, MessageKind), SessionError> {
        let len = characters.len().min(LONGEST_KEYS);
        Ok((len, self.protocol.put(STDIN, &characters[..len], payload)))
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
        let request = Request::new("GET", self.path()?);
        let request = match &self.place.account.token {
            Some(token) => request.with("Authorization", format!("Bearer {token}")),
            None => request,
        };
        let offered = Protocol::offered(self.place.setting("protocol"));
        Ok(Step::Open(request, offered.iter().map(|protocol| protocol.name.to_owned()).collect()))
    }

    fn begin(&mut self, subprotocol: Option<&str>, messages: &mut Messages) -> Result<(), SessionError> {
        let mut offered = Protocol::offered(self.place.setting("protocol")).iter();
        self.protocol = offered.find(|protocol| Some(protocol.name) == subprotocol).ok_or_else(|| {
            SessionError::OtherProtocol("it chose none of the subprotocols of Kubernetes that were offered".to_owned())
        })?;
        let (columns, rows) = self.place.window;
        if self.is_attached() {
            // As kubectl does: a program that is joined shows nothing of what it printed before, and draws again when its window changes.
            self.resize(columns.saturating_add(1), rows.saturating_add(1), messages);
        }
        self.resize(columns, rows, messages);
        Ok(())
    }

    fn resize(&mut self, columns: u16, rows: u16, messages: &mut Messages) {
        let size = Size { width: columns, height: rows };
        self.protocol.send(SIZE, &serde_json::to_vec(&size).unwrap_or_default(), messages);
    }

    /// As kubectl pings; a page of Kubernetes has no terminal.
    fn keep_alive_interval(&self) -> Option<u64> {
        Some(5)
    }

    fn exit(&self) -> Option<ExitStatus> {
        self.exit
    }

    /// Ctrl-C, `exit` twice, each after Ctrl-U, and Ctrl-D. They end bash, dash and Python at their prompt, with a half typed row, and with
    /// a program that runs. The program may take one `exit`, and Ctrl-D is often lost: it comes while the shell changes the terminal's mode.
    /// Bash keeps the half typed row at Ctrl-C when more keys wait: `exit` would be its end.
    fn finish(&mut self, messages: &mut Messages) {
        if self.is_attached() || self.has_ended {
            return;
        }
        for keys in [&b"\x03"[..], b"\x15exit\r", b"\x15exit\r", b"\x04"] {
            self.protocol.send(STDIN, keys, messages);
        }
        if self.protocol.closes_channels {
            messages.binary([CLOSE, STDIN]);
        }
    }
}
