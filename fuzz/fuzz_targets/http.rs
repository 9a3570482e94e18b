//! Feeds both readers of HTTP with any bytes, whole and in pieces: the messages are equal, and memory is bounded.
#![no_main]

use cuesta_lines::wire::http::{HttpError, Message, Reader, Request, Response};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (bool, u8, Vec<u8>)| {
    let (is_server, size, raw) = input;
    let size = usize::from(size).max(1);
    if is_server { compare::<Request>(&raw, size) } else { compare::<Response>(&raw, size) }
});

fn compare<M: Message + PartialEq + std::fmt::Debug>(raw: &[u8], size: usize) {
    let whole = feed::<M>(raw, raw.len().max(1));
    let in_pieces = feed::<M>(raw, size);
    assert_eq!(in_pieces, whole);
}

/// The messages in bytes that come in pieces of `size` before the connection is closed, and whether an error ends them. Which one that is
/// depends on the pieces: a head may be too long before it is found to be none.
fn feed<M: Message>(raw: &[u8], size: usize) -> (Vec<M>, bool) {
    let mut reader = Reader::<M>::default();
    let mut messages = Vec::new();
    let mut feed_piece = |mut piece: &[u8]| -> Result<(), HttpError> {
        while !piece.is_empty() {
            let (taken, message) = reader.receive(piece)?;
            assert!(taken > 0 && taken <= piece.len());
            messages.extend(message);
            piece = &piece[taken..];
        }
        Ok(())
    };
    let fed = raw.chunks(size).try_for_each(&mut feed_piece);
    let end = fed.and_then(|()| reader.end());
    let has_failed = end.is_err();
    messages.extend(end.ok().flatten());
    (messages, has_failed)
}
