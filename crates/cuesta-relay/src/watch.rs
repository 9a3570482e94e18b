//! A keyboard in the thread's event queue.
#![allow(unsafe_code)] // tokio's only way that is not deprecated; see below why it is sound here

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Has the thread told when something was typed.
pub(crate) fn watch(keyboard: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` is one descriptor from its making to its drop, and is closed only then.
    unsafe { AsyncFd::register_with_interest(keyboard, Interest::READABLE) }.map_err(io::Error::from)
}
