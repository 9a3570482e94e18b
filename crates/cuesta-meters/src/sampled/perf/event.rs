//! An open event. In a file of its own because the system call and its ioctls are unsafe, and no safe crate has them all.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use perf_event_open_sys as perf;
use perf_event_open_sys::bindings::perf_event_attr;

use super::event_config::EventConfig;

/// An open event of the kernel, disabled at first.
#[derive(Debug)]
pub(crate) struct Event(OwnedFd);

impl Event {
    /// Opens an event on all tasks of `cpu`, or on one task, on one CPU or on any.
    pub(crate) fn open(config: EventConfig, task: Option<i32>, cpu: Option<u32>) -> io::Result<Self> {
        let task = task.unwrap_or(-1);
        let cpu = cpu.and_then(|cpu| i32::try_from(cpu).ok()).unwrap_or(-1);
        open(config.attributes(), task, cpu).map(Self)
    }

    /// Opens the event that fires on a CPU when the kernel has handled a page fault, major or minor.
    #[cfg(feature = "exact")]
    pub(crate) fn of_faults(cpu: usize, major: bool) -> io::Result<OwnedFd> {
        open(super::event_config::each_fault(major), -1, i32::try_from(cpu).unwrap_or(i32::MAX))
    }

    pub(crate) fn enable(&self) -> io::Result<()> {
        // SAFETY: the descriptor is an open event; the argument is not an address.
        check(unsafe { perf::ioctls::ENABLE(self.0.as_raw_fd(), 0) })
    }

    pub(crate) fn disable(&self) -> io::Result<()> {
        // SAFETY: as in `enable`.
        check(unsafe { perf::ioctls::DISABLE(self.0.as_raw_fd(), 0) })
    }

    /// Sets the nanoseconds between two samples. The records of the kernel still show the former period.
    pub(crate) fn set_period(&self, nanos: u64) -> io::Result<()> {
        // The kernel takes the address of the number, but the binding's parameter is an integer.
        let address = (&raw const nanos).addr() as u64;
        // SAFETY: the descriptor is an open event; the kernel reads the number, which lives longer than the call.
        check(unsafe { perf::ioctls::PERIOD(self.0.as_raw_fd(), address) })
    }

    /// Writes into the ring of another event on the same CPU.
    pub(crate) fn write_into(&self, other: &Self) -> io::Result<()> {
        // SAFETY: both descriptors are open events; the kernel checks that they go together.
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
    // SAFETY: the call returned a new descriptor that no other code owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn check(result: i32) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
