//! A terminal's screen: its text, its modes and its replies.
//!
//! Bytes go in; text, cursor and the modes that keys depend on can be read, and the terminal's replies fetched. Pure: no clock,
//! no line, no task.
//!
//! - [`Screen`]: the screen as a person sees it.
//! - [`ScreenEcho`]: finds typed keys on the screen.
//! - [`OwnEchoes`]: finds text that only echoes the user's own keys.
//! - [`ChangedRows`]: finds the rows that changed since the last key.
//! - [`StreamParser`]: separates characters from control functions, for users without a screen.
//! - [`ModeWatch`]: the modes alone.
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
