//! The agent's settings as JSON.

use std::net::IpAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The agent's settings; every field has a default. The names and defaults of `delay`, `max_mpx` and `max_host` are those of the
/// Annex terminal server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EndpointSpec {
    /// Addresses of the hosts with which segments are multiplexed; nothing is accepted from others.
    pub peers: Vec<IpAddr>,
    /// The longest time that a segment waits for others, nanoseconds; 0 = until nothing more is there to read.
    pub delay: u64,
    /// Segments above this many octets are sent at once, with what waits.
    pub max_mpx: usize,
    /// Most peers.
    pub max_host: usize,
    /// TCP ports, as source or as destination, whose connections are sent in messages; empty = all. From peers all are accepted.
    pub ports: Vec<u16>,
    /// The largest datagram, its IP header included; none = what the route to each peer carries.
    pub mtu: Option<usize>,
    /// Carry messages in UDP from and to this port, for paths that drop protocol 18; none = protocol 18.
    pub udp_port: Option<u16>,
    /// Whether UDP segments from and to `ports` are sent in messages as well.
    pub multiplex_udp: bool,
    /// Segments above `max_mpx` go past the messages, as the RFC suggests; connections are then reordered.
    pub rfc_bypass: bool,
    /// The network device to the peers, by name; none = as the routes say, and datagrams are accepted from any.
    pub interface: Option<String>,
    /// The name of the TUN device.
    pub device: String,
    /// Whether messages are taken apart in the kernel, if this build and the kernel can.
    pub kernel_receive: bool,
    /// A file for a capture (pcapng) of all that the agent sends to and receives from the network.
    pub capture: Option<PathBuf>,
}

impl Default for EndpointSpec {
    fn default() -> Self {
        Self {
            peers: Vec::new(),
            delay: 20_000_000,
            max_mpx: 700,
            max_host: 64,
            ports: vec![23, 513],
            mtu: None,
            udp_port: None,
            multiplex_udp: false,
            rfc_bypass: false,
            interface: None,
            device: "tmux0".to_owned(),
            kernel_receive: true,
            capture: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_those_of_the_annex_and_unknown_fields_are_errors() {
        let spec: EndpointSpec = serde_json::from_str(r#"{"peers": ["192.0.2.2", "2001:db8::2"]}"#).unwrap();
        assert_eq!((spec.delay, spec.max_mpx, spec.max_host), (20_000_000, 700, 64));
        assert_eq!((spec.ports.as_slice(), spec.peers.len()), (&[23, 513][..], 2));
        assert!(serde_json::from_str::<EndpointSpec>(r#"{"peer": []}"#).is_err());
    }
}
