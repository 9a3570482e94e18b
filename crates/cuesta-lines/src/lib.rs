//! Terminal lines, both ends.
//!
//! A line carries characters between a terminal and a host; it knows nothing of users, tapes or services.
//!
//! - [`Line`]: what every line is.

mod line;

pub use line::{Crossed, Line, Received};
