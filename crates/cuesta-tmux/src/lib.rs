//! The Transport Multiplexing Protocol of RFC 1692: many small TCP (and UDP) segments between two hosts travel as one IP
//! datagram of protocol 18.
//!
//! - [`wire`]: the protocol. Pure: packets and instants in, packets and instants out; both roles.
//! - [`endpoint`]: a host's agent: it takes segments out of the kernel's path, and moves datagrams.

pub mod endpoint;
pub mod wire;
