//! What the kernel knows of a TCP socket. A file of its own because no safe crate asks for it.
#![allow(unsafe_code)]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd};

/// The state of a connection that is over (`linux/tcp.h`).
const TCP_CLOSE: u8 = 7;
/// Numbers of `SO_MEMINFO`, and which of them say how much a socket has received, may send and has queued (`linux/sock_diag.h`).
const MEMORY_NUMBERS: usize = 9;
const MEMORY_RMEM_ALLOC: usize = 0;
const MEMORY_SNDBUF: usize = 3;
const MEMORY_QUEUED: usize = 5;

/// A TCP connection, as its kernel sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpInfo {
    /// Bytes that arrived.
    pub received: u64,
    /// Bytes that were written, sent or not.
    pub written: u64,
    /// Those of them that were not sent yet.
    pub(crate) unsent: u32,
    /// Segments with data that arrived.
    pub data_segments_in: u32,
    /// Segments without data that were sent: acknowledgements.
    pub bare_segments_out: u32,
    /// It is over, both ways.
    pub is_over: bool,
}

/// The memory of a socket, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Memory {
    /// What was received and is not read takes.
    pub(crate) received: u32,
    /// What was written and is not acknowledged takes.
    pub(crate) queued: u32,
    /// It may take.
    pub(crate) limit: u32,
}

/// Asks the kernel about a TCP socket.
///
/// # Errors
/// When it is none.
pub fn tcp_info(socket: &impl AsFd) -> io::Result<TcpInfo> {
    // SAFETY: any bytes are a `tcp_info`.
    let info: libc::tcp_info = unsafe { option(socket, libc::IPPROTO_TCP, libc::TCP_INFO) }?;
    Ok(TcpInfo {
        received: info.tcpi_bytes_received,
        written: info.tcpi_bytes_sent.saturating_sub(info.tcpi_bytes_retrans) + u64::from(info.tcpi_notsent_bytes),
        unsent: info.tcpi_notsent_bytes,
        data_segments_in: info.tcpi_data_segs_in,
        bare_segments_out: info.tcpi_segs_out.wrapping_sub(info.tcpi_data_segs_out),
        is_over: info.tcpi_state == TCP_CLOSE,
    })
}

/// Asks the kernel about a socket's memory.
pub(crate) fn memory(socket: &impl AsFd) -> io::Result<Memory> {
    // SAFETY: any bytes are numbers.
    let numbers: [u32; MEMORY_NUMBERS] = unsafe { option(socket, libc::SOL_SOCKET, libc::SO_MEMINFO) }?;
    let [received, queued, limit] = [MEMORY_RMEM_ALLOC, MEMORY_QUEUED, MEMORY_SNDBUF].map(|number| numbers[number]);
    Ok(Memory { received, queued, limit })
}

/// Reads an option of a socket.
///
/// # Safety
/// Any bytes must be a `T`.
unsafe fn option<T>(socket: &impl AsFd, level: libc::c_int, name: libc::c_int) -> io::Result<T> {
    let mut value = MaybeUninit::<T>::zeroed();
    let mut len = libc::socklen_t::try_from(size_of::<T>()).unwrap_or_default();
    let socket = socket.as_fd().as_raw_fd();
    // SAFETY: the kernel writes at most `len` bytes.
    if unsafe { libc::getsockopt(socket, level, name, value.as_mut_ptr().cast(), &raw mut len) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: by the caller's promise.
    Ok(unsafe { value.assume_init() })
}
