//! ICMP by which the agent, as a router would, tells this host's TCP that a segment was too large for the way to its peer.

use etherparse::icmpv4::DestUnreachableHeader;
use etherparse::{Icmpv4Type, Icmpv6Type, NetSlice, PacketBuilder, SlicedPacket, TransportSlice};

/// Octets of the segment that are quoted: TCP finds its connection by them (RFC 792).
const QUOTED: usize = 8;

/// What the destination of `packet` would say, if it is of TCP: it carries at most `mtu` octets.
pub(crate) fn too_big(packet: &[u8], mtu: usize) -> Option<Vec<u8>> {
    let sliced = SlicedPacket::from_ip(packet).ok()?;
    let Some(TransportSlice::Tcp(_)) = sliced.transport else { return None };
    let mut written = Vec::new();
    match sliced.net? {
        NetSlice::Ipv4(ip) => {
            let (ip, next_hop_mtu) = (ip.header(), u16::try_from(mtu).ok()?);
            let kind = DestUnreachableHeader::FragmentationNeeded { next_hop_mtu };
            PacketBuilder::ipv4(ip.destination(), ip.source(), 64)
                .icmpv4(Icmpv4Type::DestinationUnreachable(kind))
                .write(&mut written, packet.get(..ip.slice().len() + QUOTED)?)
                .ok()?;
        }
        NetSlice::Ipv6(ip) => {
            let (ip, mtu) = (ip.header(), u32::try_from(mtu).ok()?);
            PacketBuilder::ipv6(ip.destination(), ip.source(), 64)
                .icmpv6(Icmpv6Type::PacketTooBig { mtu })
                .write(&mut written, packet.get(..ip.slice().len() + QUOTED)?)
                .ok()?;
        }
        NetSlice::Arp(_) => return None,
    }
    Some(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_is_answered_to_its_sender_and_a_message_is_not() {
        let mut v4 = Vec::new();
        let tcp = PacketBuilder::ipv4([192, 0, 2, 1], [192, 0, 2, 2], 64).tcp(9, 23, 1, 1);
        tcp.write(&mut v4, &[0; 1456]).unwrap();
        let answer = too_big(&v4, 1400).unwrap();
        assert_eq!(answer[12..20], [192, 0, 2, 2, 192, 0, 2, 1]);
        assert_eq!((&answer[20..22], &answer[26..28], &answer[28..]), (&[3, 4][..], &[5, 120][..], &v4[..28]));
        v4[9] = 18;
        assert_eq!(too_big(&v4, 1400), None);
        let (mut v6, [us, peer]) = (Vec::new(), [[1; 16], [2; 16]]);
        PacketBuilder::ipv6(us, peer, 64).tcp(9, 23, 1, 1).write(&mut v6, &[0; 1436]).unwrap();
        let answer = too_big(&v6, 1400).unwrap();
        assert_eq!((&answer[8..24], &answer[24..40]), (&peer[..], &us[..]));
        assert_eq!((&answer[40..42], &answer[44..48], &answer[48..]), (&[2, 0][..], &[0, 0, 5, 120][..], &v6[..48]));
    }
}
