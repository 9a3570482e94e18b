//! Transport segments: which ones are multiplexed, and which ones are accepted.

use etherparse::{TcpHeaderSlice, UdpHeaderSlice};

use super::carriage::{TCP, UDP};
use super::counters::{DroppedInput, PlainReasons};
use super::ip::Packet;
use super::settings::is_unicast;
use super::{Carriage, Settings};

/// A transport header and what follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment<'a> {
    pub(super) protocol: u8,
    pub(super) octets: &'a [u8],
}

/// What the transport header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Transport {
    pub(super) ports: [u16; 2],
    /// It opens a connection.
    pub(super) is_syn: bool,
    /// SYN, FIN, RST or URG: a wait would be felt at every login and logout, and by whoever interrupts a program.
    pub(super) is_urgent: bool,
    /// The other end must acknowledge it.
    pub(super) needs_answer: bool,
}

impl Segment<'_> {
    /// What the transport header says; none if its lengths are wrong, or it is neither TCP nor UDP.
    pub(super) fn transport(&self) -> Option<Transport> {
        match self.protocol {
            TCP => {
                let tcp = TcpHeaderSlice::from_slice(self.octets).ok()?;
                Some(Transport {
                    ports: [tcp.source_port(), tcp.destination_port()],
                    is_syn: tcp.syn(),
                    is_urgent: tcp.syn() || tcp.fin() || tcp.rst() || tcp.urg(),
                    needs_answer: tcp.syn() || tcp.fin() || self.octets.len() > tcp.slice().len(),
                })
            }
            UDP => {
                let udp = UdpHeaderSlice::from_slice(self.octets).ok()?;
                let ports = [udp.source_port(), udp.destination_port()];
                let right = (8..=self.octets.len()).contains(&udp.length().into());
                right.then_some(Transport { ports, is_syn: false, is_urgent: false, needs_answer: false })
            }
            _ => None,
        }
    }
}

/// The segment of a packet of this host, if packets of its kind are multiplexed. Otherwise the reason is counted.
pub(super) fn to_multiplex<'a>(
    packet: &Packet<'a>,
    settings: &Settings,
    reasons: &mut PlainReasons,
) -> Option<(Segment<'a>, Transport)> {
    let segment = Segment { protocol: packet.protocol, octets: packet.payload };
    let transport = segment.transport();
    let reason = if !is_unicast(packet.header.destination) {
        &mut reasons.not_unicast
    } else if packet.has_options {
        &mut reasons.options
    } else if packet.is_fragment {
        &mut reasons.fragment
    } else if !settings.multiplexes(packet.protocol) {
        &mut reasons.protocol
    } else if transport.is_none() {
        &mut reasons.transport
    } else if transport.is_some_and(|transport| !settings.names_one_of(transport.ports)) {
        &mut reasons.port
    } else {
        return Some((segment, transport?));
    };
    *reason += 1;
    None
}

/// The transport header of a segment of a peer's message that is given to this host. Otherwise the reason is counted. What may be
/// multiplexed is the sender's choice: if it were this host's too, and the two differed, segments would be lost without a trace.
pub(super) fn acceptable(segment: &Segment<'_>, carriage: Carriage, dropped: &mut DroppedInput) -> Option<Transport> {
    let transport = segment.transport();
    let reason = if carriage.is_nested(segment.protocol, segment.octets) {
        &mut dropped.nested
    } else if !matches!(segment.protocol, TCP | UDP) {
        &mut dropped.segment_protocol
    } else if transport.is_none() {
        &mut dropped.transport
    } else {
        return transport;
    };
    *reason += 1;
    None
}

impl Settings {
    const fn multiplexes(&self, protocol: u8) -> bool {
        protocol == TCP || protocol == UDP && self.udp
    }

    fn names_one_of(&self, ports: [u16; 2]) -> bool {
        self.ports.is_empty() || ports.iter().any(|port| self.ports.contains(port))
    }
}
