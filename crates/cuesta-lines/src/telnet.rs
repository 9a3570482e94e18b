//! Telnet over another line, both ends. The framing itself is [`crate::wire::telnet`].

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use cuesta_record::Stamp;
use thiserror::Error;
use tokio::sync::mpsc::Receiver;

use crate::wire::telnet::Framing;
use crate::{Line, LineSocket, Opening, Options, Received, StampPair, Traffic};

/// Buffer for escaped output. Keys are single; longer output rarely needs escapes.
const ROOM: usize = 256;

/// The line was closed within a sequence of its protocol, so its rest is missing.
#[derive(Debug, Error)]
#[error("the line was closed within a sequence of its protocol")]
pub(crate) struct HalfSequence;

/// A line that speaks telnet.
#[derive(Debug)]
pub struct Telnet<L> {
    line: L,
    framing: Framing,
    /// A reply was sent after the last characters, so the kernel's stamp belongs to the reply.
    replied: bool,
    /// When the other end last sent an option.
    negotiated: Option<Stamp>,
}

impl<L: Line> Telnet<L> {
    /// The terminal's end.
    pub fn terminal(line: L, options: &Options) -> Self {
        Self::new(line, Framing::terminal(options.columns, options.rows, &options.terminal))
    }

    /// The host's end.
    pub fn host(line: L) -> Self {
        Self::new(line, Framing::host())
    }

    fn new(line: L, framing: Framing) -> Self {
        Self { line, framing, replied: false, negotiated: None }
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

impl<L: Line> Line for Telnet<L> {
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<Received>> {
        self.flush(cx);
        loop {
            let mut received = ready!(self.line.poll_receive(cx, into))?;
            if received.len == 0 {
                let half = self.framing.is_within_a_sequence();
                return Poll::Ready(if half { Err(io::Error::other(HalfSequence)) } else { Ok(received) });
            }
            let before = self.framing.exchanges();
            received.len = self.framing.receive(&mut into[..received.len]);
            if self.framing.exchanges() != before {
                self.negotiated = Some(received.at);
            }
            self.flush(cx);
            if received.len > 0 {
                return Poll::Ready(Ok(received));
            }
        }
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_flush(cx))?;
        let mut room = [0; ROOM];
        let encoded = self.framing.encode(bytes, &mut room);
        let len = ready!(self.line.poll_send(cx, encoded.1))?;
        self.replied = false;
        Poll::Ready(Ok(self.framing.sent(bytes, encoded, len)))
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

    fn window(&self) -> Option<(u16, u16)> {
        self.framing.window()
    }

    fn terminal(&self) -> Option<&str> {
        self.framing.name()
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        self.framing.resize(columns, rows);
    }

    fn dropped(&self) -> u64 {
        self.framing.dropped()
    }

    fn opening(&self) -> Opening {
        Opening { negotiated: self.negotiated, ..self.line.opening() }
    }

    fn socket(&self) -> Option<LineSocket<'_>> {
        self.line.socket().map(|line| LineSocket { telnet: true, ..line })
    }

    fn hand_over(&mut self, socket: Arc<OwnedFd>, input: Receiver<io::Result<Vec<u8>>>) {
        self.line.hand_over(socket, input);
    }

    fn is_output_whole(&self) -> bool {
        self.framing.is_output_whole()
    }

    fn traffic(&self) -> Traffic {
        self.line.traffic()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RateLimited, tcp::Tcp};

    #[test]
    fn a_line_is_small() {
        let sizes = [size_of::<Telnet<Tcp>>(), size_of::<RateLimited<Telnet<Tcp>>>()];
        assert!(sizes[0] <= 256 && sizes[1] <= 400, "{sizes:?}");
    }
}
