//! A program with pipes in place of a terminal: the *file* attachment of MPL-17.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::task::{Context, Poll, ready};

use cuesta_record::clock;
use cuesta_record::event_queue::watch;
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::pipe::{PipeFlags, pipe_with};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::spawn::StandardStreams;
use super::{ExitStatus, Program, not_started};
use crate::{Line, OpenError, Opening, Received, Traffic};

/// Characters that are translated at once.
const PIECE: usize = 256;

/// A program whose standard input is one pipe, and its output and errors another.
///
/// Rows end as on a terminal, so that the same tape works with and without one: the carriage return of the Enter key is sent as a
/// line feed, and a received line feed becomes carriage return and line feed. Nothing else is emulated: there is no echo and no
/// editing, and Ctrl+C and Ctrl+D are ordinary characters.
///
/// Dropping it closes both pipes and hangs the program up; the rest is as with [`super::Pty`].
#[derive(Debug)]
pub struct Pipe {
    input: AsyncFd<OwnedFd>,
    output: AsyncFd<OwnedFd>,
    program: Program,
    /// A line feed that did not fit into the last read is the first character of the next.
    owes_feed: bool,
}

impl Pipe {
    /// Starts `command` with `/bin/sh -c`. Only under [`cuesta_record::clock::run`], in real time.
    ///
    /// # Errors
    /// When there is no process or file descriptor left.
    pub fn start(command: &str, terminal: &str) -> Result<Self, OpenError> {
        Self::try_start(command, terminal).map_err(|cause| not_started(command, cause))
    }

    fn try_start(command: &str, terminal: &str) -> io::Result<Self> {
        let (its_input, input) = pipe_with(PipeFlags::CLOEXEC)?;
        let (output, its_output) = pipe_with(PipeFlags::CLOEXEC)?;
        // Only our ends: the program's ends block, as programs expect.
        fcntl_setfl(&input, OFlags::NONBLOCK)?;
        fcntl_setfl(&output, OFlags::NONBLOCK)?;
        let streams = StandardStreams::Pipes { input: its_input.as_fd(), output: its_output.as_fd() };
        let program = Program::start(command, terminal, streams)?;
        let input = watch(input, Interest::WRITABLE)?;
        Ok(Self { input, output: watch(output, Interest::READABLE)?, program, owes_feed: false })
    }
}

impl Pipe {
    /// Puts a carriage return before each line feed among the first `len` characters. Returns the new length.
    fn return_carriages(&mut self, into: &mut [u8], len: usize) -> usize {
        let feeds = memchr::memchr_iter(b'\n', &into[..len]).count();
        let mut to = len + feeds;
        if to > into.len() {
            // Room for one character only.
            into[0] = b'\r';
            self.owes_feed = true;
            return len;
        }
        for from in (0..len).rev() {
            let character = into[from];
            to -= 1;
            into[to] = character;
            if character == b'\n' {
                to -= 1;
                into[to] = b'\r';
            }
        }
        len + feeds
    }
}

impl Line for Pipe {
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<Received>> {
        if std::mem::take(&mut self.owes_feed) {
            into[0] = b'\n';
            return Poll::Ready(Ok(Received { len: 1, at: clock::now(), ..Received::default() }));
        }
        let room = (into.len() / 2).max(1);
        let mut received = ready!(self.program.poll_receive(&self.output, cx, &mut into[..room]))?;
        received.len = self.return_carriages(into, received.len);
        Poll::Ready(Ok(received))
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut piece = [0; PIECE];
        let piece = &mut piece[..bytes.len().min(PIECE)];
        for (to, &byte) in piece.iter_mut().zip(bytes) {
            *to = if byte == b'\r' { b'\n' } else { byte };
        }
        self.program.poll_send(&self.input, cx, piece)
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
