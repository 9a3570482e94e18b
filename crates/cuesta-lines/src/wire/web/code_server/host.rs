//! The host's end.

use std::ops::Range;

use super::super::payload::head_of_output;
use super::super::{Messages, Session, SessionError, WebHost, open_websocket};
use super::frames::{Frame, Frames, Kind, finish_frame};
use super::values::{ANSWER, CALL, ERROR, EVENT, INITIALIZED, LISTEN, Value, json, read_message, write_message};
use super::{COOKIE, CreateProcess, Created, DATA, EXIT, Event, Handshake, MANAGEMENT, MOST, PASSWORD, WINDOW};
use crate::percent::decode;
use crate::wire::http::{CookieJar, Request, Response};
use crate::wire::websocket::MessageKind;

/// The commit of the version that it says to be.
const COMMIT: &str = "409c64e0df4d53530e59c16acc2b5d5766f717b0";

/// The number of its terminal.
const TERMINAL: u32 = 1;

#[derive(Debug, Default)]
pub struct Host {
    /// The password that it wants.
    pub password: Option<String>,
    /// The status that the program ends with.
    pub status: i32,
    frames: Frames,
    server: Server,
}

/// The host's side of the calls.
#[derive(Debug, Default)]
struct Server {
    is_open: bool,
    has_context: bool,
    /// The numbers of the requests to hear of output and of exits.
    output_events: Option<u32>,
    exit_events: Option<u32>,
    window: Option<(u16, u16)>,
    is_started: bool,
    /// Output that the page has not acknowledged, in UTF-16 code units.
    unacknowledged: usize,
}

impl Host {
    fn log_in(&self, request: &Request) -> Response {
        let form = String::from_utf8_lossy(&request.body);
        let given = form.split('&').find_map(|pair| pair.strip_prefix(PASSWORD)?.strip_prefix('=')).and_then(decode);
        if given != self.password {
            let form =
                r#"<form method="post"><input name="password"/><div class="error">Incorrect password</div></form>"#;
            return Response::new(200, "text/html; charset=utf-8", form);
        }
        let answer = Response::new(302, "text/plain", "").with("Location", "./");
        answer.with("Set-Cookie", format!("{COOKIE}=%24argon2id; Path=/; SameSite=Lax"))
    }

    fn allows(&self, request: &Request) -> bool {
        let cookies = request.headers.get("Cookie").map(CookieJar::from_header).unwrap_or_default();
        self.password.is_none() || cookies.get(COOKIE).is_some()
    }
}

impl Session for Host {
    fn receive(
        &mut self,
        _: MessageKind,
        message: &mut [u8],
        replies: &mut Messages,
    ) -> Result<Range<usize>, SessionError> {
        let server = &mut self.server;
        self.frames.receive(message, |frames, frame| server.take_frame(&frame, frames, replies))
    }

    fn take_overflow(&mut self) -> Vec<u8> {
        self.frames.take_overflow()
    }

    fn encode(&self, characters: &[u8], payload: &mut Vec<u8>) -> Result<(usize, MessageKind), SessionError> {
        let (len, text) = head_of_output(characters, MOST);
        let begins = payload.len();
        self.frames.write_head(Kind::Regular, payload);
        let head = vec![Value::Number(EVENT), Value::Number(self.server.output_events.unwrap_or_default())];
        write_message(head, &Value::Object(&json(&Event { id: TERMINAL, event: text })), payload);
        finish_frame(payload, begins);
        Ok((len, MessageKind::Binary))
    }

    /// Counts bytes: as many as the code units of ASCII, and more than those of other text.
    fn note_sent(&mut self, output: &[u8], _: &mut Messages) {
        self.frames.note_sent();
        self.server.unacknowledged += output.len();
    }

    fn is_ready(&self) -> bool {
        self.server.is_started && self.server.unacknowledged <= WINDOW
    }
}

impl WebHost for Host {
    fn answer(&mut self, request: &Request) -> Response {
        let is_websocket = request.path.contains("reconnectionToken=");
        match (self.allows(request), request.path_alone()) {
            (_, path) if path.ends_with("/login") && request.method == "POST" => self.log_in(request),
            (false, _) if is_websocket => Response::new(401, "text/plain", ""),
            (false, _) => Response::new(302, "text/plain", "").with("Location", "./login"),
            (true, _) if is_websocket => open_websocket(None),
            (true, _) => {
                let page = format!("<script src=\"stable-{COMMIT}/static/out/vs/code/workbench.js\"></script>");
                Response::new(200, "text/html", page)
            }
        }
    }

    fn window(&self) -> Option<(u16, u16)> {
        self.server.window
    }

    /// It says how the program ended, and leaves the connection open until the page closes it.
    fn finish(&mut self, messages: &mut Messages) -> Option<u16> {
        let head = vec![Value::Number(EVENT), Value::Number(self.server.exit_events.unwrap_or_default())];
        self.frames.put_message(head, &Value::Object(&json(&Event { id: TERMINAL, event: self.status })), messages);
        Some(1000)
    }
}

impl Server {
    /// Takes a frame; returns the keys in it.
    fn take_frame(
        &mut self,
        frame: &Frame,
        frames: &mut Frames,
        replies: &mut Messages,
    ) -> Result<Option<String>, SessionError> {
        match frame.kind {
            Some(Kind::Control) => self.take_handshake(frame.body, frames, replies),
            Some(Kind::Regular) if self.is_open => return self.take_message(frame.body, frames, replies),
            _ => {}
        }
        Ok(None)
    }

    fn take_handshake(&mut self, message: &[u8], frames: &mut Frames, replies: &mut Messages) {
        let refuse = |reason: &str| Handshake::Error { reason: reason.to_owned() };
        let answer = match serde_json::from_slice(message) {
            Ok(Handshake::Auth { data, .. }) => Handshake::Sign { signed_data: data.clone(), data },
            Ok(Handshake::ConnectionType { commit, desired_connection_type, .. }) => {
                self.is_open = commit == COMMIT && desired_connection_type == MANAGEMENT;
                if self.is_open { Handshake::Ok } else { refuse("Client refused: version mismatch") }
            }
            _ => refuse("Malformed first message"),
        };
        frames.put(Kind::Control, &json(&answer), replies);
        if self.is_open {
            frames.put_message(vec![Value::Number(INITIALIZED)], &Value::Undefined, replies);
        }
    }

    fn take_message(
        &mut self,
        message: &[u8],
        frames: &mut Frames,
        replies: &mut Messages,
    ) -> Result<Option<String>, SessionError> {
        // The first one says who the page is.
        if !std::mem::replace(&mut self.has_context, true) {
            return Ok(None);
        }
        let (kind, id, head, body) = read_message(message)
            .ok_or_else(|| SessionError::OtherProtocol("expected a message of VS Code's channels".to_owned()))?;
        match (kind, head.items().get(3).and_then(Value::text)) {
            (LISTEN, Some(DATA)) => self.output_events = Some(id),
            (LISTEN, Some(EXIT)) => self.exit_events = Some(id),
            (CALL, Some(name)) => return Ok(self.answer_call(name, id, &body, frames, replies)),
            _ => {}
        }
        Ok(None)
    }

    /// Answers a call; returns the keys in it.
    fn answer_call(
        &mut self,
        name: &str,
        id: u32,
        body: &Value,
        frames: &mut Frames,
        replies: &mut Messages,
    ) -> Option<String> {
        let number = |at: usize| body.items().get(at).and_then(Value::number);
        let created = json(&Created { persistent_terminal_id: TERMINAL });
        let unknown = json(&serde_json::json!({"name": "Error", "message": format!("IPC Command {name} not found")}));
        let (mut kind, mut answer, mut keys) = (ANSWER, Value::Undefined, None);
        match name {
            "$getDefaultSystemShell" => answer = Value::Text("/bin/bash"),
            "$createProcess" => {
                self.window = body.parse().map(|CreateProcess { columns, rows, .. }| (columns, rows));
                answer = Value::Object(&created);
            }
            "$start" => self.is_started = true,
            "$input" => keys = body.items().get(1).and_then(Value::text).map(str::to_owned),
            "$acknowledgeDataEvent" => {
                self.unacknowledged = self.unacknowledged.saturating_sub(number(1).unwrap_or_default() as usize);
            }
            "$resize" => {
                let size = number(1).zip(number(2)).map(|(columns, rows)| (columns as u16, rows as u16));
                self.window = size.or(self.window);
            }
            "$shutdown" => self.is_started = false,
            _ => (kind, answer) = (ERROR, Value::Object(&unknown)),
        }
        frames.put_message(vec![Value::Number(kind), Value::Number(id)], &answer, replies);
        keys
    }
}
