//! The sockets of one version of IP: they move whole packets to the network, and datagrams of TMux from it.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::net::RecvFlags;
use socket2::{Domain, Protocol, Socket, Type};

use super::routing::MARK;
use super::{EndpointError, EndpointSpec, options};

/// TMux's number (RFC 1692).
const TMUX: i32 = 18;
/// Octets that may wait in each socket.
const BUFFER: i32 = 4 << 20;

/// The sockets of one version of IP.
#[derive(Debug)]
pub(crate) struct Sockets {
    is_v4: bool,
    raw: Socket,
    /// What messages in UDP arrive at.
    udp: Option<Socket>,
    icmp: Socket,
}

impl Sockets {
    pub(crate) fn open(spec: &EndpointSpec, is_v4: bool) -> Result<Self, EndpointError> {
        let raw = raw(spec, is_v4).map_err(EndpointError::system("opening a raw socket"))?;
        let icmp = icmp(is_v4).map_err(EndpointError::system("opening a raw socket for ICMP"))?;
        let udp = spec.udp_port.map(|port| udp(spec, is_v4, port)).transpose();
        let udp = udp.map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => {
                EndpointError::setting("udp_port", "another program uses it", "give the same free port on both hosts")
            }
            _ => EndpointError::system("opening a UDP socket")(error),
        })?;
        Ok(Self { is_v4, raw, udp, icmp })
    }

    /// Where datagrams of TMux arrive.
    pub(crate) fn incoming(&self) -> BorrowedFd<'_> {
        self.udp.as_ref().unwrap_or(&self.raw).as_fd()
    }

    /// Whether datagrams arrive with their IP headers.
    pub(crate) fn gives_headers(&self) -> bool {
        self.is_v4 && self.udp.is_none()
    }

    /// Where packets are sent, with their IP headers.
    pub(crate) fn outgoing(&self) -> BorrowedFd<'_> {
        self.raw.as_fd()
    }

    /// Where ICMP arrives.
    pub(crate) fn icmp(&self) -> BorrowedFd<'_> {
        self.icmp.as_fd()
    }

    /// Reads a message of ICMP.
    pub(crate) fn receive_icmp(&self, into: &mut [u8]) -> io::Result<usize> {
        let (length, _) = rustix::net::recv(&self.icmp, into, RecvFlags::DONTWAIT)?;
        Ok(length)
    }

    /// Datagrams that the kernel dropped because too many waited, since the start.
    pub(crate) fn drops(&self) -> u64 {
        options::drops(self.incoming())
    }
}

fn domain(is_v4: bool) -> Domain {
    if is_v4 { Domain::IPV4 } else { Domain::IPV6 }
}

/// With messages in UDP it only sends.
fn raw(spec: &EndpointSpec, is_v4: bool) -> io::Result<Socket> {
    let protocol = if spec.udp_port.is_none() { TMUX } else { libc::IPPROTO_RAW };
    let socket = Socket::new(domain(is_v4), Type::RAW, Some(Protocol::from(protocol)))?;
    if is_v4 {
        socket.set_header_included_v4(true)?;
    } else {
        socket.set_header_included_v6(true)?;
    }
    configured(socket, spec, is_v4)
}

fn udp(spec: &EndpointSpec, is_v4: bool, port: u16) -> io::Result<Socket> {
    let socket = Socket::new(domain(is_v4), Type::DGRAM, Some(Protocol::UDP))?;
    let any = if is_v4 { IpAddr::V4(Ipv4Addr::UNSPECIFIED) } else { IpAddr::V6(Ipv6Addr::UNSPECIFIED) };
    if is_v4 {
        socket.set_recv_tos_v4(true)?;
    } else {
        socket.set_only_v6(true)?;
    }
    let socket = configured(socket, spec, is_v4)?;
    socket.bind(&SocketAddr::from((any, port)).into())?;
    Ok(socket)
}

/// What a raw and a UDP socket have in common.
fn configured(socket: Socket, spec: &EndpointSpec, is_v4: bool) -> io::Result<Socket> {
    socket.set_nonblocking(true)?;
    socket.set_mark(MARK)?;
    options::set_buffers(&socket, BUFFER)?;
    options::tell_destinations(&socket, is_v4)?;
    if !is_v4 {
        socket.set_recv_tclass_v6(true)?;
    }
    if let Some(interface) = &spec.interface {
        socket.bind_device(Some(interface.as_bytes()))?;
    }
    Ok(socket)
}

fn icmp(is_v4: bool) -> io::Result<Socket> {
    let protocol = if is_v4 { Protocol::ICMPV4 } else { Protocol::ICMPV6 };
    let socket = Socket::new(domain(is_v4), Type::RAW, Some(protocol))?;
    socket.set_nonblocking(true)?;
    options::filter_icmp(&socket, is_v4)?;
    Ok(socket)
}
