//! An open event. Apart because the system call and its ioctls are unsafe, and no safe crate has them all.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use perf_event_open_sys as perf;
use perf_event_open_sys::bindings::perf_event_attr;

use super::event_config::EventConfig;

/// An event of the kernel's, open and at rest until it is enabled.
#[derive(Debug)]
pub(crate) struct Event(OwnedFd);

impl Event {
    /// Opens an event on all tasks of `cpu`, or on one task: there on one CPU or on any.
    pub(crate) fn open(config: EventConfig, task: Option<i32>, cpu: Option<u32>) -> io::Result<Self> {
        let task = task.unwrap_or(-1);
        let cpu = cpu.and_then(|cpu| i32::try_from(cpu).ok()).unwrap_or(-1);
        open(config.attributes(), task, cpu).map(Self)
    }

    /// Opens the event that the kernel fires on a CPU whenever it has handled a page fault: a major or a minor one.
    #[cfg(feature = "exact")]
    pub(crate) fn of_faults(cpu: usize, major: bool) -> io::Result<OwnedFd> {
        open(super::event_config::each_fault(major), -1, i32::try_from(cpu).unwrap_or(i32::MAX))
    }

    /// Begins to sample.
    pub(crate) fn enable(&self) -> io::Result<()> {
        // SAFETY: the descriptor is an event's and open; the argument is not an address.
        check(unsafe { perf::ioctls::ENABLE(self.0.as_raw_fd(), 0) })
    }

    /// Ceases to sample.
    pub(crate) fn disable(&self) -> io::Result<()> {
        // SAFETY: as in `enable`.
        check(unsafe { perf::ioctls::DISABLE(self.0.as_raw_fd(), 0) })
    }

    /// Samples so often from now on: nanoseconds between two samples. The kernel goes on to write the former period.
    pub(crate) fn set_period(&self, nanos: u64) -> io::Result<()> {
        // The kernel wants the address of the number, which the binding takes as if it were the number.
        let address = (&raw const nanos).addr() as u64;
        // SAFETY: the descriptor is an event's and open; the kernel reads the number, which lives longer than the call.
        check(unsafe { perf::ioctls::PERIOD(self.0.as_raw_fd(), address) })
    }

    /// Writes into the ring of another event on the same CPU.
    pub(crate) fn write_into(&self, other: &Self) -> io::Result<()> {
        // SAFETY: both descriptors are events' and open; the kernel checks that they go together.
        check(unsafe { perf::ioctls::SET_OUTPUT(self.0.as_raw_fd(), other.0.as_raw_fd()) })
    }
}

impl AsFd for Event {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn open(mut attributes: perf_event_attr, task: i32, cpu: i32) -> io::Result<OwnedFd> {
    // SAFETY: `attributes` is initialised and says its own size; the kernel writes at most that size back.
    let fd = unsafe {
        perf::perf_event_open(&raw mut attributes, task, cpu, -1, perf::bindings::PERF_FLAG_FD_CLOEXEC.into())
    };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call gave us a new descriptor, and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn check(result: i32) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
