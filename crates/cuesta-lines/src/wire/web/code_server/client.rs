//! Calls over VS Code's channels, and how their answers are handled.

use super::super::{Messages, Place, SessionError};
use super::frames::{Frame, Frames, Kind};
use super::values::{
    ANSWER, CALL, ERROR, ERROR_OBJECT, EVENT, INITIALIZED, LISTEN, Value, json, read_message, write_message,
};
use super::{
    ACKNOWLEDGED, CHANNEL, CreateProcess, Created, DATA, EXIT, Empty, Event, Handshake, Integration, Launch,
    MANAGEMENT, OfTerminal, Options, Output,
};
use crate::ExitStatus;

/// The token of a host that wants none.
const NO_TOKEN: &str = "00000000000000000000";

/// How the page identifies itself.
const CONTEXT: &[u8] = br#"{"remoteAuthority":"remote","clientId":"renderer"}"#;

/// Request numbers of the two subscriptions: to output and to exits.
const OUTPUT_EVENTS: u32 = 0;
const EXIT_EVENTS: u32 = 1;

/// What is awaited from the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Awaits {
    /// The end of the handshake.
    Handshake,
    /// That its channels answer.
    Channels,
    /// The name of its shell.
    Shell,
    /// The number of the terminal.
    Terminal,
    Start,
    /// Nothing more: the shell runs.
    Nothing,
}

/// The page's side of the calls.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) place: Place,
    pub(super) commit: String,
    pub(super) awaits: Awaits,
    /// The number of the next request.
    pub(super) next: u32,
    /// The number of the request whose answer is awaited.
    awaited: Option<u32>,
    pub(super) terminal: Option<u32>,
    /// Output that is not acknowledged, in UTF-16 code units.
    unacknowledged: usize,
    pub(super) exit: Option<ExitStatus>,
    pub(super) has_ended: bool,
}

impl Client {
    pub(super) fn new(place: Place) -> Self {
        Self {
            place,
            commit: String::new(),
            awaits: Awaits::Handshake,
            next: 0,
            awaited: None,
            terminal: None,
            unacknowledged: 0,
            exit: None,
            has_ended: false,
        }
    }

    pub(super) fn token(&self) -> &str {
        self.place.account.token.as_deref().unwrap_or(NO_TOKEN)
    }

    /// Takes a frame; returns the characters of output in it.
    pub(super) fn take_frame(
        &mut self,
        frame: &Frame,
        frames: &mut Frames,
        replies: &mut Messages,
    ) -> Result<Option<String>, SessionError> {
        match frame.kind {
            Some(Kind::Control) => self.take_handshake(frame.body, frames, replies).map(|()| None),
            Some(Kind::Regular) => self.take_message(frame.body, frames, replies),
            Some(Kind::Disconnect) => {
                self.has_ended = true;
                Ok(None)
            }
            Some(Kind::KeepAlive) | None => Ok(None),
        }
    }

    fn take_handshake(
        &mut self,
        message: &[u8],
        frames: &mut Frames,
        replies: &mut Messages,
    ) -> Result<(), SessionError> {
        match serde_json::from_slice(message) {
            Ok(Handshake::Sign { signed_data, .. }) => {
                let token = self.place.account.token.clone();
                let answer = Handshake::ConnectionType {
                    commit: self.commit.clone(),
                    signed_data: token.unwrap_or(signed_data),
                    desired_connection_type: MANAGEMENT,
                };
                frames.put(Kind::Control, &json(&answer), replies);
            }
            Ok(Handshake::Ok) => {
                self.awaits = Awaits::Channels;
                frames.put_value(&Value::Object(CONTEXT), replies);
                frames.put_message(vec![Value::Number(INITIALIZED)], &Value::Undefined, replies);
            }
            Ok(Handshake::Error { reason }) => return Err(SessionError::refused(&reason)),
            _ => return Err(SessionError::OtherProtocol("expected the handshake of VS Code, in JSON".to_owned())),
        }
        Ok(())
    }

    fn take_message(
        &mut self,
        message: &[u8],
        frames: &mut Frames,
        replies: &mut Messages,
    ) -> Result<Option<String>, SessionError> {
        let (kind, id, _, body) = read_message(message)
            .ok_or_else(|| SessionError::OtherProtocol("expected a message of VS Code's channels".to_owned()))?;
        let is_awaited = self.awaits != Awaits::Nothing && self.awaited == Some(id);
        match kind {
            EVENT if id == OUTPUT_EVENTS => return Ok(self.take_output(&body, frames, replies)),
            EVENT if id == EXIT_EVENTS => self.take_exit(&body),
            INITIALIZED if self.awaits == Awaits::Channels => self.begin_calls(frames, replies),
            ANSWER if is_awaited => self.take_answer(&body, frames, replies)?,
            ERROR | ERROR_OBJECT if is_awaited => return Err(SessionError::refused(&describe_error(&body))),
            _ => {}
        }
        Ok(None)
    }

    fn begin_calls(&mut self, frames: &mut Frames, replies: &mut Messages) {
        for event in [DATA, EXIT] {
            let head = vec![Value::Number(LISTEN), Value::Number(self.next), Value::Text(CHANNEL), Value::Text(event)];
            frames.put_message(head, &Value::Undefined, replies);
            self.next += 1;
        }
        if let Some(shell) = self.place.setting("shell").map(str::to_owned) {
            self.create_process(shell, frames, replies);
        } else {
            self.await_answer(Awaits::Shell);
            self.call("$getDefaultSystemShell", Vec::new(), frames, replies);
        }
    }

    /// Notes that the next request's answer is awaited.
    fn await_answer(&mut self, what: Awaits) {
        (self.awaits, self.awaited) = (what, Some(self.next));
    }

    fn take_answer(&mut self, body: &Value, frames: &mut Frames, replies: &mut Messages) -> Result<(), SessionError> {
        match self.awaits {
            Awaits::Shell => self.create_process(body.text().unwrap_or("/bin/sh").to_owned(), frames, replies),
            Awaits::Terminal => {
                let created: Created = body.parse().ok_or_else(|| {
                    SessionError::OtherProtocol(
                        "expected the number of a terminal, as VS Code 1.100 answers".to_owned(),
                    )
                })?;
                self.terminal = Some(created.persistent_terminal_id);
                self.await_answer(Awaits::Start);
                self.call("$start", Vec::new(), frames, replies);
            }
            Awaits::Start => {
                if let Some(LaunchError { message }) = body.parse() {
                    return Err(SessionError::refused(&message));
                }
                self.awaits = Awaits::Nothing;
            }
            Awaits::Handshake | Awaits::Channels | Awaits::Nothing => {}
        }
        Ok(())
    }

    fn create_process(&mut self, executable: String, frames: &mut Frames, replies: &mut Messages) {
        let (columns, rows) = self.place.window;
        let process = CreateProcess {
            configuration: Empty {},
            resolved_variables: Empty {},
            env_variable_collections: [],
            shell_launch_config: Launch {
                executable,
                args: self.place.list_values("arg").map(str::to_owned).collect(),
                cwd: self.place.setting("directory").map(str::to_owned),
            },
            workspace_id: self.place.session.clone(),
            workspace_name: String::new(),
            workspace_folders: [],
            active_workspace_folder: None,
            should_persist_terminal: false,
            options: Options {
                shell_integration: Integration {
                    enabled: true,
                    suggest_enabled: false,
                    nonce: self.place.session.clone(),
                },
                windows_enable_conpty: false,
                windows_use_conpty_dll: false,
            },
            columns,
            rows,
            unicode_version: "11".to_owned(),
        };
        self.await_answer(Awaits::Terminal);
        let head = self.call_head("$createProcess");
        frames.put_message(head, &Value::Object(&json(&process)), replies);
        self.next += 1;
    }

    fn take_output(&mut self, body: &Value, frames: &mut Frames, replies: &mut Messages) -> Option<String> {
        let OfTerminal { id } = body.parse()?;
        if Some(id) != self.terminal {
            return None;
        }
        let (Output::Text(text) | Output::Object { data: text }) = body.parse::<Event<Output>>()?.event;
        self.unacknowledged += text.encode_utf16().count();
        while self.unacknowledged > ACKNOWLEDGED && self.place.setting("ack") != Some("off") {
            self.unacknowledged -= ACKNOWLEDGED;
            self.call("$acknowledgeDataEvent", vec![Value::Number(ACKNOWLEDGED as u32)], frames, replies);
        }
        Some(text)
    }

    /// The host says status 0 of a program that a signal ended, too.
    fn take_exit(&mut self, body: &Value) {
        if let Some(OfTerminal { id }) = body.parse()
            && Some(id) == self.terminal
        {
            self.exit = body.parse().map(|Event { event, .. }| ExitStatus::Exited(event));
            self.has_ended = true;
        }
    }

    /// Adds a call about the terminal, or without one if there is none.
    pub(super) fn call(&mut self, name: &str, arguments: Vec<Value>, frames: &mut Frames, messages: &mut Messages) {
        let mut body = Vec::new();
        self.write_call(name, arguments, &mut body);
        frames.put(Kind::Regular, &body, messages);
        self.next += 1;
    }

    pub(super) fn write_call(&self, name: &str, arguments: Vec<Value>, out: &mut Vec<u8>) {
        let terminal = self.terminal.map(Value::Number);
        write_message(self.call_head(name), &Value::Array(terminal.into_iter().chain(arguments).collect()), out);
    }

    fn call_head<'a>(&self, name: &'a str) -> Vec<Value<'a>> {
        vec![Value::Number(CALL), Value::Number(self.next), Value::Text(CHANNEL), Value::Text(name)]
    }
}

/// Why `$start` did not start the program.
#[derive(serde::Deserialize)]
struct LaunchError {
    message: String,
}

fn describe_error(body: &Value) -> String {
    match body {
        Value::Text(text) => (*text).to_owned(),
        _ => body.parse().map_or_else(|| "an error without a message".to_owned(), |LaunchError { message }| message),
    }
}
