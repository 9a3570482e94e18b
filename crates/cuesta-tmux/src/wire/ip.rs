//! Outer headers, read and written.

use std::net::IpAddr;

/// What all segments of a message have in common: RFC 1692's "H".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommonHeader {
    /// Who sends.
    pub source: IpAddr,
    /// To whom. Of the same version as `source`.
    pub destination: IpAddr,
    /// Type of service or traffic class, with its ECN bits.
    pub tos: u8,
}
