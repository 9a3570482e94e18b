//! The tapes and tables of the guide parse.

use cuesta_tape::parse;

const GUIDE: &str = include_str!("../../../../docs/tape.md");

fn load(path: &str) -> Result<String, String> {
    match path {
        "times.txt" => Ok("1s\n".to_owned()),
        "other.tape" => Ok("Enter\n".to_owned()),
        _ => Err("no such file".to_owned()),
    }
}

#[test]
fn its_tapes_parse_without_a_note() {
    let tapes: Vec<&str> = GUIDE.split("```tape\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(tapes.len(), 3);
    for tape in tapes {
        let parsed = parse(tape, "guide.tape", &load).unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(parsed.notes, [], "{tape}");
    }
}

/// Parses every `command` in the first column of a table, within the block that it needs.
#[test]
fn its_tables_parse() {
    let rows = GUIDE.lines().filter(|row| row.starts_with("| `"));
    let mut tried = 0;
    for code in rows.flat_map(|row| row.split(" | ").next().unwrap_or_default().split('`').skip(1).step_by(2)) {
        let tape = match code {
            _ if code.contains('…') => code.replace('…', "Enter"),
            "Play AJBICH" => "Part A Tab End\nPart J Tab End\nPart B Tab End\nPart I Tab End\nPart C Tab End\n\
                              Part H Tab End\nPlay AJBICH"
                .to_owned(),
            "${name}" => continue,
            _ => code.to_owned(),
        };
        let parsed = parse(&tape.replace("/re/", "/x$/"), "guide.tape", &load);
        assert!(parsed.is_ok(), "{code}: {}", parsed.unwrap_err());
        tried += 1;
    }
    assert!(tried > 40, "{tried}");
}
