//! The script of `studies/emacs` equals the published one of 1981 letter by letter, and has its rates.
#![allow(clippy::unwrap_used)] // A failed unwrap fails the test.

use std::fs;
use std::path::{Path, PathBuf};

use crate::harness::close;
use cuesta_screen::vt::{Modes, key_bytes};
use cuesta_tape::{Keys, Piece, Script, Step, Tape};

const CYCLE: &str = "AJBICHDGEFAKBLCJDKELAIBKCLDHEKALBGCKDLEFMN";

/// Appendix A: the input of each part, with `#` for the delete key and `$` for each wait, and its think time in seconds.
/// The appendix gives only the lengths of C to E and H to J; their text continues the parts that are printed.
const APPENDIX: [(char, &str, f64); 14] = [
    ('A', "abcd abcde\r$", 0.0),
    ('B', "abcd abcd abcd abcd \r$", 0.0),
    ('C', "abcd abcd abcd abcd abcd abcd abcd abcd \r$", 0.0),
    ('D', "abcd abcd abcd abcd abcd abcd abcd abcd abcd abcd abcd abcd \r$", 0.0),
    ('E', "abcd abcd abcd abcd abcd abcd abcd abcd abcd abcd abcd abcd abcd abcd \r$", 0.0),
    ('F', "abcde# abcd\r$", 0.0),
    ('G', "abcd abcde# abcd abcd\r$", 0.0),
    ('H', "abcd abcde# abcd abcd abcd abcd abcd abcd\r$", 0.0),
    ('I', "abcd abcde# abcd abcd abcd abcd abcd abcd abcd abcd abcd abcd\r$", 0.0),
    ('J', "abcd abcde# abcd abcd abcd abcd abcd abcd abcd abcd abcd abcd abcd abcd\r$", 0.0),
    ('K', "\x10\x10\x10$\x1bd$\x1b>$", 15.0),
    ('L', "\x1bb\x1bb\x1bb$\x1bf$abcd$\x1b>$", 10.0),
    ('M', "\x1bq$", 20.0),
    ('N', "\x18h\x17$", 20.0),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies/emacs")
}

fn tape() -> Tape {
    let read = |name: &str| fs::read_to_string(folder().join(name)).map_err(|error| error.to_string());
    cuesta_tape::parse(&read("emacs.tape").unwrap(), "emacs.tape", &read).unwrap_or_else(|errors| panic!("{errors}"))
}

/// Appends the bytes that steps type, with `$` at the end of each transaction, and returns their think time in seconds.
fn typed_by(steps: &[Step], into: &mut String) -> f64 {
    let mut think = 0.0;
    for step in steps {
        match step {
            Step::Keys { keys: Keys::Text(pieces), .. } => into.extend(pieces.iter().map(|piece| match piece {
                Piece::Literal(text) => text.as_str(),
                Piece::Column(name) => panic!("no users type here: {name}"),
            })),
            Step::Keys { keys: Keys::Press { key, count }, .. } => {
                let bytes = key_bytes(key, Modes::default()).expect("a key of a VT");
                into.push_str(&std::str::from_utf8(&bytes).unwrap().replace('\x7f', "#").repeat(*count as usize));
            }
            Step::Think(distribution) => think += distribution.mean().as_secs_f64(),
            Step::Transaction { body, .. } => {
                think += typed_by(body, into);
                into.push('$');
            }
            Step::Wait { .. } | Step::Set(_) => {}
            other => panic!("not in the script of 1981: {other:?}"),
        }
    }
    think
}

#[test]
#[allow(clippy::float_cmp)] // Whole seconds.
fn the_script_is_that_of_1981_letter_by_letter() {
    let Script { parts, steps, .. } = tape().script;
    assert_eq!(parts.len(), APPENDIX.len());
    for (letter, wanted, think) in APPENDIX {
        let mut typed = String::new();
        assert_eq!(typed_by(&parts[&letter], &mut typed), think, "think time of {letter}");
        assert_eq!(typed, wanted, "{letter}");
    }
    let Some(Step::Forever(body)) = steps.last() else { panic!("no cycle") };
    assert_eq!(body, &[Step::Play(CYCLE.chars().collect())]);
}

#[test]
#[allow(clippy::float_cmp)] // Whole seconds.
fn a_cycle_has_1350_characters_67_waits_and_165_seconds_of_think() {
    let Tape { pass, .. } = tape();
    assert_eq!((pass.keys, pass.transactions, pass.think_s), (1350, 67, 165.0));
    // The recomputed reference has 1,349 characters; both round to the published 1.6 characters a second.
    let seconds = pass.keys as f64 / 2.0 + pass.think_s;
    close("characters a second", pass.keys as f64 / seconds, 1.607, 0.001);
}
