//! A program whose standard streams are one socket, as inetd starts its `nowait` services.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::task::{Context, Poll};

use cuesta_record::event_queue::watch;
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::net::{AddressFamily, Shutdown, SocketFlags, SocketType, shutdown, socketpair};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::spawn::StandardStreams;
use super::{ExitStatus, Output, Program, not_started};
use crate::{Line, OpenError, Opening, Received, Traffic};

/// The name of a terminal without abilities: the program has none.
const TERMINAL: &str = "dumb";

/// A program and the other end of the stream socket that is its standard input, output and errors. Bytes pass as they are.
///
/// Dropping it hangs the program up. If it has not ended after a second, its process group is killed.
#[derive(Debug)]
pub struct Socket {
    // Declared before the program, so that it reads the end of its input before it is hung up.
    end: AsyncFd<OwnedFd>,
    /// The connection's other end, if others than the program write there. It is open while the program runs.
    other: Option<OwnedFd>,
    program: Program,
}

impl Socket {
    /// Starts `command` with `/bin/sh -c`. Only under [`cuesta_record::clock::run`], in real time.
    ///
    /// # Errors
    /// When there is no process or file descriptor left.
    pub fn start(command: &str) -> Result<Self, OpenError> {
        Self::try_start(command).map_err(|cause| not_started(command, cause))
    }

    /// Starts `command` with a socket of its own, `its`. What this line reads are the bytes that the kernel writes on `other`, whose
    /// other end is `ours`, as long as the program runs.
    ///
    /// # Errors
    /// As with [`Socket::start`].
    pub fn start_on(command: &str, its: &impl AsFd, ours: OwnedFd, other: OwnedFd) -> Result<Self, OpenError> {
        let mut socket = Self::on(command, ours, its).map_err(|cause| not_started(command, cause))?;
        socket.program.output = Output::InTransit(None);
        socket.other = Some(other);
        Ok(socket)
    }

    fn try_start(command: &str) -> io::Result<Self> {
        let (ours, its) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        // When it has started, the program alone has its end open.
        Self::on(command, ours, &its)
    }

    fn on(command: &str, ours: OwnedFd, its: &impl AsFd) -> io::Result<Self> {
        // Only our end: the program's end blocks, as programs expect.
        fcntl_setfl(&ours, OFlags::NONBLOCK)?;
        let streams = StandardStreams::Pipes { input: its.as_fd(), output: its.as_fd() };
        let program = Program::start(command, TERMINAL, streams)?;
        Ok(Self { end: watch(ours, Interest::READABLE | Interest::WRITABLE)?, other: None, program })
    }

    /// Ends the program's input. Its output can still be read.
    pub fn end_input(&mut self) {
        // A program that has closed its end needs no telling.
        let _ = shutdown(self.end.get_ref(), Shutdown::Write);
    }

    /// Hangs the program up and waits until it has ended; after a second it is killed.
    pub async fn end(self) {
        let Self { end, mut program, .. } = self;
        drop(end);
        program.end().await;
    }
}

impl Line for Socket {
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<Received>> {
        if self.other.is_some() && self.program.has_ended(cx) {
            self.other = None;
        }
        self.program.poll_receive(&self.end, cx, into)
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.program.poll_send(&self.end, cx, bytes)
    }

    fn poll_exit(&mut self, cx: &mut Context<'_>) -> Poll<Option<ExitStatus>> {
        self.program.poll_exit(cx)
    }

    fn opening(&self) -> Opening {
        self.program.opening()
    }

    fn traffic(&self) -> Traffic {
        self.program.traffic
    }
}
