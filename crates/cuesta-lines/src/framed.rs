//! The line over a protocol: its replies go out first, and the last message of its negotiation is noted.

use std::io;
use std::task::{Context, Poll, Waker, ready};

use cuesta_record::Stamp;
use thiserror::Error;

use crate::wire::Codec;
use crate::{Line, LineSocket, LineTerminal, Opening, Received, StampPair};

/// Buffer for escaped output. Keys are single; longer output rarely needs escapes.
const ROOM: usize = 256;

/// The line was closed within a sequence of its protocol, so its rest is missing.
#[derive(Debug, Error)]
#[error("the line was closed within a sequence of its protocol")]
pub(crate) struct HalfSequence;

/// A line whose characters a protocol carries over another line.
#[derive(Debug)]
pub struct Framed<L, C> {
    line: L,
    pub(crate) codec: C,
    /// A reply was sent after the last characters, so the kernel's stamp belongs to the reply.
    replied: bool,
    /// When the other end last sent a message of the negotiation.
    negotiated: Option<Stamp>,
    /// The task that waits to send until the protocol is agreed on.
    sender: Option<Waker>,
}

impl<L: Line, C: Codec> Framed<L, C> {
    pub(crate) fn new(line: L, codec: C) -> Self {
        Self { line, codec, replied: false, negotiated: None, sender: None }
    }

    /// Sends all replies.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.codec.replies().bytes().is_empty() {
            let len = ready!(self.line.poll_send(cx, self.codec.replies().bytes()))?;
            self.codec.replies().sent(len);
            self.replied = true;
        }
        Poll::Ready(Ok(()))
    }

    /// Sends replies as far as the line takes them now. If the line is broken, reading returns the error.
    fn flush(&mut self, cx: &mut Context<'_>) {
        if let Poll::Ready(Err(_)) = self.poll_flush(cx) {
            let replies = self.codec.replies();
            replies.sent(replies.bytes().len());
        }
    }
}

impl<L: Line, C: Codec + LineTerminal> Line for Framed<L, C> {
    /// Reads and decodes, until there are characters or nothing is left to read.
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<Received>> {
        self.flush(cx);
        // A caller without room for the growth reads again when it has more.
        let room = into.len().saturating_sub(C::GROWTH);
        if room == 0 {
            return Poll::Pending;
        }
        loop {
            let mut received = ready!(self.line.poll_receive(cx, &mut into[..room]))?;
            if received.len == 0 {
                let half = self.codec.is_within_a_sequence();
                return Poll::Ready(if half { Err(io::Error::other(HalfSequence)) } else { Ok(received) });
            }
            let before = self.codec.replies().negotiated();
            received.len = self.codec.decode(into, received.len);
            if self.codec.replies().negotiated() != before {
                self.negotiated = Some(received.at);
            }
            self.flush(cx);
            if self.codec.is_agreed() {
                self.sender.take().into_iter().for_each(Waker::wake);
            }
            if received.len > 0 {
                return Poll::Ready(Ok(received));
            }
        }
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        // What precedes the characters is a reply, too, for which there must be room.
        ready!(self.poll_flush(cx))?;
        if !self.codec.is_agreed() {
            self.sender = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let mut room = [0; ROOM];
        let encoded = self.codec.encode(bytes, &mut room);
        ready!(self.poll_flush(cx))?;
        let len = ready!(self.line.poll_send(cx, encoded.1))?;
        self.replied = false;
        Poll::Ready(Ok(self.codec.sent(bytes, encoded, len)))
    }

    fn inner(&self) -> Option<&dyn Line> {
        Some(&self.line)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Line> {
        Some(&mut self.line)
    }

    fn kernel_sent(&mut self) -> Option<StampPair> {
        if self.replied { None } else { self.line.kernel_sent() }
    }

    fn terminal(&mut self) -> Option<&mut dyn LineTerminal> {
        Some(&mut self.codec)
    }

    fn dropped(&self) -> u64 {
        self.codec.dropped()
    }

    fn opening(&self) -> Opening {
        let below = self.line.opening();
        Opening { negotiated: self.negotiated.or(below.negotiated), ..below }
    }

    fn socket(&mut self) -> Option<LineSocket<'_>> {
        let telnet = self.codec.as_telnet()?;
        Some(LineSocket { telnet: Some(telnet), ..self.line.socket()? })
    }
}
