//! IP headers, read and written.

use std::net::{IpAddr, Ipv6Addr};

use etherparse::checksum::Sum16BitWords;
use etherparse::{Ipv4HeaderSlice, Ipv6HeaderSlice};

/// TTL and hop limit of everything that is written here.
const TTL: u8 = 64;

/// What all segments of a message have in common: "H" of RFC 1692. The remaining fields are rebuilt: TTL 64, "do not fragment",
/// identification 0, flow label 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommonHeader {
    /// Who sends.
    pub source: IpAddr,
    /// To whom. If one of the two is IPv6, so is the header, and the other is mapped.
    pub destination: IpAddr,
    /// Type of service or traffic class, with its ECN bits.
    pub tos: u8,
}

/// A packet as its IP header describes it.
#[derive(Debug)]
pub(super) struct Packet<'a> {
    pub(super) header: CommonHeader,
    pub(super) protocol: u8,
    pub(super) payload: &'a [u8],
    /// It has IPv4 options.
    pub(super) has_options: bool,
    /// It is an IPv4 fragment. (A fragment of IPv6 has another protocol.)
    pub(super) is_fragment: bool,
}

impl<'a> Packet<'a> {
    /// Reads a whole packet. What comes after its own length is padding of the link.
    pub(super) fn parse(octets: &'a [u8]) -> Option<Self> {
        match octets.first()? >> 4 {
            4 => Self::parse_v4(octets),
            6 => Self::parse_v6(octets),
            _ => None,
        }
    }

    fn parse_v4(octets: &'a [u8]) -> Option<Self> {
        let ip = Ipv4HeaderSlice::from_slice(octets).ok()?;
        let header = CommonHeader {
            source: ip.source_addr().into(),
            destination: ip.destination_addr().into(),
            tos: ip.slice()[1],
        };
        Some(Self {
            header,
            protocol: ip.protocol().0,
            payload: octets.get(ip.slice().len()..ip.total_len().into())?,
            has_options: ip.ihl() > 5,
            is_fragment: ip.is_fragmenting_payload(),
        })
    }

    fn parse_v6(octets: &'a [u8]) -> Option<Self> {
        let ip = Ipv6HeaderSlice::from_slice(octets).ok()?;
        let header = CommonHeader {
            source: ip.source_addr().into(),
            destination: ip.destination_addr().into(),
            tos: ip.traffic_class(),
        };
        let start = ip.slice().len();
        Some(Self {
            header,
            protocol: ip.next_header().0,
            payload: octets.get(start..start + usize::from(ip.payload_length()))?,
            has_options: false,
            is_fragment: false,
        })
    }
}

impl CommonHeader {
    /// The header's octets.
    pub(super) const fn len(&self) -> usize {
        if self.is_v4() { 20 } else { 40 }
    }

    const fn is_v4(&self) -> bool {
        self.source.is_ipv4() && self.destination.is_ipv4()
    }

    /// Writes the header of `packet` into the room at its start.
    pub(super) fn write(&self, protocol: u8, packet: &mut [u8]) {
        match (self.source, self.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                let [high, low] = (packet.len() as u16).to_be_bytes();
                packet[..12].copy_from_slice(&[0x45, self.tos, high, low, 0, 0, 0x40, 0, TTL, protocol, 0, 0]);
                packet[12..16].copy_from_slice(&source.octets());
                packet[16..20].copy_from_slice(&destination.octets());
                let checksum = Sum16BitWords::new().add_slice(&packet[..20]).ones_complement();
                packet[10..12].copy_from_slice(&checksum.to_ne_bytes());
            }
            (source, destination) => {
                let [high, low] = ((packet.len() - 40) as u16).to_be_bytes();
                packet[..8].copy_from_slice(&[0x60 | self.tos >> 4, self.tos << 4, 0, 0, high, low, protocol, TTL]);
                packet[8..24].copy_from_slice(&v6(source).octets());
                packet[24..40].copy_from_slice(&v6(destination).octets());
            }
        }
    }

    /// The part of transport checksums that covers the addresses, the protocol and the length (RFC 768, RFC 8200 §8.1).
    pub(super) fn pseudo_header(&self, protocol: u8, len: u16) -> Sum16BitWords {
        let sum = Sum16BitWords::new().add_2bytes([0, protocol]).add_2bytes(len.to_be_bytes());
        match (self.source, self.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                sum.add_slice(&source.octets()).add_slice(&destination.octets())
            }
            (source, destination) => sum.add_slice(&v6(source).octets()).add_slice(&v6(destination).octets()),
        }
    }
}

fn v6(address: IpAddr) -> Ipv6Addr {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    }
}

#[cfg(test)]
mod tests {
    use etherparse::{Ipv4Header, Ipv6Header};

    use super::*;

    fn header(source: &str, destination: &str) -> CommonHeader {
        CommonHeader { source: source.parse().unwrap(), destination: destination.parse().unwrap(), tos: 0xb9 }
    }

    #[test]
    fn a_header_is_read_as_it_was_written() {
        for header in [header("192.0.2.1", "192.0.2.2"), header("2001:db8::1", "2001:db8::2")] {
            let mut octets = vec![0; header.len()];
            octets.extend_from_slice(b"abc");
            header.write(6, &mut octets);
            octets.extend_from_slice(b"padding");
            let packet = Packet::parse(&octets).unwrap();
            assert_eq!((packet.header, packet.protocol, packet.payload), (header, 6, &b"abc"[..]));
            assert!(!packet.has_options && !packet.is_fragment);
        }
    }

    #[test]
    fn another_implementation_reads_the_same() {
        let mut octets = [0; 24];
        header("192.0.2.1", "192.0.2.2").write(18, &mut octets);
        let (v4, rest) = Ipv4Header::from_slice(&octets).unwrap();
        assert_eq!(v4.header_checksum, v4.calc_header_checksum());
        assert_eq!((v4.time_to_live, v4.dont_fragment, v4.identification, v4.total_len), (64, true, 0, 24));
        assert_eq!((v4.dscp.value(), v4.ecn.value(), rest), (0x2e, 1, &[0; 4][..]));

        let mut octets = [0; 44];
        header("2001:db8::1", "2001:db8::2").write(18, &mut octets);
        let (v6, _) = Ipv6Header::from_slice(&octets).unwrap();
        assert_eq!((v6.hop_limit, v6.payload_length, v6.traffic_class, v6.next_header.0), (64, 4, 0xb9, 18));
        assert_eq!((v6.flow_label.value(), v6.source_addr().to_string().as_str()), (0, "2001:db8::1"));
    }

    #[test]
    fn a_header_of_mixed_versions_is_one_of_ipv6() {
        let header = header("192.0.2.1", "2001:db8::2");
        let mut octets = vec![0; header.len()];
        header.write(6, &mut octets);
        assert_eq!(Packet::parse(&octets).unwrap().header.source.to_string(), "::ffff:192.0.2.1");
    }

    #[test]
    fn no_part_of_a_packet_is_a_packet() {
        for header in [header("192.0.2.1", "192.0.2.2"), header("2001:db8::1", "2001:db8::2")] {
            let mut octets = vec![0; header.len() + 9];
            header.write(6, &mut octets);
            assert!((0..octets.len()).all(|len| Packet::parse(&octets[..len]).is_none()));
        }
    }
}
