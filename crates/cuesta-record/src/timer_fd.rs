//! A `timerfd`, on the thread's event queue or on another. A file of its own because registering a descriptor is unsafe.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::Stamp;

/// A timer that is readable from an instant on. Clones are the same timer.
#[derive(Debug, Clone)]
pub struct TimerFd(Arc<OwnedFd>);

impl TimerFd {
    /// A timer that is not armed.
    pub fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        Ok(Self(Arc::new(timerfd_create(TimerfdClockId::Monotonic, flags)?)))
    }

    /// Arms the timer for `due`, in place of the instant that it was armed for before.
    pub fn set(&self, due: Stamp) -> io::Result<()> {
        let nanos = due.as_nanos();
        let at = Timespec {
            tv_sec: i64::try_from(nanos / 1_000_000_000).unwrap_or(i64::MAX),
            tv_nsec: i64::try_from(nanos % 1_000_000_000).unwrap_or(0),
        };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: at };
        timerfd_settime(&*self.0, TimerfdTimerFlags::ABSTIME, &once)?;
        Ok(())
    }

    /// Puts the timer on the current runtime's event queue.
    pub(crate) fn register(self) -> io::Result<Expirations> {
        // SAFETY: the descriptor is owned by the `Arc` that the `AsyncFd` holds, so it stays open and the same.
        unsafe { AsyncFd::register_with_interest(self.0, Interest::READABLE) }.map(Expirations).map_err(io::Error::from)
    }
}

impl AsFd for TimerFd {
    /// Readable from the instant on, until the timer is armed anew.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// The expirations of a timer.
pub(crate) struct Expirations(AsyncFd<Arc<OwnedFd>>);

impl Expirations {
    /// Waits for the next expiration. The count need not be read: the event is edge-triggered, and the timer is armed anew each time.
    pub(crate) async fn next(&self) -> io::Result<()> {
        self.0.readable().await?.clear_ready();
        Ok(())
    }
}
