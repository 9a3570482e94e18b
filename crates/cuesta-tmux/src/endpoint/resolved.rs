//! The settings beside what the kernel says of the peers.

use std::collections::HashSet;
use std::net::IpAddr;
use std::time::Duration;

use cuesta_record::clock;

use super::routing::{self, Path};
use super::{EndpointError, EndpointSpec};
use crate::wire::{Carriage, Settings};

/// The smallest MTU of a device that carries IPv6 (RFC 8200).
const SMALLEST_IPV6_MTU: usize = 1280;

/// Settings that can be kept.
#[derive(Debug)]
pub(crate) struct Resolved {
    /// Each peer once.
    pub(crate) spec: EndpointSpec,
    /// The ways to the peers, in their order.
    pub(crate) paths: Vec<Path>,
    /// The largest datagram, octets.
    pub(crate) mtu: usize,
    pub(crate) settings: Settings,
}

impl Resolved {
    /// Asks the kernel for the way to each peer, and checks all settings.
    pub(crate) fn from_spec(spec: &EndpointSpec) -> Result<Self, EndpointError> {
        let mut spec = spec.clone();
        let mut named = HashSet::new();
        spec.peers.retain(|peer| named.insert(*peer));
        if spec.peers.is_empty() {
            return Err(EndpointError::setting("peers", "none is given", "name at least one address"));
        }
        let paths = routing::paths(&spec)?;
        let smallest = paths.iter().map(|path| path.mtu).min().unwrap_or_default();
        let mtu = spec.mtu.map_or(smallest, |mtu| mtu.min(smallest));
        let settings = settings(&spec, &paths, mtu);
        settings.check()?;
        check_ipv6(&spec, mtu - settings.carriage.overhead())?;
        Ok(Self { spec, paths, mtu, settings })
    }
}

fn settings(spec: &EndpointSpec, paths: &[Path], mtu: usize) -> Settings {
    Settings {
        delay: Duration::from_nanos(spec.delay),
        max_mpx: spec.max_mpx,
        max_host: spec.max_host,
        peers: spec.peers.clone(),
        local: paths.iter().map(|path| path.own).collect(),
        ports: spec.ports.clone(),
        mtu,
        carriage: spec.udp_port.map_or(Carriage::Ip, |port| Carriage::Udp { port }),
        udp: spec.multiplex_udp,
        rfc_bypass: spec.rfc_bypass,
        seed: clock::wall(),
        ..Settings::default()
    }
}

fn check_ipv6(spec: &EndpointSpec, device_mtu: usize) -> Result<(), EndpointError> {
    if device_mtu < SMALLEST_IPV6_MTU && spec.peers.iter().any(IpAddr::is_ipv6) {
        let problem =
            format!("packets to IPv6 peers would have {device_mtu} octets, and IPv6 needs {SMALLEST_IPV6_MTU}");
        return Err(EndpointError::setting("mtu", problem, "raise it, or leave IPv6 peers out"));
    }
    Ok(())
}
