//! RFC 1692 without sockets and clock: packets and instants in, packets and instants out.
//!
//! - [`Settings`]: what may be multiplexed, with whom, and for how long a segment may wait.
//! - [`Multiplexer`]: both roles of one host towards all its peers.
//! - [`Output`]: where its packets go.
//! - [`usual_mtu_below`]: what to try where a datagram was too large.
//! - [`Counters`], [`PeerStatus`]: what it did, and what it believes of its peers.

mod assembly;
mod carriage;
mod counters;
mod icmp;
mod ip;
mod message;
mod multiplexer;
mod path_mtu;
mod peer;
mod segment;
mod settings;

pub use carriage::Carriage;
pub use counters::{
    BothWays, Counters, DroppedInput, HeldTimes, Histogram, PeerChanges, PlainReasons, RefusedOutput, SendCauses,
};
pub use ip::CommonHeader;
pub use multiplexer::{Multiplexer, Output};
pub use path_mtu::usual_mtu_below;
pub use peer::{PeerState, PeerStatus};
pub use settings::{LARGEST_MTU, LONGEST_DELAY, SMALLEST_MTU, Settings, SettingsError};
