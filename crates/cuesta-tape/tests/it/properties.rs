//! Properties of any text: the parser does not panic, and the listing of a tape parses to the same script.

use cuesta_tape::{listing, parse};
use proptest::prelude::*;

fn load(path: &str) -> Result<String, String> {
    match path {
        "a.tape" => Ok("Type \"from a\" Enter Wait".to_owned()),
        "rows" => Ok("1s\n2s".to_owned()),
        _ => Err("no such file".to_owned()),
    }
}

/// Pieces of tapes: commands of every family, words, and invalid text.
const PIECES: [&str; 79] = [
    "Type \"a b\"",
    "Type@1s 'x' y",
    "Type Think",
    "Copy `q\"`",
    "Paste",
    "Enter 3",
    "Enter@100ms 2",
    "Up",
    "Ctrl+C",
    "Ctrl+Alt+Shift+P",
    "Ctrl+\" \"+C",
    "Ctrl+[",
    "Alt+foo",
    "Alt+\"5\"",
    "Shift+Tab",
    "Sleep 500ms",
    "Sleep 1.2.3",
    "Wait",
    "Wait+Line /x/",
    "Wait+Screen@5s /y\\/z/",
    "Wait+Echo",
    "Wait+Bytes 150",
    "Wait+Silence@5s 200ms",
    "Wait+Prompt",
    "Wait+Disconnect",
    "Expect /ok/",
    "Expect+Screen /ok/",
    "Wait+Cursor 12,40",
    "Press End",
    "Press@1s F5 3",
    "Press `\\e[1;5\"H`",
    "Set Echo screen",
    "Set Echo change",
    "Think exp 5s max 1m",
    "Think 2s # law",
    "Think empirical rows",
    "Set KeyRate 2cps",
    "Set KeyLaw human",
    "Set LineSpeed 300",
    "Set Echo timed",
    "Set EchoMap \"a0\"",
    "Set Prompt \"x/y\"",
    "Set Prompt /\\$/",
    "Set Columns 80",
    "Set WaitPattern foo",
    "Set WaitTimeout 3",
    "Set TypingSpeed 5ms",
    "Set FontSize 3",
    "Set Theme { \"a\": 1 }",
    "Output x.gif",
    "Screenshot a.png",
    "Require git",
    "Env A \"b\"",
    "Hide",
    "Source a.tape",
    "Transaction \"t\"",
    "Part A",
    "Part B",
    "Repeat 2",
    "Forever",
    "End",
    "End",
    "End",
    "Play AB",
    "Barrier \"b\"",
    "Set",
    "Type",
    "Wait+",
    "@",
    "+",
    "#c",
    "\"",
    "/",
    "{",
    "1",
    "ms",
    "${x}",
    "é",
    "\0",
];

/// A tape made of these pieces with any white space between them.
fn any_tape() -> impl Strategy<Value = String> {
    let piece = prop_oneof![9 => proptest::sample::select(&PIECES[..]).prop_map(str::to_owned), 1 => ".{0,4}"];
    let gap = proptest::sample::select(&[" ", "\n", "\n", "\r\n", "\t", ""][..]);
    proptest::collection::vec((piece, gap), 0..12)
        .prop_map(|pieces| pieces.into_iter().map(|(piece, gap)| piece + gap).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, ..ProptestConfig::default() })]

    #[test]
    fn a_listing_parses_to_the_same_script(text in any_tape()) {
        match parse(&text, "any.tape", &load) {
            Ok(tape) => {
                let shown = listing(&tape);
                let again = parse(&shown, "any.tape", &load)
                    .map_err(|errors| TestCaseError::fail(format!("{shown}\n{errors}")))?;
                prop_assert_eq!(&again.script, &tape.script, "{}", shown);
                prop_assert!(serde_json::from_str::<serde_json::Value>(&tape.to_json()).is_ok());
            }
            Err(errors) => {
                prop_assert!(!errors.0.is_empty());
                for error in &errors.0 {
                    prop_assert!(error.row > 0 && error.column > 0 && !error.hint.is_empty(), "{}", error);
                }
            }
        }
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let text = String::from_utf8_lossy(&bytes);
        if let Err(errors) = parse(&text, "any.tape", &load) {
            prop_assert!(!errors.to_string().is_empty());
        }
    }
}
