//! ICMP messages that refuse our datagrams.

use std::net::IpAddr;

use etherparse::{Ipv4HeaderSlice, Ipv6HeaderSlice};

use super::Carriage;
use super::carriage::{TMUX, UDP};

/// Protocol numbers of ICMP itself.
const ICMP: u8 = 1;
const ICMPV6: u8 = 58;
/// Octets of ICMP's header, before the quoted packet.
const HEADER: usize = 8;

/// To whom a datagram was sent that an ICMP message refuses: the peer does not speak `TMux`, or a router forbids it. A message of
/// IPv4 has its IP header; one of IPv6 may have none.
pub(super) fn refused_peer(message: &[u8], carriage: Carriage) -> Option<IpAddr> {
    match message.first()? >> 4 {
        4 => {
            let ip = Ipv4HeaderSlice::from_slice(message).ok()?;
            let icmp = message.get(ip.slice().len()..)?;
            let (header, quoted) = icmp.split_at_checked(HEADER)?;
            (ip.protocol().0 == ICMP && is_refusal_v4(header[0], header[1])).then(|| quoted_v4(quoted, carriage))?
        }
        6 => {
            let ip = Ipv6HeaderSlice::from_slice(message).ok()?;
            let icmp = message.get(ip.slice().len()..)?;
            (ip.next_header().0 == ICMPV6).then(|| refused_v6(icmp, carriage))?
        }
        _ => refused_v6(message, carriage),
    }
}

fn refused_v6(icmp: &[u8], carriage: Carriage) -> Option<IpAddr> {
    let (header, quoted) = icmp.split_at_checked(HEADER)?;
    is_refusal_v6(header[0], header[1]).then(|| quoted_v6(quoted, carriage))?
}

/// Destination unreachable: protocol, port, or forbidden (RFC 792, RFC 1812 §5.2.7.1). Some filters say port for any protocol.
const fn is_refusal_v4(kind: u8, code: u8) -> bool {
    kind == 3 && matches!(code, 2 | 3 | 9 | 10 | 13)
}

/// Next header not recognized; or destination unreachable: forbidden, port, source or route rejected (RFC 4443 §3).
const fn is_refusal_v6(kind: u8, code: u8) -> bool {
    kind == 4 && code == 1 || kind == 1 && matches!(code, 1 | 4 | 5 | 6)
}

fn quoted_v4(quoted: &[u8], carriage: Carriage) -> Option<IpAddr> {
    let ip = Ipv4HeaderSlice::from_slice(quoted).ok()?;
    let payload = &quoted[ip.slice().len()..];
    is_ours(ip.protocol().0, payload, carriage).then(|| ip.destination_addr().into())
}

fn quoted_v6(quoted: &[u8], carriage: Carriage) -> Option<IpAddr> {
    let ip = Ipv6HeaderSlice::from_slice(quoted).ok()?;
    let payload = &quoted[ip.slice().len()..];
    is_ours(ip.next_header().0, payload, carriage).then(|| ip.destination_addr().into())
}

fn is_ours(protocol: u8, payload: &[u8], carriage: Carriage) -> bool {
    match carriage {
        Carriage::Ip => protocol == TMUX,
        Carriage::Udp { port } => {
            let [high, low] = port.to_be_bytes();
            protocol == UDP && payload.get(..4) == Some(&[high, low, high, low])
        }
    }
}
