//! The screen is the same however the stream is cut into reads, and no stream breaks it.

use std::fs;
use std::path::Path;

use cuesta_screen::vt::{ChangedRows, ControlKey, KeyMatch, Modes, OutputWatch, OwnEchoes, Screen, TypedText};
use proptest::prelude::*;
use proptest::strategy::ValueTree;

type Seen = (String, (u16, u16), Modes, bool, Vec<u8>);

fn seen(reads: &[&[u8]], (columns, rows): (u16, u16)) -> Seen {
    let mut screen = Screen::new(columns, rows);
    for read in reads {
        screen.feed(read);
    }
    (screen.text(), screen.cursor(), screen.modes(), screen.is_alternate(), screen.replies().to_vec())
}

#[test]
fn a_stream_may_come_byte_by_byte() {
    for name in
        ["vim-80x24", "emacs-80x24", "top-80x24", "less-80x24", "bash-80x24", "bash-edit-40x12", "nano-edit-40x12"]
    {
        let size = if name.ends_with("80x24") { (80, 24) } else { (40, 12) };
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/streams").join(name).with_extension("bin");
        let stream = fs::read(path).expect("a stream");
        let bytes: Vec<_> = stream.chunks(1).collect();
        assert_eq!(seen(&bytes, size), seen(&[&stream], size), "{name}");
    }
}

/// Parts of a stream: text, control characters, sequences with odd parameters, and random bytes.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        "[ -~\u{e9}\u{6f22}\u{301}]{0,12}".prop_map(String::into_bytes),
        prop::sample::select(&b"\r\n\t\x08\x07\x1b\x18\x0e\x9b\xff"[..]).prop_map(|byte| vec![byte]),
        "\x1b\\[[?>!]?[0-9;:]{0,6}[ $]?[@-~]".prop_map(String::into_bytes),
        "\x1b\\[[?$]?((1|25|2004|7)[;;;;:?$]){0,3}(1|25|2004)[ $]?[hl]".prop_map(String::into_bytes),
        "\x1b[P\\]X^_][ -~]{0,8}(\x07|\x1b\\\\)?".prop_map(String::into_bytes),
        "\x1b[ -~]".prop_map(String::into_bytes),
        Just(b"\x1b[?1049h".to_vec()),
        Just(b"\x1b[?7l".to_vec()),
        prop::collection::vec(any::<u8>(), 0..6),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn any_stream_gives_the_same_screen_however_it_is_cut(
        pieces in prop::collection::vec(piece(), 0..40),
        columns in 1u16..20,
        rows in 1u16..8,
        cut in 1usize..20,
        resized in (1u16..20, 1u16..8),
    ) {
        let stream = pieces.concat();
        let reads: Vec<_> = stream.chunks(cut).collect();
        prop_assert_eq!(seen(&reads, (columns, rows)), seen(&[&stream], (columns, rows)));
        let mut screen = Screen::new(columns, rows);
        let mut changed_rows = ChangedRows::default();
        for (number, piece) in pieces.iter().enumerate() {
            screen.feed(piece);
            if number == pieces.len() / 2 {
                changed_rows.mark(&screen, |_| Vec::new());
                screen.resize(resized.0, resized.1);
            }
            let (columns, rows) = screen.size();
            let cursor = screen.cursor();
            prop_assert!(cursor.0 < rows && cursor.1 < columns && screen.next_cell().1 <= columns);
            // A stale row is an empty row.
            prop_assert_eq!(changed_rows.fresh_rows(&screen, &OwnEchoes::default(), true).text.text.matches('\n').count(), usize::from(rows));
            changed_rows.is_row_fresh(&screen, &OwnEchoes::default(), false);
        }
        prop_assert!(screen.replies().len() <= 16 * 1024);
        let mut watch = OutputWatch::new((columns, rows));
        for read in reads {
            watch.feed(read);
        }
        prop_assert_eq!(watch.modes(), screen.modes());
    }
    #[test]
    fn an_echo_anywhere_leaves_every_row_one_row(
        pieces in prop::collection::vec(piece(), 0..40),
        keys in "[ -~é漢\\x7f\r]{40}",
        columns in 2u16..20,
        rows in 1u16..8,
    ) {
        let mut screen = Screen::new(columns, rows);
        let (mut typed, mut changed_rows, mut own_echoes) = (TypedText::default(), ChangedRows::default(), OwnEchoes::default());
        for (piece, key) in pieces.iter().zip(keys.chars()) {
            if key.is_ascii_control() {
                typed.control_key(if key == '\r' { ControlKey::Return } else { ControlKey::Erase });
                own_echoes.control_key(key == '\r', key == '\x7f');
                changed_rows.mark(&screen, |_| Vec::new());
                own_echoes.key_sent();
            } else {
                typed.type_character(&screen, key, false, (key, own_echoes.printable_key(key)));
            }
            // The echo, and any output after it.
            let read = [key.to_string().as_bytes(), piece].concat();
            let mut found = Vec::new();
            typed.draw(&mut screen, &read, |at| at);
            typed.end_frame(&screen, read.len(), |key| found.push(key));
            for key in found {
                if let KeyMatch::Shown { key: (character, row), cell: Some(place), .. } = key {
                    own_echoes.add(&screen, place, character, row);
                }
            }
            let text = changed_rows.fresh_rows(&screen, &own_echoes, true).text;
            prop_assert_eq!(text.text.matches('\n').count(), usize::from(rows));
            prop_assert!(text.is_answer(0..text.text.len()) || !text.text.trim().is_empty());
            changed_rows.is_row_fresh(&screen, &own_echoes, false);
        }
    }
}

/// A million random inputs; each is a few parts of those above, and the screen outlives many of them.
#[test]
#[ignore = "nightly"]
fn a_million_inputs_neither_break_the_screen_nor_make_it_grow() {
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::default());
    let pieces: Vec<Vec<u8>> = (0..20_000).map(|_| piece().new_tree(&mut runner).expect("a piece").current()).collect();
    let mut number: usize = 1;
    let mut random = |below: usize| {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (number >> 33) % below
    };
    let mut screen = Screen::new(40, 12);
    // The size may have been more meanwhile.
    let both_screens = 2 * Screen::new(80, 24).memory();
    for input in 0..1_000_000 {
        for _ in 0..4 {
            screen.feed(&pieces[random(pieces.len())]);
        }
        if input % 64 == 0 {
            screen.resize(2 + random(78) as u16, 1 + random(23) as u16);
            screen.resize(40, 12);
        }
        assert!(screen.memory() <= both_screens && screen.replies().len() <= 16 * 1024, "after {input} inputs");
        screen.forget_replies(random(1024));
    }
    assert_eq!(screen.rows().count(), 12);
}
