//! ICMP messages that refuse our datagrams.

use std::net::IpAddr;

use etherparse::{Ipv4HeaderSlice, Ipv6HeaderSlice};

use super::Carriage;
use super::carriage::{TMUX, UDP};
use super::path_mtu::usual_mtu_below;

/// Protocol numbers of ICMP itself.
const ICMP: u8 = 1;
const ICMPV6: u8 = 58;
/// Octets of ICMP's header, before the quoted packet.
const HEADER: usize = 8;

/// Why a datagram was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The peer does not speak `TMux`, or a router forbids it.
    Unable,
    /// The path carries at most `mtu` octets.
    TooLarge { mtu: usize },
}

/// To whom a datagram was sent that an ICMP message refuses, and why. A message of IPv4 has its IP header; one of IPv6 may have none.
pub(super) fn refusal(message: &[u8], carriage: Carriage) -> Option<(IpAddr, Refusal)> {
    match message.first()? >> 4 {
        4 => {
            let ip = Ipv4HeaderSlice::from_slice(message).ok()?;
            let icmp = message.get(ip.slice().len()..)?;
            (ip.protocol().0 == ICMP).then(|| refused_v4(icmp, carriage))?
        }
        6 => {
            let ip = Ipv6HeaderSlice::from_slice(message).ok()?;
            let icmp = message.get(ip.slice().len()..)?;
            (ip.next_header().0 == ICMPV6).then(|| refused_v6(icmp, carriage))?
        }
        _ => refused_v6(message, carriage),
    }
}

/// Destination unreachable: too large (RFC 1191); protocol, port, or forbidden (RFC 792, RFC 1812 §5.2.7.1). Some filters say port
/// for any protocol.
fn refused_v4(icmp: &[u8], carriage: Carriage) -> Option<(IpAddr, Refusal)> {
    let (header, quoted) = icmp.split_at_checked(HEADER)?;
    let ip = Ipv4HeaderSlice::from_slice(quoted).ok()?;
    let refusal = match (header[0], header[1]) {
        (3, 4) => {
            let told = usize::from(u16::from_be_bytes([header[6], header[7]]));
            Refusal::TooLarge { mtu: if told == 0 { usual_mtu_below(ip.total_len().into()) } else { told } }
        }
        (3, 2 | 3 | 9 | 10 | 13) => Refusal::Unable,
        _ => return None,
    };
    let payload = &quoted[ip.slice().len()..];
    is_ours(ip.protocol().0, payload, carriage).then(|| (ip.destination_addr().into(), refusal))
}

/// Too large; next header not recognized; or destination unreachable: forbidden, port, source or route rejected (RFC 4443 §3).
fn refused_v6(icmp: &[u8], carriage: Carriage) -> Option<(IpAddr, Refusal)> {
    let (header, quoted) = icmp.split_at_checked(HEADER)?;
    let refusal = match (header[0], header[1]) {
        (2, _) => Refusal::TooLarge { mtu: u32::from_be_bytes([header[4], header[5], header[6], header[7]]) as usize },
        (4, 1) | (1, 1 | 4 | 5 | 6) => Refusal::Unable,
        _ => return None,
    };
    let ip = Ipv6HeaderSlice::from_slice(quoted).ok()?;
    let payload = &quoted[ip.slice().len()..];
    is_ours(ip.next_header().0, payload, carriage).then(|| (ip.destination_addr().into(), refusal))
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
