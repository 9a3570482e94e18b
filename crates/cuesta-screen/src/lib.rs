//! A terminal's screen: what came in, what it shows, what it answers.
//!
//! Bytes go in; text, the cursor and the modes that keys depend on can be looked at, and what a terminal must answer can
//! be fetched. Pure: no clock, no line, no task.
//!
//! - [`Screen`]: what came in, as a person sees it.
//! - [`Shown`]: which of the keys typed the screen shows where the cursor stood.
//! - [`Fresh`]: what of the screen has come since the last key.
//! - `gaps`: the control functions that the model under it leaves out; `replies`: what terminals answer.

mod fresh;
mod gaps;
mod replies;
mod screen;
mod shown;

pub use fresh::Fresh;
pub use screen::{Modes, Screen};
pub use shown::{Found, Shown};
