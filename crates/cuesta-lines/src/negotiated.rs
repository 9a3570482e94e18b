//! The line below a framing that negotiates: its replies go out first, and the last command from the other end is noted.

use std::io;
use std::task::{Context, Poll, ready};

use cuesta_record::Stamp;
use thiserror::Error;

use crate::wire::exchange::{Exchange, Negotiating};
use crate::{Line, Opening, Received, StampPair};

/// The line was closed within a sequence of its protocol, so its rest is missing.
#[derive(Debug, Error)]
#[error("the line was closed within a sequence of its protocol")]
pub(crate) struct HalfSequence;

/// The line below a framing.
#[derive(Debug)]
pub(crate) struct Negotiated<L> {
    pub(crate) line: L,
    /// A reply was sent after the last characters, so the kernel's stamp belongs to the reply.
    replied: bool,
    /// When the other end last sent an option.
    last: Option<Stamp>,
}

impl<L: Line> Negotiated<L> {
    pub(crate) fn new(line: L) -> Self {
        Self { line, replied: false, last: None }
    }

    /// Sends all replies.
    pub(crate) fn poll_flush(&mut self, cx: &mut Context<'_>, exchange: &mut Exchange) -> Poll<io::Result<()>> {
        while !exchange.replies().is_empty() {
            let len = ready!(self.line.poll_send(cx, exchange.replies()))?;
            exchange.replied(len);
            self.replied = true;
        }
        Poll::Ready(Ok(()))
    }

    /// Sends replies as far as the line takes them now. If the line is broken, reading returns the error.
    fn flush(&mut self, cx: &mut Context<'_>, exchange: &mut Exchange) {
        if let Poll::Ready(Err(_)) = self.poll_flush(cx, exchange) {
            exchange.replied(exchange.replies().len());
        }
    }

    /// Reads and decodes, until there are characters or nothing is left to read.
    pub(crate) fn poll_receive<F: Negotiating>(
        &mut self,
        cx: &mut Context<'_>,
        into: &mut [u8],
        framing: &mut F,
    ) -> Poll<io::Result<Received>> {
        self.flush(cx, framing.exchange());
        // A caller without room for the growth reads again when it has more.
        let room = into.len().saturating_sub(F::GROWTH);
        if room == 0 {
            return Poll::Pending;
        }
        loop {
            let mut received = ready!(self.line.poll_receive(cx, &mut into[..room]))?;
            if received.len == 0 {
                let half = framing.is_within_a_sequence();
                return Poll::Ready(if half { Err(io::Error::other(HalfSequence)) } else { Ok(received) });
            }
            let before = framing.exchange().commands();
            received.len = framing.decode(into, received.len);
            if framing.exchange().commands() != before {
                self.last = Some(received.at);
            }
            self.flush(cx, framing.exchange());
            if received.len > 0 {
                return Poll::Ready(Ok(received));
            }
        }
    }

    /// Sends characters that are encoded already.
    pub(crate) fn poll_send(&mut self, cx: &mut Context<'_>, encoded: &[u8]) -> Poll<io::Result<usize>> {
        let len = ready!(self.line.poll_send(cx, encoded))?;
        self.replied = false;
        Poll::Ready(Ok(len))
    }

    pub(crate) fn kernel_sent(&mut self) -> Option<StampPair> {
        if self.replied { None } else { self.line.kernel_sent() }
    }

    pub(crate) fn opening(&self) -> Opening {
        let below = self.line.opening();
        Opening { negotiated: self.last.or(below.negotiated), ..below }
    }
}
