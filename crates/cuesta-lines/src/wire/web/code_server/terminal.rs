//! The terminal's end.

use std::ops::Range;

use super::super::{Messages, Place, Session, SessionError, Step, WebTerminal, head_of_text};
use super::client::{Awaits, Client};
use super::frames::{Frames, Kind, finish_frame};
use super::values::{Value, json};
use super::{Handshake, MOST, PASSWORD};
use crate::ExitStatus;
use crate::percent::Encoded;
use crate::wire::http::{CookieJar, Request, Response};
use crate::wire::websocket::MessageKind;

#[derive(Debug)]
pub struct Terminal {
    is_password_sent: bool,
    frames: Frames,
    client: Client,
}

impl Terminal {
    /// `shell=…` is the program, else the host's own; `arg=…` its arguments; `directory=…` where it runs. `ack=off` does not acknowledge
    /// output.
    pub fn new(place: Place) -> Self {
        Self { is_password_sent: false, frames: Frames::default(), client: Client::new(place) }
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

    fn note_sent(&mut self, _: &[u8], _: &mut Messages) {
        self.client.next += 1;
        self.frames.note_sent();
    }

    fn is_ready(&self) -> bool {
        self.client.awaits == Awaits::Nothing
    }

    fn has_ended(&self) -> bool {
        self.client.has_ended
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
                let version = find_version(answer)?;
                let commit = version.split_once('-').map_or("", |(_, commit)| commit);
                commit.clone_into(&mut self.client.commit);
                let session = &self.client.place.session;
                let query = format!("reconnectionToken={session}&reconnection=false&skipWebSocketFrames=false");
                Ok(Step::Open(Request::new("GET", format!("{base}/{version}?{query}")), Vec::new()))
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

    fn keep_alive_interval(&self) -> Option<u64> {
        Some(5)
    }

    fn put_keep_alive(&mut self, messages: &mut Messages) {
        self.frames.put(Kind::KeepAlive, b"", messages);
    }

    fn exit(&self) -> Option<ExitStatus> {
        self.client.exit
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

/// The answer to a right password leads elsewhere; to a wrong one it is the form again, with the reason.
fn check_login(answer: &Response) -> Result<(), SessionError> {
    let page = String::from_utf8_lossy(&answer.body);
    if !is_login_page(&page) && answer.status < 400 {
        return Ok(());
    }
    let reason = page.split_once("class=\"error\">").and_then(|(_, rest)| rest.split('<').next());
    let without_one = || format!("/login was answered by status {}", answer.status);
    Err(SessionError::refused(&reason.map_or_else(without_one, |reason| reason.trim().to_owned())))
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
