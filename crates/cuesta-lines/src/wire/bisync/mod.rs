//! Binary synchronous communications (BSC, bisync), point to point, both stations (IBM GA27-3004; timers and limits of Multics).
//!
//! - [`Station`]: the procedure. Messages and bytes in, bytes and [`Event`]s out; the instants are arguments.
//! - [`Profile`]: its timers and limits. [`Counters`]: what it counts.
//! - [`Framing`]: as on a synchronous line, or as Hercules passes the bytes of a 2703 over TCP. [`Code`]: EBCDIC or ASCII.
//! - `blocks` makes bytes of units (control sequences and blocks), `receiver` finds units in bytes, `check` checks them.
//!
//! Limited conversational replies (text in answer to the end of a message) are a setting: [`Profile::conversational`].
//!
//! Not here: multipoint lines (polls and selections), unlimited conversation (text in answer to a reply), replies of several blocks,
//! and what devices put into text (compression, 2780 records).

mod blocks;
mod check;
mod code;
mod counters;
mod profile;
mod queue;
mod receiver;
mod station;

pub use blocks::Framing;
pub use code::Code;
pub use counters::Counters;
pub use profile::{AfterBlockWait, Profile, ProfileError, Transparency};
pub use queue::OfferError;
pub use station::{Event, Reason, Role, Station};
