//! What is known of a peer.

use std::net::IpAddr;

use serde::Serialize;

/// What is believed of a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PeerState {
    /// Nothing was heard of it yet.
    Unknown,
    /// It speaks `TMux`: segments to it are multiplexed.
    Able,
    /// Nothing was heard of it for the TTL.
    Expired,
    /// ICMP said that it does not speak `TMux`, or that a router does not let it through.
    Refused,
    /// Messages were sent to it, and nothing came back.
    Silent,
}

/// A peer, for displays.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PeerStatus {
    /// Where it is.
    pub address: IpAddr,
    /// What is believed of it.
    pub state: PeerState,
    /// Seconds since something was heard of it.
    pub heard_s: Option<f64>,
    /// Seconds until the next probe; none while it is able.
    pub probe_in_s: Option<f64>,
    /// Segments that wait for it.
    pub waiting: usize,
}
