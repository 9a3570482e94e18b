//! The host's end.

use std::ops::Range;

use super::super::{Account, Messages, Session, SessionError, WebHost, not_found, open_websocket};
use super::{
    COOKIE, Content, Control, PING_EVERY, SUBPROTOCOL, WINDOW, Window, encode_characters, put_control, read_message,
    signal_name,
};
use crate::ExitStatus;
use crate::wire::http::{CookieJar, Request, Response};
use crate::wire::websocket::MessageKind;

#[derive(Debug, Default)]
pub struct Host {
    /// User and password that it wants.
    pub credential: Option<(String, String)>,
    /// How the program ends.
    pub exit: Option<ExitStatus>,
    is_logged_in: bool,
    channel: String,
    window: Option<(u16, u16)>,
    /// Bytes of output: sent, of the last ping, and of the last answer to one.
    sent: u64,
    pinged: u64,
    answered: u64,
}

impl Host {
    fn log_in(&self, request: &Request) -> Response {
        let (user, password) = self.credential.clone().unwrap_or_default();
        let account = Account { user: Some(user), password: Some(password), ..Account::default() };
        if request.headers.get("Authorization") != account.basic().as_deref() {
            return Response::new(401, "text/html", "Authentication failed");
        }
        let answer = Response::new(200, "application/json", r#"{"csrf-token":"5f1d026c"}"#);
        answer.with("Set-Cookie", format!("{COOKIE}=dj0yO2s9; Path=/; SameSite=Strict; HttpOnly"))
    }

    fn take_control(&mut self, control: Control, replies: &mut Messages) {
        match control.command.as_str() {
            "open" if self.channel.is_empty() => {
                self.channel = control.channel;
                self.window = control.window.map(|Window { rows, columns }| (columns, rows));
                put_control(&Control::new("ready", &self.channel), replies);
            }
            "options" if control.channel == self.channel => {
                self.window = control.window.map(|Window { rows, columns }| (columns, rows)).or(self.window);
            }
            "pong" if control.channel == self.channel => self.answered = control.sequence.unwrap_or(self.answered),
            "close" if control.channel == self.channel => self.channel.clear(),
            _ => {}
        }
    }
}

impl Session for Host {
    fn receive(
        &mut self,
        _: MessageKind,
        message: &mut [u8],
        replies: &mut Messages,
    ) -> Result<Range<usize>, SessionError> {
        match read_message(message, &self.channel)? {
            Content::Characters(range) => Ok(range),
            Content::Control(control) => {
                self.take_control(*control, replies);
                Ok(0..0)
            }
            Content::Other => Ok(0..0),
        }
    }

    fn encode(&self, characters: &[u8], payload: &mut Vec<u8>) -> Result<(usize, MessageKind), SessionError> {
        Ok(encode_characters(&self.channel, characters, payload))
    }

    fn note_sent(&mut self, output: &[u8], messages: &mut Messages) {
        self.sent += output.len() as u64;
        if self.sent - self.pinged >= PING_EVERY {
            self.pinged = self.sent;
            put_control(&Control { sequence: Some(self.sent), ..Control::new("ping", &self.channel) }, messages);
        }
    }

    fn is_ready(&self) -> bool {
        !self.channel.is_empty() && self.sent.saturating_sub(self.answered) < WINDOW
    }
}

impl WebHost for Host {
    fn answer(&mut self, request: &Request) -> Response {
        match request.path_alone() {
            path if path.ends_with("/cockpit/login") => self.log_in(request),
            path if path.ends_with("/cockpit/socket") => {
                if request.headers.get("Origin").is_none() {
                    return Response::new(403, "text/plain", "Received invalid WebSocket request");
                }
                let cookies = request.headers.get("Cookie").map(CookieJar::from_header).unwrap_or_default();
                self.is_logged_in = self.credential.is_none() || cookies.get(COOKIE).is_some();
                open_websocket(Some(SUBPROTOCOL))
            }
            _ => not_found(),
        }
    }

    fn begin(&mut self, messages: &mut Messages) {
        let mut init = Control { version: Some(1), channel_seed: Some("1:".to_owned()), ..Control::new("init", "") };
        if !self.is_logged_in {
            init = Control { problem: Some("no-session".to_owned()), ..Control::new("init", "") };
        }
        put_control(&init, messages);
    }

    fn window(&self) -> Option<(u16, u16)> {
        self.window
    }

    /// It says how the program ended, and leaves the connection open until the page closes it.
    fn finish(&mut self, messages: &mut Messages) -> Option<u16> {
        let mut close = Control::new("close", &self.channel);
        match self.exit {
            Some(ExitStatus::Killed(number)) => close.exit_signal = signal_name(number).map(str::to_owned),
            Some(ExitStatus::Exited(status)) => close.exit_status = Some(status),
            None => close.exit_status = Some(0),
        }
        put_control(&close, messages);
        Some(1000)
    }
}
