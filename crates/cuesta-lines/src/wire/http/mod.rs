//! HTTP/1.1 (RFC 9112) as far as a web terminal needs it: one request, one answer, both roles. Heads are read by `httparse`.
//!
//! - [`Request`], [`Response`]: what is sent. `headers` finds them, `body` reads what follows them.
//! - [`Reader`]: finds a message in bytes that come in pieces, with limits on all lengths.
//! - [`CookieJar`]: the cookies of one browser at one host (RFC 6265).

mod body;
mod cookies;
mod headers;
mod reader;

use std::fmt::{self, Write as _};

use thiserror::Error;

pub use cookies::CookieJar;
pub use headers::Headers;
pub use reader::{Message, Reader};

/// Most bytes of a head.
pub const LONGEST_HEAD: usize = 64 * 1024;

/// Most bytes of a body.
pub const LONGEST_BODY: usize = 4 * 1024 * 1024;

/// A request.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Request {
    pub method: String,
    /// The path with its query.
    pub path: String,
    pub headers: Headers,
    pub body: Vec<u8>,
}

/// An answer.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Response {
    pub status: u16,
    /// The text after the status.
    pub reason: String,
    pub headers: Headers,
    pub body: Vec<u8>,
}

/// Why a message cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum HttpError {
    #[error("the answer is no HTTP")]
    NotHttp,
    #[error("the head is longer than {} KB", LONGEST_HEAD >> 10)]
    LongHead,
    #[error("the body is longer than {} MiB", LONGEST_BODY >> 20)]
    LongBody,
    #[error("the body's length is not clear")]
    Length,
    #[error("the body is compressed, though that was not asked for")]
    Compressed,
    #[error("the connection was closed within the answer")]
    Incomplete,
}

/// Queries and bodies may hold secrets, which are not printed.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = f.debug_struct("Request");
        parts.field("method", &self.method).field("path", &self.path_alone()).field("headers", &self.headers);
        parts.finish_non_exhaustive()
    }
}

/// Bodies may hold secrets, which are not printed.
impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = f.debug_struct("Response");
        parts.field("status", &self.status).field("reason", &self.reason).field("headers", &self.headers);
        parts.finish_non_exhaustive()
    }
}

impl Request {
    /// A request without a body.
    pub fn new(method: &str, path: impl Into<String>) -> Self {
        Self { method: method.to_owned(), path: path.into(), ..Self::default() }
    }

    /// Adds a header.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.add(name, value);
        self
    }

    /// Adds a body of this type.
    #[must_use]
    pub fn with_body(self, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self { body: body.into(), ..self.with("Content-Type", content_type) }
    }

    /// The path without its query.
    pub fn path_alone(&self) -> &str {
        self.path.split_once('?').map_or(&self.path, |(path, _)| path)
    }

    /// Its bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let has_body = !self.body.is_empty() || self.method == "POST";
        serialize(&format!("{} {} HTTP/1.1", self.method, self.path), &self.headers, has_body, &self.body)
    }
}

impl Response {
    /// An answer with a body of this type.
    pub fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let mut response = Self { status, body: body.into(), ..Self::default() };
        response.headers.add("Content-Type", content_type);
        response
    }

    /// Adds a header.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.add(name, value);
        self
    }

    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Its bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let has_body = self.status != 101 && self.status != 204;
        serialize(&format!("HTTP/1.1 {} {}", self.status, self.reason), &self.headers, has_body, &self.body)
    }
}

fn serialize(first: &str, headers: &Headers, has_body: bool, body: &[u8]) -> Vec<u8> {
    let mut text = format!("{first}\r\n");
    for (name, value) in headers.iter() {
        text.push_str(name);
        text.push_str(": ");
        text.push_str(value);
        text.push_str("\r\n");
    }
    if has_body {
        let _ = write!(text, "Content-Length: {}\r\n", body.len());
    }
    text.push_str("\r\n");
    let mut bytes = text.into_bytes();
    if has_body {
        bytes.extend_from_slice(body);
    }
    bytes
}
