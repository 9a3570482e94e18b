//! Terminals of Jupyter Server and JupyterHub (terminado 0.18.1, `jupyter_server_terminals` 0.5.4): arrays of JSON in text messages.
//!
//! The page logs in, unless a token stands for that, asks for a new terminal by `POST BASE/api/terminals`, and opens its WebSocket. The
//! terminal outlives its WebSocket, so it is deleted at the end. Its name says who made it: letters, digits and `_`, because the host accepts
//! other names and then cannot find such a terminal, not even to delete it.

mod host;
#[cfg(test)]
mod tests;

use std::ops::Range;

pub use host::Host;
use memchr::memmem;
use serde::{Deserialize, Serialize};

use super::payload::{Event, put_event, take_event};
use super::{Messages, Place, Session, SessionError, Step, WebTerminal, head_of_text, refused_by};
use crate::percent::Encoded;
use crate::wire::http::{CookieJar, Request, Response};
use crate::wire::websocket::MessageKind;

/// What the names of terminals begin with that Cuesta made.
pub const NAMES: &str = "cuesta_";

/// Bytes of keys in a message. The host takes 10 MiB of JSON, where each may take six.
const LONGEST_KEYS: usize = 1024 * 1024;

/// The cookie that a page must repeat in a header, where a token does not stand for the user.
const XSRF: &str = "_xsrf";

const TERMINALS: &str = "/api/terminals";

/// A new terminal, as it is asked for and as the host answers.
#[derive(Debug, Serialize, Deserialize)]
struct Named {
    name: String,
}

/// What was asked for last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    LoginPage,
    Login,
    /// Any page, for its cookie.
    Page,
    Terminal,
}

/// The terminal's end.
#[derive(Debug)]
pub struct Terminal {
    place: Place,
    asked: Option<Asked>,
    /// The terminal's name, and whether it was made for this session.
    name: String,
    is_new: bool,
    is_ready: bool,
    has_ended: bool,
}

impl Terminal {
    /// `attach=NAME` attaches to a terminal and leaves it; `keep` leaves a new one.
    pub fn new(place: Place) -> Self {
        Self { place, asked: None, name: String::new(), is_new: false, is_ready: false, has_ended: false }
    }

    fn request(&self, method: &str, path: &str) -> Request {
        let request = Request::new(method, format!("{}{path}", self.place.base));
        match &self.place.account.token {
            Some(token) => request.with("Authorization", format!("token {token}")),
            None => request,
        }
    }

    /// A request that changes something.
    fn request_change(&self, method: &str, path: &str, cookies: &CookieJar) -> Request {
        let request = self.request(method, path);
        match cookies.get(XSRF) {
            Some(value) if self.place.account.token.is_none() => request.with("X-XSRFToken", value),
            _ => request,
        }
    }

    fn ask(&mut self, asked: Asked, request: Request) -> Step {
        self.asked = Some(asked);
        Step::Request(request)
    }

    fn begin_login(&mut self, cookies: &CookieJar) -> Step {
        let account = &self.place.account;
        if account.token.is_some() {
            return self.ask_terminal(cookies);
        }
        if account.password.is_some() && !account.is_logged_in {
            let request = self.request("GET", "/login");
            return self.ask(Asked::LoginPage, request);
        }
        if self.place.setting("attach").is_none() && cookies.get(XSRF).is_none() {
            let request = self.request("GET", "/");
            return self.ask(Asked::Page, request);
        }
        self.ask_terminal(cookies)
    }

    fn send_password(&mut self, cookies: &CookieJar) -> Step {
        let password = self.place.account.password.as_deref().unwrap_or_default();
        let xsrf = cookies.get(XSRF).unwrap_or_default();
        let form = format!("{XSRF}={}&password={}", Encoded(xsrf), Encoded(password));
        let request = self.request("POST", "/login").with_body("application/x-www-form-urlencoded", form);
        self.ask(Asked::Login, request)
    }

    fn ask_terminal(&mut self, cookies: &CookieJar) -> Step {
        if let Some(name) = self.place.setting("attach") {
            self.name = name.to_owned();
            return self.open();
        }
        let id: String = self.place.session.chars().filter(char::is_ascii_alphanumeric).collect();
        self.name = format!("{NAMES}{id}");
        self.is_new = true;
        let body = serde_json::to_vec(&Named { name: self.name.clone() }).unwrap_or_default();
        let request = self.request_change("POST", TERMINALS, cookies).with_body("application/json", body);
        self.ask(Asked::Terminal, request)
    }

    fn open(&self) -> Step {
        let path = format!("/terminals/websocket/{}", Encoded(&self.name));
        Step::Open(self.request("GET", &path), Vec::new())
    }
}

/// Checks an answer to the login form. Its success is a redirect to a page that may not exist.
fn check_login(answer: &Response) -> Result<(), SessionError> {
    let asks_again = memmem::find(&answer.body, b"type=\"password\"").is_some();
    if asks_again || matches!(answer.status, 401 | 403) {
        return Err(SessionError::Refused("the password was not accepted".to_owned()));
    }
    Ok(())
}

/// Whether a hub answered itself, by a page, because no server of a user is at this path.
fn is_of_hub(answer: &Response) -> bool {
    let is_page = answer.headers.get("Content-Type").is_some_and(|kind| kind.starts_with("text/html"));
    is_page && answer.headers.get("X-JupyterHub-Version").is_some()
}

/// The name in the answer to the request for a terminal.
fn read_name(answer: &Response) -> Result<String, SessionError> {
    if answer.status == 403 && is_of_hub(answer) {
        let why = "the hub has no such server that runs: start it there, and take /user/NAME/ as the path";
        return Err(SessionError::Refused(why.to_owned()));
    }
    if !answer.is_success() {
        return Err(refused_by(TERMINALS, answer.status, "the column token or password"));
    }
    let named: Option<Named> = serde_json::from_slice(&answer.body).ok();
    let is_valid =
        |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    named.map(|named| named.name).filter(|name| is_valid(name)).ok_or_else(|| {
        SessionError::OtherProtocol(format!("expected the JSON of Jupyter's {TERMINALS}, {{\"name\":…}}"))
    })
}

impl Session for Terminal {
    fn receive(
        &mut self,
        kind: MessageKind,
        message: &mut [u8],
        _: &mut Messages,
    ) -> Result<Range<usize>, SessionError> {
        if kind == MessageKind::Binary {
            return Err(not_jupyter());
        }
        match take_event(message, "stdout").ok_or_else(not_jupyter)? {
            Event::Characters(output) => return Ok(output),
            Event::Other(name) if name == "setup" => self.is_ready = true,
            Event::Other(name) if name == "disconnect" => self.has_ended = true,
            Event::Other(_) => {}
        }
        Ok(0..0)
    }

    fn encode(&self, characters: &[u8], payload: &mut Vec<u8>) -> Result<(usize, MessageKind), SessionError> {
        let keys = head_of_text(characters, LONGEST_KEYS)?;
        put_event("stdin", keys, payload);
        Ok((keys.len(), MessageKind::Text))
    }

    fn is_ready(&self) -> bool {
        self.is_ready
    }

    fn has_ended(&self) -> bool {
        self.has_ended
    }
}

impl WebTerminal for Terminal {
    fn prepare(&mut self, answer: Option<&Response>, cookies: &CookieJar) -> Result<Step, SessionError> {
        let (Some(asked), Some(answer)) = (self.asked, answer) else { return Ok(self.begin_login(cookies)) };
        match asked {
            Asked::LoginPage => Ok(self.send_password(cookies)),
            Asked::Login => check_login(answer).map(|()| self.ask_terminal(cookies)),
            Asked::Page => Ok(self.ask_terminal(cookies)),
            Asked::Terminal => {
                self.is_new = false;
                self.name = read_name(answer)?;
                self.is_new = true;
                Ok(self.open())
            }
        }
    }

    fn begin(&mut self, subprotocol: Option<&str>, messages: &mut Messages) -> Result<(), SessionError> {
        if subprotocol.is_some_and(|chosen| !chosen.is_empty()) {
            return Err(SessionError::OtherProtocol("it chose a subprotocol, but Jupyter has none".to_owned()));
        }
        let (columns, rows) = self.place.window;
        self.resize(columns, rows, messages);
        Ok(())
    }

    /// Rows come first, then the size in pixels, which is unknown here and sent as 0.
    fn resize(&mut self, columns: u16, rows: u16, messages: &mut Messages) {
        let size = ("set_size", rows, columns, 0, 0);
        messages.text(serde_json::to_string(&size).unwrap_or_default());
    }

    fn removal(&self, cookies: &CookieJar) -> Option<Request> {
        let is_kept = self.place.setting("keep").is_some();
        let path = format!("{TERMINALS}/{}", self.name);
        (self.is_new && !is_kept).then(|| self.request_change("DELETE", &path, cookies))
    }
}

fn not_jupyter() -> SessionError {
    SessionError::OtherProtocol(
        "expected a text message of Jupyter: an array of JSON that begins with a name".to_owned(),
    )
}
