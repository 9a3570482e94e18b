//! The person's own terminal: raw while the relay runs, restored on every exit path.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::task::{Context, Poll, ready};

use cuesta_record::event_queue::watch;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::termios::{OptionalActions, Termios, isatty, tcgetattr, tcgetwinsize, tcsetattr};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// A terminal in raw mode. Dropping it restores the mode.
#[derive(Debug)]
pub(crate) struct Terminal {
    /// Both descriptors stay blocking: the process that started us shares them.
    keyboard: AsyncFd<OwnedFd>,
    screen: OwnedFd,
    before: Termios,
}

impl Terminal {
    /// Makes the terminal raw.
    pub(crate) fn take(keyboard: OwnedFd, screen: OwnedFd) -> io::Result<Self> {
        let before = tcgetattr(&keyboard)?;
        let mut raw = before.clone();
        raw.make_raw();
        let keyboard = watch(keyboard, Interest::READABLE)?;
        let terminal = Self { keyboard, screen, before };
        // `Now` keeps type-ahead, which the host then gets.
        tcsetattr(&terminal.keyboard, OptionalActions::Now, &raw)?;
        Ok(terminal)
    }

    /// Reads keys; 0 characters mean that the terminal is gone.
    pub(crate) fn poll_read(&self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>> {
        loop {
            let mut ready = ready!(self.keyboard.poll_read_ready(cx))?;
            // The descriptor blocks, so `poll` confirms the event queue's readiness before the read.
            let mut asked = [PollFd::new(&self.keyboard, PollFlags::IN)];
            if poll(&mut asked, Some(&rustix::event::Timespec::default()))? == 0 {
                ready.clear_ready();
                continue;
            }
            return Poll::Ready(match rustix::io::read(&self.keyboard, &mut *into) {
                Err(Errno::INTR) => continue,
                Err(Errno::IO) => Ok(0),
                read => Ok(read?),
            });
        }
    }

    /// Writes all of `bytes`. A terminal that takes no output blocks the relay, and so the host.
    pub(crate) fn show(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match rustix::io::write(&self.screen, bytes) {
                Ok(len) => bytes = &bytes[len..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    poll(&mut [PollFd::new(&self.screen, PollFlags::OUT)], None)?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Columns and rows.
    pub(crate) fn window(&self) -> Option<(u16, u16)> {
        window(&self.keyboard)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = tcsetattr(&self.keyboard, OptionalActions::Now, &self.before);
    }
}

/// Columns and rows of a terminal, if it has a size.
pub(crate) fn window(terminal: impl AsFd) -> Option<(u16, u16)> {
    let size = tcgetwinsize(terminal).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then_some((size.ws_col, size.ws_row))
}

pub(crate) fn is_terminal(keyboard: impl AsFd) -> bool {
    isatty(keyboard)
}
