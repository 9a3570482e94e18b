//! What messages travel in: IP, as RFC 1692 says, or UDP, for paths that drop protocol 18 (ours).

use etherparse::UdpHeaderSlice;

use super::ip::{CommonHeader, Packet};

/// The protocol's number.
pub(super) const TMUX: u8 = 18;
pub(super) const TCP: u8 = 6;
pub(super) const UDP: u8 = 17;
const UDP_HEADER: usize = 8;

/// What messages travel in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Carriage {
    /// IP protocol 18 (RFC 1692).
    #[default]
    Ip,
    /// UDP from this port to this port: the payload is what would follow the IP header, and nothing at all is an ENQ (ours).
    Udp {
        /// The same at both ends.
        port: u16,
    },
}

impl Carriage {
    /// How many octets a message of one segment has more than the segment's own packet. The host's MTU towards peers must be
    /// this much below the path's.
    pub const fn overhead(self) -> usize {
        match self {
            Self::Ip => 4,
            Self::Udp { .. } => 4 + UDP_HEADER,
        }
    }

    /// Octets of the headers before a message.
    pub(super) const fn header_len(self, header: &CommonHeader) -> usize {
        match self {
            Self::Ip => header.len(),
            Self::Udp { .. } => header.len() + UDP_HEADER,
        }
    }

    /// Completes a datagram: writes the headers into the room at its start.
    pub(super) fn write_headers(self, header: &CommonHeader, datagram: &mut [u8]) {
        match self {
            Self::Ip => header.write(TMUX, datagram),
            Self::Udp { port } => {
                header.write(UDP, datagram);
                write_udp(header, port, &mut datagram[header.len()..]);
            }
        }
    }

    /// What a datagram carries: none if it is no message and no ENQ.
    pub(super) fn payload<'a>(self, packet: &Packet<'a>) -> Option<&'a [u8]> {
        match self {
            Self::Ip => (packet.protocol == TMUX).then_some(packet.payload),
            Self::Udp { port } => {
                let udp = UdpHeaderSlice::from_slice(packet.payload).ok()?;
                let ours = packet.protocol == UDP && is_between(port, &udp);
                packet.payload.get(UDP_HEADER..udp.length().into()).filter(|_| ours)
            }
        }
    }

    /// Whether a segment inside a message would be a message or an ENQ once more.
    pub(super) fn is_nested(self, protocol: u8, segment: &[u8]) -> bool {
        let between = |port| UdpHeaderSlice::from_slice(segment).is_ok_and(|udp| is_between(port, &udp));
        protocol == TMUX || matches!(self, Self::Udp { port } if protocol == UDP && between(port))
    }
}

/// Whether it comes from `port` and goes to it: from any other port it may be another program's, which has no privilege.
fn is_between(port: u16, udp: &UdpHeaderSlice<'_>) -> bool {
    udp.source_port() == port && udp.destination_port() == port
}

fn write_udp(header: &CommonHeader, port: u16, udp: &mut [u8]) {
    let len = udp.len() as u16;
    udp[..2].copy_from_slice(&port.to_be_bytes());
    udp[2..4].copy_from_slice(&port.to_be_bytes());
    udp[4..6].copy_from_slice(&len.to_be_bytes());
    udp[6..8].fill(0);
    let checksum = header.pseudo_header(UDP, len).add_slice(udp).to_ones_complement_with_no_zero();
    udp[6..8].copy_from_slice(&checksum.to_ne_bytes());
}

#[cfg(test)]
mod tests {
    use etherparse::{Ipv4Header, Ipv6Header, UdpHeader};

    use super::*;

    #[test]
    fn another_implementation_computes_the_same_checksum() {
        let carriage = Carriage::Udp { port: 1692 };
        for (source, destination) in [("192.0.2.1", "192.0.2.2"), ("2001:db8::1", "2001:db8::2")] {
            let header =
                CommonHeader { source: source.parse().unwrap(), destination: destination.parse().unwrap(), tos: 0 };
            let mut datagram = vec![0; carriage.header_len(&header)];
            datagram.extend_from_slice(b"odd");
            carriage.write_headers(&header, &mut datagram);
            let expected = if header.source.is_ipv4() {
                let (ip, _) = Ipv4Header::from_slice(&datagram).unwrap();
                UdpHeader::with_ipv4_checksum(1692, 1692, &ip, b"odd").unwrap()
            } else {
                let (ip, _) = Ipv6Header::from_slice(&datagram).unwrap();
                UdpHeader::with_ipv6_checksum(1692, 1692, &ip, b"odd").unwrap()
            };
            assert_eq!(datagram[header.len()..][..8], expected.to_bytes());
            assert_eq!(carriage.payload(&Packet::parse(&datagram).unwrap()), Some(&b"odd"[..]));
            assert_eq!(Carriage::Udp { port: 1 }.payload(&Packet::parse(&datagram).unwrap()), None);
            assert_eq!(Carriage::Ip.payload(&Packet::parse(&datagram).unwrap()), None);
            assert!(carriage.is_nested(UDP, &datagram[header.len()..]));
        }
    }
}
