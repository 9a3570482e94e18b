//! Finds the echoes of keys.
//!
//! - `matcher`: in the stream of characters.

mod matcher;

pub(crate) use matcher::{EchoMatch, EchoMatcher, PendingKey, SlowestEcho};
