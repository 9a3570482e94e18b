//! Feeds a 3270's display with any records, whole and in pieces: the screen is equal, and memory is bounded.
#![no_main]

use cuesta_screen::block::Display;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, Vec<u8>)| {
    let (size, stream) = input;
    let (whole, pieces) = (drawn(&stream, stream.len()), drawn(&stream, usize::from(size)));
    assert_eq!((whole.text(), whole.cursor(), whole.is_locked()), (pieces.text(), pieces.cursor(), pieces.is_locked()));
    assert_eq!(whole.replies(), pieces.replies());
    assert!(whole.memory() <= 1 << 20);
});

fn drawn(stream: &[u8], size: usize) -> Display {
    let mut display = Display::new((80, 43));
    for mut piece in stream.chunks(size.max(1)) {
        while !piece.is_empty() {
            let (taken, _) = display.feed(piece);
            piece = &piece[taken..];
        }
    }
    display
}
