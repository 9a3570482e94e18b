//! Puts a program at an interface. A file of its own because the call is unsafe: `libbpf-rs` does not offer it.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;

/// Runs `program` for each packet that the interface of number `interface` receives, until the result is closed: the kernel does
/// that when the agent dies.
pub(super) fn at_interface(program: BorrowedFd<'_>, interface: i32) -> io::Result<OwnedFd> {
    // SAFETY: both numbers are passed by value, and no options are given.
    let link = unsafe {
        libbpf_sys::bpf_link_create(program.as_raw_fd(), interface, libbpf_sys::BPF_TCX_INGRESS, ptr::null())
    };
    if link < 0 {
        return Err(io::Error::from_raw_os_error(-link));
    }
    // SAFETY: the kernel has just made this descriptor for us.
    Ok(unsafe { OwnedFd::from_raw_fd(link) })
}
