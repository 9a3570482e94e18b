//! An open WebSocket over a connection, with a session's characters in its messages: what both ends have in common.

use std::cell::RefCell;
use std::io;
use std::ops::Range;
use std::task::{Context, Poll, Waker, ready};

use cuesta_record::Stamp;

use super::error::Break;
use crate::wire::web::{Messages, Session, SessionError};
use crate::wire::websocket::{Content, Event, HEAD, LONGEST_MESSAGE, MessageKind, Receiver, Sender};
use crate::{Line, Received, StampPair};

/// Most bytes of replies that may wait. Another end that pings without reading gets no answer to the rest.
const MOST_REPLIES: usize = 64 * 1024;

thread_local! {
    /// Where messages are made.
    static FRAME: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// One end of an open WebSocket.
pub(super) struct Frames<S: ?Sized> {
    pub(super) line: Box<dyn Line>,
    pub(super) session: Box<S>,
    receiver: Receiver,
    pub(super) sender: Sender,
    /// Whether pings are answered.
    answers_pings: bool,
    /// Pings of ours that were answered.
    pub(super) pongs: u32,
    /// Frames that must be sent before any more characters.
    pub(super) replies: Vec<u8>,
    /// A reply was sent after the last characters, so the kernel's stamp belongs to the reply.
    pub(super) replied: bool,
    /// Decoded characters that the caller's buffer had no room for: of a message received in several pieces, and of all later messages
    /// of the same read.
    inbox: Vec<u8>,
    /// How many of them were taken.
    taken: usize,
    /// When the last bytes arrived, by the driver's clock and the kernel's.
    pub(super) at: Stamp,
    stamped: Option<StampPair>,
    pub(super) end: Option<End>,
}

/// How the connection ended.
#[derive(Debug)]
pub(super) enum End {
    /// The other end hung up.
    Closed,
    /// The other end said that the session is over; the connection is open.
    SessionOver,
    /// The other end sent a close frame.
    ByCode(Option<u16>, String),
    Broken(Break),
    /// The connection broke.
    Failed(io::ErrorKind),
}

impl<S: Session + ?Sized> Frames<S> {
    pub(super) fn new(
        line: Box<dyn Line>,
        session: Box<S>,
        (receiver, sender): (Receiver, Sender),
        answers_pings: bool,
    ) -> Self {
        Self {
            line,
            session,
            receiver,
            sender,
            answers_pings,
            pongs: 0,
            replies: Vec::new(),
            replied: false,
            inbox: Vec::new(),
            taken: 0,
            at: Stamp::ZERO,
            stamped: None,
            end: None,
        }
    }

    /// Takes bytes that were read before; their characters wait to be taken.
    pub(super) fn take_early(&mut self, mut bytes: Vec<u8>) {
        let len = self.take(&mut bytes);
        self.inbox.splice(0..0, bytes[..len].iter().copied());
    }

    /// Receives until the session is ready; characters wait to be taken. Returns early when the connection ends.
    pub(super) fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut piece = [0; 4096];
        loop {
            self.flush(cx);
            if self.session.is_ready() || self.end.is_some() {
                return Poll::Ready(());
            }
            let len = ready!(self.poll_take(cx, &mut piece));
            self.inbox.splice(0..0, piece[..len].iter().copied());
            if self.inbox.len() > LONGEST_MESSAGE {
                self.end = Some(End::Broken(Break::Session(SessionError::OtherProtocol(
                    "it sends output without end before it says that the session is ready".to_owned(),
                ))));
            }
        }
    }

    /// Receives characters; none at the connection's end, which `end` then tells.
    pub(super) fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<Option<Received>> {
        loop {
            self.flush(cx);
            if self.taken < self.inbox.len() {
                return Poll::Ready(Some(self.hand_on(into)));
            }
            if self.end.is_some() {
                return Poll::Ready(None);
            }
            let len = ready!(self.poll_take(cx, into));
            self.flush(cx);
            if len > 0 {
                return Poll::Ready(Some(self.received(len)));
            }
        }
    }

    /// Sends the head of `characters` in one message, after all replies.
    pub(super) fn poll_send(&mut self, cx: &mut Context<'_>, characters: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_flush(cx))?;
        FRAME.with_borrow_mut(|frame| {
            frame.clear();
            frame.resize(HEAD, 0);
            let encoded = self.session.encode(characters, frame);
            let (len, kind) = encoded.map_err(|error| io::Error::other(Break::from(error)))?;
            let begins = self.sender.seal_message(kind, frame);
            let frame = &frame[begins..];
            let sent = ready!(self.line.poll_send(cx, frame))?;
            self.replied = false;
            self.replies.extend_from_slice(&frame[sent..]);
            let mut messages = Messages::default();
            self.session.note_sent(&characters[..len], &mut messages);
            self.send_messages(&messages);
            Poll::Ready(Ok(len))
        })
    }

    /// Queues messages.
    pub(super) fn send_messages(&mut self, messages: &Messages) {
        let Self { sender, replies, .. } = self;
        messages.0.iter().for_each(|(kind, payload)| sender.put_message(*kind, payload, replies));
    }

    /// Sends replies as far as the connection takes them now. If it is broken, reading returns the error.
    pub(super) fn flush(&mut self, cx: &mut Context<'_>) {
        if let Poll::Ready(Err(_)) = self.poll_flush(cx) {
            self.replies = Vec::new();
        }
    }

    /// As [`Frames::flush`], at an end that is about to be dropped.
    pub(super) fn flush_once(&mut self) {
        self.flush(&mut Context::from_waker(Waker::noop()));
    }

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

    /// Reads the connection once. Returns how many characters stand at the head of `piece`; later ones are in the inbox.
    fn poll_take(&mut self, cx: &mut Context<'_>, piece: &mut [u8]) -> Poll<usize> {
        match ready!(self.line.poll_receive(cx, piece)) {
            Ok(received) => {
                (self.at, self.stamped) = (received.at, received.stamped);
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
                self.inbox.extend(self.session.take_overflow());
            }
            Event::Message(kind, Content::Held(mut message)) => {
                let Some(characters) = self.decode(kind, &mut message) else { return };
                self.inbox.extend_from_slice(&message[characters]);
                self.inbox.extend(self.session.take_overflow());
            }
            Event::Ping(payload) if self.answers_pings && self.replies.len() < MOST_REPLIES => {
                self.sender.put_pong(&payload, &mut self.replies);
            }
            Event::Ping(_) => {}
            Event::Pong => self.pongs = self.pongs.wrapping_add(1),
            Event::Close(code, reason) => {
                // A code that must not be sent is not sent back.
                let answer = code.filter(|code| !matches!(code, 1005 | 1006 | 1015));
                self.sender.put_close(answer, &mut self.replies);
                self.end.get_or_insert(End::ByCode(code, reason));
            }
        }
    }

    /// Decodes a message in place, and sends what must be sent at once.
    fn decode(&mut self, kind: MessageKind, message: &mut [u8]) -> Option<Range<usize>> {
        let mut replies = Messages::default();
        let decoded = self.session.receive(kind, message, &mut replies);
        self.send_messages(&replies);
        if self.session.has_ended() {
            self.end.get_or_insert(End::SessionOver);
        }
        if self.replies.len() > LONGEST_MESSAGE {
            self.end = Some(End::Broken(Break::Session(SessionError::OtherProtocol(
                "it wants answers without end, and reads none".to_owned(),
            ))));
        }
        decoded.map_err(|error| self.end = Some(End::Broken(error.into()))).ok()
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
        self.received(len)
    }

    fn received(&self, len: usize) -> Received {
        Received { len, at: self.at, stamped: self.stamped, ..Received::default() }
    }
}
