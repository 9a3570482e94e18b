//! The script language: text in, script out.

mod key;
pub mod script;

pub use script::{Echo, Key, Keys, Piece, Rule, Script, Settings, Step};
