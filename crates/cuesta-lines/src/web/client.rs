//! HTTP over lines: the requests of a page before and after its WebSocket.

use super::error::{WebError, first_row};
use super::proxy;
use super::target::WebTarget;
use crate::tls::TlsClient;
use crate::wire::http::{CookieJar, Headers, HttpError, Reader, Request, Response};
use crate::{Line, OpenError, Options, receive, send, tcp};

/// Most redirects that are followed, as browsers do.
const MOST_REDIRECTS: usize = 20;

const USER_AGENT: &str = concat!("Cuesta/", env!("CARGO_PKG_VERSION"));

/// A browser of one user at one host.
pub(super) struct Client<'a> {
    target: &'a WebTarget,
    options: &'a Options,
    tls: Option<TlsClient>,
    /// An `Origin` header, and the target's own headers, which every request has.
    headers: Vec<(String, String)>,
    pub(super) cookies: CookieJar,
    /// The connection of the last answer, if the host keeps it open.
    idle_line: Option<Box<dyn Line>>,
}

impl<'a> Client<'a> {
    pub(super) fn new(
        target: &'a WebTarget,
        options: &'a Options,
        headers: Vec<(String, String)>,
        cookies: CookieJar,
    ) -> Result<Self, OpenError> {
        let tls = target.tls.as_ref().map(|settings| {
            // A kind without requests has one connection, which keeps no session for another: that is 3 KiB a line.
            let resumes = settings.resume && !target.kind.is_bare();
            TlsClient::new(&target.address, settings)
                .map(|client| client.into_browser(resumes))
                .map_err(name_web_settings)
        });
        Ok(Self { target, options, tls: tls.transpose()?, headers, cookies, idle_line: None })
    }

    /// Connects to the host, by TLS if the target says so, through a proxy if the environment says so.
    pub(super) async fn connect(&self) -> Result<Box<dyn Line>, OpenError> {
        let address = &self.target.address;
        // The kernel's stamps are of packets: over TLS some of them carry no character.
        let stamped = self.options.stamped && self.tls.is_none();
        let options = Options { stamped, ..self.options.clone() };
        let line = match proxy::find(self.tls.is_some(), address)? {
            // The host does not see the port of a line through a proxy.
            Some(proxy) => proxy.connect(address, &Options { followed: false, ..options }).await?,
            None => tcp::connect(address, &options).await?,
        };
        Ok(match &self.tls {
            Some(tls) => Box::new(tls.connect(line).await.map_err(name_web_settings)?),
            None => Box::new(line),
        })
    }

    /// Sends a request, and follows where its answer redirects to.
    pub(super) async fn ask(&mut self, request: Request) -> Result<Response, OpenError> {
        let mut request = request;
        for _ in 0..=MOST_REDIRECTS {
            let answer = self.ask_once(&request).await?;
            match self.follow_redirect(&request, &answer)? {
                Some(next) => request = next,
                None => return Ok(answer),
            }
        }
        Err(self.refuse(&request, "it redirects in a circle").into())
    }

    /// The request that an answer redirects to; none if it does not redirect.
    fn follow_redirect(&self, request: &Request, answer: &Response) -> Result<Option<Request>, WebError> {
        let (true, Some(location)) =
            (matches!(answer.status, 301 | 302 | 303 | 307 | 308), answer.headers.get("Location"))
        else {
            return Ok(None);
        };
        let Some(path) = self.resolve(location, request.path_alone()) else {
            let to = first_row(without_query(location));
            let is_secured =
                to.strip_prefix("https://").is_some_and(|rest| rest.starts_with(&self.target.address.host));
            let advice = if is_secured && self.target.tls.is_none() {
                "take wss in place of ws"
            } else {
                "take that as the target, or log in there first"
            };
            return Err(self.refuse(request, &format!("it redirects to {to}: {advice}")));
        };
        // As browsers do (Fetch standard, HTTP-redirect fetch): a form that was taken leads to a page.
        let is_repeated = match answer.status {
            301 | 302 => request.method != "POST",
            303 => matches!(request.method.as_str(), "GET" | "HEAD"),
            _ => true,
        };
        let mut next = if is_repeated { request.clone() } else { Request::new("GET", "") };
        if !is_repeated && let Some(authorization) = request.headers.get("Authorization") {
            next.headers.add("Authorization", authorization);
        }
        next.path = path;
        Ok(Some(next))
    }

    /// The path of a reference (RFC 3986 §5) at this host; none if it leads elsewhere.
    fn resolve(&self, location: &str, from: &str) -> Option<String> {
        let location = location.split('#').next().unwrap_or_default();
        if location.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return None;
        }
        let scheme = if self.tls.is_some() { "https:" } else { "http:" };
        let place = location.strip_prefix(scheme).unwrap_or(location).strip_prefix("//");
        // The longer one first: with the usual port.
        let names = [self.target.address.to_string(), self.target.authority()];
        let path = names.iter().find_map(|name| place?.strip_prefix(name.as_str()));
        let path = match path {
            Some(path) if path.is_empty() || path.starts_with(['/', '?']) => path,
            _ if location.starts_with("//") || has_scheme(location) => return None,
            _ => return Some(resolve_path(location, from)),
        };
        Some(resolve_path(if path.is_empty() { "/" } else { path }, "/"))
    }

    async fn ask_once(&mut self, request: &Request) -> Result<Response, OpenError> {
        let bytes = self.complete(request).to_bytes();
        let mut answered = match self.idle_line.take() {
            Some(line) => self.exchange(line, &bytes).await,
            None => Err(NoAnswer::Closed),
        };
        // The host may have closed a kept connection meanwhile: then a new one is made, as browsers do.
        if matches!(answered, Err(NoAnswer::Closed | NoAnswer::Broken(_))) {
            answered = self.exchange(self.connect().await?, &bytes).await;
        }
        let address = self.target.address.to_string();
        let answer = answered.map_err(|error| error.into_web(&address, &describe(request)))?;
        for cookie in answer.headers.all("Set-Cookie") {
            self.cookies.take(cookie, request.path_alone());
        }
        Ok(answer)
    }

    /// A request with the headers that a browser adds.
    pub(super) fn complete(&self, request: &Request) -> Request {
        let mut complete = Request { headers: Headers::default(), ..request.clone() };
        complete.headers.add("Host", self.target.authority());
        complete.headers.add("User-Agent", USER_AGENT);
        if request.headers.get("Accept").is_none() {
            complete.headers.add("Accept", "*/*");
        }
        let own = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in own.chain(request.headers.iter()) {
            complete.headers.add(name, value);
        }
        if let Some(cookies) = self.cookies.header_for(&request.path) {
            complete.headers.add("Cookie", cookies);
        }
        complete
    }

    /// Sends a request over a connection, and keeps that if the host does.
    async fn exchange(&mut self, mut line: Box<dyn Line>, bytes: &[u8]) -> Result<Response, NoAnswer> {
        send(&mut line, bytes).await.map_err(NoAnswer::Broken)?;
        let (answer, rest) = read_answer(&mut *line, Reader::default()).await?;
        let closes = answer.headers.lists("Connection", "close") || !rest.is_empty();
        let has_length = answer.headers.get("Content-Length").is_some()
            || answer.headers.lists("Transfer-Encoding", "chunked")
            || answer.status == 204;
        self.idle_line = (has_length && !closes).then_some(line);
        Ok(answer)
    }

    pub(super) fn refuse(&self, request: &Request, why: &str) -> WebError {
        let address = self.target.address.to_string();
        WebError::Prepare { address, request: describe(request), why: why.to_owned() }
    }
}

fn has_scheme(location: &str) -> bool {
    location.split(['/', '?']).next().is_some_and(|first| first.contains(':'))
}

/// The path of a reference without a host, as a page at `from` has it, without `.` and `..` (RFC 3986 §5.2).
fn resolve_path(location: &str, from: &str) -> String {
    let (path, query) = location.split_at(location.find('?').unwrap_or(location.len()));
    if path.is_empty() {
        return format!("{from}{query}");
    }
    let folder = if path.starts_with('/') { "" } else { from.rsplit_once('/').map_or("", |(folder, _)| folder) };
    let joined = format!("{folder}/{}", path.trim_start_matches('/'));
    let mut kept = Vec::new();
    for segment in joined.split('/').skip(1) {
        match segment {
            "." => {}
            ".." => drop(kept.pop()),
            name => kept.push(name),
        }
    }
    let is_folder = matches!(joined.rsplit('/').next(), Some("." | ".."));
    format!("/{}{}{query}", kept.join("/"), if is_folder && !kept.is_empty() { "/" } else { "" })
}

/// The error of TLS with the settings of web terminals.
fn name_web_settings(error: OpenError) -> OpenError {
    match error {
        OpenError::Tls { address, cause } => WebError::Tls { address, cause }.into(),
        other => other,
    }
}

/// A reference without its query, which may have secrets.
pub(super) fn without_query(location: &str) -> &str {
    location.split('?').next().unwrap_or_default()
}

/// `GET /token`: a request without its query, which may have secrets.
pub(super) fn describe(request: &Request) -> String {
    format!("{} {}", request.method, request.path_alone())
}

/// Why no answer was read.
#[derive(Debug)]
pub(super) enum NoAnswer {
    /// The connection was closed before any of it.
    Closed,
    Broken(std::io::Error),
    Unreadable(HttpError),
}

impl NoAnswer {
    fn into_web(self, address: &str, request: &str) -> WebError {
        match self {
            Self::Broken(cause) => WebError::HungUp { address: address.to_owned(), cause },
            Self::Unreadable(error) => WebError::unreadable(address, request, error),
            Self::Closed => {
                let why = "it closed the connection without an answer".to_owned();
                WebError::Prepare { address: address.to_owned(), request: request.to_owned(), why }
            }
        }
    }
}

/// Reads an answer. Returns it and the bytes that followed it.
pub(super) async fn read_answer(
    line: &mut dyn Line,
    mut reader: Reader<Response>,
) -> Result<(Response, Vec<u8>), NoAnswer> {
    let mut piece = vec![0; 4096];
    let mut has_begun = false;
    loop {
        let received = receive(line, &mut piece).await.map_err(NoAnswer::Broken)?;
        if received.len == 0 {
            let answer = reader.end().map_err(NoAnswer::Unreadable)?;
            let closed = if has_begun { NoAnswer::Unreadable(HttpError::Incomplete) } else { NoAnswer::Closed };
            return answer.map(|answer| (answer, Vec::new())).ok_or(closed);
        }
        has_begun = true;
        let mut rest = &piece[..received.len];
        while !rest.is_empty() {
            let (taken, answer) = reader.receive(rest).map_err(NoAnswer::Unreadable)?;
            rest = &rest[taken..];
            match answer {
                // Early hints and the like precede the answer.
                Some(answer) if matches!(answer.status, 100 | 102..=199) => {}
                Some(answer) => return Ok((answer, rest.to_vec())),
                None => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_resolved_as_browsers_do() {
        for (location, from, path) in [
            ("./", "/login", "/"),
            ("./?folder=/x", "/base/login", "/base/?folder=/x"),
            ("../hub", "/user/joe/login", "/user/hub"),
            ("../../../x", "/a/b", "/x"),
            ("lab", "/user/joe/login", "/user/joe/lab"),
            ("/a/./b/../c", "/x", "/a/c"),
            ("?next=1", "/login", "/login?next=1"),
            ("..", "/a/b/c", "/a/"),
            ("/", "/a", "/"),
        ] {
            assert_eq!(resolve_path(location, from), path, "{location} from {from}");
        }
    }

    #[test]
    fn a_reference_to_another_host_is_not_followed() {
        let Ok(crate::Target::Web(target)) = "ttyd+wss://h/base".parse() else { panic!() };
        let options = Options::default();
        let client = Client::new(&target, &options, Vec::new(), CookieJar::default()).unwrap();
        let resolve = |location| client.resolve(location, "/base/token");
        for here in ["https://h/x", "//h/x", "/x", "https://h:443/x"] {
            assert_eq!(resolve(here).as_deref(), Some("/x"), "{here}");
        }
        for elsewhere in [
            "http://h/x",
            "https://h.evil/x",
            "https://other/x",
            "//other/x",
            "javascript:x",
            "/a b",
            "/a\r\nX-Injected: 1",
            "https://h@other/x",
            "file:/etc/passwd",
            "https://h:444/x",
        ] {
            assert_eq!(resolve(elsewhere), None, "{elsewhere}");
        }
    }

    #[test]
    fn a_redirected_form_is_sent_again_only_if_the_host_says_so() {
        let form = Request::new("POST", "/login").with("Authorization", "x").with_body("text/plain", "geheim");
        let moved = |status| Response { status, ..Response::default() }.with("Location", "/lab");
        let Ok(crate::Target::Web(target)) = "ttyd+ws://h:8080/".parse() else { panic!() };
        let options = Options::default();
        let client = Client::new(&target, &options, Vec::new(), CookieJar::default()).unwrap();
        let next = client.follow_redirect(&form, &moved(302)).unwrap().unwrap();
        assert_eq!(next, Request::new("GET", "/lab").with("Authorization", "x"));
        let next = client.follow_redirect(&form, &moved(307)).unwrap().unwrap();
        assert_eq!(next, Request { path: "/lab".to_owned(), ..form.clone() });
        assert_eq!(client.follow_redirect(&form, &moved(200)).unwrap(), None);
        let elsewhere = Response { status: 302, ..Response::default() }.with("Location", "https://sso.example/?a=1");
        let error = client.follow_redirect(&form, &elsewhere).unwrap_err().to_string();
        assert!(error.starts_with("h:8080: POST /login: it redirects to https://sso.example/: "), "{error}");
        let deletion = Request::new("DELETE", "/api/terminals/x");
        let next = client.follow_redirect(&deletion, &moved(302)).unwrap().unwrap();
        assert_eq!((next.method.as_str(), next.path.as_str()), ("DELETE", "/lab"));
    }
}
