//! The connection as `russh` reads and writes it: reads are stamped, and stop while the user does not take the output.
//!
//! The stamp of a packet is the instant at which its last part was read, before it was decrypted.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::preamble::Preamble;
use super::shared::{ReadPermission, Shared};
use super::transport::Transport;

/// Bytes that one read takes: `russh` asks for a packet's length and then for its rest, which would be two system calls.
const PIECE: usize = 2048;

pub(super) struct StampedStream {
    transport: Transport,
    shared: Arc<Shared>,
    /// Bytes that were read ahead.
    ahead: Vec<u8>,
    /// Number of these bytes that `russh` has taken.
    handed_out: usize,
    preamble: Preamble,
}

impl StampedStream {
    pub(super) fn new(transport: Transport, shared: Arc<Shared>) -> Self {
        Self { transport, shared, ahead: Vec::new(), handed_out: 0, preamble: Preamble::default() }
    }

    /// Hands out bytes that were read ahead.
    fn hand_out(&mut self, into: &mut ReadBuf<'_>) {
        let len = into.remaining().min(self.ahead.len() - self.handed_out);
        into.put_slice(&self.ahead[self.handed_out..self.handed_out + len]);
        self.handed_out += len;
        if self.handed_out == self.ahead.len() {
            self.handed_out = 0;
            self.ahead.clear();
        }
    }

    /// Stores the error message of a `ProxyCommand` when the connection ends.
    fn note_end(&mut self) {
        if let Some(command_error) = self.transport.last_error_row() {
            self.shared.state().command_error = Some(command_error);
        }
    }

    /// Reads a piece of what `russh` shall read; nothing at the end of the connection.
    fn poll_read_ahead(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut piece = [0; PIECE];
        while self.ahead.is_empty() {
            let len = ready!(self.poll_transport(cx, &mut piece))?;
            if len == 0 {
                break;
            }
            let (version, rest) = self.preamble.take(&piece[..len]);
            if !version.is_empty() {
                let mut state = self.shared.state();
                state.speaks_ssh = self.preamble.has_version();
                state.login.greeted = state.speaks_ssh.then_some(state.at);
            }
            self.ahead.extend(version.iter().chain(rest));
        }
        Poll::Ready(Ok(()))
    }

    fn poll_transport(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>> {
        let read = ready!(self.transport.poll_read(cx, into));
        if !matches!(read, Ok((1.., _))) {
            self.note_end();
        }
        let (len, at) = read?;
        self.shared.state().note_read(at, &into[..len], self.transport.traffic());
        Poll::Ready(Ok(len))
    }
}

impl AsyncRead for StampedStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let wire = self.get_mut();
        if !wire.ahead.is_empty() {
            wire.hand_out(into);
            return Poll::Ready(Ok(()));
        }
        let read_permission = wire.shared.state().read_permission(cx);
        match read_permission {
            ReadPermission::Yes => {}
            ReadPermission::NoRoom => return Poll::Pending,
            ReadPermission::Over => return Poll::Ready(Ok(())),
        }
        if wire.preamble.is_over() && into.remaining() >= PIECE {
            let len = ready!(wire.poll_transport(cx, into.initialize_unfilled()))?;
            into.advance(len);
            return Poll::Ready(Ok(()));
        }
        ready!(wire.poll_read_ahead(cx))?;
        wire.hand_out(into);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for StampedStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let wire = self.get_mut();
        let sent = wire.transport.poll_write(cx, bytes);
        match sent {
            // The line is closed: do not wait for a host that takes nothing.
            Poll::Pending if wire.shared.is_shutting_down() => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
            Poll::Ready(Ok(_)) => {
                let (traffic, mut state) = (wire.transport.traffic(), wire.shared.state());
                state.traffic = traffic;
                state.key_written.get_or_insert(traffic.sent);
                drop(state);
                sent
            }
            Poll::Ready(Err(_)) => {
                wire.note_end();
                sent
            }
            sent => sent,
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// The connection is closed when it is dropped, which is at once.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
