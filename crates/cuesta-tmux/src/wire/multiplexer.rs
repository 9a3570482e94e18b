//! Both roles of one host towards all its peers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use cuesta_record::Stamp;
use rand::SeedableRng;
use rand_pcg::Pcg32;

use super::assembly::{Assembly, Message};
use super::icmp::{Refusal, refusal};
use super::ip::Packet;
use super::message::{Fault, MOST_SEGMENTS, MOST_SYNS, segments};
use super::path_mtu::usual_mtu_below;
use super::peer::Peer;
use super::segment::{Segment, Transport, acceptable, to_multiplex};
use super::settings::is_unicast;
use super::{Carriage, CommonHeader, Counters, PeerStatus, SendCauses, Settings};

/// Where packets of a [`Multiplexer`] go. Each call gives one complete IP packet, valid during the call.
pub trait Output {
    /// A datagram for the network: a message, an ENQ, or a packet that is not multiplexed. With
    /// [`Carriage::Udp`](super::Carriage), messages and ENQs are complete UDP packets with their checksum, so the same raw
    /// sockets send them.
    fn to_network(&mut self, packet: &[u8]);
    /// A rebuilt packet for this host's own transport protocols.
    fn to_host(&mut self, packet: &[u8]);
}

/// Both roles of one host towards all its peers.
#[derive(Debug)]
pub struct Multiplexer {
    settings: Settings,
    /// By address.
    peers: Vec<Peer>,
    assembly: Assembly,
    counters: Counters,
    random: Pcg32,
    /// The packet that is being written.
    packet: Vec<u8>,
    /// The last instant that was given.
    latest: Stamp,
}

impl Multiplexer {
    /// A multiplexer that knows nothing of its peers yet: its first probes are due at `now`. What [`Settings::check`] refuses is
    /// brought to the nearest limit, or left out.
    pub fn new(settings: Settings, now: Stamp) -> Self {
        let settings = settings.within_limits();
        let peers = known_peers(&settings, now);
        Self {
            peers,
            assembly: Assembly::new(settings.carriage, settings.mtu, settings.delay),
            counters: Counters::default(),
            random: Pcg32::seed_from_u64(settings.seed),
            packet: Vec::with_capacity(super::LARGEST_MTU),
            latest: now,
            settings,
        }
    }

    /// Takes an IP packet that this host sends.
    pub fn send(&mut self, packet: &[u8], now: Stamp, output: &mut impl Output) {
        self.notice(now);
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

    fn flush_all(&mut self, cause: fn(&mut SendCauses) -> &mut u64, now: Stamp, output: &mut impl Output) {
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
        self.notice(now);
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

    /// Takes an ICMP message from the network: a refusal of our datagrams makes its peer unable, or messages to it smaller. One of IPv4 with its IP header,
    /// one of IPv6 with or without, as raw sockets give them.
    pub fn receive_icmp(&mut self, message: &[u8], now: Stamp) {
        self.notice(now);
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

    /// This host itself refused to send a packet of this length to `destination`.
    pub fn too_large(&mut self, destination: IpAddr, octets: usize, now: Stamp) {
        self.notice(now);
        self.lower_mtu(destination, usual_mtu_below(octets), now);
    }

    fn lower_mtu(&mut self, address: IpAddr, mtu: usize, now: Stamp) {
        if let Some(peer) = find(&mut self.peers, address) {
            self.counters.changes.smaller_mtu += u64::from(peer.path_mtu.lower(mtu, now));
        }
    }

    /// Does what is due at `now`: sends messages whose time is over, and probes.
    pub fn expire(&mut self, now: Stamp, output: &mut impl Output) {
        self.notice(now);
        if self.assembly.due() <= now {
            self.flush_all(|causes| &mut causes.timer, now, output);
        }
        for index in 0..self.peers.len() {
            let peer = &mut self.peers[index];
            if peer.probe_due() <= now && peer.probe_due() != Stamp::FAR {
                peer.sent_probe(now, &mut self.random);
                let (local, address) = (peer.local, peer.address);
                self.send_enq(local, address, output);
            }
        }
    }

    fn send_enq(&mut self, source: IpAddr, destination: IpAddr, output: &mut impl Output) {
        let header = CommonHeader { source, destination, tos: 0 };
        self.packet.clear();
        self.packet.resize(self.settings.carriage.header_len(&header), 0);
        self.settings.carriage.write_headers(&header, &mut self.packet);
        self.counters.enqs.sent += 1;
        output.to_network(&self.packet);
    }

    /// Sends all that waits: this host's agent ends.
    pub fn end(&mut self, now: Stamp, output: &mut impl Output) {
        self.notice(now);
        self.flush_all(|causes| &mut causes.end, now, output);
    }

    /// Nothing more can be read from the host now: with a delay of zero, sends what waits.
    pub fn drained(&mut self, now: Stamp, output: &mut impl Output) {
        self.notice(now);
        if self.settings.delay.is_zero() {
            self.flush_all(|causes| &mut causes.drained, now, output);
        }
    }

    /// When [`Self::expire`] must be called next; [`Stamp::FAR`] = not before another call.
    pub fn next_due(&self) -> Stamp {
        self.peers.iter().map(Peer::probe_due).fold(self.assembly.due(), Stamp::min)
    }

    /// Keeps what was scheduled within reach if the clock went back.
    fn notice(&mut self, now: Stamp) {
        if now < self.latest {
            self.assembly.clock_went_back(now);
            self.peers.iter_mut().for_each(|peer| peer.clock_went_back(now, self.settings.ttl));
        }
        self.latest = now;
    }

    /// What was done since the counters were reset.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Counts from zero again.
    pub fn reset_counters(&mut self) {
        self.counters = Counters::default();
    }

    /// Every peer, by address.
    pub fn peers(&self, now: Stamp) -> Vec<PeerStatus> {
        let waiting = |peer: &Peer| self.assembly.waiting(|header| header.destination == peer.address);
        self.peers.iter().map(|peer| peer.status(now, waiting(peer))).collect()
    }
}

/// The peers that can be, by address.
fn known_peers(settings: &Settings, now: Stamp) -> Vec<Peer> {
    let addresses = settings.peers.iter().enumerate().filter(|(_, address)| is_unicast(**address));
    let known = addresses.map(|(index, &address)| {
        let local = settings.local.get(index).copied().unwrap_or_else(|| unspecified(address));
        Peer::new(address, local, settings.mtu, now)
    });
    let mut peers: Vec<Peer> = known.take(settings.max_host).collect();
    peers.sort_by_key(|peer| peer.address);
    peers.dedup_by_key(|peer| peer.address);
    peers
}

fn find(peers: &mut [Peer], address: IpAddr) -> Option<&mut Peer> {
    let index = peers.binary_search_by_key(&address, |peer| peer.address).ok()?;
    peers.get_mut(index)
}

const fn unspecified(like: IpAddr) -> IpAddr {
    match like {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    }
}
