//! The terminal's end.

use std::ops::Range;

use super::super::{KeepAlive, Messages, Place, Session, SessionError, Step, WebTerminal, head_of_text};
use super::frames::{Frame, Frames, Kind, finish_frame};
use super::values::{
    ANSWER, CALL, ERROR, ERROR_OBJECT, EVENT, INITIALIZED, LISTEN, Value, json, read_message, write_message,
};
use super::{
    ACKNOWLEDGED, CHANNEL, CreateProcess, Created, DATA, EXIT, Empty, Event, Handshake, Integration, Launch,
    MANAGEMENT, MOST, OfTerminal, Options, Output, PASSWORD,
};
use crate::ExitStatus;
use crate::percent::Encoded;
use crate::wire::http::{CookieJar, Request, Response};
use crate::wire::websocket::MessageKind;

/// The token of a host that wants none.
const NO_TOKEN: &str = "00000000000000000000";

/// Who the page says to be.
const CONTEXT: &[u8] = br#"{"remoteAuthority":"remote","clientId":"renderer"}"#;

/// Seconds between messages that keep the connection.
const KEEP_ALIVE: u64 = 5;

/// The numbers of the first two requests: to hear of output and of exits.
const OUTPUT_EVENTS: u32 = 0;
const EXIT_EVENTS: u32 = 1;

/// What is awaited from the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Awaits {
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

#[derive(Debug)]
pub struct Terminal {
    /// How the host names itself in paths, `stable-COMMIT`.
    version: String,
    is_password_sent: bool,
    frames: Frames,
    client: Client,
}

/// The page's side of the calls.
#[derive(Debug)]
struct Client {
    place: Place,
    commit: String,
    awaits: Awaits,
    /// The number of the next request; the last one's is that of the answer that is awaited.
    next: u32,
    terminal: Option<u32>,
    /// Output that is not acknowledged, in UTF-16 code units.
    unacknowledged: usize,
    exit: Option<ExitStatus>,
    has_ended: bool,
}

impl Terminal {
    /// `shell=…` is the program, else the host's own; `arg=…` its arguments; `directory=…` where it runs. `ack=off` does not acknowledge
    /// output.
    pub fn new(place: Place) -> Self {
        let client = Client {
            place,
            commit: String::new(),
            awaits: Awaits::Handshake,
            next: 0,
            terminal: None,
            unacknowledged: 0,
            exit: None,
            has_ended: false,
        };
        Self { version: String::new(), is_password_sent: false, frames: Frames::default(), client }
    }
}

impl Session for Terminal {
    fn receive(
        &mut self,
        _: MessageKind,
        message: &mut [u8],
        replies: &mut Messages,
    ) -> Result<Range<usize>, SessionError> {
        let client = &mut self.client;
        self.frames.receive(message, |frames, frame| client.take_frame(&frame, frames, replies))
    }

    fn take_overflow(&mut self) -> Vec<u8> {
        self.frames.take_overflow()
    }

    fn encode(&self, characters: &[u8], payload: &mut Vec<u8>) -> Result<(usize, MessageKind), SessionError> {
        let text = head_of_text(characters, MOST)?;
        let begins = payload.len();
        self.frames.write_head(Kind::Regular, payload);
        self.client.write_call("$input", vec![Value::Text(text)], payload);
        finish_frame(payload, begins);
        Ok((text.len(), MessageKind::Binary))
    }

    fn note_sent(&mut self, _: usize) {
        self.client.next += 1;
        self.frames.note_sent();
    }

    fn is_ready(&self) -> bool {
        self.client.awaits == Awaits::Nothing
    }
}

impl WebTerminal for Terminal {
    fn prepare(&mut self, answer: Option<&Response>, _: &CookieJar) -> Result<Step, SessionError> {
        let (base, account) = (&self.client.place.base, &self.client.place.account);
        let page = Step::Request(Request::new("GET", format!("{base}/")));
        match (answer, account.password.as_deref().filter(|_| !account.is_logged_in)) {
            (None, None) => Ok(page),
            (None, Some(password)) => {
                self.is_password_sent = true;
                let form = format!("{PASSWORD}={}", Encoded(password));
                let login = Request::new("POST", format!("{base}/login"));
                Ok(Step::Request(login.with_body("application/x-www-form-urlencoded", form)))
            }
            (Some(answer), _) if std::mem::take(&mut self.is_password_sent) => check_login(answer).map(|()| page),
            (Some(answer), _) => {
                self.version = find_version(answer)?;
                let commit = self.version.split_once('-').map_or("", |(_, commit)| commit);
                commit.clone_into(&mut self.client.commit);
                let session = &self.client.place.session;
                let query = format!("reconnectionToken={session}&reconnection=false&skipWebSocketFrames=false");
                Ok(Step::Open(Request::new("GET", format!("{base}/{}?{query}", self.version)), Vec::new()))
            }
        }
    }

    fn begin(&mut self, _: Option<&str>, messages: &mut Messages) -> Result<(), SessionError> {
        let auth = Handshake::Auth { auth: self.client.token().to_owned(), data: self.client.place.session.clone() };
        self.frames.put(Kind::Control, &json(&auth), messages);
        Ok(())
    }

    fn resize(&mut self, columns: u16, rows: u16, messages: &mut Messages) {
        self.client.place.window = (columns, rows);
        if self.client.terminal.is_some() {
            let size = vec![Value::Number(columns.into()), Value::Number(rows.into())];
            self.client.call("$resize", size, &mut self.frames, messages);
        }
    }

    fn keep_alive(&self) -> Option<KeepAlive> {
        Some(KeepAlive { every: KEEP_ALIVE, message: None })
    }

    fn put_keep_alive(&mut self, messages: &mut Messages) {
        self.frames.put(Kind::KeepAlive, b"", messages);
    }

    fn exit(&self) -> Option<ExitStatus> {
        self.client.exit
    }

    fn has_ended(&self) -> bool {
        self.client.has_ended
    }

    /// The host keeps a terminal and its connection for hours.
    fn finish(&mut self, messages: &mut Messages) {
        if self.client.terminal.is_some() && !self.client.has_ended {
            let immediately = json(&true);
            self.client.call("$shutdown", vec![Value::Object(&immediately)], &mut self.frames, messages);
        }
        self.frames.put(Kind::Disconnect, b"", messages);
    }
}

impl Client {
    fn token(&self) -> &str {
        self.place.account.token.as_deref().unwrap_or(NO_TOKEN)
    }

    /// Takes a frame; returns the characters of output in it.
    fn take_frame(
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
            Ok(Handshake::Error { reason }) => return Err(SessionError::Refused(reason)),
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
        let is_awaited = self.awaits != Awaits::Nothing && id + 1 == self.next;
        match kind {
            EVENT if id == OUTPUT_EVENTS => return Ok(self.take_output(&body, frames, replies)),
            EVENT if id == EXIT_EVENTS => self.take_exit(&body),
            INITIALIZED if self.awaits == Awaits::Channels => self.begin_calls(frames, replies),
            ANSWER if is_awaited => self.take_answer(&body, frames, replies)?,
            ERROR | ERROR_OBJECT if is_awaited => return Err(SessionError::Refused(describe_error(&body))),
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
            self.awaits = Awaits::Shell;
            self.call("$getDefaultSystemShell", Vec::new(), frames, replies);
        }
    }

    fn take_answer(&mut self, body: &Value, frames: &mut Frames, replies: &mut Messages) -> Result<(), SessionError> {
        match self.awaits {
            Awaits::Shell => self.create_process(body.text().unwrap_or("/bin/sh").to_owned(), frames, replies),
            Awaits::Terminal => {
                let created: Created = body.parse().ok_or_else(|| {
                    SessionError::OtherProtocol("expected the number of a terminal, as VS Code 1.100 answers".to_owned())
                })?;
                self.terminal = Some(created.persistent_terminal_id);
                self.awaits = Awaits::Start;
                self.call("$start", Vec::new(), frames, replies);
            }
            Awaits::Start => {
                if let Some(LaunchError { message }) = body.parse() {
                    return Err(SessionError::Refused(message));
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
                args: self.place.all_of("arg").map(str::to_owned).collect(),
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
        self.awaits = Awaits::Terminal;
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

    fn take_exit(&mut self, body: &Value) {
        if let Some(OfTerminal { id }) = body.parse()
            && Some(id) == self.terminal
        {
            self.exit = body.parse().map(|Event { event, .. }| ExitStatus::Exited(event));
            self.has_ended = true;
        }
    }

    /// Adds a call about the terminal, or without one if there is none.
    fn call(&mut self, name: &str, arguments: Vec<Value>, frames: &mut Frames, messages: &mut Messages) {
        let mut body = Vec::new();
        self.write_call(name, arguments, &mut body);
        frames.put(Kind::Regular, &body, messages);
        self.next += 1;
    }

    fn write_call(&self, name: &str, arguments: Vec<Value>, out: &mut Vec<u8>) {
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

/// The answer to a right password leads elsewhere; to a wrong one it is the form again, with the reason.
fn check_login(answer: &Response) -> Result<(), SessionError> {
    let page = String::from_utf8_lossy(&answer.body);
    if !is_login_page(&page) && answer.status < 400 {
        return Ok(());
    }
    let reason = page.split_once("class=\"error\">").and_then(|(_, rest)| rest.split('<').next());
    let without_one = || format!("/login was answered by status {}", answer.status);
    Err(SessionError::Refused(reason.map_or_else(without_one, |reason| reason.trim().to_owned())))
}

fn is_login_page(page: &str) -> bool {
    page.contains("name=\"password\"")
}

/// Finds `stable-COMMIT` in the page, with 40 hexadecimal digits.
fn find_version(answer: &Response) -> Result<String, SessionError> {
    let page = String::from_utf8_lossy(&answer.body);
    if is_login_page(&page) || answer.headers.get("Location").is_some_and(|to| to.contains("login")) {
        return Err(SessionError::Refused("asks for a password".to_owned()));
    }
    if !answer.is_success() {
        return Err(SessionError::Refused(format!("its page was answered by status {}", answer.status)));
    }
    let versions = ["stable-", "insider-"].iter().flat_map(|quality| page.match_indices(quality));
    let mut versions = versions.filter_map(|(at, quality)| page.get(at..at + quality.len() + 40));
    let is_commit = |version: &&str| version[version.len() - 40..].bytes().all(|byte| byte.is_ascii_hexdigit());
    versions
        .find(is_commit)
        .map(str::to_owned)
        .ok_or_else(|| SessionError::OtherProtocol("expected the page of VS Code, with its version".to_owned()))
}
