//! The script language: text in, script out.
//!
//! A superset of the tape language of charmbracelet/vhs: every tape that VHS accepts parses to the same commands, and
//! our words (`Transaction`, `Think`, `Wait+Echo`, …) are words only where a command may stand. This crate opens no
//! file (a caller's loader does), plays nothing and knows no time.
//!
//! - [`parse()`]: a tape's text to a [`Tape`], or to [`TapeErrors`] that show row, caret and hint.
//! - [`script`]: what a tape means, as a tree.
//! - [`Program`]: the same as flat operations with every setting resolved, which the driver plays.
//! - [`Command`]: the same as the flat list that VHS has.
//! - [`listing()`]: a tape as it was understood, printed.
//!
//! Inside: `words` is the table of the words that begin commands; `lex` cuts text into `token`s; `parse` makes commands
//! of them, one file per family; `build` makes the tree, `lowering` the program; `pattern` translates VHS's patterns into
//! Rust's and compiles them.

mod build;
mod command;
mod error;
mod key;
mod lex;
mod listing;
mod op;
mod own_command;
mod parse;
mod pattern;
mod program;
pub mod script;
mod tape;
mod token;
mod totals;
mod words;

pub use command::Command;
pub use error::{Note, TapeError, TapeErrors};
pub use key::{Key, Modes};
pub use listing::listing;
pub use op::{Echo, ExpectSource, KeySettings, Keys, Op, Piece, WaitCondition};
pub use pattern::Pattern;
pub use program::{Overrides, Program, TooLong};
pub use script::{Script, Settings, Step};
pub use tape::{Tape, parse};
pub use totals::Totals;
