//! An open event. Apart because the system call and its ioctls are unsafe, and no safe crate has them all.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use perf_event_open_sys as perf;

use super::wish::Wish;

/// An event of the kernel's, open and at rest until it is enabled.
#[derive(Debug)]
pub(crate) struct Event(OwnedFd);

impl Event {
    /// Opens an event on all tasks of `cpu`, or on one task: there on one CPU or on any.
    pub(crate) fn open(wish: Wish, task: Option<i32>, cpu: Option<u32>) -> io::Result<Self> {
        let mut attributes = wish.attributes();
        let task = task.unwrap_or(-1);
        let cpu = cpu.and_then(|cpu| i32::try_from(cpu).ok()).unwrap_or(-1);
        // SAFETY: `attributes` is initialised and says its own size; the kernel writes at most that size back.
        let fd = unsafe {
            perf::perf_event_open(&raw mut attributes, task, cpu, -1, perf::bindings::PERF_FLAG_FD_CLOEXEC.into())
        };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the call gave us a new descriptor, and nobody else has it.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Begins to sample.
    pub(crate) fn enable(&self) -> io::Result<()> {
        // SAFETY: the descriptor is an event's and open; the argument is not an address.
        done(unsafe { perf::ioctls::ENABLE(self.0.as_raw_fd(), 0) })
    }

    /// Ceases to sample.
    pub(crate) fn disable(&self) -> io::Result<()> {
        // SAFETY: as in `enable`.
        done(unsafe { perf::ioctls::DISABLE(self.0.as_raw_fd(), 0) })
    }

    /// Writes into the ring of another event on the same CPU.
    pub(crate) fn write_into(&self, other: &Self) -> io::Result<()> {
        // SAFETY: both descriptors are events' and open; the kernel checks that they go together.
        done(unsafe { perf::ioctls::SET_OUTPUT(self.0.as_raw_fd(), other.0.as_raw_fd()) })
    }
}

impl AsFd for Event {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn done(result: i32) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
