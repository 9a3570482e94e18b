//! A video terminal that understands ANSI control functions, as xterm does.
//!
//! - [`Screen`]: the screen as a person sees it.
//! - [`ScreenEcho`]: finds typed keys on the screen.
//! - [`OwnEchoes`]: finds text that only echoes the user's own keys.
//! - [`ChangedRows`]: finds the rows that changed since the last key.
//! - [`StreamParser`]: separates characters from control functions, for users without a screen.
//! - [`key_bytes`]: what a key sends.
//! - [`ModeWatch`]: the modes that keys depend on, alone.
//! - Inside: `gaps` handles the control functions that the `vt100` model lacks, `replies` answers the host's queries, `sequence`
//!   finds where control functions begin and end, `cells` steps from character to character.

mod cells;
mod changed_rows;
mod gaps;
mod keyboard;
mod modes;
mod own_echoes;
mod replies;
mod screen;
mod screen_echo;
mod sequence;
mod stream;

pub use cells::CellPosition;
pub use changed_rows::ChangedRows;
pub use keyboard::key_bytes;
pub use modes::{ModeWatch, Modes};
pub use own_echoes::{MarkedText, OwnEchoes};
pub use screen::Screen;
pub use screen_echo::{KeyMatch, ScreenEcho};
pub use stream::{StreamByte, StreamParser};
