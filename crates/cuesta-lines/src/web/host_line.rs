//! The host's end: answers the requests of a page, and carries a session's characters once its WebSocket is open.

use std::io;
use std::mem;
use std::task::{Context, Poll, ready};

use super::frames::{End, Frames};
use crate::wire::http::{Reader, Request, Response};
use crate::wire::web::{Messages, WebHost};
use crate::wire::websocket::{Receiver, Role, Sender, accept_key};
use crate::{Line, LineTerminal, Received};

/// One connection to the host.
pub(crate) struct WebHostLine {
    stage: Stage,
}

enum Stage {
    /// Requests are answered.
    Asking(Asking),
    /// A WebSocket is open.
    Open(Frames<dyn WebHost>),
    /// Between the two, and after a connection without a WebSocket.
    Ended,
}

struct Asking {
    line: Box<dyn Line>,
    host: Box<dyn WebHost>,
    reader: Reader<Request>,
    outgoing: Vec<u8>,
}

impl WebHostLine {
    pub(crate) fn new(line: Box<dyn Line>, host: Box<dyn WebHost>) -> Self {
        let asking = Asking { line, host, reader: Reader::default(), outgoing: Vec::new() };
        Self { stage: Stage::Asking(asking) }
    }

    /// Answers requests until one opens a WebSocket. Returns whether one did.
    fn poll_open(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        let mut piece = [0; 4096];
        while let Stage::Asking(asking) = &mut self.stage {
            ready!(asking.poll_flush(cx))?;
            let received = ready!(asking.line.poll_receive(cx, &mut piece))?;
            if received.len == 0 {
                self.stage = Stage::Ended;
                break;
            }
            if let Some(rest) = asking.take(&piece[..received.len])? {
                self.open(rest);
            }
        }
        Poll::Ready(Ok(matches!(self.stage, Stage::Open(_))))
    }

    /// Goes on with a WebSocket, whose client has sent these bytes with its request.
    fn open(&mut self, rest: Vec<u8>) {
        let Stage::Asking(asking) = mem::replace(&mut self.stage, Stage::Ended) else { return };
        let ends = (Receiver::new(Role::Server), Sender::new(Role::Server, 0));
        let mut frames = Frames::new(asking.line, asking.host, ends, true);
        frames.replies = asking.outgoing;
        let mut messages = Messages::default();
        frames.session.begin(&mut messages);
        frames.send_messages(&messages);
        frames.take_early(rest);
        self.stage = Stage::Open(frames);
    }
}

impl Asking {
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.outgoing.is_empty() {
            let len = ready!(self.line.poll_send(cx, &self.outgoing))?;
            self.outgoing.drain(..len);
        }
        Poll::Ready(Ok(()))
    }

    /// Answers requests. Returns the bytes after one that opens a WebSocket.
    fn take(&mut self, mut piece: &[u8]) -> io::Result<Option<Vec<u8>>> {
        while !piece.is_empty() {
            let (taken, request) = self.reader.receive(piece).map_err(io::Error::other)?;
            piece = &piece[taken..];
            if let Some(request) = request {
                let answer = self.answer(&request);
                self.outgoing.extend(answer.to_bytes());
                if answer.status == 101 {
                    return Ok(Some(piece.to_vec()));
                }
            }
        }
        Ok(None)
    }

    fn answer(&mut self, request: &Request) -> Response {
        let answer = self.host.answer(request);
        if answer.status != 101 {
            return answer;
        }
        if !is_of_this_host(request) {
            return Response::new(403, "text/plain", "another page's origin");
        }
        match request.headers.get("Sec-WebSocket-Key") {
            Some(key) => answer
                .with("Connection", "Upgrade")
                .with("Upgrade", "websocket")
                .with("Sec-WebSocket-Accept", accept_key(key)),
            None => Response::new(426, "text/plain", "expected a WebSocket").with("Upgrade", "websocket"),
        }
    }
}

/// Whether a request comes from a page of this host, or from none: any page that a browser shows could otherwise type here.
fn is_of_this_host(request: &Request) -> bool {
    let host = request.headers.get("Host").unwrap_or_default();
    let origin = request.headers.get("Origin").map(|origin| origin.split_once("://").map_or(origin, |(_, host)| host));
    origin.is_none_or(|origin| origin == host)
}

impl Line for WebHostLine {
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<Received>> {
        if !ready!(self.poll_open(cx))? {
            return Poll::Ready(Ok(Received::default()));
        }
        let Stage::Open(frames) = &mut self.stage else { return Poll::Ready(Ok(Received::default())) };
        Poll::Ready(match (ready!(frames.poll_receive(cx, into)), &frames.end) {
            (Some(received), _) => Ok(received),
            (None, Some(End::Broken(broken))) => Err(io::Error::other(broken.clone())),
            (None, Some(End::Failed(kind))) => Err((*kind).into()),
            (None, _) => Ok(Received { at: frames.at, ..Received::default() }),
        })
    }

    /// Sends once the session is ready, for which it answers and receives.
    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if ready!(self.poll_open(cx))?
            && let Stage::Open(frames) = &mut self.stage
        {
            ready!(frames.poll_ready(cx));
            if frames.session.is_ready() {
                return frames.poll_send(cx, bytes);
            }
        }
        Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()))
    }

    fn inner(&self) -> Option<&dyn Line> {
        match &self.stage {
            Stage::Asking(asking) => Some(&*asking.line),
            Stage::Open(frames) => Some(&*frames.line),
            Stage::Ended => None,
        }
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Line> {
        match &mut self.stage {
            Stage::Asking(asking) => Some(&mut *asking.line),
            Stage::Open(frames) => Some(&mut *frames.line),
            Stage::Ended => None,
        }
    }

    fn terminal(&mut self) -> Option<&mut dyn LineTerminal> {
        Some(self)
    }
}

impl LineTerminal for WebHostLine {
    fn window(&self) -> Option<(u16, u16)> {
        match &self.stage {
            Stage::Open(frames) => frames.session.window(),
            _ => None,
        }
    }
}

impl Drop for WebHostLine {
    /// The program has ended.
    fn drop(&mut self) {
        let Stage::Open(frames) = &mut self.stage else { return };
        if frames.end.is_none() {
            let mut messages = Messages::default();
            let code = frames.session.finish(&mut messages);
            frames.send_messages(&messages);
            if let Some(code) = code {
                frames.sender.put_close(Some(code), &mut frames.replies);
            }
        }
        frames.flush_once();
    }
}
