//! Options of sockets that no safe crate sets. A file of its own because `setsockopt` and `getsockopt` are unsafe.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use libc::c_int;

/// Of `include/uapi/linux/icmp.h`.
const ICMP_FILTER: c_int = 1;
/// Of `include/uapi/linux/icmpv6.h`.
const ICMPV6_FILTER: c_int = 1;
const DESTINATION_UNREACHABLE_V4: u32 = 3;
const DESTINATION_UNREACHABLE_V6: u32 = 1;
const TOO_BIG_V6: u32 = 2;
const PARAMETER_PROBLEM_V6: u32 = 4;
/// The place of the dropped packets in `SO_MEMINFO`'s counts (`include/uapi/linux/sock_diag.h`).
const DROPS: usize = 8;

/// Octets that may wait in a socket, each way, above the limit for all users: datagrams of many users come together.
pub(crate) fn set_buffers(socket: impl AsFd, octets: c_int) -> io::Result<()> {
    set(&socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &octets)?;
    set(&socket, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &octets)
}

/// Has each datagram tell the address that it was sent to.
pub(crate) fn tell_destinations(socket: impl AsFd, is_v4: bool) -> io::Result<()> {
    let (level, name) = if is_v4 { (libc::SOL_IP, libc::IP_PKTINFO) } else { (libc::SOL_IPV6, libc::IPV6_RECVPKTINFO) };
    set(socket, level, name, &1)
}

/// Receives of ICMP only what can be a refusal: a destination is unreachable; of IPv6 also that a packet is too big, and that a
/// header has a problem, which is what hosts say of a protocol that they do not know.
pub(crate) fn filter_icmp(socket: impl AsFd, is_v4: bool) -> io::Result<()> {
    if is_v4 {
        return set(socket, libc::SOL_RAW, ICMP_FILTER, &!(1_u32 << DESTINATION_UNREACHABLE_V4));
    }
    let mut blocked = [u32::MAX; 8];
    blocked[0] = !(1 << DESTINATION_UNREACHABLE_V6 | 1 << TOO_BIG_V6 | 1 << PARAMETER_PROBLEM_V6);
    set(socket, libc::IPPROTO_ICMPV6, ICMPV6_FILTER, &blocked)
}

/// Datagrams that the kernel dropped because the socket's buffer was full, since it was opened.
pub(crate) fn drops(socket: impl AsFd) -> u64 {
    let mut counts = [0_u32; DROPS + 1];
    let mut size = size_of_val(&counts) as libc::socklen_t;
    let socket = socket.as_fd().as_raw_fd();
    // SAFETY: the kernel writes at most `size` octets to `counts`, which outlives the call.
    let done = unsafe {
        libc::getsockopt(socket, libc::SOL_SOCKET, libc::SO_MEMINFO, counts.as_mut_ptr().cast(), &raw mut size)
    };
    if done < 0 { 0 } else { u64::from(counts[DROPS]) }
}

fn set<T>(socket: impl AsFd, level: c_int, name: c_int, value: &T) -> io::Result<()> {
    let size = size_of::<T>() as libc::socklen_t;
    let value = std::ptr::from_ref(value).cast();
    // SAFETY: the kernel reads `size` octets of a value that outlives the call.
    let done = unsafe { libc::setsockopt(socket.as_fd().as_raw_fd(), level, name, value, size) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
