//! HTTP over lines: the requests of a page before and after its WebSocket.

use cuesta_record::Stamp;

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
    kept: Option<Box<dyn Line>>,
}

impl<'a> Client<'a> {
    pub(super) fn new(
        target: &'a WebTarget,
        options: &'a Options,
        headers: Vec<(String, String)>,
        cookies: CookieJar,
    ) -> Result<Self, OpenError> {
        let tls = target.tls.as_ref().map(|settings| {
            TlsClient::new(&target.address, settings).map(|client| client.into_browser(settings.resume))
        });
        Ok(Self { target, options, tls: tls.transpose()?, headers, cookies, kept: None })
    }

    /// Connects to the host, by TLS if the target says so, through a proxy if the environment says so.
    pub(super) async fn connect(&self) -> Result<Box<dyn Line>, OpenError> {
        let address = &self.target.address;
        // The kernel's stamps are of packets: over TLS some of them carry no character.
        let stamped = self.options.stamped && self.tls.is_none();
        let options = Options { stamped, ..self.options.clone() };
        let line = match proxy::find(self.tls.is_some(), address) {
            Some(proxy) => proxy.connect(address, &options).await?,
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
            match self.redirected(&request, &answer)? {
                Some(next) => request = next,
                None => return Ok(answer),
            }
        }
        Err(self.refuse(&request, "it redirects in a circle").into())
    }

    /// The request that an answer redirects to; none if it does not redirect.
    fn redirected(&self, request: &Request, answer: &Response) -> Result<Option<Request>, WebError> {
        let (true, Some(location)) =
            (matches!(answer.status, 301 | 302 | 303 | 307 | 308), answer.headers.get("Location"))
        else {
            return Ok(None);
        };
        let Some(path) = self.resolve(location, request.path_alone()) else {
            let to = first_row(location);
            return Err(
                self.refuse(request, &format!("it redirects to {to}: take that as the target, or log in there first"))
            );
        };
        let is_repeated = matches!(answer.status, 307 | 308);
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
        let own = self.target.own_origin();
        let host = own.split_once(':').map_or("", |(_, host)| host);
        let here = location.strip_prefix(own.as_str()).or_else(|| location.strip_prefix(host));
        match here {
            Some("") => Some("/".to_owned()),
            Some(path) if path.starts_with(['/', '?']) => Some(path.to_owned()),
            _ if location.starts_with("//") || location.split('/').next().is_some_and(|first| first.contains(':')) => {
                None
            }
            _ if location.starts_with('/') => Some(location.to_owned()),
            _ if location.starts_with('?') => Some(format!("{from}{location}")),
            _ => Some(format!("{}/{location}", from.rsplit_once('/').map_or("", |(folder, _)| folder))),
        }
    }

    async fn ask_once(&mut self, request: &Request) -> Result<Response, OpenError> {
        let bytes = self.complete(request).to_bytes();
        // The host may have closed a kept connection meanwhile: then a new one is made, as browsers do.
        let kept = match self.kept.take() {
            Some(line) => self.exchange(line, request, &bytes).await.ok(),
            None => None,
        };
        let answer = match kept {
            Some(answer) => answer,
            None => self.exchange(self.connect().await?, request, &bytes).await?,
        };
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

    async fn exchange(
        &mut self,
        mut line: Box<dyn Line>,
        request: &Request,
        bytes: &[u8],
    ) -> Result<Response, OpenError> {
        let address = self.target.address.to_string();
        let what = describe(request);
        let hung_up = |cause| WebError::HungUp { address: address.clone(), cause };
        send(&mut line, bytes).await.map_err(hung_up)?;
        let (answer, rest, _) = read_answer(&mut line).await.map_err(|error| error.into_web(&address, &what))?;
        let closes = answer.headers.lists("Connection", "close") || !rest.is_empty();
        let has_length = answer.headers.get("Content-Length").is_some()
            || answer.headers.lists("Transfer-Encoding", "chunked")
            || answer.status == 204;
        self.kept = (has_length && !closes).then_some(line);
        Ok(answer)
    }

    pub(super) fn refuse(&self, request: &Request, why: &str) -> WebError {
        let address = self.target.address.to_string();
        WebError::Prepare { address, request: describe(request), why: why.to_owned() }
    }
}

/// The error of TLS with the settings of web terminals.
fn name_web_settings(error: OpenError) -> OpenError {
    match error {
        OpenError::Tls { address, cause } => WebError::Tls { address, cause }.into(),
        other => other,
    }
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

/// Reads an answer. Returns it, the bytes that followed it, and when they were read.
pub(super) async fn read_answer(line: &mut dyn Line) -> Result<(Response, Vec<u8>, Stamp), NoAnswer> {
    let mut reader = Reader::<Response>::default();
    let mut piece = vec![0; 4096];
    let mut has_begun = false;
    loop {
        let received = receive(line, &mut piece).await.map_err(NoAnswer::Broken)?;
        if received.len == 0 {
            let answer = reader.end().map_err(NoAnswer::Unreadable)?;
            let closed = if has_begun { NoAnswer::Unreadable(HttpError::Half) } else { NoAnswer::Closed };
            return answer.map(|answer| (answer, Vec::new(), received.at)).ok_or(closed);
        }
        has_begun = true;
        let mut rest = &piece[..received.len];
        while !rest.is_empty() {
            let (taken, answer) = reader.receive(rest).map_err(NoAnswer::Unreadable)?;
            rest = &rest[taken..];
            match answer {
                // Early hints and the like precede the answer.
                Some(answer) if matches!(answer.status, 100 | 102..=199) => {}
                Some(answer) => return Ok((answer, rest.to_vec(), received.at)),
                None => {}
            }
        }
    }
}
