//! A kernel timer that interrupts this thread and does nothing else. It is in its own file because the system call is unsafe.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

use perf_event_open_sys::bindings as sys;

/// A running timer. It interrupts the thread that started it; dropping it stops it.
///
/// It is a perf event without a ring buffer, so that its samples are discarded. A `timerfd` would have to be read before it
/// fires again, and a POSIX timer would deliver signals.
#[derive(Debug)]
pub(crate) struct Timer {
    _event: OwnedFd,
}

impl Timer {
    /// Starts a timer that fires `frequency` times in a second of this thread's CPU time.
    ///
    /// # Errors
    /// When perf events are not permitted.
    pub(crate) fn start(frequency: u64) -> io::Result<Self> {
        let mut attributes = sys::perf_event_attr::default();
        attributes.type_ = sys::PERF_TYPE_SOFTWARE;
        attributes.size = u32::try_from(size_of::<sys::perf_event_attr>()).unwrap_or(0);
        attributes.config = u64::from(sys::PERF_COUNT_SW_CPU_CLOCK);
        attributes.sample_period = 1_000_000_000 / frequency;
        let (this_thread, any_cpu, no_group) = (0, -1, -1);
        let flags = sys::PERF_FLAG_FD_CLOEXEC.into();
        // SAFETY: `attributes` is initialised and says its own size; the kernel writes at most that size back.
        let fd =
            unsafe { perf_event_open_sys::perf_event_open(&raw mut attributes, this_thread, any_cpu, no_group, flags) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the call returned a new descriptor that nothing else owns.
        Ok(Self { _event: unsafe { OwnedFd::from_raw_fd(fd) } })
    }
}
