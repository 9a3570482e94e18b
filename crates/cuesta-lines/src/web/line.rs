//! An open session: WebSocket frames over a connection, with the characters of a web terminal in their messages.

use std::cell::RefCell;
use std::io;
use std::mem;
use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use cuesta_record::Stamp;
use cuesta_record::clock::{self, Sleep};

use super::error::Break;
use super::removal::Removal;
use crate::wire::web::{KeepAlive, Messages, WebTerminal};
use crate::wire::websocket::{Content, Event, HEAD, MessageKind, Receiver, Sender};
use crate::{ExitStatus, Line, LineTerminal, Opening, Received, StampPair};

/// Most bytes of replies that may wait. A host that pings without reading gets no answer to the rest.
const MOST_REPLIES: usize = 64 * 1024;

/// How long a host may leave pings unanswered.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a browser says that leaves a page (RFC 6455 §7.4.1).
const GOING_AWAY: u16 = 1001;

thread_local! {
    /// Where messages are made.
    static FRAME: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A session at a web terminal.
pub(crate) struct WebLine {
    line: Box<dyn Line>,
    terminal: Box<dyn WebTerminal>,
    receiver: Receiver,
    sender: Sender,
    /// Frames that must be sent before any more keys.
    replies: Vec<u8>,
    /// A reply was sent after the last characters, so the kernel's stamp belongs to the reply.
    replied: bool,
    /// Characters that the caller has not taken: of messages that came in pieces, and of those that came with them.
    inbox: Vec<u8>,
    /// How many of them were taken.
    taken: usize,
    /// When the last bytes arrived.
    at: Stamp,
    end: Option<End>,
    keep_alive: Option<Box<Pings>>,
    settings: LineSettings,
    pub(super) opening: Opening,
    window: (u16, u16),
    /// What is removed at the host when the line is dropped.
    removal: Option<Box<Removal>>,
}

/// How this end behaves.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineSettings {
    /// Whether pings are answered.
    pub(super) pong: bool,
    /// How often this end pings, in seconds; 0 = never, none = as the kind does.
    pub(super) ping: Option<u64>,
}

/// How the session ended.
#[derive(Debug)]
enum End {
    /// As sessions of this kind end.
    Closed,
    Broken(Break),
    /// The connection broke.
    Failed(io::ErrorKind),
}

/// The pings of this end.
struct Pings {
    keep_alive: KeepAlive,
    next: Sleep,
    /// When the first ping was sent that is not answered.
    unanswered: Option<Stamp>,
}

impl WebLine {
    /// A session whose WebSocket was just opened, in a window of this size.
    pub(super) fn new(
        line: Box<dyn Line>,
        terminal: Box<dyn WebTerminal>,
        (receiver, sender): (Receiver, Sender),
        settings: LineSettings,
        window: (u16, u16),
    ) -> Self {
        let opening = line.opening();
        Self {
            line,
            terminal,
            receiver,
            sender,
            replies: Vec::new(),
            replied: false,
            inbox: Vec::new(),
            taken: 0,
            at: Stamp::ZERO,
            end: None,
            keep_alive: None,
            settings,
            opening,
            window,
            removal: None,
        }
    }

    /// Takes bytes that came with the answer that opened the WebSocket, then sends and receives until the session is ready. Then starts
    /// the pings.
    pub(super) async fn get_ready(&mut self, mut bytes: Vec<u8>, first: Messages) -> Result<(), Break> {
        self.send_messages(first);
        let len = self.take(&mut bytes);
        self.inbox.splice(0..0, bytes[..len].iter().copied());
        std::future::poll_fn(|cx| self.poll_ready(cx)).await?;
        let kept = self.terminal.keep_alive();
        let kept = match self.settings.ping {
            None => kept,
            Some(0) => None,
            Some(every) => Some(KeepAlive { every, message: kept.and_then(|kept| kept.message) }),
        };
        self.keep_alive = kept.map(|keep_alive| {
            let next = clock::sleep_until(clock::now() + Duration::from_secs(keep_alive.every));
            Box::new(Pings { keep_alive, next, unanswered: None })
        });
        Ok(())
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Break>> {
        let mut piece = [0; 4096];
        loop {
            self.flush(cx);
            if self.terminal.is_ready() {
                return Poll::Ready(Ok(()));
            }
            if let Some(end) = &self.end {
                return Poll::Ready(Err(end.before_ready()));
            }
            let len = ready!(self.poll_take(cx, &mut piece));
            self.inbox.extend_from_slice(&piece[..len]);
        }
    }

    /// Notes what is to be removed at the host at the end.
    pub(super) fn remove_at_the_end(&mut self, removal: Option<Removal>) {
        self.removal = removal.map(Box::new);
    }

    pub(super) fn terminal(&self) -> &dyn WebTerminal {
        &*self.terminal
    }

    /// Reads the connection once. Returns how many characters stand at the head of `piece`; more may be in the inbox.
    fn poll_take(&mut self, cx: &mut Context<'_>, piece: &mut [u8]) -> Poll<usize> {
        match ready!(self.line.poll_receive(cx, piece)) {
            Ok(received) => {
                self.at = received.at;
                if received.len == 0 {
                    self.end.get_or_insert(End::Closed);
                }
                Poll::Ready(self.take(&mut piece[..received.len]))
            }
            Err(error) => {
                self.end.get_or_insert(End::Failed(error.kind()));
                Poll::Ready(0)
            }
        }
    }

    /// Takes received bytes. Returns how many characters now stand at the head of `piece`. Once a message does not fit there, its
    /// characters and all later ones go to the inbox.
    fn take(&mut self, piece: &mut [u8]) -> usize {
        let (mut at, mut written) = (0, 0);
        while at < piece.len() && self.end.is_none() {
            match self.receiver.receive(&mut piece[at..]) {
                Ok((taken, event)) => {
                    if let Some(event) = event {
                        self.handle(event, piece, at, &mut written);
                    }
                    at += taken;
                }
                Err(error) => self.end = Some(End::Broken(error.into())),
            }
        }
        written
    }

    fn handle(&mut self, event: Event, piece: &mut [u8], at: usize, written: &mut usize) {
        match event {
            Event::Message(kind, Content::Here(Range { start, end })) => {
                let (start, end) = (at + start, at + end);
                let Some(characters) = self.decode(kind, &mut piece[start..end]) else { return };
                let characters = start + characters.start..start + characters.end;
                if self.inbox.is_empty() {
                    let len = characters.len();
                    piece.copy_within(characters, *written);
                    *written += len;
                } else {
                    self.inbox.extend_from_slice(&piece[characters]);
                }
            }
            Event::Message(kind, Content::Held(mut message)) => {
                let Some(characters) = self.decode(kind, &mut message) else { return };
                self.inbox.extend_from_slice(&message[characters]);
            }
            Event::Ping(payload) if self.settings.pong => {
                if self.replies.len() < MOST_REPLIES {
                    self.sender.put_pong(&payload, &mut self.replies);
                }
            }
            Event::Ping(_) => {}
            Event::Pong => {
                if let Some(pings) = &mut self.keep_alive {
                    pings.unanswered = None;
                }
            }
            Event::Close(code, reason) => self.close(code, reason),
        }
    }

    /// Decodes a message in place, and sends what must be sent at once.
    fn decode(&mut self, kind: MessageKind, message: &mut [u8]) -> Option<Range<usize>> {
        let mut replies = Messages::default();
        let decoded = self.terminal.receive(kind, message, &mut replies);
        self.send_messages(replies);
        if self.terminal.has_ended() {
            self.end.get_or_insert(End::Closed);
        }
        decoded.map_err(|error| self.end = Some(End::Broken(error.into()))).ok()
    }

    fn close(&mut self, code: Option<u16>, reason: String) {
        // A code that must not be sent is not sent back.
        let answer = code.filter(|code| !matches!(code, 1005 | 1006 | 1015));
        self.sender.put_close(answer, &mut self.replies);
        let code = code.unwrap_or(1005);
        let is_usual = self.terminal.note_close(code);
        self.end.get_or_insert(if is_usual { End::Closed } else { End::Broken(Break::Closed { code, reason }) });
    }

    fn send_messages(&mut self, messages: Messages) {
        for (kind, payload) in messages.0 {
            self.sender.put_message(kind, &payload, &mut self.replies);
        }
    }

    /// Sends all replies.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.replies.is_empty() {
            let len = ready!(self.line.poll_send(cx, &self.replies))?;
            self.replies.drain(..len);
            self.replied = true;
            if self.replies.is_empty() {
                self.replies = Vec::new();
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Sends replies as far as the connection takes them now. If it is broken, reading returns the error.
    fn flush(&mut self, cx: &mut Context<'_>) {
        if let Poll::Ready(Err(_)) = self.poll_flush(cx) {
            self.replies = Vec::new();
        }
    }

    /// Pings when that is due.
    fn keep_alive(&mut self, cx: &mut Context<'_>) {
        let Some(pings) = &mut self.keep_alive else { return };
        while Pin::new(&mut pings.next).poll(cx).is_ready() {
            let now = clock::now();
            pings.next.reset(pings.next.due().max(now) + Duration::from_secs(pings.keep_alive.every));
            match pings.keep_alive.message {
                Some(message) => self.sender.put_message(MessageKind::Text, message.as_bytes(), &mut self.replies),
                None => {
                    let since = *pings.unanswered.get_or_insert(now);
                    if now.since(since) > PATIENCE {
                        self.end.get_or_insert(End::Broken(Break::NoPong));
                    }
                    self.sender.put_ping(b"", &mut self.replies);
                }
            }
        }
    }

    /// Hands on characters of the inbox.
    fn hand_on(&mut self, into: &mut [u8]) -> Received {
        let rest = &self.inbox[self.taken..];
        let len = rest.len().min(into.len());
        into[..len].copy_from_slice(&rest[..len]);
        self.taken += len;
        if self.taken == self.inbox.len() {
            (self.inbox, self.taken) = (Vec::new(), 0);
        }
        Received { len, at: self.at, ..Received::default() }
    }

    /// Makes the frame of a message with the head of `characters` and sends it.
    fn poll_send_message(&mut self, cx: &mut Context<'_>, characters: &[u8]) -> Poll<io::Result<usize>> {
        FRAME.with_borrow_mut(|frame| {
            frame.clear();
            frame.resize(HEAD, 0);
            let (len, kind) =
                self.terminal.encode(characters, frame).map_err(|error| io::Error::other(Break::from(error)))?;
            let begins = self.sender.seal_message(kind, frame);
            let frame = &frame[begins..];
            let sent = ready!(self.line.poll_send(cx, frame))?;
            self.replied = false;
            self.replies.extend_from_slice(&frame[sent..]);
            self.terminal.note_sent(len);
            Poll::Ready(Ok(len))
        })
    }
}

impl End {
    fn to_result(&self, at: Stamp) -> io::Result<Received> {
        match self {
            Self::Closed => Ok(Received { at, ..Received::default() }),
            Self::Broken(broken) => Err(io::Error::other(broken.clone())),
            Self::Failed(kind) => Err((*kind).into()),
        }
    }

    fn before_ready(&self) -> Break {
        match self {
            Self::Broken(broken) => broken.clone(),
            Self::Closed => Break::Hangup,
            Self::Failed(kind) => Break::Failed(*kind),
        }
    }
}

impl Line for WebLine {
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<Received>> {
        loop {
            self.keep_alive(cx);
            self.flush(cx);
            if self.taken < self.inbox.len() {
                return Poll::Ready(Ok(self.hand_on(into)));
            }
            if let Some(end) = &self.end {
                return Poll::Ready(end.to_result(self.at));
            }
            let len = ready!(self.poll_take(cx, into));
            self.flush(cx);
            if len > 0 {
                return Poll::Ready(Ok(Received { len, at: self.at, ..Received::default() }));
            }
        }
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_flush(cx))?;
        self.poll_send_message(cx, bytes)
    }

    fn inner(&self) -> Option<&dyn Line> {
        Some(&*self.line)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Line> {
        Some(&mut *self.line)
    }

    fn kernel_sent(&mut self) -> Option<StampPair> {
        if self.replied { None } else { self.line.kernel_sent() }
    }

    fn poll_exit(&mut self, _: &mut Context<'_>) -> Poll<Option<ExitStatus>> {
        Poll::Ready(self.terminal.exit())
    }

    fn end_reason(&self) -> Option<String> {
        match &self.end {
            Some(End::Broken(broken)) => Some(broken.to_string()),
            _ => None,
        }
    }

    fn opening(&self) -> Opening {
        self.opening
    }

    fn terminal(&mut self) -> Option<&mut dyn LineTerminal> {
        Some(self)
    }
}

impl LineTerminal for WebLine {
    fn window(&self) -> Option<(u16, u16)> {
        Some(self.window)
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        if (columns, rows) == self.window {
            return;
        }
        self.window = (columns, rows);
        let mut messages = Messages::default();
        self.terminal.resize(columns, rows, &mut messages);
        self.send_messages(messages);
        self.flush(&mut Context::from_waker(Waker::noop()));
    }
}

impl Drop for WebLine {
    /// Says goodbye as a page does that is left, and has what the session leaves at the host removed.
    fn drop(&mut self) {
        if self.end.is_none() {
            let mut messages = Messages::default();
            self.terminal.finish(&mut messages);
            self.send_messages(messages);
            self.sender.put_close(Some(GOING_AWAY), &mut self.replies);
        }
        self.flush(&mut Context::from_waker(Waker::noop()));
        if let Some(removal) = mem::take(&mut self.removal) {
            removal.queue();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_small() {
        assert!(size_of::<WebLine>() <= 480, "{}", size_of::<WebLine>());
    }
}
