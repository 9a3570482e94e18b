//! Terminals as a user has them: what came in, what the screen shows, what the terminal answers.
//!
//! Pure: no clock, no line, no task.
//!
//! - [`vt`]: a video terminal that understands ANSI control functions.
//! - [`block`]: a 3270.

pub mod block;
pub mod vt;
