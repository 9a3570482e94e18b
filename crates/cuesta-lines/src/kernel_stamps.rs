//! Instants at which the kernel received and sent packets, by its own clock (`SO_TIMESTAMPING`). The code is in its own file
//! because it is unsafe: no safe crate reads these control messages.
//!
//! Send stamps come back through the socket's error queue, and each makes an error event. tokio takes such an event for the end
//! of the write side and reports the socket writable from then on, so waiting for readiness would spin. A stamped line whose
//! buffer is full therefore tries again after a millisecond. Reading is not affected.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use cuesta_record::Stamp;
use cuesta_record::clock::{self, Sleep};
use tokio::io::Interest;
use tokio::net::TcpStream;

use crate::StampPair;

/// Pause before a full stamped line tries to write again.
const RETRY_PAUSE: Duration = Duration::from_millis(1);

/// The state of a stamped connection.
#[derive(Debug)]
pub(crate) struct KernelStamps {
    /// Bytes sent, modulo 2³², which is how the kernel numbers them.
    sent: u32,
    /// When we wrote the last of them.
    written: Stamp,
    /// The number of the byte that was stamped last, and its stamp.
    last: Option<(u32, u64)>,
    retry: Sleep,
}

impl KernelStamps {
    /// Turns stamps on for `stream`, on which nothing may have been sent yet.
    pub(crate) fn new(stream: &TcpStream) -> io::Result<Self> {
        let flags = libc::SOF_TIMESTAMPING_RX_SOFTWARE
            | libc::SOF_TIMESTAMPING_TX_SOFTWARE
            | libc::SOF_TIMESTAMPING_SOFTWARE
            | libc::SOF_TIMESTAMPING_OPT_ID
            | libc::SOF_TIMESTAMPING_OPT_TSONLY;
        // SAFETY: the value is a c_uint that outlives the call, and its size is given.
        let done = unsafe {
            libc::setsockopt(
                stream.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_TIMESTAMPING,
                (&raw const flags).cast(),
                size_of_val(&flags) as libc::socklen_t,
            )
        };
        if done < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { sent: 0, written: Stamp::ZERO, last: None, retry: clock::sleep_until(Stamp::ZERO) })
    }

    /// Sends as much as the kernel takes.
    pub(crate) fn poll_send(
        &mut self,
        stream: &TcpStream,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        // Stamps in the error queue take room from the receive buffer.
        self.collect(stream);
        loop {
            let now = clock::now();
            match stream.try_write(bytes) {
                Ok(len) => {
                    self.written = now;
                    self.sent = self.sent.wrapping_add(len as u32);
                    return Poll::Ready(Ok(len));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
            if now >= self.retry.due() {
                self.retry.reset(now + RETRY_PAUSE);
            }
            ready!(Pin::new(&mut self.retry).poll(cx));
        }
    }

    /// When the last byte was sent; `None` until the kernel has stamped it.
    pub(crate) fn sent(&mut self, stream: &TcpStream) -> Option<StampPair> {
        self.collect(stream);
        let (number, kernel) = self.last?;
        (number == self.sent.wrapping_sub(1)).then_some(StampPair { ours: self.written, kernel })
    }

    /// Empties the error queue. Never fails: reading returns the error of a broken line.
    fn collect(&mut self, stream: &TcpStream) {
        while let Ok(messages) = receive(stream.as_raw_fd(), &mut [], libc::MSG_ERRQUEUE) {
            self.last = messages.number.zip(messages.at).or(self.last);
        }
    }
}

/// Reads. Returns the length and the instant at which the kernel received the last byte.
pub(crate) fn poll_receive(
    stream: &TcpStream,
    cx: &mut Context<'_>,
    into: &mut [u8],
) -> Poll<io::Result<(usize, Option<u64>)>> {
    loop {
        ready!(stream.poll_read_ready(cx))?;
        match stream.try_io(Interest::READABLE, || receive(stream.as_raw_fd(), into, 0)) {
            Ok(messages) => return Poll::Ready(Ok((messages.len, messages.at))),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Poll::Ready(Err(error)),
        }
    }
}

/// The result of one `recvmsg`.
#[derive(Debug, Default)]
struct ControlMessages {
    len: usize,
    /// Nanoseconds since 1970.
    at: Option<u64>,
    /// The number of the byte that a send stamp is for.
    number: Option<u32>,
}

/// `recvmsg` with its control messages.
fn receive(fd: RawFd, into: &mut [u8], flags: libc::c_int) -> io::Result<ControlMessages> {
    let mut control = [0_u64; 32];
    let mut part = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    // SAFETY: all zeroes is a valid msghdr.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control);
    // SAFETY: the message points to `part` and `control`, both live and writable, with their true lengths.
    let len = unsafe { libc::recvmsg(fd, &raw mut message, flags | libc::MSG_DONTWAIT) };
    let len = usize::try_from(len).map_err(|_| io::Error::last_os_error())?;
    let mut messages = ControlMessages { len, ..ControlMessages::default() };
    // SAFETY: the kernel has just filled in this message, whose control buffer is still live.
    let mut header = unsafe { libc::CMSG_FIRSTHDR(&raw const message) };
    while !header.is_null() {
        // SAFETY: the header is one that the kernel wrote; `note` reads no more than its kind of message holds.
        unsafe {
            read_message(header, &mut messages);
            header = libc::CMSG_NXTHDR(&raw const message, header);
        }
    }
    Ok(messages)
}

/// Reads the stamp and the byte number from one control message.
///
/// # Safety
/// `header` is a control message that the kernel wrote.
unsafe fn read_message(header: *const libc::cmsghdr, messages: &mut ControlMessages) {
    // SAFETY: by the contract above the header can be read, and these kinds of message begin with these structures;
    // the reads do not rely on alignment.
    unsafe {
        let data = libc::CMSG_DATA(header);
        match ((*header).cmsg_level, (*header).cmsg_type) {
            (libc::SOL_SOCKET, libc::SO_TIMESTAMPING) => {
                messages.at = nanos(data.cast::<libc::timespec>().read_unaligned());
            }
            (libc::SOL_IP, libc::IP_RECVERR) | (libc::SOL_IPV6, libc::IPV6_RECVERR) => {
                let error = data.cast::<libc::sock_extended_err>().read_unaligned();
                messages.number = (error.ee_origin == libc::SO_EE_ORIGIN_TIMESTAMPING).then_some(error.ee_data);
            }
            _ => {}
        }
    }
}

/// Nanoseconds since 1970; `None` if there is no such stamp.
fn nanos(time: libc::timespec) -> Option<u64> {
    let seconds = u64::try_from(time.tv_sec).ok().filter(|seconds| *seconds > 0)?;
    Some(seconds * 1_000_000_000 + u64::try_from(time.tv_nsec).ok()?)
}
