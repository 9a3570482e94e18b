//! The script language: texts in, scripts and error messages out.

mod guide;
mod mistakes;
mod properties;
mod vhs;
mod words;
