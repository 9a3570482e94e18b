//! Both roles of one host towards all its peers.

use cuesta_record::Stamp;

use super::{CommonHeader, Counters, PeerStatus, Settings};

/// Where packets of a [`Multiplexer`] go. Each call gives one complete IP packet, valid during the call.
pub trait Output {
    /// A datagram for the network: a message, an ENQ, or a packet that is not multiplexed. With [`Carriage::Udp`](super::Carriage),
    /// messages and ENQs are complete UDP packets with their checksum, so the same raw sockets send them.
    fn to_network(&mut self, packet: &[u8]);
    /// A rebuilt packet for this host's own transport protocols.
    fn to_host(&mut self, packet: &[u8]);
}

/// Both roles of one host towards all its peers.
#[derive(Debug)]
pub struct Multiplexer {
    settings: Settings,
    counters: Counters,
}

impl Multiplexer {
    /// A multiplexer that knows nothing of its peers yet: its first probes are due at `now`.
    pub fn new(settings: Settings, now: Stamp) -> Self {
        let _ = now;
        Self { settings, counters: Counters::default() }
    }

    /// Takes an IP packet that this host sends.
    pub fn send(&mut self, packet: &[u8], now: Stamp, output: &mut impl Output) {
        let _ = (now, packet, output, &self.settings);
    }

    /// Takes a datagram from the network, its IP header included (and its UDP header, with that carriage).
    pub fn receive(&mut self, datagram: &[u8], now: Stamp, output: &mut impl Output) {
        let _ = (now, datagram, output);
    }

    /// Takes what a datagram from the network carries, without its headers: raw sockets of IPv6 and UDP sockets give no more.
    pub fn receive_payload(&mut self, header: CommonHeader, payload: &[u8], now: Stamp, output: &mut impl Output) {
        let _ = (header, payload, now, output);
    }

    /// Takes an ICMP message from the network: a refusal of our datagrams makes its peer unable. One of IPv4 with its IP header,
    /// one of IPv6 with or without, as raw sockets give them.
    pub fn receive_icmp(&mut self, message: &[u8], now: Stamp) {
        let _ = (now, message);
    }

    /// Does what is due at `now`: sends messages whose time is over, and probes.
    pub fn expire(&mut self, now: Stamp, output: &mut impl Output) {
        let _ = (now, output);
    }

    /// Nothing more can be read from the host now: with a delay of zero, sends what waits.
    pub fn drained(&mut self, now: Stamp, output: &mut impl Output) {
        let _ = (now, output);
    }

    /// When [`Self::expire`] must be called next; [`Stamp::FAR`] = not before another call.
    pub fn next_due(&self) -> Stamp {
        Stamp::FAR
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
        let _ = now;
        Vec::new()
    }
}
