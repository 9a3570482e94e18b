//! The script language: text in, script out.

pub mod script;

pub use script::Script;
