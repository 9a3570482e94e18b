//! The host's end: a server with terminals by name, and one session with one of them.

use std::ops::Range;

use super::{Named, TERMINALS, XSRF, not_jupyter};
use crate::percent;
use crate::wire::http::{CookieJar, Request, Response};
use crate::wire::web::payload::{Event, head_of_output, put_event, take_event};
use crate::wire::web::{Messages, Session, SessionError, WebHost, not_found, open_websocket};
use crate::wire::websocket::MessageKind;

/// Bytes that the host reads of a program at once.
const LONGEST_OUTPUT: usize = 64 * 1024;

const USER: &str = "username-host";
const FORM: &str = r#"<form><input type="hidden" name="_xsrf"/><input type="password" name="password"/></form>"#;

/// The host's end.
#[derive(Debug, Default)]
pub struct Host {
    /// The token that it wants, if any.
    pub token: Option<String>,
    /// The password that it wants, if any.
    pub password: Option<String>,
    /// Names of its terminals.
    pub terminals: Vec<String>,
    pub(super) has_all: bool,
    pub(super) window: Option<(u16, u16)>,
}

impl Host {
    /// A host with terminals of all names, for one connection: a page asks for its terminal by another one.
    pub fn with_all() -> Self {
        Self { has_all: true, ..Self::default() }
    }

    fn has_terminal(&self, name: &str) -> bool {
        self.has_all || self.terminals.iter().any(|other| other == name)
    }

    fn has_token(&self, request: &Request) -> bool {
        let sent = request.headers.get("Authorization").and_then(|value| value.strip_prefix("token "));
        sent.is_some() && sent == self.token.as_deref()
    }

    fn knows_user(&self, request: &Request) -> bool {
        let is_open = self.token.is_none() && self.password.is_none();
        is_open || self.has_token(request) || cookie(request, USER).is_some()
    }

    /// Answers a login form, or the request for it.
    fn log_in(&self, request: &Request) -> Response {
        let base = request.path_alone().trim_end_matches("login");
        let form = String::from_utf8_lossy(&request.body);
        let field = |name: &str| {
            let pairs = form.split('&').filter_map(|pair| pair.split_once('='));
            pairs.filter(|(key, _)| *key == name).find_map(|(_, value)| percent::decode(value))
        };
        if request.method == "GET" {
            return Response::new(200, "text/html", FORM).with("Set-Cookie", format!("{XSRF}=2|x; Path={base}"));
        }
        if field(XSRF) != cookie(request, XSRF) {
            return refuse(403, "'_xsrf' argument missing from POST");
        }
        if field("password") != self.password {
            return Response::new(401, "text/html", FORM);
        }
        let response = Response { status: 302, reason: "Found".to_owned(), ..Response::default() };
        response.with("Location", base).with("Set-Cookie", format!("{USER}=joe; Path={base}"))
    }

    fn answer_api(&mut self, request: &Request, name: Option<&str>) -> Response {
        let repeats = cookie(request, XSRF).is_some_and(|xsrf| request.headers.get("X-XSRFToken") == Some(&xsrf));
        if request.method != "GET" && !self.has_token(request) && !repeats {
            return refuse(403, "'_xsrf' argument missing from POST");
        }
        match (request.method.as_str(), name) {
            ("POST", None) => {
                let asked = serde_json::from_slice(&request.body).map(|Named { name }| name);
                let name = asked.unwrap_or_else(|_| (self.terminals.len() + 1).to_string());
                self.terminals.push(name.clone());
                Response::new(200, "application/json", serde_json::to_vec(&Named { name }).unwrap_or_default())
            }
            ("DELETE", Some(name)) if self.has_terminal(name) => {
                self.terminals.retain(|other| other != name);
                Response { status: 204, reason: "No Content".to_owned(), ..Response::default() }
            }
            (_, Some(name)) => refuse(404, &format!("Terminal not found: {name}")),
            _ => not_found(),
        }
    }
}

fn cookie(request: &Request, name: &str) -> Option<String> {
    let jar = CookieJar::from_header(request.headers.get("Cookie")?);
    jar.get(name).map(str::to_owned)
}

fn refuse(status: u16, message: &str) -> Response {
    let body = serde_json::json!({ "message": message, "reason": null });
    Response::new(status, "application/json", body.to_string())
}

impl Session for Host {
    fn receive(
        &mut self,
        kind: MessageKind,
        message: &mut [u8],
        _: &mut Messages,
    ) -> Result<Range<usize>, SessionError> {
        if kind == MessageKind::Binary {
            return Err(not_jupyter());
        }
        match take_event(message, "stdin").ok_or_else(not_jupyter)? {
            Event::Characters(keys) => return Ok(keys),
            Event::Other(name) if name == "set_size" => {
                let size: Result<(String, u16, u16, f64, f64), _> = serde_json::from_slice(message);
                let (_, rows, columns, _, _) = size.map_err(|_| not_jupyter())?;
                self.window = Some((columns, rows));
            }
            Event::Other(_) => {}
        }
        Ok(0..0)
    }

    fn encode(&self, characters: &[u8], payload: &mut Vec<u8>) -> Result<(usize, MessageKind), SessionError> {
        let (len, output) = head_of_output(characters, LONGEST_OUTPUT);
        put_event("stdout", output, payload);
        Ok((len, MessageKind::Text))
    }

    fn is_ready(&self) -> bool {
        true
    }
}

impl WebHost for Host {
    fn answer(&mut self, request: &Request) -> Response {
        let path = request.path_alone();
        if path.ends_with("/login") {
            return self.log_in(request);
        }
        let is_known = self.knows_user(request);
        if let Some((_, name)) = path.split_once("/terminals/websocket/") {
            let exists = self.has_terminal(name);
            return match (is_known, exists) {
                (false, _) => refuse(403, "Forbidden"),
                (true, false) => not_found(),
                (true, true) => open_websocket(None),
            };
        }
        if let Some((_, name)) = path.split_once(TERMINALS) {
            let name = name.strip_prefix('/').map(str::to_owned);
            return if is_known { self.answer_api(request, name.as_deref()) } else { refuse(403, "Forbidden") };
        }
        // Each page brings the cookie.
        Response::new(200, "text/html", "<html></html>").with("Set-Cookie", format!("{XSRF}=2|x; Path={path}"))
    }

    fn begin(&mut self, messages: &mut Messages) {
        messages.text(r#"["setup", {}]"#);
    }

    fn window(&self) -> Option<(u16, u16)> {
        self.window
    }

    fn finish(&mut self, messages: &mut Messages) -> Option<u16> {
        messages.text(r#"["disconnect", 1]"#);
        Some(1005)
    }
}
