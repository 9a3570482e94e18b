//! Compares our parser with VHS's own.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use cuesta_tape::{Command, Tape, TapeErrors, parse};
use serde_json::Value;

/// A row for each input with the result of VHS's parser (v0.11.0 and two commits).
const EDGE_CASES: &str = include_str!("edge-cases.jsonl");

fn edge_cases() -> Vec<Value> {
    EDGE_CASES.lines().map(|row| serde_json::from_str(row).expect("every row is JSON")).collect()
}

fn no_files(_: &str) -> Result<String, String> {
    Err("no such file".to_owned())
}

fn parsed(text: &str) -> Result<Tape, TapeErrors> {
    parse(text, "edge.tape", &no_files)
}

/// (`Type`, `Options`, `Args`)
fn ours(command: &Command) -> [String; 3] {
    [command.type_name(), command.options.clone(), command.args.clone()]
}

fn theirs(command: &Value) -> [String; 3] {
    ["Type", "Options", "Args"].map(|field| command[field].as_str().expect("a text").to_owned())
}

/// `" 1:9  │ message"` → (1, 9).
fn place(error: &str) -> (u32, u32) {
    let (row, rest) = error.split_once(':').expect("row:column");
    let column = rest.split_once('│').expect("a bar").0;
    (row.trim().parse().expect("a row"), column.trim().parse().expect("a column"))
}

#[test]
fn tapes_that_vhs_accepts_parse_to_the_same_commands() {
    let mut accepted = 0;
    for case in edge_cases() {
        let (input, errors) = (case["Input"].as_str().unwrap(), case["Errors"].as_array().unwrap());
        if errors.is_empty() {
            let tape = parsed(input).unwrap_or_else(|errors| panic!("{input}\n{errors}"));
            let wanted: Vec<_> = case["Commands"].as_array().unwrap().iter().map(theirs).collect();
            assert_eq!(tape.commands.iter().map(ours).collect::<Vec<_>>(), wanted, "{input}");
            accepted += 1;
        }
    }
    assert_eq!(accepted, 114);
}

#[test]
fn tapes_that_vhs_rejects_are_rejected_at_the_same_place() {
    let mut rejected = 0;
    for case in edge_cases() {
        let (input, errors) = (case["Input"].as_str().unwrap(), case["Errors"].as_array().unwrap());
        if errors.is_empty() {
            continue;
        }
        let first = &parsed(input).expect_err(input).0[0];
        assert_eq!((first.row, first.column), place(errors[0].as_str().unwrap()), "{input}\n{first}");
        assert!(!first.hint.is_empty(), "{input}\n{first}");
        rejected += 1;
    }
    assert_eq!(rejected, 78);
}

/// Inputs that VHS rejects and we accept, with our word that makes the difference.
#[test]
fn inputs_with_our_words_are_accepted() {
    for (input, word) in [
        ("Transaction \"x\" Enter Wait+Echo End", "Transaction"),
        ("Think 2s", "Think"),
        ("Part A Enter End Play AA", "Part"),
        ("Repeat 3 Enter End", "Repeat"),
        ("Forever Enter End", "Forever"),
        ("Expect /x/", "Expect"),
        ("Barrier \"x\"", "Barrier"),
        ("Set KeyRate 2cps", "KeyRate"),
        ("Wait+Bytes 5", "Bytes"),
    ] {
        let tape = parsed(input).unwrap_or_else(|errors| panic!("{input}\n{errors}"));
        let used = tape.commands.iter().any(|c| c.word == word || c.options == word || c.args.starts_with(word));
        assert!(used, "{input}: {:?}", tape.commands);
    }
}

/// The folder of VHS's own tapes, which are not copied into this repository.
fn corpus() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/tapes/vhs");
    let folder = std::env::var_os("CUESTA_VHS_TAPES").map_or(beside, PathBuf::from);
    folder.is_dir().then_some(folder)
}

fn tapes_under(folder: &Path) -> Vec<PathBuf> {
    let mut tapes = Vec::new();
    for entry in folder.read_dir().expect("the corpus can be read") {
        let path = entry.expect("the corpus can be read").path();
        if path.is_dir() {
            tapes.extend(tapes_under(&path));
        } else if path.extension().is_some_and(|extension| extension == "tape") {
            tapes.push(path);
        }
    }
    tapes.sort();
    tapes
}

/// Commands of each word in the 105 tapes that VHS accepts, counted with VHS's own parser.
const COUNTED: [(&str, usize); 8] = [
    ("Type", 343),
    ("Sleep", 321),
    ("Enter", 248),
    ("Set", 205),
    ("Output", 115),
    ("Hide", 98),
    ("Ctrl", 66),
    ("Show", 65),
];

#[test]
fn vhs_own_tapes_parse() {
    let Some(folder) = corpus() else {
        assert!(std::env::var_os("CI").is_none(), "CI must have VHS's own tapes: set CUESTA_VHS_TAPES");
        // The test harness captures `print!`, but not this.
        let absent = "VHS's own tapes are absent, so nothing is compared: set CUESTA_VHS_TAPES to their folder";
        writeln!(std::io::stderr(), "{absent}").expect("stderr is open");
        return;
    };
    let tapes = tapes_under(&folder);
    assert_eq!(tapes.len(), 106, "{}", folder.display());
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut rejected = Vec::new();
    for path in tapes {
        let text = std::fs::read_to_string(&path).expect("a tape is text");
        match parse(&text, &path.display().to_string(), &no_files) {
            Ok(tape) => tape.commands.iter().for_each(|command| *counts.entry(command.word).or_default() += 1),
            Err(_) => rejected.push(path.strip_prefix(&folder).unwrap().to_owned()),
        }
    }
    assert_eq!(
        rejected,
        [Path::new("examples/errors/parser.tape")],
        "only the tape with deliberate errors may be rejected"
    );
    for (word, count) in COUNTED {
        assert_eq!(counts[word], count, "{word}");
    }
}
