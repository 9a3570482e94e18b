//! A line that shows what passes: to see what two ends really say to each other, or to write it down.

use std::io;
use std::task::{Context, Poll, ready};

use cuesta_record::{Stamp, clock};

use crate::{Line, Received, Traffic};

/// Which way characters went, seen from this end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// To the other end.
    Sent,
    /// From the other end.
    Received,
}

/// What passed at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TapEvent<'a> {
    /// Which way.
    pub direction: Direction,
    /// When: of what was received, when its first character had come whole.
    pub at: Stamp,
    /// The characters; received none = the other end closed.
    pub bytes: &'a [u8],
}

/// A line whose every event goes to `sink` as well. Under a telnet line it sees the negotiation, around one only characters.
#[derive(Debug)]
pub struct Tap<L, S> {
    line: L,
    sink: S,
}

impl<L: Line, S: FnMut(TapEvent<'_>)> Tap<L, S> {
    /// Shows to `sink` what passes on `line`.
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

    fn traffic(&self) -> Traffic {
        self.line.traffic()
    }
}
