//! Opens a session as a browser does: the requests of its page, the WebSocket, and the messages until the session is ready.

use std::cell::RefCell;
use std::env;
use std::sync::Arc;

use cuesta_record::clock;
use data_encoding::BASE64;
use rand::RngExt as _;
use tokio::sync::OnceCell;

use super::client::{Client, NoAnswer, describe, read_answer, without_query};
use super::error::{WebError, first_row};
use super::line::WebLine;
use super::logins;
use super::removal::{Removal, RemovalAtDrop};
use super::secrets::Secrets;
use super::target::WebTarget;
use crate::wire::http::{CookieJar, Reader, Request, Response};
use crate::wire::web::{Account, Messages, Place, SessionError, Step, WebTerminal};
use crate::wire::websocket::{DEFLATE_OFFER, Inflater, Receiver, Role, Sender, accept_key, accepts_deflate};
use crate::{Line, OpenError, Opening, Options, send, tcp};

/// Opens a session, all within the connect timeout. The future is boxed, so that other kinds of lines need not reserve room for it.
pub(crate) async fn open(target: &WebTarget, options: &Options) -> Result<WebLine, OpenError> {
    let awaited = RefCell::new(String::new());
    let due = clock::now() + options.connect_timeout;
    let opened = Box::pin(tcp::with_deadline(due, Browser::new(target, options, &awaited)?.open())).await;
    let opened = opened.unwrap_or_else(|| {
        let (address, waited) = (target.address.to_string(), options.connect_timeout);
        Err(WebError::Timeout { address, waited, awaited: awaited.take() }.into())
    });
    opened.map_err(|error| match error {
        OpenError::Web(error) if target.browser.shares_login && error.is_of_login() => {
            logins::forget(&target.to_string(), options.login.user.as_deref());
            error.without(&Secrets::from_login(target, &options.login)).into()
        }
        OpenError::Web(error) => error.without(&Secrets::from_login(target, &options.login)).into(),
        error => error,
    })
}

/// A user's browser while it opens a session.
struct Browser<'a> {
    target: &'a WebTarget,
    options: &'a Options,
    client: Client<'a>,
    terminal: Box<dyn WebTerminal>,
    place: Place,
    headers: Vec<(String, String)>,
    /// What its requests leave at the host.
    removal: RemovalAtDrop,
    /// What it waits for, in words for an error.
    awaited: &'a RefCell<String>,
}

impl<'a> Browser<'a> {
    fn new(target: &'a WebTarget, options: &'a Options, awaited: &'a RefCell<String>) -> Result<Self, OpenError> {
        let cells = &options.login.cells;
        let settings = target.fill_settings(cells)?;
        let place = Place {
            base: target.path_for(cells)?,
            query: target.query_for(cells)?,
            origin: target.own_origin(),
            settings: settings.iter().filter(|(name, _)| name != "header").cloned().collect(),
            account: find_account(target, options)?,
            window: (options.columns, options.rows),
            terminal: options.terminal.clone(),
            session: make_uuid(),
        };
        let headers = find_headers(target, &settings);
        let cookies = options.login.cookie.as_deref().map(CookieJar::from_header).unwrap_or_default();
        let client = Client::new(target, options, headers.clone(), cookies)?;
        let terminal = (target.kind.terminal)(place.clone());
        Ok(Self { target, options, client, terminal, place, headers, removal: RemovalAtDrop::default(), awaited })
    }

    async fn open(mut self) -> Result<WebLine, OpenError> {
        let (request, offered, has_asked) = self.prepare().await?;
        let prepared = has_asked.then(clock::now);
        self.await_for("the connection for the WebSocket");
        let mut line = self.client.connect().await?;
        self.await_for("the answer that opens the WebSocket");
        let (answer, rest) = self.upgrade(&mut line, request, &offered).await?;
        let upgraded = clock::now();
        let subprotocol = answer.headers.get("Sec-WebSocket-Protocol");
        let mut first = Messages::default();
        self.terminal.begin(subprotocol, &mut first).map_err(|error| self.refused_subprotocol(error))?;
        self.await_for("the session, which is not ready");
        let mut receiver = Receiver::new(Role::Client);
        if answer.headers.get("Sec-WebSocket-Extensions").is_some() {
            receiver = receiver.with_inflater(Inflater::default());
        }
        let frames = (receiver, Sender::new(Role::Client, rand::rng().random()));
        let window = (self.options.columns, self.options.rows);
        let mut session = WebLine::new(line, self.terminal, frames, self.target.browser.pong, window);
        session.opening = Opening { prepared, upgraded: Some(upgraded), ..session.opening };
        session.removal = self.removal;
        let (address, kind) = (self.target.address.to_string(), self.target.kind.name_in_errors());
        let refused = |broken| WebError::before_ready(&address, kind, broken);
        session.get_ready(rest, first, self.target.browser.ping).await.map_err(refused)?;
        session.opening.ready = Some(clock::now());
        Ok(session)
    }

    /// Plays the requests of the page. Returns the request that opens the WebSocket, the subprotocols that it offers, and whether any
    /// other request was made.
    async fn prepare(&mut self) -> Result<(Request, Vec<String>, bool), OpenError> {
        let shared = self
            .target
            .browser
            .shares_login
            .then(|| logins::find_cell(&self.target.to_string(), self.place.account.user.as_deref()));
        if let Some(cell) = &shared {
            return self.prepare_with(cell).await;
        }
        self.prepare_alone().await
    }

    /// As [`Browser::prepare`], with a login that users share: the first of them plays its requests while the others wait.
    async fn prepare_with(
        &mut self,
        shared: &Arc<OnceCell<CookieJar>>,
    ) -> Result<(Request, Vec<String>, bool), OpenError> {
        self.await_for("another user's login (login=once)");
        let mut own = None;
        let cookies = shared
            .get_or_try_init(|| async {
                own = Some(self.prepare_alone().await?);
                Ok::<_, OpenError>(self.client.cookies.clone())
            })
            .await?
            .clone();
        if let Some(own) = own {
            return Ok(own);
        }
        self.client.cookies = cookies;
        self.place.account.is_logged_in = true;
        self.terminal = (self.target.kind.terminal)(self.place.clone());
        self.prepare_alone().await
    }

    async fn prepare_alone(&mut self) -> Result<(Request, Vec<String>, bool), OpenError> {
        let (mut answer, mut last) = (None, String::new());
        loop {
            let step = self.terminal.prepare(answer.as_ref(), &self.client.cookies);
            // Before a request is sent: opening may be given up before its answer is here.
            self.note_removal();
            match step.map_err(|error| self.explain_refusal(&last, &error))? {
                Step::Request(request) => {
                    last = describe(&request);
                    self.await_for(&format!("the answer to {last}"));
                    answer = Some(self.client.ask(request).await?);
                }
                Step::Open(request, offered) => return Ok((request, offered, answer.is_some())),
            }
        }
    }

    fn await_for(&self, what: &str) {
        what.clone_into(&mut self.awaited.borrow_mut());
    }

    fn note_removal(&mut self) {
        let removal = self.terminal.removal(&self.client.cookies).map(|request| Removal {
            target: self.target.clone(),
            options: self.options.clone(),
            headers: self.headers.clone(),
            cookies: self.client.cookies.clone(),
            request,
        });
        self.removal.0 = removal.map(Box::new);
    }

    /// The page's requests are refused, or not answered as this kind of web terminal does.
    fn explain_refusal(&self, request: &str, error: &SessionError) -> WebError {
        let (address, request) = (self.target.address.to_string(), request.to_owned());
        WebError::Prepare { address, request, why: error.to_string() }
    }

    fn refused_subprotocol(&self, error: SessionError) -> WebError {
        let address = self.target.address.to_string();
        WebError::before_ready(&address, self.target.kind.name_in_errors(), error.into())
    }

    /// Asks for the WebSocket. Returns the answer, and the bytes that followed it.
    async fn upgrade(
        &self,
        line: &mut Box<dyn Line>,
        request: Request,
        offered: &[String],
    ) -> Result<(Response, Vec<u8>), OpenError> {
        let key = BASE64.encode(&rand::rng().random::<[u8; 16]>());
        let (address, path) = (self.target.address.to_string(), request.path_alone().to_owned());
        let no_upgrade = |why: String| WebError::NoUpgrade { address: address.clone(), path: path.clone(), why };
        let not_websocket = |why: String| WebError::NotWebSocket { address: address.clone(), why };
        let deflates = self.target.browser.deflate.unwrap_or(self.target.kind.deflates);
        let request = self.client.complete(&add_upgrade(request, &key, offered, deflates));
        send(line, &request.to_bytes()).await.map_err(|cause| no_upgrade(cause.to_string()))?;
        let (answer, rest) = read_answer(&mut **line, Reader::default()).await.map_err(|error| match error {
            NoAnswer::Broken(cause) => no_upgrade(format!("the connection broke ({cause})")),
            NoAnswer::Closed => no_upgrade("it closed the connection without an answer".to_owned()),
            NoAnswer::Unreadable(error) => no_upgrade(error.to_string()),
        })?;
        if answer.status != 101 {
            let said = describe_answer(&answer);
            return Err(WebError::Upgrade { address, path, status: answer.status, said }.into());
        }
        if !answer.headers.lists("Upgrade", "websocket") || !answer.headers.lists("Connection", "Upgrade") {
            return Err(not_websocket("its answer upgrades to something else".to_owned()).into());
        }
        if answer.headers.get("Sec-WebSocket-Accept") != Some(accept_key(&key).as_str()) {
            return Err(not_websocket("the key in its answer is wrong".to_owned()).into());
        }
        match answer.headers.get("Sec-WebSocket-Extensions") {
            Some(extensions) if !deflates || !accepts_deflate(extensions) => {
                Err(not_websocket(format!("it chose an extension that was not offered: {}", first_row(extensions)))
                    .into())
            }
            _ => Ok((answer, rest)),
        }
    }
}

/// Adds the headers that open a WebSocket.
fn add_upgrade(request: Request, key: &str, offered: &[String], deflates: bool) -> Request {
    let mut request = request
        .with("Connection", "Upgrade")
        .with("Upgrade", "websocket")
        .with("Sec-WebSocket-Version", "13")
        .with("Sec-WebSocket-Key", key);
    if !offered.is_empty() {
        request.headers.add("Sec-WebSocket-Protocol", offered.join(", "));
    }
    if deflates {
        request.headers.add("Sec-WebSocket-Extensions", DEFLATE_OFFER);
    }
    request
}

/// What an answer says of why it refuses: the `message` of its JSON, its text, or the words after its status.
fn describe_answer(answer: &Response) -> String {
    let json: Option<serde_json::Value> = serde_json::from_slice(&answer.body).ok();
    let message = json.as_ref().and_then(|json| json.get("message")?.as_str());
    let is_text = answer.headers.get("Content-Type").is_some_and(|kind| kind.starts_with("text/plain"));
    let text = is_text.then(|| String::from_utf8_lossy(&answer.body).into_owned());
    let said = message.map(str::to_owned).or(text).unwrap_or_else(|| answer.reason.clone());
    let location =
        answer.headers.get("Location").map(|place| format!(", redirects to {}", first_row(without_query(place))));
    first_row(&said) + &location.unwrap_or_default()
}

fn find_account(target: &WebTarget, options: &Options) -> Result<Account, WebError> {
    let login = &options.login;
    let shared = target.browser.token.as_ref().map(|name| env::var(name).map_err(|_| WebError::NoToken(name.clone())));
    let token = login.token.clone().map_or(shared.transpose(), |token| Ok(Some(token)))?;
    for (name, value) in [("token", &token), ("cookie", &login.cookie)] {
        if value.as_deref().is_some_and(|value| value.contains(char::is_control)) {
            return Err(WebError::Unsendable(name));
        }
    }
    Ok(Account {
        user: login.user.clone(),
        password: login.password.clone(),
        token,
        is_logged_in: false,
        is_shared: target.browser.shares_login,
    })
}

fn find_headers(target: &WebTarget, settings: &[(String, String)]) -> Vec<(String, String)> {
    let own = settings.iter().filter(|(name, _)| name == "header");
    let own = own.filter_map(|(_, header)| header.split_once(':'));
    let mut headers: Vec<_> = own.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect();
    match target.browser.origin.as_deref() {
        Some("none") => {}
        Some(origin) => headers.push(("Origin".to_owned(), origin.to_owned())),
        None => headers.push(("Origin".to_owned(), target.own_origin())),
    }
    headers
}

/// A version 4 UUID (RFC 9562 §5.4).
fn make_uuid() -> String {
    let random: u128 = rand::rng().random();
    let bits = (random & !(0xf << 76) & !(0x3 << 62)) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{bits:032x}");
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_has_its_version_and_variant() {
        for _ in 0..100 {
            let uuid = make_uuid();
            let bytes = uuid.as_bytes();
            assert!(uuid.len() == 36 && bytes[14] == b'4' && b"89ab".contains(&bytes[19]), "{uuid}");
        }
    }

    #[test]
    fn an_answer_gives_its_reason() {
        let json = Response::new(404, "application/json", r#"{"kind":"Status","message":"pods \"x\" not found"}"#);
        assert_eq!(describe_answer(&json), "pods \"x\" not found");
        assert_eq!(
            describe_answer(&Response::new(403, "text/plain; charset=utf-8", "origin\x1b[31m\nsecond")),
            "origin [31m"
        );
        let moved =
            Response { status: 302, reason: "Found".to_owned(), ..Response::default() }.with("Location", "/login");
        assert_eq!(describe_answer(&moved), "Found, redirects to /login");
    }
}
