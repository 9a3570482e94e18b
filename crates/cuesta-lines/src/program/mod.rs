//! A program on this machine at the other end of a line: starts, reads, writes and ends it.
//!
//! - [`Pty`]: on a pseudo-terminal. [`Pipe`]: with pipes. [`Socket`]: on a socket. `ProxyCommand`: as the connection to an ssh host,
//!   or for its first row.
//! - `command`, `spawn`: the start. `reaper`: the end, even if the line is dropped before.
//! - `exit`: its exit status. `input_wait`: whether it waits for input. `orphans`: processes that it leaves behind.

mod command;
mod exit;
mod input_wait;
mod orphans;
mod pipe;
mod proxy_command;
mod pty;
mod reaper;
mod socket;
mod spawn;

use std::collections::HashSet;
use std::future::poll_fn;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use cuesta_record::clock::Sleep;
use cuesta_record::{Failure, Stamp, clock, event_queue};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open, waitid};
use thiserror::Error;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::{OpenError, Opening, Received, Traffic};
use spawn::StandardStreams;

pub use exit::ExitStatus;
pub use pipe::Pipe;
pub(crate) use proxy_command::{ProxyCommand, first_row_of};
pub use pty::Pty;
pub use reaper::wait_for_ended_programs;
pub use socket::Socket;

/// Why a program was not started.
#[derive(Debug, Error)]
pub enum ProgramError {
    #[error(
        "no pseudo-terminal is left for {command}: raise the limit with `sysctl kernel.pty.max=N` (each user takes one)"
    )]
    OutOfPtys { command: String },
    #[error("no process is left for {command}: raise the limit with `ulimit -u`, or that of the container (pids.max)")]
    OutOfProcesses { command: String },
    #[error("{command} was not started: {cause}")]
    NotStarted { command: String, cause: io::Error },
}

impl ProgramError {
    pub fn failure(&self) -> Failure {
        match self {
            Self::OutOfPtys { .. } => Failure::OutOfPtys,
            Self::OutOfProcesses { .. } => Failure::OutOfProcesses,
            Self::NotStarted { .. } => Failure::NotStarted,
        }
    }
}

fn not_started(command: &str, cause: io::Error) -> OpenError {
    let command = command.to_owned();
    match Errno::from_io_error(&cause) {
        Some(Errno::MFILE | Errno::NFILE) => return OpenError::OutOfFiles { address: command },
        Some(Errno::NOSPC) => ProgramError::OutOfPtys { command },
        Some(Errno::AGAIN) => ProgramError::OutOfProcesses { command },
        _ => ProgramError::NotStarted { command, cause },
    }
    .into()
}

/// A program that runs, or has ended and is not reaped, and the count of its traffic. Dropping it hangs it up; see [`reaper`].
#[derive(Debug)]
struct Program {
    /// Its pidfd, readable once it has ended.
    handle: AsyncFd<OwnedFd>,
    child: ChildGuard,
    /// No process has its end of the line open any more.
    closed: bool,
    output: Output,
    started: Stamp,
    traffic: Traffic,
}

/// When the output of a program that has ended is complete.
#[derive(Debug)]
enum Output {
    /// When the program ends: the kernel holds all of it.
    Complete,
    /// When the connection ends, by TCP; after the grace period at the latest, because a process that the program leaves behind can
    /// keep the connection open.
    InTransit(Option<Sleep>),
}

/// The process ID of a program that this process must end and reap.
#[derive(Debug)]
struct ChildGuard(Pid);

/// Processes that a line or the reaper waits for.
static AWAITED: LazyLock<Mutex<HashSet<Pid>>> = LazyLock::new(Mutex::default);

fn awaited() -> MutexGuard<'static, HashSet<Pid>> {
    AWAITED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a line or the reaper waits for a process.
fn is_awaited(pid: Pid) -> bool {
    awaited().contains(&pid)
}

impl ChildGuard {
    fn new(pid: Pid) -> Self {
        awaited().insert(pid);
        Self(pid)
    }
}

impl Output {
    /// Whether all output of an ended program can be read now; if not, the task is woken later.
    fn is_complete(&mut self, cx: &mut Context<'_>) -> bool {
        match self {
            Self::Complete => true,
            Self::InTransit(rest) => {
                let rest = rest.get_or_insert_with(|| clock::sleep_until(clock::now() + reaper::GRACE));
                Pin::new(rest).poll(cx).is_ready()
            }
        }
    }
}

impl Drop for ChildGuard {
    fn drop(&mut self) {
        reaper::hand_over(self.0);
    }
}

impl Program {
    fn start(command: &str, terminal: &str, streams: StandardStreams<'_>) -> io::Result<Self> {
        // Before the start, so that processes that the program forks at once are adopted too.
        orphans::adopt();
        let child = ChildGuard::new(spawn::spawn(command, terminal, streams)?);
        let handle = event_queue::watch(pidfd_open(child.0, PidfdFlags::empty())?, Interest::READABLE)?;
        let (started, traffic) = (clock::now(), Traffic::default());
        Ok(Self { handle, child, closed: false, output: Output::Complete, started, traffic })
    }

    /// Reads from our `end` of its line.
    fn poll_receive(
        &mut self,
        end: &AsyncFd<OwnedFd>,
        cx: &mut Context<'_>,
        into: &mut [u8],
    ) -> Poll<io::Result<Received>> {
        while !self.closed {
            let outcome = ready!(self.poll_read(end, cx, into))?;
            let at = clock::now();
            self.closed = outcome == 0;
            self.traffic.received += outcome as u64;
            if !self.closed {
                return Poll::Ready(Ok(Received { len: outcome, at, ..Received::default() }));
            }
        }
        self.poll_end(cx)
    }

    /// Reads; 0 = end of output. Once the program has ended, its background processes do not keep the line open.
    fn poll_read(&mut self, end: &AsyncFd<OwnedFd>, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>> {
        if self.has_ended(cx) && self.output.is_complete(cx) {
            // Reads without asking the event queue, which may not know yet of the last output.
            return Poll::Ready(match rustix::io::read(end.get_ref(), into) {
                Err(Errno::AGAIN | Errno::IO | Errno::CONNRESET) => Ok(0),
                outcome => Ok(outcome?),
            });
        }
        loop {
            let mut ready = ready!(end.poll_read_ready(cx))?;
            let outcome = ready.try_io(|end| match rustix::io::read(end.get_ref(), &mut *into) {
                // Linux returns EIO when no process has the terminal open any more, and ECONNRESET when the program closed its
                // socket before it had read all its input.
                Err(Errno::IO | Errno::CONNRESET) => Ok(0),
                outcome => Ok(outcome?),
            });
            if let Ok(outcome) = outcome {
                return Poll::Ready(outcome);
            }
        }
    }

    /// Handles the end of its line. Without input so far, the shell may not have found the program. The shell's exit status shows
    /// this; it follows shortly after the terminal is closed.
    fn poll_end(&self, cx: &mut Context<'_>) -> Poll<io::Result<Received>> {
        if self.traffic.sent == 0 {
            if !self.has_ended(cx) {
                return Poll::Pending;
            }
            self.check_found()?;
        }
        Poll::Ready(Ok(Received { at: clock::now(), ..Received::default() }))
    }

    /// Writes input at our `end` of its line, as much as it takes.
    fn poll_send(&mut self, end: &AsyncFd<OwnedFd>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        // The kernel would accept the input although nothing reads it.
        if self.closed || self.has_ended(cx) {
            if self.traffic.sent == 0 && self.has_ended(cx) {
                self.check_found()?;
            }
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        loop {
            let mut ready = ready!(end.poll_write_ready(cx))?;
            let outcome = ready.try_io(|end| match rustix::io::write(end.get_ref(), bytes) {
                Err(Errno::IO | Errno::CONNRESET) => Err(io::ErrorKind::BrokenPipe.into()),
                outcome => Ok(outcome?),
            });
            if let Ok(outcome) = outcome {
                self.traffic.sent += *outcome.as_ref().unwrap_or(&0) as u64;
                return Poll::Ready(outcome);
            }
        }
    }

    /// Whether it has ended. If not, the task is woken when it does.
    fn has_ended(&self, cx: &mut Context<'_>) -> bool {
        self.handle.poll_read_ready(cx).is_ready()
    }

    /// Fails if the shell found no such program, by its exit status (POSIX, XCU 2.8.2).
    fn check_found(&self) -> io::Result<()> {
        match self.exit_status() {
            Some(ExitStatus::Exited(126 | 127)) => Err(io::ErrorKind::NotFound.into()),
            _ => Ok(()),
        }
    }

    fn exit_status(&self) -> Option<ExitStatus> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        ExitStatus::from_wait(&waitid(WaitId::Pid(self.child.0), options).ok().flatten()?)
    }

    /// How it ended, once it has.
    fn poll_exit(&self, cx: &mut Context<'_>) -> Poll<Option<ExitStatus>> {
        if self.has_ended(cx) { Poll::Ready(self.exit_status()) } else { Poll::Pending }
    }

    /// Sends SIGHUP, waits for the grace period, sends SIGKILL and waits again. Dropping it reaps it.
    async fn end(&mut self) {
        for signal in [Signal::HUP, Signal::KILL] {
            let _ = kill_process_group(self.child.0, signal);
            let mut grace = clock::sleep_until(clock::now() + reaper::GRACE);
            poll_fn(|cx| if self.has_ended(cx) { Poll::Ready(()) } else { Pin::new(&mut grace).poll(cx) }).await;
        }
    }

    fn opening(&self) -> Opening {
        Opening { connected: Some(self.started), ..Opening::default() }
    }
}
