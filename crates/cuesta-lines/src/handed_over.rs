//! A TCP socket that a program has as well: the line reads what the program leaves to it, and writes beside it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use cuesta_record::Stamp;
use cuesta_record::clock::{self, Sleep};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown};
use socket2::SockRef;
use tokio::sync::mpsc::Receiver;

use crate::tcp::Stream;
use crate::tcp_info;
use crate::tcp_info::memory;
use crate::wire::telnet::Framing;

/// Most pieces that are parsed before a program has the socket: a bound on what a client can make the host do.
const MOST_EARLY_PIECES: usize = 64;

/// The first and the longest pause before sending is tried again on a socket that a program has as well. It doubles from one to the other, so
/// that a line whose terminal does not read costs little.
const RETRY_PAUSES: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(32)];

/// Unsent bytes beyond which nothing more is sent there.
const MOST_UNSENT: u32 = 60 * 1024;

/// A line's socket.
#[derive(Debug)]
pub struct LineSocket<'a> {
    pub(crate) stream: &'a mut Stream,
    /// What frames its bytes; otherwise they are the characters.
    pub(crate) telnet: Option<&'a Framing>,
}

/// A socket that a program has as well.
#[derive(Debug)]
pub(crate) struct HandedOver {
    socket: Arc<OwnedFd>,
    /// What this line reads in its place.
    input: Receiver<io::Result<Vec<u8>>>,
    /// The part of it that was received last and is not read yet.
    piece: Vec<u8>,
    /// When to try again to send, and after what pause if that fails too.
    retry: Sleep,
    pause: Duration,
}

impl LineSocket<'_> {
    /// Whether telnet frames its bytes; otherwise they are the characters.
    pub fn is_telnet(&self) -> bool {
        self.telnet.is_some()
    }

    /// Sets how many bytes the kernel takes before it sends them.
    ///
    /// # Errors
    /// When the connection is gone.
    pub fn set_most_unsent(&self, bytes: u32) -> io::Result<()> {
        SockRef::from(&self.stream).set_tcp_notsent_lowat(bytes)
    }

    /// Has the kernel acknowledge at once what was received. It is for a peer that keeps Nagle's algorithm, which holds the rest of a
    /// message back until its beginning is acknowledged; the kernel does so for a while and must be told again after each read.
    pub fn acknowledge_at_once(&self) {
        // A line that cannot is as slow as without it.
        let _ = rustix::net::sockopt::set_tcp_quickack(&self.stream, true);
    }

    /// Leaves what the socket receives to a program: from now on the line reads `input`, and ends with it. After each piece of it the
    /// kernel looks again at what the socket has received; a piece may be empty. `socket` is a duplicate of the socket; it may block.
    /// Dropping the line ends the connection, whoever has it open.
    pub fn hand_over(&mut self, socket: Arc<OwnedFd>, input: Receiver<io::Result<Vec<u8>>>) {
        // The stream that this replaces closes its own descriptor, and with it the registration.
        *self.stream = Stream::HandedOver(Box::new(HandedOver::new(socket, input)));
    }

    /// Whether others may write on the line now: what this end has sent ends within no sequence of its framing, and no reply waits.
    pub fn is_output_whole(&self) -> bool {
        self.telnet.is_none_or(Framing::is_output_whole)
    }
}

impl AsFd for LineSocket<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

impl AsFd for HandedOver {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl HandedOver {
    fn new(socket: Arc<OwnedFd>, input: Receiver<io::Result<Vec<u8>>>) -> Self {
        parse_early_input(&socket);
        Self { socket, input, piece: Vec::new(), retry: clock::sleep_until(Stamp::ZERO), pause: RETRY_PAUSES[0] }
    }

    pub(crate) fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>> {
        while self.piece.is_empty() {
            match ready!(self.input.poll_recv(cx)) {
                Some(Ok(piece)) => {
                    self.piece = piece;
                    let _ = parse_again(&self.socket);
                }
                // The program must not read what follows a gap.
                Some(Err(error)) => {
                    let _ = shutdown(&self.socket, Shutdown::Both);
                    return Poll::Ready(Err(error));
                }
                // The program may have been given the error.
                None if tcp_info(&self.socket)?.is_over => {
                    return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
                }
                None => return Poll::Ready(Ok(0)),
            }
        }
        let len = self.piece.len().min(into.len());
        into[..len].copy_from_slice(&self.piece[..len]);
        self.piece.drain(..len);
        Poll::Ready(Ok(len))
    }

    /// Looks for room again and again and sends all or nothing: waiting for room would wake a program that waits for input, and
    /// what a program writes must not come into the middle.
    pub(crate) fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            ready!(Pin::new(&mut self.retry).poll(cx));
            if self.has_room()? {
                match send(&self.socket, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
                    Err(Errno::AGAIN) => {}
                    outcome => {
                        self.pause = RETRY_PAUSES[0];
                        return Poll::Ready(Ok(outcome?));
                    }
                }
            }
            self.retry.reset(clock::now() + self.pause);
            self.pause = RETRY_PAUSES[1].min(2 * self.pause);
        }
    }

    /// Whether the kernel takes a piece. A program can write meanwhile, so this leaves half of the memory.
    fn has_room(&self) -> io::Result<bool> {
        let memory = memory(&self.socket)?;
        Ok(memory.queued <= memory.limit / 2 && tcp_info(&self.socket)?.unsent <= MOST_UNSENT)
    }
}

/// Has the kernel's parser go on with what a socket has received: it stops behind each piece without characters. Returns whether there are
/// characters, or their end, to be read.
fn parse_again(socket: &OwnedFd) -> bool {
    recv(socket, &mut [0], RecvFlags::PEEK | RecvFlags::DONTWAIT) != Err(Errno::AGAIN)
}

/// Has the kernel's parser take all that came before the socket was handed over: the program's first read would fail if it met more than one
/// piece without characters.
fn parse_early_input(socket: &OwnedFd) {
    for _ in 0..MOST_EARLY_PIECES {
        if memory(socket).map_or(0, |memory| memory.received) == 0 || parse_again(socket) {
            break;
        }
    }
}
