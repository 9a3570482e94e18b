//! The terminal's end.

use std::ops::Range;

use super::super::{Messages, Place, Session, SessionError, Step, WebTerminal, refused_by};
use super::{Content, Control, Open, SUBPROTOCOL, Window, encode_characters, put_control, read_message};
use crate::ExitStatus;
use crate::wire::http::{CookieJar, Request, Response};
use crate::wire::websocket::MessageKind;

/// Most bytes that the host may have names of channels begin with: each key is sent with one.
const LONGEST_SEED: usize = 64;

#[derive(Debug)]
pub struct Terminal {
    place: Place,
    /// Whether it logged in by itself, and so logs out.
    has_own_login: bool,
    /// The channel's name; empty until the host has said how names begin.
    channel: String,
    is_ready: bool,
    exit: Option<ExitStatus>,
    has_ended: bool,
}

impl Terminal {
    /// `spawn=…` is the program and, repeated, its arguments; `directory=…` where it runs. `ack=off` does not answer pings of flow control.
    pub fn new(place: Place) -> Self {
        Self { place, has_own_login: false, channel: String::new(), is_ready: false, exit: None, has_ended: false }
    }

    fn open_channel(&mut self, seed: &str, messages: &mut Messages) {
        self.channel = format!("{seed}1");
        put_control(&Control { version: Some(1), ..Control::new("init", "") }, messages);
        let mut spawn: Vec<_> = self.place.list_values("spawn").collect();
        if spawn.is_empty() {
            spawn.push("/bin/bash");
        }
        let (columns, rows) = self.place.window;
        let open = Open {
            command: "open",
            channel: &self.channel,
            payload: "stream",
            spawn,
            environ: [format!("TERM={}", self.place.terminal)],
            directory: self.place.setting("directory"),
            pty: true,
            binary: "raw",
            flow_control: true,
            window: Window { rows, columns },
        };
        put_control(&open, messages);
    }

    fn take_control(&mut self, control: Control, replies: &mut Messages) -> Result<(), SessionError> {
        let is_ours = !self.channel.is_empty() && control.channel == self.channel;
        match control.command.as_str() {
            "init" | "close" if control.problem.is_some() && (is_ours || control.channel.is_empty()) => {
                let reasons: Vec<_> = control.problem.into_iter().chain(control.message).collect();
                return Err(SessionError::refused(&reasons.join(": ")));
            }
            "init" if self.channel.is_empty() => {
                let seed = control.channel_seed.as_deref().unwrap_or_default();
                if seed.len() > LONGEST_SEED || seed.contains('\n') {
                    return Err(SessionError::OtherProtocol(
                        "expected a short beginning for channels' names".to_owned(),
                    ));
                }
                self.open_channel(seed, replies);
            }
            "ready" if is_ours => self.is_ready = true,
            "ping" if is_ours && self.place.setting("ack") != Some("off") => {
                put_control(&Control { command: "pong".to_owned(), ..control }, replies);
            }
            "close" if is_ours => {
                self.exit = control.status();
                self.has_ended = true;
            }
            _ => {}
        }
        Ok(())
    }
}

impl Session for Terminal {
    fn receive(
        &mut self,
        _: MessageKind,
        message: &mut [u8],
        replies: &mut Messages,
    ) -> Result<Range<usize>, SessionError> {
        match read_message(message, &self.channel)? {
            Content::Characters(range) => Ok(range),
            Content::Control(control) => self.take_control(*control, replies).map(|()| 0..0),
            Content::Other => Ok(0..0),
        }
    }

    fn encode(&self, characters: &[u8], payload: &mut Vec<u8>) -> Result<(usize, MessageKind), SessionError> {
        Ok(encode_characters(&self.channel, characters, payload))
    }

    fn is_ready(&self) -> bool {
        self.is_ready
    }

    fn has_ended(&self) -> bool {
        self.has_ended
    }
}

impl WebTerminal for Terminal {
    fn prepare(&mut self, answer: Option<&Response>, _: &CookieJar) -> Result<Step, SessionError> {
        let basic = self.place.account.basic().filter(|_| !self.place.account.is_logged_in);
        if let Some(answer) = answer {
            check_login(answer)?;
            self.has_own_login = !self.place.account.is_shared;
        } else if let Some(basic) = basic {
            let login = Request::new("GET", format!("{}/cockpit/login", self.place.base));
            return Ok(Step::Request(login.with("Authorization", basic)));
        }
        let socket = Request::new("GET", format!("{}/cockpit/socket", self.place.base));
        Ok(Step::Open(socket, vec![SUBPROTOCOL.to_owned()]))
    }

    fn begin(&mut self, subprotocol: Option<&str>, _: &mut Messages) -> Result<(), SessionError> {
        if subprotocol != Some(SUBPROTOCOL) {
            return Err(SessionError::OtherProtocol("it did not choose Cockpit's subprotocol \"cockpit1\"".to_owned()));
        }
        Ok(())
    }

    fn resize(&mut self, columns: u16, rows: u16, messages: &mut Messages) {
        self.place.window = (columns, rows);
        if !self.channel.is_empty() {
            let window = Some(Window { rows, columns });
            put_control(&Control { window, ..Control::new("options", &self.channel) }, messages);
        }
    }

    fn keep_alive_interval(&self) -> Option<u64> {
        Some(30)
    }

    fn put_keep_alive(&mut self, messages: &mut Messages) {
        messages.text("\n{ \"command\": \"ping\" }");
    }

    fn exit(&self) -> Option<ExitStatus> {
        self.exit
    }

    /// A program outlives a connection that is cut.
    fn finish(&mut self, messages: &mut Messages) {
        if !self.channel.is_empty() && !self.has_ended {
            put_control(&Control::new("close", &self.channel), messages);
        }
        if self.has_own_login {
            messages.text("\n{\"command\":\"logout\",\"disconnect\":true}");
        }
    }
}

fn check_login(answer: &Response) -> Result<(), SessionError> {
    let asks = answer.headers.get("WWW-Authenticate").unwrap_or_default();
    match answer.status {
        200..300 => Ok(()),
        401 if asks.starts_with("X-Conversation") => {
            Err(SessionError::Refused("asks for more than a password".to_owned()))
        }
        status => Err(refused_by("/cockpit/login", status, "the columns user and password")),
    }
}
