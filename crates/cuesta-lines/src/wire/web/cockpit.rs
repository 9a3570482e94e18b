//! Cockpit's terminal (`doc/protocol.md`, `pkg/systemd/terminal.jsx`; seen with 287): messages whose first row names a channel, or is empty
//! before control messages in JSON. The session is ready when its channel is.
//!
//! Output stops at 2 MiB unless the host's pings of flow control are answered. Without a login, the host sends the reason after 101.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{
    KeepAlive, Messages, Place, Session, SessionError, Step, WebHost, WebTerminal, not_found, open_websocket,
};
use crate::ExitStatus;
use crate::wire::http::{CookieJar, Request, Response};
use crate::wire::websocket::MessageKind;

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
    let expected = || SessionError::OtherProtocol("expected a message of Cockpit: a channel's name and a row end".to_owned());
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

/// The terminal's end.
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
        let mut spawn: Vec<_> = self.place.all_of("spawn").collect();
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
                return Err(SessionError::Refused(control.problem.unwrap_or_default()));
            }
            "init" if self.channel.is_empty() => {
                self.open_channel(control.channel_seed.as_deref().unwrap_or_default(), replies);
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
}

impl WebTerminal for Terminal {
    fn prepare(&mut self, answer: Option<&Response>, _: &CookieJar) -> Result<Step, SessionError> {
        let basic = self.place.account.basic().filter(|_| !self.place.account.is_logged_in);
        if let Some(answer) = answer {
            check_login(answer)?;
            self.has_own_login = true;
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

    fn keep_alive(&self) -> Option<KeepAlive> {
        Some(KeepAlive { every: 30, message: Some("\n{ \"command\": \"ping\" }") })
    }

    fn exit(&self) -> Option<ExitStatus> {
        self.exit
    }

    fn has_ended(&self) -> bool {
        self.has_ended
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
        status => Err(SessionError::Refused(format!("/cockpit/login was answered by status {status}"))),
    }
}

/// The host's end.
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
        let account = super::Account { user: Some(user), password: Some(password), ..super::Account::default() };
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

    fn note_sent(&mut self, characters: usize) {
        self.sent += characters as u64;
    }

    fn follow_up(&mut self, messages: &mut Messages) {
        if self.sent - self.pinged >= PING_EVERY {
            self.pinged = self.sent;
            put_control(&Control { sequence: Some(self.sent), ..Control::new("ping", &self.channel) }, messages);
        }
    }

    fn is_ready(&self) -> bool {
        !self.channel.is_empty() && self.sent < self.answered + WINDOW
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
mod tests {
    use super::*;
    use crate::wire::web::pairs::{Pair, place};

    fn with(settings: &[(&str, &str)]) -> Place {
        let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Place { settings, ..place() }
    }

    fn refused<T>(reason: &str) -> Result<T, SessionError> {
        Err(SessionError::Refused(reason.to_owned()))
    }

    #[test]
    fn keys_and_output_pass_as_they_are() {
        let mut pair = Pair::open(Terminal::new(place()), Host::default());
        assert_eq!(pair.paths, ["GET /base/cockpit/socket"]);
        assert!(pair.terminal.is_ready());
        assert_eq!(pair.host.window(), Some((80, 24)));
        let bytes = [&b"\n1:1\n\0\x1b[A\xff\xe2\x82"[..], &[b'x'; 200_000]].concat();
        assert_eq!(pair.type_keys(&bytes), bytes);
        assert_eq!(pair.send_from_host(&bytes), bytes);
        pair.resize(100, 30);
        assert_eq!(pair.host.window(), Some((100, 30)));
    }

    #[test]
    fn a_channel_is_opened_as_the_page_does_and_others_are_ignored() {
        let mut terminal = Terminal::new(with(&[("spawn", "/bin/sh"), ("spawn", "-i"), ("directory", "/tmp")]));
        let mut replies = Messages::default();
        let mut init = b"\n{\"command\":\"init\",\"channel-seed\":\"7:\",\"capabilities\":[\"multi\"]}".to_vec();
        terminal.receive(MessageKind::Text, &mut init, &mut replies).unwrap();
        let open: serde_json::Value = serde_json::from_slice(&replies.0.pop().unwrap().1).unwrap();
        let expected = serde_json::json!({
            "command": "open", "channel": "7:1", "payload": "stream", "spawn": ["/bin/sh", "-i"], "environ": ["TERM=xterm-256color"],
            "directory": "/tmp", "pty": true, "binary": "raw", "flow-control": true, "window": {"rows": 24, "cols": 80},
        });
        assert_eq!(open, expected);
        for mut other in [&b"\n{\"command\":\"ready\",\"channel\":\"7:2\"}"[..], b"7:2\nx", b"\n{\"command\":\"ping\"}"].map(<[u8]>::to_vec) {
            assert_eq!(terminal.receive(MessageKind::Text, &mut other, &mut replies), Ok(0..0));
        }
        assert!(!terminal.is_ready() && replies.0.len() == 1);
        for mut bad in [&b"no row end"[..], b"\nno JSON"].map(<[u8]>::to_vec) {
            assert!(terminal.receive(MessageKind::Text, &mut bad, &mut replies).is_err());
        }
    }

    #[test]
    fn the_host_stops_at_2_mib_unless_its_pings_are_answered() {
        for (setting, goes_on) in [("on", true), ("off", false)] {
            let mut pair = Pair::open(Terminal::new(with(&[("ack", setting)])), Host::default());
            for _ in 0..40 {
                pair.send_from_host(&[b'x'; 64 << 10]);
            }
            assert_eq!(pair.host.is_ready(), goes_on);
        }
    }

    #[test]
    fn a_login_is_needed_and_left_at_the_end() {
        let host = || Host { credential: Some(("joe".to_owned(), "geheim".to_owned())), ..Host::default() };
        let mut place = place();
        assert_eq!(Pair::try_open(Terminal::new(place.clone()), host()).map(drop), refused("no-session"));
        place.account.user = Some("joe".to_owned());
        place.account.password = Some("falsch".to_owned());
        let wrong = refused("/cockpit/login was answered by status 401");
        assert_eq!(Pair::try_open(Terminal::new(place.clone()), host()).map(drop), wrong);
        place.account.password = Some("geheim".to_owned());
        let mut pair = Pair::open(Terminal::new(place), host());
        assert_eq!(pair.paths, ["GET /base/cockpit/login", "GET /base/cockpit/socket"]);
        let mut messages = Messages::default();
        pair.terminal.finish(&mut messages);
        assert!(messages.0[0].1.starts_with(b"\n{\"command\":\"close\",\"channel\":\"1:1\""));
        assert!(messages.0[1].1.starts_with(b"\n{\"command\":\"logout\""));
    }

    #[test]
    fn a_program_ends_with_a_status_or_by_a_signal() {
        for exit in [ExitStatus::Exited(3), ExitStatus::Killed(libc::SIGKILL)] {
            let mut pair = Pair::open(Terminal::new(place()), Host { exit: Some(exit), ..Host::default() });
            pair.end_program();
            assert!(pair.terminal.has_ended());
            assert_eq!(pair.terminal.exit(), Some(exit));
            assert_eq!(pair.finish(), b"");
        }
        let mut close = b"\n{\"command\":\"close\",\"channel\":\"1:1\",\"problem\":\"access-denied\"}".to_vec();
        let mut pair = Pair::open(Terminal::new(place()), Host::default());
        assert_eq!(pair.terminal.receive(MessageKind::Text, &mut close, &mut Messages::default()), refused("access-denied"));
    }
}
