//! RFC 1692 in virtual time.

mod harness;
mod vectors;
