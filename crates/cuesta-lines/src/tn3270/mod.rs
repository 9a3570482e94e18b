//! 3270 data streams over another line, both ends. The framing itself is [`crate::wire::tn3270`].

mod target;

use std::io;
use std::task::{Context, Poll, Waker, ready};

use cuesta_record::Stamp;

pub use target::Tn3270Target;

use crate::telnet::HalfSequence;
use crate::wire::tn3270::Framing;
use crate::{Line, Opening, Options, Received, StampPair, Traffic};

/// A line that carries records of a 3270.
#[derive(Debug)]
pub struct Tn3270<L> {
    line: L,
    framing: Framing,
    /// A reply was sent after the last characters, so the kernel's stamp belongs to the reply.
    replied: bool,
    /// When the other end last sent an option.
    negotiated: Option<Stamp>,
    /// Who waits to send until records are agreed on.
    early: Option<Waker>,
}

impl<L: Line> Tn3270<L> {
    /// The terminal's end: the model whose alternate screen has the window's size. `extended`: whether it agrees to TN3270E.
    pub fn terminal(line: L, options: &Options, extended: bool) -> Self {
        let model = match (options.columns, options.rows) {
            (80, 32) => 3,
            (80, 43) => 4,
            (132, 27) => 5,
            _ => 2,
        };
        Self::new(line, Framing::terminal(&format!("IBM-3278-{model}-E"), extended))
    }

    /// The host's end.
    pub fn host(line: L) -> Self {
        Self::new(line, Framing::host())
    }

    fn new(line: L, framing: Framing) -> Self {
        Self { line, framing, replied: false, negotiated: None, early: None }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.framing.replies().is_empty() {
            let len = ready!(self.line.poll_send(cx, self.framing.replies()))?;
            self.framing.replied(len);
            self.replied = true;
        }
        Poll::Ready(Ok(()))
    }

    /// Sends replies as far as the line takes them now. If the line is broken, reading returns the error.
    fn flush(&mut self, cx: &mut Context<'_>) {
        if let Poll::Ready(Err(_)) = self.poll_flush(cx) {
            self.framing.replied(self.framing.replies().len());
        }
    }
}

impl<L: Line> Line for Tn3270<L> {
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<Received>> {
        self.flush(cx);
        // A byte may become two, if an IAC came before it. A caller with room for one reads again when it has more.
        let room = into.len().saturating_sub(1);
        if room == 0 {
            return Poll::Pending;
        }
        loop {
            let mut received = ready!(self.line.poll_receive(cx, &mut into[..room]))?;
            if received.len == 0 {
                let half = self.framing.is_within_a_sequence();
                return Poll::Ready(if half { Err(io::Error::other(HalfSequence)) } else { Ok(received) });
            }
            let before = self.framing.exchanges();
            received.len = self.framing.receive(into, received.len);
            if self.framing.exchanges() != before {
                self.negotiated = Some(received.at);
            }
            if self.framing.is_agreed() {
                self.early.take().into_iter().for_each(Waker::wake);
            }
            self.flush(cx);
            if received.len > 0 {
                return Poll::Ready(Ok(received));
            }
        }
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if !self.framing.is_agreed() {
            self.early = Some(cx.waker().clone());
            ready!(self.poll_flush(cx))?;
            return Poll::Pending;
        }
        let most = self.framing.encode(bytes);
        ready!(self.poll_flush(cx))?;
        let len = ready!(self.line.poll_send(cx, &bytes[..most]))?;
        self.framing.sent(bytes, len);
        self.replied = false;
        Poll::Ready(Ok(len))
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

    /// Known when records are agreed on.
    fn terminal(&self) -> Option<&str> {
        self.framing.device().filter(|_| self.framing.is_agreed())
    }

    fn dropped(&self) -> u64 {
        self.framing.dropped()
    }

    fn opening(&self) -> Opening {
        Opening { negotiated: self.negotiated, ..self.line.opening() }
    }

    fn traffic(&self) -> Traffic {
        self.line.traffic()
    }
}
