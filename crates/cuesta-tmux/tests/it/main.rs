//! RFC 1692 in virtual time.
#![allow(clippy::unwrap_used)] // the helpers are of tests too

mod discovery;
mod harness;
mod no_allocation;
mod noise;
mod ours;
mod rfc;
mod round_trip;
mod vectors;
