//! The script language: text in, script out.
//!
//! A superset of the tape language of charmbracelet/vhs: every tape that VHS accepts parses to the same commands, and
//! our words (`Transaction`, `Think`, `Wait+Echo`, …) are words only where a command may stand. This crate opens no
//! file (a caller's loader does), plays nothing and knows no time.
//!
//! - [`parse()`]: a tape's text to a [`Tape`], or to [`TapeErrors`] that show row, caret and hint; [`listing()`]: back to text.
//! - [`Command`]: the flat list that VHS has.
//! - [`script`]: what a tape means, as a tree; [`Op`]: the operations in it.
//! - [`Program`]: the same as flat operations with every setting resolved, which the driver plays.
//!
//! Inside: `words` is the table of commands and settings; `lex` cuts text into tokens; `parse` makes commands of them, one
//! file per family; `build` makes the tree; `program` lowers it; `typed_rows` warns of waits that an echo would meet; `pattern`
//! translates VHS's patterns into Rust's and compiles them.

mod build;
mod command;
mod condition;
mod error;
mod key;
mod lex;
mod parse;
mod pattern;
mod place;
mod program;
pub mod script;
mod tape;
mod totals;
mod typed_rows;
mod words;

pub use command::Command;
pub use condition::{ExpectSource, WaitCondition};
pub use error::{Note, TapeError, TapeErrors};
pub use key::{Held, Key};
pub use pattern::Pattern;
pub use place::TapePlace;
pub use program::{Overrides, Program, TooLong};
pub use script::{Echo, KeySettings, Keys, Op, Piece, Probe, Script, Settings, Step};
pub use tape::{Tape, listing, parse};
pub use totals::Totals;
