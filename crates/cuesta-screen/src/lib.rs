//! The terminals that users sit at. Each draws what the host sends on its screen, encodes the keys that are pressed, and replies to
//! the host's queries.
//!
//! Pure: no clock, no line, no task.
//!
//! - [`vt`]: a video terminal that understands ANSI control functions.
//! - [`block`]: a 3270.

pub mod block;
mod replies;
pub mod vt;
