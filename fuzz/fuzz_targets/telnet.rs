//! Feeds telnet's framing with any bytes, whole and in pieces: the characters are equal, and memory is bounded.
#![no_main]

use cuesta_lines::Enter;
use cuesta_lines::wire::{Codec as _, telnet::Framing};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (bool, u8, Vec<u8>)| {
    let (is_host, size, raw) = input;
    let end = || if is_host { Framing::host() } else { Framing::terminal(80, 24, "vt100", Enter::default()) };
    let characters = feed(&mut end(), &raw, raw.len().max(1));
    assert_eq!(feed(&mut end(), &raw, usize::from(size).max(1)), characters);
});

fn feed(end: &mut Framing, raw: &[u8], size: usize) -> Vec<u8> {
    let mut characters = Vec::new();
    for piece in raw.chunks(size) {
        let mut piece = piece.to_vec();
        let len = piece.len();
        let len = end.decode(&mut piece, len);
        characters.extend_from_slice(&piece[..len]);
        assert!(end.replies().bytes().len() <= 1024);
    }
    let mut room = [0; 16];
    let (taken, sent) = end.encode(&characters, &mut room);
    assert!(taken <= characters.len() && sent.len() >= taken && (taken > 0 || characters.is_empty()));
    characters
}
