//! The receiver: takes messages apart, and notes what is heard of peers.

use std::net::IpAddr;

use cuesta_record::Stamp;

use super::{Multiplexer, Output, find};
use crate::wire::icmp::{Refusal, refusal};
use crate::wire::ip::Packet;
use crate::wire::message::{Fault, MOST_SEGMENTS, MOST_SYNS, segments};
use crate::wire::segment::{Segment, acceptable};
use crate::wire::settings::is_unicast;
use crate::wire::{Carriage, CommonHeader};

impl Multiplexer {
    /// Takes a datagram from the network, its IP header included (and its UDP header, with that carriage).
    pub fn receive(&mut self, datagram: &[u8], now: Stamp, output: &mut impl Output) {
        let dropped = &mut self.counters.dropped;
        let Some(packet) = Packet::parse(datagram) else {
            dropped.unreadable += 1;
            return;
        };
        let payload = self.settings.carriage.payload(&packet);
        let reason = match payload {
            _ if packet.has_options => &mut dropped.options,
            _ if packet.is_fragment => &mut dropped.fragment,
            None => &mut dropped.protocol,
            Some(payload) => return self.receive_payload(packet.header, payload, now, output),
        };
        *reason += 1;
    }

    /// Takes what a datagram of UDP carries, from the port `from` to that of the carriage: UDP sockets give no more.
    pub fn receive_udp(
        &mut self,
        header: CommonHeader,
        from: u16,
        payload: &[u8],
        now: Stamp,
        output: &mut impl Output,
    ) {
        if self.settings.carriage == (Carriage::Udp { port: from }) {
            self.receive_payload(header, payload, now, output);
        } else {
            self.counters.dropped.protocol += 1;
        }
    }

    /// Takes what a datagram from the network carries, without its headers: raw sockets of IPv6 give no more.
    pub fn receive_payload(&mut self, header: CommonHeader, payload: &[u8], now: Stamp, output: &mut impl Output) {
        self.note_clock(now);
        let Some(peer) = find(&mut self.peers, header.source) else {
            self.counters.dropped.stranger += 1;
            return;
        };
        if !is_unicast(header.destination) {
            self.counters.dropped.not_unicast += 1;
            return;
        }
        if peer.local.is_unspecified() {
            peer.local = header.destination;
        }
        if payload.is_empty() {
            self.counters.enqs.received += 1;
            peer.heard_enq(now, self.settings.ttl, &mut self.counters.changes);
            if peer.answers_enq(now) {
                self.send_enq(header.destination, header.source, output);
            }
        } else {
            self.receive_message(header, payload, now, output);
        }
    }

    fn receive_message(&mut self, header: CommonHeader, message: &[u8], now: Stamp, output: &mut impl Output) {
        self.counters.messages.received += 1;
        self.counters.octets.received += (self.settings.carriage.header_len(&header) + message.len()) as u64;
        let (mut valid, mut syns) = (0, 0);
        let mut fault = None;
        for segment in segments(message) {
            match segment {
                Ok(segment) => {
                    self.deliver(&header, &segment, valid, &mut syns, output);
                    valid += 1;
                }
                Err(found) => fault = Some(found),
            }
        }
        match fault {
            Some(Fault::Checksum) => self.counters.dropped.checksum += 1,
            Some(Fault::Length) => self.counters.dropped.length += 1,
            None if valid == 0 => self.counters.dropped.length += 1,
            None => (),
        }
        if valid > 0
            && let Some(peer) = find(&mut self.peers, header.source)
        {
            peer.heard_message(now, self.settings.ttl, &mut self.counters.changes);
        }
    }

    /// Notes what the kernel received from a peer and gave to the host itself: `messages` of `octets` with `segments`, the last of
    /// them at `at`.
    pub fn received_in_kernel(&mut self, peer: IpAddr, at: Stamp, messages: u64, segments: u64, octets: u64) {
        self.counters.messages.received += messages;
        self.counters.segments.received += segments;
        self.counters.octets.received += octets;
        if let Some(peer) = find(&mut self.peers, peer) {
            peer.heard_message(at, self.settings.ttl, &mut self.counters.changes);
        }
    }

    /// Gives a segment to the host as a packet of its own, if neither the segments `before` it in the message nor the `syns` among
    /// them are too many.
    fn deliver(
        &mut self,
        header: &CommonHeader,
        segment: &Segment<'_>,
        before: usize,
        syns: &mut usize,
        output: &mut impl Output,
    ) {
        if before >= MOST_SEGMENTS {
            self.counters.dropped.over_limit += 1;
            return;
        }
        let dropped = &mut self.counters.dropped;
        let Some(transport) = acceptable(segment, self.settings.carriage, dropped) else { return };
        *syns += usize::from(transport.is_syn);
        if transport.is_syn && *syns > MOST_SYNS {
            dropped.syns += 1;
            return;
        }
        self.packet.clear();
        self.packet.resize(header.len(), 0);
        self.packet.extend_from_slice(segment.octets);
        header.write(segment.protocol, &mut self.packet);
        self.counters.segments.received += 1;
        output.to_host(&self.packet);
    }

    /// Takes an ICMP message from the network: a refusal of our datagrams makes its peer unable, or messages to it smaller. One of
    /// IPv4 with its IP header, one of IPv6 with or without, as raw sockets give them.
    pub fn receive_icmp(&mut self, message: &[u8], now: Stamp) {
        self.note_clock(now);
        match refusal(message, self.settings.carriage) {
            Some((address, Refusal::TooLarge { mtu })) => self.lower_mtu(address, mtu, now),
            Some((address, Refusal::Unable)) => {
                if let Some(peer) = find(&mut self.peers, address) {
                    peer.refused(now, &mut self.random, &mut self.counters.changes);
                }
            }
            None => (),
        }
    }
}
