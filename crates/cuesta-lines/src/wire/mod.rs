//! Framings: pure state machines, bytes in, bytes out. No socket, no clock; both roles in one file.
//!
//! A protocol that carries characters in a stream of bytes is a [`Codec`]; [`Framed`](crate::Framed) is the line over any of them. What
//! telnet and TN3270 share: `commands` finds telnet's commands among the characters, `options` negotiates.

pub mod bisync;
mod commands;
pub mod http;
mod options;
#[cfg(test)]
mod peers;
mod replies;
pub mod telnet;
pub mod tn3270;
pub mod web;
pub mod websocket;

pub use replies::Replies;

/// One end of a protocol that carries characters in a stream of bytes, and that answers some of these bytes itself.
pub trait Codec {
    /// By how many bytes a piece may grow when it is decoded.
    const GROWTH: usize;

    /// Decodes the first `len` bytes of `raw` in place, and returns the number of characters, which are then at the head of `raw`.
    /// Pieces may have any size; `raw` has room for the growth.
    fn decode(&mut self, raw: &mut [u8], len: usize) -> usize;

    /// Encodes the head of `bytes`. Returns the number of its characters and the bytes to send for them, after the replies: a part of
    /// `bytes` itself if nothing needs an escape, otherwise a part of `room`, which must hold at least three bytes.
    ///
    /// Call [`Codec::sent`] with the number of bytes that were sent.
    fn encode<'a>(&mut self, bytes: &'a [u8], room: &'a mut [u8]) -> (usize, &'a [u8]);

    /// Notes that the first `len` bytes of the result of [`Codec::encode`] were sent. Returns the number of characters. The rest of
    /// a partly sent character is added to the replies.
    fn sent(&mut self, bytes: &[u8], encoded: (usize, &[u8]), len: usize) -> usize;

    /// What must be sent before any more characters.
    fn replies(&mut self) -> &mut Replies;

    /// Sequences of the protocol that were dropped: too long, broken off, or more than can be answered.
    fn dropped(&self) -> u64;

    /// Whether characters can be sent now.
    fn is_agreed(&self) -> bool;

    /// Whether the input so far ends within a sequence, so that its rest is missing.
    fn is_within_a_sequence(&self) -> bool;

    /// Telnet's state, of a line that is telnet and no more: the kernel can frame such a line too.
    fn as_telnet(&self) -> Option<&telnet::Framing> {
        None
    }
}
