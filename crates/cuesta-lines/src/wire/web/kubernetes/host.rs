//! The host's end: an API server and the runtime behind it.

use std::ops::Range;

use super::{CLOSE, PROTOCOLS, Protocol, SIZE, STATUS, STDIN, STDOUT, Size, Status};
use crate::wire::http::{Request, Response};
use crate::wire::web::{Messages, Session, SessionError, WebHost, open_websocket};
use crate::wire::websocket::MessageKind;

/// The host's end.
#[derive(Debug)]
pub struct Host {
    /// The token that it wants.
    pub token: Option<String>,
    /// Why it starts no program.
    pub failure: Option<String>,
    /// The status with which the program ends.
    pub status: i32,
    pub(super) protocol: &'static Protocol,
    pub(super) is_input_closed: bool,
    pub(super) window: Option<(u16, u16)>,
}

impl Default for Host {
    fn default() -> Self {
        Self { token: None, failure: None, status: 0, protocol: &PROTOCOLS[0], is_input_closed: false, window: None }
    }
}

impl Host {
    /// Whether the terminal has closed its channel.
    pub fn is_input_closed(&self) -> bool {
        self.is_input_closed
    }

    fn send_status(&self, status: &Status, messages: &mut Messages) {
        let bytes = if self.protocol.has_status {
            serde_json::to_vec(status).unwrap_or_default()
        } else {
            status.message.clone().unwrap_or_default().into_bytes()
        };
        if !bytes.is_empty() {
            self.protocol.send(STATUS, &bytes, messages);
        }
    }
}

impl Session for Host {
    fn receive(
        &mut self,
        kind: MessageKind,
        message: &mut [u8],
        _: &mut Messages,
    ) -> Result<Range<usize>, SessionError> {
        match self.protocol.take(kind, message)? {
            (STDIN, keys) => return Ok(keys),
            (SIZE, size) => {
                let size = serde_json::from_slice(&message[size]);
                let Size { width, height } = size.map_err(|_| self.protocol.mismatch())?;
                self.window = Some((width, height));
            }
            (CLOSE, _) if self.protocol.closes_channels => self.is_input_closed |= message[1..] == [STDIN],
            _ => return Err(self.protocol.mismatch()),
        }
        Ok(0..0)
    }

    fn encode(&self, characters: &[u8], payload: &mut Vec<u8>) -> Result<(usize, MessageKind), SessionError> {
        Ok((characters.len(), self.protocol.put(STDOUT, characters, payload)))
    }

    fn is_ready(&self) -> bool {
        true
    }
}

impl WebHost for Host {
    fn answer(&mut self, request: &Request) -> Response {
        let expected = self.token.as_ref().map(|token| format!("Bearer {token}"));
        if expected.is_some() && request.headers.get("Authorization") != expected.as_deref() {
            return refuse(401, "Unauthorized", "Unauthorized");
        }
        if !matches!(request.path_alone().rsplit('/').next(), Some("exec" | "attach")) {
            return refuse(404, "NotFound", "the server could not find the requested resource");
        }
        let offers = request.headers.all("Sec-WebSocket-Protocol").flat_map(|names| names.split(','));
        let mut known = offers.filter_map(|name| PROTOCOLS.iter().find(|protocol| protocol.name == name.trim()));
        match known.next() {
            Some(protocol) => {
                self.protocol = protocol;
                open_websocket(Some(protocol.name))
            }
            None => Response { status: 403, reason: "Forbidden".to_owned(), ..Response::default() },
        }
    }

    /// An empty message says that the connection is made, not that the program runs.
    fn begin(&mut self, messages: &mut Messages) {
        self.protocol.send(STDOUT, b"", messages);
        if let Some(failure) = self.failure.clone() {
            let reason = Some("InternalError".to_owned());
            let status = Status { result: "Failure".to_owned(), message: Some(failure), reason, ..Status::default() };
            self.send_status(&status, messages);
        }
    }

    fn window(&self) -> Option<(u16, u16)> {
        self.window
    }

    fn finish(&mut self, messages: &mut Messages) -> Option<u16> {
        self.send_status(&Status::exited(self.status), messages);
        Some(1000)
    }
}

fn refuse(code: u16, reason: &str, message: &str) -> Response {
    let status = Status {
        result: "Failure".to_owned(),
        message: Some(message.to_owned()),
        reason: Some(reason.to_owned()),
        details: None,
        code: Some(code),
    };
    Response::new(code, "application/json", serde_json::to_vec(&status).unwrap_or_default())
}
