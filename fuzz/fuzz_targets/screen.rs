//! Feeds a screen with any bytes, whole and in pieces: both screens are equal, no key is lost, and memory is bounded.
#![no_main]

use cuesta_screen::vt::{ChangedRows, KeyMatch, OwnEchoes, Screen, TypedText};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, u8, Vec<u8>)| {
    let (columns, rows, size, raw) = input;
    let mut whole = Screen::new(u16::from(columns), u16::from(rows));
    whole.feed(&raw);
    let mut cut = Screen::new(u16::from(columns), u16::from(rows));
    let (mut typed_text, mut changed_rows) = (TypedText::default(), ChangedRows::default());
    let mut own_echoes = OwnEchoes::default();
    let (mut typed, mut resolved) = (0, 0);
    for (number, piece) in raw.chunks(usize::from(size).max(1)).enumerate() {
        let mut found = Vec::new();
        if number % 3 == 0 {
            let character = char::from(piece[0] & 0x7f);
            let key = (character, own_echoes.printable_key(character));
            found.extend(typed_text.type_character(&cut, character, character.is_ascii_uppercase(), key));
            own_echoes.control_key(number % 7 == 0, number % 11 == 0);
            changed_rows.mark(&cut, |_| Vec::new());
            own_echoes.key_sent();
            typed += 1;
        }
        let mut rest = piece;
        while !rest.is_empty() {
            let drawn = typed_text.draw(&mut cut, rest, |at| at);
            rest = &rest[drawn..];
            typed_text.end_frame(&cut, drawn, |key| found.push(key));
        }
        resolved += found.iter().filter(|found| !matches!(found, KeyMatch::Settled { .. })).count();
        for found in found {
            if let KeyMatch::Shown { key: (character, row), cell: Some(cell), .. } = found {
                own_echoes.add(&cut, cell, character, row);
            }
        }
        assert_eq!(
            changed_rows.fresh_rows(&cut, &own_echoes, true).text.text.matches('\n').count(),
            usize::from(cut.size().1)
        );
    }
    assert_eq!(resolved + typed_text.waiting().count(), typed);
    assert_eq!((cut.text(), cut.cursor(), cut.replies()), (whole.text(), whole.cursor(), whole.replies()));
    assert!(whole.replies().len() <= 1024 && whole.cursor().0 < whole.size().1);
});
