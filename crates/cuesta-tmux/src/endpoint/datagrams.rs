//! Many datagrams in one system call. A file of its own because `recvmmsg` and `sendmmsg` are unsafe.
#![allow(unsafe_code)]

use std::fmt;
use std::io;
use std::mem::zeroed;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, AsRawFd};

use crate::wire::CommonHeader;

/// Datagrams of one call.
const BATCH: usize = 32;
/// The largest datagram that there is, after the kernel has reassembled it.
const LARGEST: usize = 65_536;
/// Room for the control messages of a datagram: its destination, its type of service.
const CONTROL: usize = 16;

/// Datagrams that were received by one call.
pub(crate) struct Received {
    octets: Vec<u8>,
    control: Box<[[u64; CONTROL]; BATCH]>,
    sources: Box<[libc::sockaddr_storage; BATCH]>,
    parts: Box<[libc::iovec; BATCH]>,
    headers: Box<[libc::mmsghdr; BATCH]>,
}

// SAFETY: all pointers are to what the structure itself owns on the heap.
unsafe impl Send for Received {}

impl fmt::Debug for Received {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "Received({BATCH})")
    }
}

impl Received {
    pub(crate) fn new() -> Self {
        // SAFETY: all zeroes are valid values of these structures.
        let (sources, parts, headers) = unsafe { (Box::new(zeroed()), Box::new(zeroed()), Box::new(zeroed())) };
        let control = Box::new([[0; CONTROL]; BATCH]);
        let mut this = Self { octets: vec![0; BATCH * LARGEST], control, sources, parts, headers };
        for (number, octets) in this.octets.chunks_exact_mut(LARGEST).enumerate() {
            this.parts[number] = libc::iovec { iov_base: octets.as_mut_ptr().cast(), iov_len: LARGEST };
        }
        this
    }

    /// Receives what waits, at most [`BATCH`] datagrams, and returns how many.
    pub(crate) fn receive(&mut self, socket: impl AsFd) -> io::Result<usize> {
        for number in 0..BATCH {
            let header = &mut self.headers[number].msg_hdr;
            header.msg_name = (&raw mut self.sources[number]).cast();
            header.msg_namelen = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
            header.msg_iov = &raw mut self.parts[number];
            header.msg_iovlen = 1;
            header.msg_control = self.control[number].as_mut_ptr().cast();
            header.msg_controllen = size_of_val(&self.control[number]);
        }
        let (socket, headers) = (socket.as_fd().as_raw_fd(), self.headers.as_mut_ptr());
        // SAFETY: the headers point to buffers with their true lengths, all of which outlive the call.
        let count =
            unsafe { libc::recvmmsg(socket, headers, BATCH as libc::c_uint, libc::MSG_DONTWAIT, std::ptr::null_mut()) };
        usize::try_from(count).map_err(|_| io::Error::last_os_error())
    }

    /// What one of the last call's datagrams contains, as far as the kind of socket gives it.
    pub(crate) fn octets(&self, number: usize) -> &[u8] {
        let length = (self.headers[number].msg_len as usize).min(LARGEST);
        &self.octets[number * LARGEST..][..length]
    }

    /// Whence and whither one of the last call's datagrams is; `None` if the socket was not asked to tell.
    pub(crate) fn header(&self, number: usize) -> Option<CommonHeader> {
        let message = &raw const self.headers[number].msg_hdr;
        let (mut destination, mut tos) = (None, 0);
        // SAFETY: the kernel has just filled in this message, whose control buffer is still live.
        let mut control = unsafe { libc::CMSG_FIRSTHDR(message) };
        while !control.is_null() {
            // SAFETY: the header is one that the kernel wrote, and these kinds of message hold these structures.
            unsafe {
                let data = libc::CMSG_DATA(control);
                match ((*control).cmsg_level, (*control).cmsg_type) {
                    (libc::SOL_IP, libc::IP_PKTINFO) => {
                        let info = data.cast::<libc::in_pktinfo>().read_unaligned();
                        destination = Some(ipv4(info.ipi_addr));
                    }
                    (libc::SOL_IPV6, libc::IPV6_PKTINFO) => {
                        let info = data.cast::<libc::in6_pktinfo>().read_unaligned();
                        destination = Some(ipv6(info.ipi6_addr));
                    }
                    (libc::SOL_IP, libc::IP_TOS) => tos = data.read(),
                    (libc::SOL_IPV6, libc::IPV6_TCLASS) => tos = data.cast::<libc::c_int>().read_unaligned() as u8,
                    _ => {}
                }
                control = libc::CMSG_NXTHDR(message, control);
            }
        }
        let (source, _) = address(&self.sources[number])?;
        Some(CommonHeader { source, destination: destination?, tos })
    }

    /// The port that one of the last call's datagrams is from; 0 if it has none.
    pub(crate) fn port(&self, number: usize) -> u16 {
        address(&self.sources[number]).map_or(0, |(_, port)| port)
    }
}

/// Datagrams that are sent by one call, each a whole IP packet.
#[derive(Debug, Default)]
pub(crate) struct Sending {
    octets: Vec<u8>,
    /// Where each packet ends, and where it goes.
    packets: Vec<(usize, IpAddr)>,
}

impl Sending {
    pub(crate) fn push(&mut self, packet: &[u8], to: IpAddr) {
        self.octets.extend_from_slice(packet);
        self.packets.push((self.octets.len(), to));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Whether it is time to send.
    pub(crate) fn is_full(&self) -> bool {
        self.packets.len() >= BATCH
    }

    /// Sends all packets by `socket`, in as many calls as it takes. Returns the number of calls. What the kernel refuses is
    /// dropped, as routers do, and given to `refused`.
    pub(crate) fn send(&mut self, socket: impl AsFd, mut refused: impl FnMut(io::Error, &[u8], IpAddr)) -> u64 {
        let (mut calls, mut done) = (0, 0);
        while done < self.packets.len() {
            calls += 1;
            match self.send_from(done, socket.as_fd().as_raw_fd()) {
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let (end, to) = self.packets[done];
                    refused(error, &self.octets[self.begin(done)..end], to);
                    done += 1;
                }
            }
        }
        self.packets.clear();
        self.octets.clear();
        calls
    }

    /// Where a packet begins.
    fn begin(&self, number: usize) -> usize {
        number.checked_sub(1).map_or(0, |before| self.packets[before].0)
    }

    /// Sends packets from number `first` on, and returns how many went.
    fn send_from(&self, first: usize, socket: libc::c_int) -> io::Result<usize> {
        // SAFETY: all zeroes are valid values of these structures.
        let (mut names, mut parts, mut headers): (
            [libc::sockaddr_in6; BATCH],
            [libc::iovec; BATCH],
            [libc::mmsghdr; BATCH],
        ) = unsafe { zeroed() };
        let packets = &self.packets[first..];
        let count = packets.len().min(BATCH);
        let mut begin = self.begin(first);
        for (number, (end, to)) in packets.iter().take(count).enumerate() {
            parts[number] = libc::iovec {
                iov_base: self.octets[begin..*end].as_ptr().cast_mut().cast(), // the kernel only reads it
                iov_len: end - begin,
            };
            let header = &mut headers[number].msg_hdr;
            header.msg_namelen = name(*to, &mut names[number]);
            header.msg_name = (&raw mut names[number]).cast();
            header.msg_iov = &raw mut parts[number];
            header.msg_iovlen = 1;
            begin = *end;
        }
        // SAFETY: `count` headers point to names and parts on this stack, and these to `octets`, with their true lengths.
        let sent = unsafe { libc::sendmmsg(socket, headers.as_mut_ptr(), count as libc::c_uint, libc::MSG_DONTWAIT) };
        usize::try_from(sent).map_err(|_| io::Error::last_os_error())
    }
}

/// Writes an address as the kernel takes it, without a port; returns its length.
fn name(address: IpAddr, into: &mut libc::sockaddr_in6) -> libc::socklen_t {
    match address {
        IpAddr::V4(address) => {
            let v4 = (&raw mut *into).cast::<libc::sockaddr_in>();
            // SAFETY: a `sockaddr_in6` has room for a `sockaddr_in`, and is aligned for it; all zeroes is a valid one.
            unsafe {
                (*v4).sin_family = libc::AF_INET as libc::sa_family_t;
                (*v4).sin_addr.s_addr = u32::from_ne_bytes(address.octets());
            }
            size_of::<libc::sockaddr_in>() as libc::socklen_t
        }
        IpAddr::V6(address) => {
            into.sin6_family = libc::AF_INET6 as libc::sa_family_t;
            into.sin6_addr.s6_addr = address.octets();
            size_of::<libc::sockaddr_in6>() as libc::socklen_t
        }
    }
}

fn address(name: &libc::sockaddr_storage) -> Option<(IpAddr, u16)> {
    let storage = &raw const *name;
    // SAFETY: a `sockaddr_storage` has room for either, and its family says which it is.
    unsafe {
        match libc::c_int::from(name.ss_family) {
            libc::AF_INET => {
                let name = &*storage.cast::<libc::sockaddr_in>();
                Some((ipv4(name.sin_addr), u16::from_be(name.sin_port)))
            }
            libc::AF_INET6 => {
                let name = &*storage.cast::<libc::sockaddr_in6>();
                Some((ipv6(name.sin6_addr), u16::from_be(name.sin6_port)))
            }
            _ => None,
        }
    }
}

fn ipv4(address: libc::in_addr) -> IpAddr {
    IpAddr::V4(Ipv4Addr::from(address.s_addr.to_ne_bytes()))
}

fn ipv6(address: libc::in6_addr) -> IpAddr {
    IpAddr::V6(Ipv6Addr::from(address.s6_addr))
}
