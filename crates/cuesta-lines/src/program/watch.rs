//! Putting a descriptor on the thread's event queue. Apart because tokio's way to it is unsafe for descriptors in general.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Has the thread's event queue watch `descriptor`.
pub(super) fn watch(descriptor: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an owned descriptor is the same and stays open as long as it lives, and the event queue's entry owns it.
    unsafe { AsyncFd::register_with_interest(descriptor, interest) }.map_err(io::Error::from)
}
