//! Both roles of one host towards all its peers: what is due when, and what is counted. `sending` and `receiving` are the roles.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use cuesta_record::Stamp;
use rand::SeedableRng;
use rand_pcg::Pcg32;

use super::assembly::Assembly;
use super::path_mtu::usual_mtu_below;
use super::peer::Peer;
use super::settings::is_unicast;
use super::{CommonHeader, Counters, PeerStatus, Settings};

mod receiving;
mod sending;

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

    /// This host itself refused to send a packet of this length to `destination`.
    pub fn too_large(&mut self, destination: IpAddr, octets: usize, now: Stamp) {
        self.note_clock(now);
        self.lower_mtu(destination, usual_mtu_below(octets), now);
    }

    fn lower_mtu(&mut self, address: IpAddr, mtu: usize, now: Stamp) {
        if let Some(peer) = find(&mut self.peers, address) {
            self.counters.changes.smaller_mtu += u64::from(peer.path_mtu.lower(mtu, now));
        }
    }

    /// Does what is due at `now`: sends messages whose time is over, and probes.
    pub fn expire(&mut self, now: Stamp, output: &mut impl Output) {
        self.note_clock(now);
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
        self.note_clock(now);
        self.flush_all(|causes| &mut causes.end, now, output);
    }

    /// Nothing more can be read from the host now: with a delay of zero, sends what waits.
    pub fn drained(&mut self, now: Stamp, output: &mut impl Output) {
        self.note_clock(now);
        if self.settings.delay.is_zero() {
            self.flush_all(|causes| &mut causes.drained, now, output);
        }
    }

    /// When [`Self::expire`] must be called next; [`Stamp::FAR`] = not before another call.
    pub fn next_due(&self) -> Stamp {
        self.peers.iter().map(Peer::probe_due).fold(self.assembly.due(), Stamp::min)
    }

    /// Keeps what was scheduled within reach if the clock went back.
    fn note_clock(&mut self, now: Stamp) {
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
