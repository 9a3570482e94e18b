//! Waits for events with a timeout in nanoseconds. It is in its own file because it is unsafe: no safe crate offers this call.
//! rustix rounds up to the millisecond, and a limit that sent keys only once a millisecond would be no limit.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;
use std::time::Duration;

pub(crate) use libc::epoll_event as Event;

/// Waits at most `timeout`, and returns the events.
pub(crate) fn wait<'a>(epoll: &OwnedFd, events: &'a mut [Event], timeout: Duration) -> io::Result<&'a [Event]> {
    let timeout = libc::timespec {
        tv_sec: libc::time_t::try_from(timeout.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: timeout.subsec_nanos().into(),
    };
    let room = libc::c_int::try_from(events.len()).unwrap_or(libc::c_int::MAX);
    // SAFETY: `events` is writable for `room` events, `timeout` outlives the call, and no signal mask is given.
    let count =
        unsafe { libc::epoll_pwait2(epoll.as_raw_fd(), events.as_mut_ptr(), room, &raw const timeout, ptr::null()) };
    match usize::try_from(count) {
        Ok(count) => Ok(&events[..count]),
        Err(_) if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => Ok(&[]),
        Err(_) => Err(io::Error::last_os_error()),
    }
}
