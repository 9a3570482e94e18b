//! The largest datagram that the path to a peer carries: less than the settings say when a router, or this host, has refused one
//! (RFC 1191, RFC 8201).

use std::net::IpAddr;
use std::time::Duration;

use cuesta_record::Stamp;

use super::SMALLEST_MTU;
use super::settings::LATEST;

/// How long a smaller MTU is believed: the path may have changed (RFC 1191 §6.3).
const TIME: Duration = Duration::from_secs(600);
/// What every path of IPv6 carries (RFC 8200).
const SMALLEST_IPV6: usize = 1280;
/// MTUs of usual links, for refusals that do not say what would do (RFC 1191 §7, and those of tunnels).
const USUAL: [usize; 12] = [32_000, 17_914, 8166, 4352, 2002, 1492, 1400, SMALLEST_IPV6, 1006, 508, 296, SMALLEST_MTU];

/// The largest datagram that the path to a peer carries.
#[derive(Debug)]
pub(super) struct PathMtu {
    /// What the settings say.
    most: usize,
    /// What is not refused, because it is no router's to refuse.
    least: usize,
    /// A smaller one, and until when it is believed.
    lowered: Option<(usize, Stamp)>,
}

impl PathMtu {
    pub(super) const fn new(peer: IpAddr, most: usize) -> Self {
        Self { most, least: if peer.is_ipv4() { SMALLEST_MTU } else { SMALLEST_IPV6 }, lowered: None }
    }

    pub(super) fn at(&self, now: Stamp) -> usize {
        self.lowered.filter(|(_, until)| now < *until).map_or(self.most, |(mtu, _)| mtu)
    }

    /// The path carries no more than `mtu` octets; true if that is less than was believed.
    pub(super) fn lower(&mut self, mtu: usize, now: Stamp) -> bool {
        let mtu = mtu.max(self.least);
        let is_less = mtu < self.at(now);
        if is_less {
            self.lowered = Some((mtu, (now + TIME).min(LATEST)));
        }
        is_less
    }

    pub(super) fn clock_went_back(&mut self, now: Stamp) {
        self.lowered = self.lowered.map(|(mtu, until)| (mtu, until.min(now + TIME)));
    }
}

/// The MTU of the usual link next below `octets`, which were too many.
pub fn usual_mtu_below(octets: usize) -> usize {
    USUAL.into_iter().find(|mtu| *mtu < octets).unwrap_or(SMALLEST_MTU)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smaller_mtu_is_believed_for_ten_minutes() {
        let (mut path, now) = (PathMtu::new([192, 0, 2, 2].into(), 1500), Stamp::ZERO);
        assert!(path.lower(1400, now));
        assert!(!path.lower(1450, now), "it is no news");
        assert_eq!((path.at(now + TIME - Duration::from_nanos(1)), path.at(now + TIME)), (1400, 1500));
        assert!(path.lower(0, now));
        assert_eq!(path.at(now), SMALLEST_MTU);
        path.lower(576, Stamp::FAR);
        path.clock_went_back(now);
        assert_eq!(path.at(now + TIME), 1500);
    }

    #[test]
    fn every_path_of_ipv6_carries_1280_octets() {
        let mut path = PathMtu::new("2001:db8::2".parse().unwrap(), 1500);
        path.lower(100, Stamp::ZERO);
        assert_eq!(path.at(Stamp::ZERO), 1280);
    }

    #[test]
    fn usual_links_are_tried_in_turn() {
        assert_eq!([1500, 1492, 1400, 68, 0].map(usual_mtu_below), [1492, 1400, 1280, 68, 68]);
    }
}
