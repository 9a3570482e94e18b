//! WebSocket (RFC 6455), both roles: frames in, whole messages out. Deflate (RFC 7692) only towards this end.
//!
//! - [`Receiver`]: takes bytes in pieces of any size and finds messages and control frames in them. A message that one piece has whole is
//!   left in place; only others are held, up to [`LONGEST_MESSAGE`].
//! - [`Sender`]: makes a frame of a message, which it never fragments.
//! - `header`, `inflate`, `handshake`: the head of a frame, compressed messages, and what the two ends agree on in HTTP.

mod handshake;
mod header;
mod inflate;
mod receiver;
mod sender;

use thiserror::Error;

pub use handshake::{DEFLATE_OFFER, accept_key, accepts_deflate};
pub use inflate::Inflater;
pub use receiver::{Content, Event, Receiver};
pub use sender::{HEAD, Sender};

/// Most bytes of a message, also of a compressed one.
pub const LONGEST_MESSAGE: usize = 16 * 1024 * 1024;

/// An end of a connection. Clients mask what they send, servers do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Client,
    Server,
}

/// What a message consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    /// UTF-8.
    Text,
    Binary,
}

/// How the other end broke the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum FrameError {
    #[error("a reserved bit is set in a frame")]
    ReservedBit,
    #[error("a frame has the reserved opcode {0}")]
    Opcode(u8),
    #[error("a frame from the server is masked")]
    Masked,
    #[error("a frame from the client is not masked")]
    Unmasked,
    #[error("the length of a frame is not written in its shortest form, or negative")]
    Length,
    #[error("a control frame is fragmented or longer than 125 bytes")]
    Control,
    #[error("a frame continues no message")]
    NothingToContinue,
    #[error("a message begins within another")]
    Interleaved,
    #[error("a text message is no UTF-8")]
    NotUtf8,
    #[error("a close frame has no valid code and reason")]
    Close,
    #[error("a compressed message cannot be read")]
    Deflate,
    #[error("a message is longer than {} MiB", LONGEST_MESSAGE >> 20)]
    TooLong,
}
