//! RFC 1692 in virtual time.

mod discovery;
mod harness;
mod ours;
mod rfc;
mod vectors;
