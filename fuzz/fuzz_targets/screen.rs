//! Feeds a screen with any bytes, whole and in pieces: both screens are equal, no key is lost, and memory is bounded.
#![no_main]

use cuesta_screen::vt::{ChangedRows, KeyMatch, OwnEchoes, Screen, ScreenEcho};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, u8, Vec<u8>)| {
    let (columns, rows, size, raw) = input;
    let mut whole = Screen::new(u16::from(columns), u16::from(rows));
    whole.feed(&raw);
    let mut cut = Screen::new(u16::from(columns), u16::from(rows));
    let (mut screen_echo, mut changed_rows) = (ScreenEcho::default(), ChangedRows::default());
    let mut own_echoes = OwnEchoes::default();
    let (mut typed, mut resolved) = (0, 0);
    for (number, piece) in raw.chunks(usize::from(size).max(1)).enumerate() {
        if number % 3 == 0 {
            let character = char::from(piece[0] & 0x7f);
            screen_echo.await_key(&cut, character, (character, own_echoes.printable_key(character)));
            own_echoes.control_key(number % 7 == 0, number % 11 == 0);
            changed_rows.mark(&cut);
            own_echoes.mark();
            typed += 1;
        }
        let mut found = Vec::new();
        screen_echo.feed(&mut cut, piece, 0, number % 2 == 0, |key| found.push(key));
        screen_echo.rest(&cut, piece.len(), |key| found.push(key));
        resolved += found.len();
        for key in found {
            if let KeyMatch::Shown((character, row), _, Some(position)) = key {
                own_echoes.add(&cut, position, character, row);
            }
        }
        assert_eq!(
            changed_rows.fresh_rows(&cut, &own_echoes, true).text.matches('\n').count(),
            usize::from(cut.size().1)
        );
    }
    assert_eq!(resolved + screen_echo.len(), typed);
    assert_eq!((cut.text(), cut.cursor(), cut.replies()), (whole.text(), whole.cursor(), whole.replies()));
    assert!(whole.replies().len() <= 1024 && whole.cursor().0 < whole.size().1);
});
