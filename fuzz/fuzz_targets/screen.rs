//! Whatever comes, and however it is cut, a screen makes the same of it, no key is lost, and what it keeps is bounded.
#![no_main]

use cuesta_screen::{ChangedRows, KeyMatch, OwnEchoes, Screen, ScreenEcho};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, u8, Vec<u8>)| {
    let (columns, rows, size, raw) = input;
    let mut whole = Screen::new(u16::from(columns), u16::from(rows));
    whole.feed(&raw);
    let mut cut = Screen::new(u16::from(columns), u16::from(rows));
    let (mut shown, mut fresh) = (ScreenEcho::default(), ChangedRows::default());
    let mut echoed = OwnEchoes::default();
    let (mut typed, mut told) = (0, 0);
    for (number, piece) in raw.chunks(usize::from(size).max(1)).enumerate() {
        if number % 3 == 0 {
            let character = char::from(piece[0] & 0x7f);
            shown.await_key(&cut, character, (character, echoed.typed(character)));
            echoed.turn(number % 7 == 0, number % 11 == 0);
            fresh.mark(&cut);
            echoed.mark();
            typed += 1;
        }
        let mut found = Vec::new();
        shown.feed(&mut cut, piece, 0, number % 2 == 0, |key| found.push(key));
        shown.rest(&cut, piece.len(), |key| found.push(key));
        told += found.len();
        for key in found {
            if let KeyMatch::Shown((character, row), _, Some(place)) = key {
                echoed.add(&cut, place, character, row);
            }
        }
        assert_eq!(fresh.shown(&cut, &echoed, true).text.matches('\n').count(), usize::from(cut.size().1));
    }
    assert_eq!(told + shown.len(), typed);
    assert_eq!((cut.text(), cut.cursor(), cut.replies()), (whole.text(), whole.cursor(), whole.replies()));
    assert!(whole.replies().len() <= 1024 && whole.cursor().0 < whole.size().1);
});
