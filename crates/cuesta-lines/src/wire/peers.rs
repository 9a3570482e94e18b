//! For tests: both ends of a protocol at each other, in pieces of every size.

use super::Codec;

/// The characters that an end makes of bytes that come in pieces.
pub(super) fn received(end: &mut impl Codec, bytes: &[u8], size: usize) -> Vec<u8> {
    let mut characters = Vec::new();
    for piece in bytes.chunks(size) {
        let mut raw = [piece, &[0]].concat();
        let len = end.decode(&mut raw, piece.len());
        characters.extend_from_slice(&raw[..len]);
    }
    characters
}

/// The replies that an end sends now.
pub(super) fn replies(end: &mut impl Codec) -> Vec<u8> {
    let bytes = end.replies().bytes().to_vec();
    end.replies().sent(bytes.len());
    bytes
}

/// All that an end sends for these characters, over a line that takes at most `step` bytes at once.
pub(super) fn sent(end: &mut impl Codec, mut characters: &[u8], room: usize, step: usize) -> Vec<u8> {
    let mut room = vec![0; room];
    let mut bytes = replies(end);
    while !characters.is_empty() {
        let encoded = end.encode(characters, &mut room);
        bytes.extend(replies(end));
        let len = encoded.1.len().min(step);
        bytes.extend_from_slice(&encoded.1[..len]);
        let taken = end.sent(characters, encoded, len);
        assert!(taken > 0, "a call encoded nothing");
        assert!(end.replies().bytes().len() < 3, "more is pending than the rest of one character");
        bytes.extend(replies(end));
        characters = &characters[taken..];
    }
    bytes
}

/// Lets both ends answer each other until neither has anything to say; returns the number of rounds.
pub(super) fn negotiate(host: &mut impl Codec, terminal: &mut impl Codec, size: usize) -> usize {
    for rounds in 0..20 {
        let from_host = replies(host);
        assert_eq!(received(terminal, &from_host, size), b"");
        let from_terminal = replies(terminal);
        assert_eq!(received(host, &from_terminal, size), b"");
        if from_host.is_empty() && from_terminal.is_empty() {
            return rounds;
        }
    }
    panic!("the negotiation does not end");
}
