//! Telnet over another line, both ends. The framing itself is [`crate::wire::telnet`].

mod target;

use std::io;
use std::task::{Context, Poll, ready};

pub use target::{Enter, TelnetTarget};

use crate::negotiated::Negotiated;
use crate::wire::exchange::Negotiating;
use crate::wire::telnet::Framing;
use crate::{Line, LineSocket, LineTerminal, Opening, Options, Received, StampPair, Traffic};

/// Buffer for escaped output. Keys are single; longer output rarely needs escapes.
const ROOM: usize = 256;

/// A line that speaks telnet.
#[derive(Debug)]
pub struct Telnet<L> {
    below: Negotiated<L>,
    framing: Framing,
}

impl<L: Line> Telnet<L> {
    /// The terminal's end, and what its Enter sends.
    pub fn terminal(line: L, options: &Options, enter: Enter) -> Self {
        Self::new(line, Framing::terminal(options.columns, options.rows, &options.terminal, enter))
    }

    /// The host's end.
    pub fn host(line: L) -> Self {
        Self::new(line, Framing::host())
    }

    fn new(line: L, framing: Framing) -> Self {
        Self { below: Negotiated::new(line), framing }
    }
}

impl<L: Line> Line for Telnet<L> {
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<Received>> {
        self.below.poll_receive(cx, into, &mut self.framing)
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.below.poll_flush(cx, self.framing.exchange()))?;
        let mut room = [0; ROOM];
        let encoded = self.framing.encode(bytes, &mut room);
        let len = ready!(self.below.poll_send(cx, encoded.1))?;
        Poll::Ready(Ok(self.framing.sent(bytes, encoded, len)))
    }

    fn inner(&self) -> Option<&dyn Line> {
        Some(&self.below.line)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Line> {
        Some(&mut self.below.line)
    }

    fn kernel_sent(&mut self) -> Option<StampPair> {
        self.below.kernel_sent()
    }

    fn terminal(&mut self) -> Option<&mut dyn LineTerminal> {
        Some(self)
    }

    fn dropped(&self) -> u64 {
        self.framing.dropped()
    }

    fn opening(&self) -> Opening {
        self.below.opening()
    }

    fn socket(&mut self) -> Option<LineSocket<'_>> {
        Some(LineSocket { telnet: Some(&self.framing), ..self.below.line.socket()? })
    }

    fn traffic(&self) -> Traffic {
        self.below.line.traffic()
    }
}

impl<L> LineTerminal for Telnet<L> {
    fn window(&self) -> Option<(u16, u16)> {
        self.framing.window()
    }

    fn name(&self) -> Option<&str> {
        self.framing.name()
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        self.framing.resize(columns, rows);
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
