//! What may be multiplexed, with whom, and for how long a segment may wait.

use std::net::IpAddr;
use std::time::Duration;

use cuesta_record::Stamp;
use thiserror::Error;

use super::carriage::Carriage;

/// No segment waits longer, whatever is asked for (RFC 1692: "probably 1/10th second").
pub const LONGEST_DELAY: Duration = Duration::from_millis(100);
/// The smallest datagram that may be asked for: that which every IPv4 host takes (RFC 791).
pub const SMALLEST_MTU: usize = 68;
/// The largest datagram that there is.
pub const LARGEST_MTU: usize = 65_535;
/// Nothing is due later: [`Stamp::FAR`] means that nothing is due.
pub(super) const LATEST: Stamp = Stamp::from_nanos(u64::MAX - 1);

/// What may be multiplexed, with whom, and for how long a segment may wait. The names and defaults of the first three are
/// those of the Annex terminal server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The longest time that a segment waits for others, at most [`LONGEST_DELAY`]; zero = until nothing more is there to
    /// read ([`Multiplexer::drained`](super::Multiplexer::drained)).
    pub delay: Duration,
    /// Segments above this many octets are sent at once, with what waits.
    pub max_mpx: usize,
    /// Most peers.
    pub max_host: usize,
    /// Addresses of the peers; datagrams from elsewhere are dropped and counted.
    pub peers: Vec<IpAddr>,
    /// This host's address towards each of `peers`, in their order: the source of probes. Where it is missing, probes have none
    /// until a datagram shows it; Linux fills it in for IPv4, but not for IPv6 and not in UDP's checksum.
    pub local: Vec<IpAddr>,
    /// Only segments from or to one of these ports are sent in messages; empty = all. From peers all are accepted.
    pub ports: Vec<u16>,
    /// The largest datagram in octets, its IP header included.
    pub mtu: usize,
    /// What messages travel in.
    pub carriage: Carriage,
    /// UDP is sent in messages, as TCP is. From peers it is always accepted.
    pub udp: bool,
    /// Segments above `max_mpx` go as plain IP, as RFC 1692 says. Otherwise they are added to the message, which is sent
    /// at once: plain IP overtakes messages, and TCP takes reordering for loss.
    pub rfc_bypass: bool,
    /// How long a peer is believed able after each datagram from it.
    pub ttl: Duration,
    /// Of the random part of the intervals between probes.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            delay: Duration::from_millis(20),
            max_mpx: 700,
            max_host: 64,
            peers: Vec::new(),
            local: Vec::new(),
            ports: Vec::new(),
            mtu: 1500,
            carriage: Carriage::Ip,
            udp: false,
            rfc_bypass: false,
            ttl: Duration::from_secs(60),
            seed: 0,
        }
    }
}

/// A setting that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SettingsError {
    /// Users would notice.
    #[error("delay is {0:?}, and may be at most {LONGEST_DELAY:?}: users would notice, and TCP would retransmit")]
    Delay(Duration),
    /// The RFC's cache of hosts has a size.
    #[error("{peers} peers, and max_host is {max_host}: name fewer or raise it")]
    TooManyPeers {
        /// Those that were named.
        peers: usize,
        /// Those that may be.
        max_host: usize,
    },
    /// RFC 1692 §6.
    #[error("{0} cannot be a peer: a peer is one other host, not a group of hosts or this one")]
    NotUnicast(IpAddr),
    /// An IP datagram has its limits.
    #[error("an MTU of {0} octets: it must be between {SMALLEST_MTU} and {LARGEST_MTU}")]
    Mtu(usize),
}

impl Settings {
    /// Says what [`Multiplexer::new`](super::Multiplexer::new) would otherwise bring to the nearest limit, or leave out.
    pub fn check(&self) -> Result<(), SettingsError> {
        if self.delay > LONGEST_DELAY {
            return Err(SettingsError::Delay(self.delay));
        }
        if self.peers.len() > self.max_host {
            return Err(SettingsError::TooManyPeers { peers: self.peers.len(), max_host: self.max_host });
        }
        if let Some(address) = self.peers.iter().find(|address| !is_unicast(**address)) {
            return Err(SettingsError::NotUnicast(*address));
        }
        if !(SMALLEST_MTU..=LARGEST_MTU).contains(&self.mtu) {
            return Err(SettingsError::Mtu(self.mtu));
        }
        Ok(())
    }

    /// The same with delay and MTU within their limits.
    pub(super) fn within_limits(mut self) -> Self {
        self.delay = self.delay.min(LONGEST_DELAY);
        self.mtu = self.mtu.clamp(SMALLEST_MTU, LARGEST_MTU);
        self
    }
}

/// Whether it is the address of one other host. A subnet's broadcast address cannot be told without its mask.
pub(super) fn is_unicast(address: IpAddr) -> bool {
    let broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
    !(broadcast || address.is_multicast() || address.is_loopback() || address.is_unspecified())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(change: impl FnOnce(&mut Settings)) -> Settings {
        let mut settings = Settings { peers: vec!["192.0.2.2".parse().unwrap()], ..Settings::default() };
        change(&mut settings);
        settings
    }

    #[test]
    fn the_defaults_are_those_of_the_annex() {
        let settings = with(|_| ());
        assert_eq!(settings.check(), Ok(()));
        assert_eq!((settings.delay.as_millis(), settings.max_mpx, settings.max_host), (20, 700, 64));
    }

    #[test]
    fn delay_and_mtu_are_checked_and_kept_within_their_limits() {
        let cases = [
            with(|settings| settings.delay = Duration::from_millis(101)),
            with(|settings| settings.mtu = 67),
            with(|settings| settings.mtu = 65_536),
        ];
        for settings in cases {
            assert!(settings.check().is_err(), "{settings:?}");
            assert_eq!(settings.within_limits().check(), Ok(()));
        }
    }

    #[test]
    fn peers_are_checked() {
        assert!(with(|settings| settings.max_host = 0).check().is_err());
        for address in ["224.0.0.1", "255.255.255.255", "127.0.0.1", "0.0.0.0", "::1", "ff02::1", "::"] {
            let settings = with(|settings| settings.peers.push(address.parse().unwrap()));
            assert_eq!(settings.check(), Err(SettingsError::NotUnicast(address.parse().unwrap())));
        }
    }
}
