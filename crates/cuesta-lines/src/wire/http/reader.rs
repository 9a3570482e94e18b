//! Reads a message from bytes that come in pieces of any size.

use std::mem;

use httparse::Status;

use super::body::{Chunks, Rest};
use super::{Headers, HttpError, LONGEST_BODY, LONGEST_HEAD, Request, Response};

/// Most headers.
const MOST_HEADERS: usize = 128;

/// What a [`Reader`] reads.
pub trait Message: Default {
    /// Parses a head; none if it is not whole.
    fn parse(head: &[u8]) -> Result<Option<Self>, httparse::Error>;

    fn headers(&self) -> &Headers;

    /// Whether a body whose length no header gives ends with the connection; else there is none.
    fn is_until_closed(&self) -> bool;

    /// Whether it never has a body.
    fn is_without_body(&self) -> bool;

    fn add_body(&mut self, body: Vec<u8>);
}

/// Reads one message after another.
#[derive(Debug, Default)]
pub struct Reader<M> {
    /// The bytes of the head that were received.
    head: Vec<u8>,
    message: Option<(M, Rest)>,
    body: Vec<u8>,
    has_only_heads: bool,
}

impl<M: Message> Reader<M> {
    /// A reader of messages without a body, whatever their heads say: what follows the answer to CONNECT is the other host's
    /// (RFC 9110 §9.3.6).
    pub fn of_heads() -> Self {
        Self { has_only_heads: true, ..Self::default() }
    }

    /// Takes bytes up to the end of the message. Returns how many, and the message when it is whole.
    ///
    /// # Errors
    /// When it is invalid or too long.
    pub fn receive(&mut self, piece: &[u8]) -> Result<(usize, Option<M>), HttpError> {
        let mut taken = 0;
        if self.message.is_none() {
            taken = self.take_head(piece)?;
        }
        if let Some((_, rest)) = &mut self.message {
            taken += rest.take(&piece[taken..], &mut self.body)?;
        }
        let is_whole = self.message.as_ref().is_some_and(|(_, rest)| rest.has_ended());
        Ok((taken, if is_whole { self.take_message() } else { None }))
    }

    /// The connection was closed: that ends some messages.
    ///
    /// # Errors
    /// When it ended within a message.
    pub fn end(&mut self) -> Result<Option<M>, HttpError> {
        match &self.message {
            Some((_, Rest::All)) => Ok(self.take_message()),
            None if self.head.is_empty() => Ok(None),
            _ => Err(HttpError::Incomplete),
        }
    }

    fn take_head(&mut self, piece: &[u8]) -> Result<usize, HttpError> {
        let before = self.head.len();
        let size = find_end(&self.head, piece);
        let taken = size.unwrap_or(piece.len());
        if before + taken > LONGEST_HEAD {
            return Err(HttpError::LongHead);
        }
        self.head.extend_from_slice(&piece[..taken]);
        if size.is_none() && !may_be_http(&self.head) {
            return Err(HttpError::NotHttp);
        }
        if size.is_some() {
            let message = M::parse(&self.head).map_err(|_| HttpError::NotHttp)?.ok_or(HttpError::NotHttp)?;
            let rest = if self.has_only_heads { Rest::Bytes(0) } else { find_rest(&message)? };
            self.head = Vec::new();
            self.message = Some((message, rest));
        }
        Ok(taken)
    }

    fn take_message(&mut self) -> Option<M> {
        let (mut message, _) = self.message.take()?;
        message.add_body(mem::take(&mut self.body));
        Some(message)
    }
}

/// Finds the end of a head, its empty row, in a piece that follows `before`. Returns the position after it.
fn find_end(before: &[u8], piece: &[u8]) -> Option<usize> {
    let tail = &before[before.len().saturating_sub(3)..];
    let joined = [tail, piece].concat();
    let crlf = memchr::memmem::find(&joined, b"\r\n\r\n").map(|at| at + 4);
    let lf = memchr::memmem::find(&joined, b"\n\n").map(|at| at + 2);
    [crlf, lf].into_iter().flatten().min().map(|end| end - tail.len())
}

/// Whether a head that is not whole can become one.
fn may_be_http(head: &[u8]) -> bool {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    if head.starts_with(b"H") {
        httparse::Response::new(&mut headers).parse(head).is_ok()
    } else {
        httparse::Request::new(&mut headers).parse(head).is_ok()
    }
}

fn find_rest(message: &impl Message) -> Result<Rest, HttpError> {
    let headers = message.headers();
    if message.is_without_body() {
        return Ok(Rest::Bytes(0));
    }
    if headers.get("Content-Encoding").is_some_and(|coding| !coding.eq_ignore_ascii_case("identity")) {
        return Err(HttpError::Compressed);
    }
    if headers.lists("Transfer-Encoding", "chunked") {
        return Ok(Rest::Chunks(Chunks::Size(Vec::new())));
    }
    match headers.get("Content-Length") {
        Some(len) => match len.trim().parse() {
            Ok(len) if len <= LONGEST_BODY => Ok(Rest::Bytes(len)),
            Ok(_) => Err(HttpError::LongBody),
            Err(_) => Err(HttpError::Length),
        },
        None if message.is_until_closed() => Ok(Rest::All),
        None => Ok(Rest::Bytes(0)),
    }
}

fn headers_of(parsed: &[httparse::Header<'_>]) -> Headers {
    let mut headers = Headers::default();
    for header in parsed {
        headers.add(header.name, String::from_utf8_lossy(header.value));
    }
    headers
}

impl Message for Response {
    fn parse(head: &[u8]) -> Result<Option<Self>, httparse::Error> {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut parsed = httparse::Response::new(&mut headers);
        if parsed.parse(head)? == Status::Partial {
            return Ok(None);
        }
        let (status, reason) = (parsed.code.unwrap_or(0), parsed.reason.unwrap_or_default().to_owned());
        Ok(Some(Self { status, reason, headers: headers_of(parsed.headers), body: Vec::new() }))
    }

    fn headers(&self) -> &Headers {
        &self.headers
    }

    fn is_until_closed(&self) -> bool {
        true
    }

    fn is_without_body(&self) -> bool {
        matches!(self.status, 100..=199 | 204 | 304)
    }

    fn add_body(&mut self, body: Vec<u8>) {
        self.body = body;
    }
}

impl Message for Request {
    fn parse(head: &[u8]) -> Result<Option<Self>, httparse::Error> {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut parsed = httparse::Request::new(&mut headers);
        if parsed.parse(head)? == Status::Partial {
            return Ok(None);
        }
        let [method, path] = [parsed.method, parsed.path].map(|text| text.unwrap_or_default().to_owned());
        Ok(Some(Self { method, path, headers: headers_of(parsed.headers), body: Vec::new() }))
    }

    fn headers(&self) -> &Headers {
        &self.headers
    }

    fn is_until_closed(&self) -> bool {
        false
    }

    fn is_without_body(&self) -> bool {
        false
    }

    fn add_body(&mut self, body: Vec<u8>) {
        self.body = body;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The messages in bytes that come in pieces of `size`, and how the connection's end was taken.
    fn read<M: Message>(bytes: &[u8], size: usize) -> Result<Vec<M>, HttpError> {
        let mut reader = Reader::default();
        let mut messages = Vec::new();
        for mut piece in bytes.chunks(size) {
            while !piece.is_empty() {
                let (taken, message) = reader.receive(piece)?;
                messages.extend(message);
                piece = &piece[taken..];
            }
        }
        messages.extend(reader.end()?);
        Ok(messages)
    }

    fn answers(text: &str, size: usize) -> Result<Vec<(u16, String)>, HttpError> {
        let text_of = |answer: Response| (answer.status, String::from_utf8(answer.body).unwrap());
        Ok(read(text.as_bytes(), size)?.into_iter().map(text_of).collect())
    }

    #[test]
    fn answers_of_each_length_follow_one_another() {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHello\
             HTTP/1.1 302 Found\r\ntransfer-encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: x\r\n\r\n\
             HTTP/1.1 204 \r\n\r\n\
             HTTP/1.0 404 Not Found\n\nuntil the end";
        let expected = [(200, "Hello"), (302, "abcde"), (204, ""), (404, "until the end")];
        for size in [1, 2, 3, 7, 1000] {
            assert_eq!(answers(text, size), Ok(expected.map(|(status, body)| (status, body.to_owned())).to_vec()));
        }
    }

    #[test]
    fn the_answer_to_connect_has_no_body() {
        let mut reader = Reader::<Response>::of_heads();
        let text = b"HTTP/1.1 200 Connection established\r\nContent-Length: 5\r\n\r\n";
        let (taken, answer) = reader.receive(&[&text[..], b"hello"].concat()).unwrap();
        assert_eq!((taken, answer.map(|answer| answer.status)), (text.len(), Some(200)));
    }

    #[test]
    fn a_request_reads_back_as_written() {
        let request =
            Request::new("POST", "/api/terminals?x=1").with("Host", "h:1").with_body("application/json", "{}");
        for size in [1, 5, 1000] {
            let mut read = read::<Request>(&request.to_bytes(), size).unwrap().remove(0);
            assert_eq!((read.path_alone(), read.headers.get("content-length")), ("/api/terminals", Some("2")));
            read.headers = request.headers.clone();
            assert_eq!(read, request);
        }
    }

    #[test]
    fn no_secret_is_printed() {
        let request = Request::new("POST", "/ws?token=geheim").with("Cookie", "a=geheim").with_body("text", "geheim");
        let answer = Response::new(200, "text/plain", "geheim").with("Set-Cookie", "a=geheim");
        let printed = format!("{request:?} {answer:?}");
        assert!(printed.contains("Set-Cookie") && !printed.contains("geheim"), "{printed}");
    }

    #[test]
    fn bad_answers_are_refused() {
        let long = format!("HTTP/1.1 200 OK\r\nX: {}", "x".repeat(LONGEST_HEAD));
        for (text, error) in [
            ("SSH-2.0-OpenSSH\r\n", HttpError::NotHttp),
            ("HTTP/1.1 two hundred\r\n\r\n", HttpError::NotHttp),
            (long.as_str(), HttpError::LongHead),
            ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", HttpError::LongBody),
            ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", HttpError::Length),
            ("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", HttpError::Compressed),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", HttpError::Length),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\n", HttpError::LongBody),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHel", HttpError::Incomplete),
        ] {
            assert_eq!(answers(text, 1000), Err(error), "{text:.60}");
        }
    }
}
