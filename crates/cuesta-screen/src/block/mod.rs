//! A 3270: a terminal of screens with fields, which the host writes and the user fills and sends whole.
//!
//! The host's records (RFC 1576: IAC doubled, IAC EOR at the end) go into a [`Display`], which holds the buffer, the cursor and
//! the keyboard's lock. Keys change the buffer; keys that call for the host (AIDs) make the record to be sent, and lock the
//! keyboard until the host unlocks it. Source: IBM GA23-0059, 3270 Data Stream Programmer's Reference.
//!
//! - [`Display`]: all of it; [`Refusal`]: why a key was not taken.
//! - Inside: `buffer` is the cells with their fields; `orders` carries out what the host writes; `keyboard` what keys do; `query`
//!   tells the host what the terminal can do; `record` frames; `address` and `attribute` are the codes of a place and a field.

mod address;
mod attribute;
mod buffer;
mod display;
mod keyboard;
mod orders;
mod query;
mod record;

pub use display::Display;
pub use keyboard::Refusal;
