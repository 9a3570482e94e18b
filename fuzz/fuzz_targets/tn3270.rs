//! Feeds TN3270's framing with any bytes, whole and in pieces: the data stream is equal, and memory is bounded.
#![no_main]

use cuesta_lines::wire::{Codec as _, tn3270::Framing};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (bool, bool, u8, Vec<u8>)| {
    let (is_host, extended, size, raw) = input;
    let end = || if is_host { Framing::host() } else { Framing::terminal("IBM-3278-2-E", extended, None) };
    let data = feed(&mut end(), &raw, raw.len().max(1));
    assert_eq!(feed(&mut end(), &raw, usize::from(size).max(1)), data);
});

fn feed(end: &mut Framing, raw: &[u8], size: usize) -> Vec<u8> {
    let mut data = Vec::new();
    for piece in raw.chunks(size) {
        let mut room = [piece, &[0]].concat();
        let len = end.decode(&mut room, piece.len());
        data.extend_from_slice(&room[..len]);
        assert!(end.replies().bytes().len() <= 1024);
    }
    let (most, _) = end.encode(&data, &mut []);
    assert!(most <= data.len() && (most > 0 || data.is_empty()));
    data
}
