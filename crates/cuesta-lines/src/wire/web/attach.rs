//! Bare characters, as xterm.js's `AttachAddon`, websocketd, websockify and Docker's `attach` carry them. The session is ready at once.

use std::ops::Range;

use super::{Messages, Place, Session, SessionError, Step, WebHost, WebTerminal, head_of_text, open_websocket};
use crate::wire::http::{CookieJar, Request, Response};
use crate::wire::websocket::MessageKind;

/// Either end: both do the same with characters.
#[derive(Debug)]
pub struct Bare {
    place: Place,
    /// The type of the messages that it sends.
    sends: MessageKind,
}

impl Bare {
    /// `frames=binary` or `frames=text`: what keys are sent in. A host's place is empty.
    pub fn new(place: Place) -> Self {
        let sends = if place.setting("frames") == Some("text") { MessageKind::Text } else { MessageKind::Binary };
        Self { place, sends }
    }
}

impl Session for Bare {
    fn receive(&mut self, _: MessageKind, message: &mut [u8], _: &mut Messages) -> Result<Range<usize>, SessionError> {
        Ok(0..message.len())
    }

    fn encode(&self, characters: &[u8], payload: &mut Vec<u8>) -> Result<(usize, MessageKind), SessionError> {
        let piece = match self.sends {
            MessageKind::Binary => characters,
            MessageKind::Text => head_of_text(characters, usize::MAX)?.as_bytes(),
        };
        payload.extend_from_slice(piece);
        Ok((piece.len(), self.sends))
    }

    fn is_ready(&self) -> bool {
        true
    }
}

impl WebTerminal for Bare {
    fn prepare(&mut self, _: Option<&Response>, _: &CookieJar) -> Result<Step, SessionError> {
        let path = if self.place.base.is_empty() { "/" } else { &self.place.base };
        let mut request = Request::new("GET", format!("{path}{}", self.place.query));
        if let Some(token) = &self.place.account.token {
            request.headers.add("Authorization", format!("Bearer {token}"));
        } else if let Some(basic) = self.place.account.basic() {
            request.headers.add("Authorization", basic);
        }
        Ok(Step::Open(request, self.place.list_values("subprotocol").map(str::to_owned).collect()))
    }

    fn begin(&mut self, subprotocol: Option<&str>, _: &mut Messages) -> Result<(), SessionError> {
        match subprotocol {
            Some(chosen) if !self.place.list_values("subprotocol").any(|offered| offered == chosen) => Err(
                SessionError::OtherProtocol(format!("it chose the subprotocol \"{chosen}\", which was not offered")),
            ),
            _ => Ok(()),
        }
    }

    fn resize(&mut self, _: u16, _: u16, _: &mut Messages) {}
}

impl WebHost for Bare {
    fn answer(&mut self, request: &Request) -> Response {
        let offered = request.headers.get("Sec-WebSocket-Protocol");
        open_websocket(offered.and_then(|offered| offered.split(',').next()).map(str::trim))
    }

    fn window(&self) -> Option<(u16, u16)> {
        None
    }

    fn finish(&mut self, _: &mut Messages) -> Option<u16> {
        Some(1000)
    }
}
