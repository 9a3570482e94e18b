//! A line that passes a copy of its traffic to a callback.

use std::io;
use std::task::{Context, Poll, ready};

use cuesta_record::{Stamp, clock};

use crate::{Line, Received};

/// The direction of characters, seen from this end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// To the other end.
    Sent,
    /// From the other end.
    Received,
}

/// The characters of one read or write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TapEvent<'a> {
    pub direction: Direction,
    /// When they were sent, or when the first of them arrived.
    pub at: Stamp,
    /// The characters; none in a received event means that the other end closed the line.
    pub bytes: &'a [u8],
}

/// A line that also sends every event to `sink`. Inside a telnet line it sees the negotiation; around one, only characters.
#[derive(Debug)]
pub struct Tap<L, S> {
    line: L,
    sink: S,
}

impl<L: Line, S: FnMut(TapEvent<'_>)> Tap<L, S> {
    pub fn new(line: L, sink: S) -> Self {
        Self { line, sink }
    }
}

impl<L: Line, S: FnMut(TapEvent<'_>)> Line for Tap<L, S> {
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<Received>> {
        let received = ready!(self.line.poll_receive(cx, into))?;
        (self.sink)(TapEvent { direction: Direction::Received, at: received.at, bytes: &into[..received.len] });
        Poll::Ready(Ok(received))
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let len = ready!(self.line.poll_send(cx, bytes))?;
        (self.sink)(TapEvent { direction: Direction::Sent, at: clock::now(), bytes: &bytes[..len] });
        Poll::Ready(Ok(len))
    }

    fn inner(&self) -> Option<&dyn Line> {
        Some(&self.line)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Line> {
        Some(&mut self.line)
    }
}
