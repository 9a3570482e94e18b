//! RFC 1692 without sockets and clock: packets and instants in, packets and instants out.
//!
//! - [`Settings`]: what may be multiplexed, with whom, and for how long a segment may wait.
//! - [`Multiplexer`]: both roles of one host towards all its peers.
//! - [`Output`]: where its packets go.

use std::net::IpAddr;
use std::time::Duration;

use cuesta_record::Stamp;

/// What may be multiplexed, with whom, and for how long a segment may wait. The names and defaults of the first four are those
/// of the Annex terminal server.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The longest time that a segment waits for others; zero = until nothing more is there to read ([`Multiplexer::drained`]).
    pub delay: Duration,
    /// Segments above this many octets are sent at once, with what waits.
    pub max_mpx: usize,
    /// Most peers.
    pub max_host: usize,
    /// Addresses of the peers; datagrams from elsewhere are dropped and counted.
    pub peers: Vec<IpAddr>,
    /// The largest datagram, its IP header included.
    pub mtu: usize,
}

/// Where packets of a [`Multiplexer`] go. Each call gives one complete IP packet, valid during the call.
pub trait Output {
    /// A datagram for the network: a message, an ENQ, or a segment that is not multiplexed.
    fn to_network(&mut self, packet: &[u8]);
    /// A rebuilt packet for this host's own transport protocols.
    fn to_host(&mut self, packet: &[u8]);
}

/// Both roles of one host towards all its peers.
#[derive(Debug)]
pub struct Multiplexer {
    settings: Settings,
}

impl Multiplexer {
    /// A multiplexer that knows nothing of its peers yet: its first probes are due at `now`.
    pub fn new(settings: Settings, now: Stamp) -> Self {
        let _ = now;
        Self { settings }
    }

    /// Takes an IP packet that this host sends to a peer.
    pub fn send(&mut self, packet: &[u8], now: Stamp, output: &mut impl Output) {
        let _ = (now, packet, output, &self.settings);
    }

    /// Takes an IP datagram of protocol 18 from the network.
    pub fn receive(&mut self, datagram: &[u8], now: Stamp, output: &mut impl Output) {
        let _ = (now, datagram, output);
    }

    /// Takes an ICMP message from the network, its IP header included: protocol unreachable is a peer's refusal.
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
}
