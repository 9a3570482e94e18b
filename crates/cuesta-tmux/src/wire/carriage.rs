//! What messages travel in: IP, as RFC 1692 says, or UDP, for paths that drop protocol 18 (ours).

/// What messages travel in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Carriage {
    /// IP protocol 18 (RFC 1692).
    #[default]
    Ip,
    /// UDP from this port to this port: the payload is what would follow the IP header, and nothing at all is an ENQ (ours).
    Udp {
        /// The same at both ends.
        port: u16,
    },
}

impl Carriage {
    /// How many octets a message of one segment has more than the segment's own packet. The host's MTU towards peers must be
    /// this much below the path's.
    pub const fn overhead(self) -> usize {
        match self {
            Self::Ip => 4,
            Self::Udp { .. } => 12,
        }
    }
}
