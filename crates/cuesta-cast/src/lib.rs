//! Recorded sessions: casts in and out, and tapes made from them.
//!
//! A cast is asciinema's file: the output and the input of a terminal, each with its instant. This crate reads
//! versions 1, 2 and 3, writes version 2, and makes tapes. It opens no file, knows no clock and no line.
//!
//! - [`Cast`]: a session, read by [`Cast::read`], written by [`Writer`].
//! - [`tape`]: a session → a tape's text, with its think times or its recorded [`Timing`].
//! - [`Secrets`]: the hidden and the kept entries of a session.
//! - [`Utf8Decoder`]: bytes → text, where a character may be cut in two.
//!
//! Inside: `v1` reads version 1 of the format, `rows` versions 2 and 3. `keys` splits input into keys, each a `key_code`;
//! `strokes` joins each key with the output after it, whether the screen showed it (`echo`) and how the program reacted
//! (`reaction`). `entries` decides what is a secret, by the screen and by `credentials` in commands; `secrets` hides it, together
//! with its traces on the screen while it is typed (`cover`, `painted`) and later (`printed`). `prompts` finds the host's prompts; `tape` writes a tape,
//! with think times (`closed`) or the recorded instants (`recorded`), each command by `spell`.

mod cast;
mod closed;
mod cover;
mod credentials;
mod echo;
mod entries;
mod error;
mod key_code;
mod keys;
mod painted;
mod printed;
mod prompts;
mod reaction;
mod recorded;
mod rows;
mod secrets;
mod spell;
mod strokes;
mod tape;
mod utf8;
mod v1;
mod write;

pub use cast::{Cast, Event, EventKind, Header, STOPPED};
pub use credentials::names_secret;
pub use error::CastError;
pub use secrets::{Commands, Hidden, InputLocation, Secrets};
pub use tape::{Timing, tape, tape_with_secrets};
pub use utf8::Utf8Decoder;
pub use write::Writer;
