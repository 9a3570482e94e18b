//! Puts a descriptor on the thread's event queue. A file of its own because tokio's way to do so is unsafe.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Has the thread's event queue watch `descriptor`. Only under [`clock::run`](crate::clock::run), in real time.
pub fn watch(descriptor: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` is one descriptor, open and unchanged as long as it lives, and the queue's entry owns it.
    unsafe { AsyncFd::register_with_interest(descriptor, interest) }.map_err(io::Error::from)
}
