//! A video terminal that understands ANSI control functions, as xterm does.
//!
//! - [`Screen`]: the screen as a person sees it.
//! - [`TypedText`]: follows the text that a user types, and finds when each key is shown.
//! - [`OwnEchoes`]: finds text that only echoes the user's own keys.
//! - [`ChangedRows`]: finds what is new since the last key.
//! - [`FrameChanges`]: finds what differs from one frame to the next, apart from what changes by itself.
//! - [`Snapshot`]: what the screen showed, to find where a typed character has appeared since.
//! - [`Span`]: text of a row in one style, to draw it elsewhere.
//! - [`StreamParser`]: separates characters from control functions, for users without a screen.
//! - [`key_bytes`]: what a key sends.
//! - [`OutputWatch`]: the modes that keys depend on, and answers to hosts, for users without a screen.
//! - [`Tap`]: is told what is written on a screen.
//! - Inside, from bytes to cells: `utf8` decodes, `sequence` finds where control functions begin and end, `terminal` does what they
//!   say, `grid` holds the cells; `cells` steps from character to character.

mod cell;
mod cells;
mod changed_rows;
mod charset;
mod frame_changes;
mod grid;
mod keyboard;
mod modes;
mod output_watch;
mod own_echoes;
mod row_hashes;
mod screen;
mod sequence;
mod snapshot;
mod spans;
mod stream;
mod style;
mod tap;
mod terminal;
mod typed_text;
mod utf8;
mod widths;

pub use cell::{Attributes, Cell, Colour, Style};
pub use cells::CellPosition;
pub use changed_rows::{ChangedRows, FreshRows};
pub use frame_changes::{Cause, Difference, FrameChanges};
pub use keyboard::key_bytes;
pub use modes::Modes;
pub use output_watch::OutputWatch;
pub use own_echoes::{MarkedText, OwnEchoes};
pub use row_hashes::hash_without_motion;
pub use screen::Screen;
pub use snapshot::{Appearance, Snapshot};
pub use spans::Span;
pub use stream::{StreamByte, StreamParser};
pub use tap::{Printed, Tap};
pub use typed_text::{ControlKey, KeyMatch, TypedText};
pub use widths::{Widths, width};
