//! A terminal's screen: what came in, what it shows, what it answers.
//!
//! Bytes go in; text, the cursor and the modes that keys depend on can be looked at, and what a terminal must answer can
//! be fetched. Pure: no clock, no line, no task.
//!
//! - [`Screen`]: what came in, as a person sees it.
//! - [`ScreenEcho`]: which of the keys typed the screen shows where the cursor stood.
//! - [`OwnEchoes`]: what of the screen only echoes the user's own keys.
//! - [`ChangedRows`]: what of the screen has come since the last key.
//! - [`StreamParser`]: the characters alone, for who needs no screen.
//! - [`ModeWatch`]: the modes alone, for who looks at nothing else.
//! - `gaps`: the control functions that the model under it leaves out; `replies`: what terminals answer; `sequence`: where
//!   control functions begin and end.

mod changed_rows;
mod gaps;
mod modes;
mod own_echoes;
mod replies;
mod screen;
mod screen_echo;
mod sequence;
mod stream;

pub use changed_rows::ChangedRows;
pub use modes::{ModeWatch, Modes};
pub use own_echoes::{MarkedText, OwnEchoes};
pub use screen::Screen;
pub use screen_echo::{CellPosition, KeyMatch, ScreenEcho};
pub use stream::{StreamByte, StreamParser};
