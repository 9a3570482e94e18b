//! A program on a pseudo-terminal.

use std::io;
use std::os::fd::OwnedFd;
use std::task::{Context, Poll};

use cuesta_record::event_queue::watch;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl, stat};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, ioctl_tiocexcl, tcgetattr, tcgetpgrp, tcsetwinsize};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::spawn::StandardStreams;
use super::{ExitStatus, Program, input_wait, not_started};
use crate::{Line, LineMark, LineTerminal, OpenError, Opening, Received, Traffic};

/// A pseudo-terminal and the program that runs on it, in its own session. The kernel echoes, edits and sends signals as for any
/// terminal.
///
/// Dropping it hangs the program up. If it has not ended after a second, its process group is killed.
#[derive(Debug)]
pub struct Pty {
    // Declared before the program, because closing the master is what hangs the terminal up.
    master: AsyncFd<OwnedFd>,
    program: Program,
    window: (u16, u16),
    /// Its number, if it is marked as one to be followed.
    followed: Option<u32>,
}

impl Pty {
    /// Starts `command` with `/bin/sh -c` on a terminal with the name `terminal` (`TERM`). `window`: columns and rows, at least one
    /// of each, because programs fail without. Only under [`cuesta_record::clock::run`], in real time.
    ///
    /// # Errors
    /// When there is no pseudo-terminal, process or file descriptor left.
    pub fn start(command: &str, terminal: &str, window: (u16, u16)) -> Result<Self, OpenError> {
        Self::try_start(command, terminal, window).map_err(|cause| not_started(command, cause))
    }

    /// Hangs the program up and waits until it has ended; after a second it is killed.
    pub async fn end(self) {
        let Self { master, mut program, .. } = self;
        drop(master);
        program.end().await;
    }

    /// Marks the terminal for a tracer: its master becomes exclusive. That changes nothing else, because a master cannot be opened
    /// a second time.
    pub(crate) fn have_followed(&mut self) {
        let master = self.master.get_ref();
        let path = ptsname(master, Vec::new()).ok();
        let number = path.as_deref().and_then(|path| path.to_str().ok()?.strip_prefix("/dev/pts/")?.parse().ok());
        self.followed = number.filter(|_| ioctl_tiocexcl(master).is_ok());
    }

    fn try_start(command: &str, terminal: &str, window: (u16, u16)) -> io::Result<Self> {
        // Close-on-exec from the start: another user's program that inherited it would keep this terminal open.
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        tcsetwinsize(&master, size(window))?;
        fcntl_setfl(&master, fcntl_getfl(&master)? | OFlags::NONBLOCK)?;
        let path = ptsname(&master, Vec::new())?;
        let program = Program::start(command, terminal, StandardStreams::Terminal(&path))?;
        Ok(Self { master: watch(master, Interest::READABLE | Interest::WRITABLE)?, program, window, followed: None })
    }
}

fn size((columns, rows): (u16, u16)) -> Winsize {
    Winsize { ws_col: columns.max(1), ws_row: rows.max(1), ws_xpixel: 0, ws_ypixel: 0 }
}

impl Line for Pty {
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<Received>> {
        self.program.poll_receive(&self.master, cx, into)
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.program.poll_send(&self.master, cx, bytes)
    }

    fn mark(&self) -> Option<LineMark> {
        self.followed.map(LineMark::Terminal)
    }

    fn terminal(&mut self) -> Option<&mut dyn LineTerminal> {
        Some(self)
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

impl LineTerminal for Pty {
    fn window(&self) -> Option<(u16, u16)> {
        Some(self.window)
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        // The program gets SIGWINCH. A terminal that cannot be resized is closed; reading reports that.
        if (columns, rows) != self.window && tcsetwinsize(self.master.get_ref(), size((columns, rows))).is_ok() {
            self.window = (columns, rows);
        }
    }

    fn echoes(&self) -> Option<bool> {
        let settings = tcgetattr(self.master.get_ref()).ok()?;
        // In raw mode the program decides what it echoes.
        let by_rows = settings.local_modes.contains(LocalModes::ICANON);
        by_rows.then_some(settings.local_modes.contains(LocalModes::ECHO))
    }

    fn awaits_echoed_input(&self) -> Option<bool> {
        if self.echoes() != Some(true) {
            return None;
        }
        let master = self.master.get_ref();
        let device = stat(ptsname(master, Vec::new()).ok()?).ok()?.st_rdev;
        input_wait::awaits_input(self.program.child.0, tcgetpgrp(master).ok()?, device)
    }
}
