//! A program on a pseudo-terminal, and its end: whatever happens to its line, it is hung up, killed and reaped.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use cuesta_lines::Line;
use cuesta_record::clock;
use pty_process::{Command, Pty, Size};
use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::process::Child;

/// How long a program may take to go after it was hung up.
const GRACE: Duration = Duration::from_secs(1);
/// The terminal of a line that does not say what it is.
const TERMINAL: &str = "xterm";
/// Columns and rows of a line that does not say. Never 0 by 0: programs fail on that.
const WINDOW: (u16, u16) = (80, 24);

/// A running program.
pub(super) struct Program {
    /// None once it is hung up.
    pty: Option<Pty>,
    child: Child,
    window: (u16, u16),
}

impl Program {
    /// Starts what `/bin/sh -c` makes of `command`, on a terminal like the line's.
    pub(super) fn start(command: &str, line: &dyn Line) -> io::Result<Self> {
        let window = line.window().unwrap_or(WINDOW);
        let (pty, pts) = pty_process::open().map_err(plain)?;
        pty.resize(size(window)).map_err(plain)?;
        let shell = Command::new("/bin/sh").arg("-c").arg(command);
        let child = shell.env("TERM", line.terminal().unwrap_or(TERMINAL)).spawn(pts).map_err(plain)?;
        Ok(Self { pty: Some(pty), child, window })
    }

    /// Gives the program's terminal the size of the line's.
    pub(super) fn resize(&mut self, window: Option<(u16, u16)>) -> io::Result<()> {
        match (window, &self.pty) {
            (Some(window), Some(pty)) if window != self.window => {
                self.window = window;
                pty.resize(size(window)).map_err(plain)
            }
            _ => Ok(()),
        }
    }

    /// Gives it input, as much as it takes.
    pub(super) fn poll_write(&mut self, cx: &mut Context<'_>, typed: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.pty {
            Some(pty) => Pin::new(pty).poll_write(cx, typed),
            None => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }

    /// Reads its output; 0 = it has ended. What it left running in the background does not keep its line.
    pub(super) fn poll_read(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>> {
        let ended = pin!(self.child.wait()).poll(cx).is_ready();
        let Some(pty) = &mut self.pty else { return Poll::Ready(Ok(0)) };
        if ended {
            return Poll::Ready(rest(pty, into));
        }
        let mut buffer = ReadBuf::new(into);
        let outcome = ready!(Pin::new(pty).poll_read(cx, &mut buffer));
        Poll::Ready(match outcome {
            Err(error) if error.raw_os_error() == Some(Errno::IO.raw_os_error()) => Ok(0),
            outcome => outcome.map(|()| buffer.filled().len()),
        })
    }

    /// Hangs it up and waits a little for it to go; then it is killed.
    pub(super) async fn end(mut self) {
        self.pty = None;
        let mut grace = clock::sleep_until(clock::now() + GRACE);
        let mut gone = pin!(self.child.wait());
        poll_fn(|cx| match gone.as_mut().poll(cx) {
            Poll::Ready(_) => Poll::Ready(()),
            Poll::Pending => Pin::new(&mut grace).poll(cx),
        })
        .await;
    }
}

impl Drop for Program {
    /// Also when the host stops or a task panics: a program that is killed ends at once, so that waiting here is short.
    fn drop(&mut self) {
        let pid = self.child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        if let (Some(pid), Ok(())) = (pid, self.child.start_kill()) {
            // Left for the child's owner to reap, which knows then that it did.
            let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
            let _ = self.child.try_wait();
        }
    }
}

/// What a program that has ended left on its terminal. The kernel is asked itself: the event queue may not know yet.
fn rest(pty: &Pty, into: &mut [u8]) -> io::Result<usize> {
    match rustix::io::read(pty, into) {
        // Linux says the latter when nobody has the other end open any more.
        Err(Errno::AGAIN | Errno::IO) => Ok(0),
        outcome => Ok(outcome?),
    }
}

fn size((columns, rows): (u16, u16)) -> Size {
    Size::new(rows.max(1), columns.max(1))
}

fn plain(error: pty_process::Error) -> io::Error {
    match error {
        pty_process::Error::Io(error) => error,
        pty_process::Error::Rustix(error) => error.into(),
        other => io::Error::other(other),
    }
}
