//! What is written down, and by which clock.
//!
//! A record is a stamped fact, and the clock is what stamps it, so both are one room. This crate knows nothing of lines,
//! users or tapes, and depends on no other crate of Cuesta.
//!
//! - [`clock`]: the one door for time, real or virtual.
//! - [`Stamp`]: an instant.

pub mod clock;
mod stamp;
mod timer;

pub use stamp::Stamp;
