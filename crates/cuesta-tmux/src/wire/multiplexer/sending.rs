//! The sender: collects segments of this host into messages, and sends what may not wait.

use std::net::IpAddr;

use cuesta_record::Stamp;

use super::{Multiplexer, Output, find};
use crate::wire::assembly::Message;
use crate::wire::ip::Packet;
use crate::wire::segment::{Segment, Transport, to_multiplex};
use crate::wire::{CommonHeader, Counters, SendCauses};

impl Multiplexer {
    /// Takes an IP packet that this host sends.
    pub fn send(&mut self, packet: &[u8], now: Stamp, output: &mut impl Output) {
        self.note_clock(now);
        let Some(ip) = Packet::parse(packet) else {
            self.counters.refused.unreadable += 1;
            return;
        };
        if self.settings.carriage.payload(&ip).is_some() {
            self.counters.refused.looped += 1;
            return;
        }
        let Some((segment, transport)) = to_multiplex(&ip, &self.settings, &mut self.counters.plain) else {
            return output.to_network(packet);
        };
        if let Some(mtu) = self.room_in_message(&ip.header, &segment, now) {
            self.add(ip.header, &segment, transport, mtu, now, output);
        } else {
            // What waits for the same host must not be overtaken.
            self.flush_peer(ip.header.destination, |causes| &mut causes.plain, now, output);
            output.to_network(packet);
        }
    }

    /// The largest message to the destination, if this segment is multiplexed now. Otherwise the reason is counted.
    fn room_in_message(&mut self, header: &CommonHeader, segment: &Segment<'_>, now: Stamp) -> Option<usize> {
        let Counters { plain, changes, .. } = &mut self.counters;
        let Some(peer) = find(&mut self.peers, header.destination) else {
            plain.not_a_peer += 1;
            return None;
        };
        let mtu = peer.path_mtu.at(now);
        let reason = if !self.assembly.can_hold(header, segment.octets.len(), mtu) {
            &mut plain.over_mtu
        } else if self.settings.rfc_bypass && segment.octets.len() > self.settings.max_mpx {
            &mut plain.large
        } else if !peer.is_local(header.source) {
            &mut plain.other_source
        } else if !peer.takes_segment(now, &mut self.random, changes) {
            &mut plain.peer_unable
        } else {
            return Some(mtu);
        };
        *reason += 1;
        None
    }

    /// Adds a segment to its message, and sends what may not wait.
    fn add(
        &mut self,
        header: CommonHeader,
        segment: &Segment<'_>,
        transport: Transport,
        mtu: usize,
        now: Stamp,
        output: &mut impl Output,
    ) {
        if let Some(full) = self.assembly.take_full(&header, segment.octets.len(), mtu) {
            self.send_message(full, |causes| &mut causes.full, now, output);
        }
        let full = self.assembly.add(header, segment, transport, mtu, now);
        if transport.is_urgent {
            self.flush_peer(header.destination, |causes| &mut causes.urgent, now, output);
        } else if segment.octets.len() > self.settings.max_mpx {
            self.flush_peer(header.destination, |causes| &mut causes.large, now, output);
        } else if full && let Some(message) = self.assembly.take_next(|other| *other == header) {
            self.send_message(message, |causes| &mut causes.full, now, output);
        }
    }

    fn flush_peer(
        &mut self,
        peer: IpAddr,
        cause: fn(&mut SendCauses) -> &mut u64,
        now: Stamp,
        output: &mut impl Output,
    ) {
        while let Some(message) = self.assembly.take_next(|header| header.destination == peer) {
            self.send_message(message, cause, now, output);
        }
    }

    pub(super) fn flush_all(&mut self, cause: fn(&mut SendCauses) -> &mut u64, now: Stamp, output: &mut impl Output) {
        while let Some(message) = self.assembly.take_next(|_| true) {
            self.send_message(message, cause, now, output);
        }
    }

    fn send_message(
        &mut self,
        mut message: Message,
        cause: fn(&mut SendCauses) -> &mut u64,
        now: Stamp,
        output: &mut impl Output,
    ) {
        let datagram = message.complete(self.settings.carriage);
        self.counters.messages.sent += 1;
        self.counters.octets.sent += datagram.len() as u64;
        output.to_network(datagram);
        self.counters.segments.sent += message.segments() as u64;
        self.counters.segments_per_message.record(message.segments() as u64);
        message.waits(now).for_each(|wait| self.counters.held.record(wait));
        *cause(&mut self.counters.sent_because) += 1;
        if let Some(peer) = find(&mut self.peers, message.header.destination) {
            peer.sent_message(message.needs_answer, now);
        }
        self.assembly.recycle(message);
    }
}
