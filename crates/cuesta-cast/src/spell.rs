//! Writes keys as commands of a tape.

use std::time::Duration;

use cuesta_tape::{Command, Key};

/// A command in the tape's own syntax, in the quotes that can hold its text.
pub(crate) fn command(word: &'static str, options: &str, args: &str) -> String {
    let (options, args) = (options.to_owned(), args.to_owned());
    Command::to_print(word, options, args).to_string()
}

/// `Type` commands for a text, with the pause before each key if one is given.
pub(crate) fn typed(text: &str, gap: Option<Duration>) -> Vec<String> {
    let options = gap.map(time).unwrap_or_default();
    pieces(text).into_iter().map(|piece| command("Type", &options, piece)).collect()
}

/// `Type` for a column of the users' table.
pub(crate) fn column(name: &str) -> String {
    command("Type", "", &format!("${{{name}}}"))
}

/// Splits a text so that no piece has all three kinds of quotes, and none a `${` that would be a column.
pub(crate) fn pieces(text: &str) -> Vec<&str> {
    const QUOTES: [char; 3] = ['"', '\'', '`'];
    let mut pieces = Vec::new();
    let mut begin = 0;
    let mut held = [false; 3];
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let quote = QUOTES.iter().position(|quote| *quote == c);
        let full = quote.is_some_and(|quote| !held[quote] && held.iter().filter(|held| **held).count() == 2);
        if full || (before == '$' && c == '{') {
            pieces.push(&text[begin..at]);
            begin = at;
            held = [false; 3];
        }
        if let Some(quote) = quote {
            held[quote] = true;
        }
        before = c;
    }
    if begin < text.len() {
        pieces.push(&text[begin..]);
    }
    pieces
}

/// A key. Keys that take no speed in VHS get a `Sleep` before them.
pub(crate) fn key(key: &Key, gap: Option<Duration>, count: usize) -> String {
    if let Key::Bytes(bytes) = key {
        return with_sleep(&chord(bytes), gap);
    }
    let speed = gap.map(time).unwrap_or_default();
    match key.command() {
        Some(word) => command(word, &speed, &count.to_string()),
        None => command("Press", &speed, &format!("{} {count}", key.name().unwrap_or_default())),
    }
}

/// The command after a pause.
pub(crate) fn with_sleep(command: &str, gap: Option<Duration>) -> String {
    match gap.filter(|gap| !gap.is_zero()) {
        Some(gap) => format!("Sleep {} {command}", time(gap)),
        None => command.to_owned(),
    }
}

fn chord(bytes: &[u8]) -> String {
    match bytes {
        [0] => "Ctrl+Space".to_owned(),
        [control @ 0x01..=0x1a] => format!("Ctrl+{}", char::from(control + b'@')),
        [0x1c] => "Ctrl+\\".to_owned(),
        [0x1d] => "Ctrl+]".to_owned(),
        [0x1e] => "Ctrl+^".to_owned(),
        [0x1f] => "Ctrl+-".to_owned(),
        b"\x1b[Z" => "Shift+Tab".to_owned(),
        b"\x1b\r" => "Alt+Enter".to_owned(),
        b"\x1b[1;5A" => "Ctrl+Up".to_owned(),
        b"\x1b[1;5B" => "Ctrl+Down".to_owned(),
        b"\x1b[1;5C" => "Ctrl+Right".to_owned(),
        b"\x1b[1;5D" => "Ctrl+Left".to_owned(),
        [0x1b, letter] if letter.is_ascii_alphanumeric() => command("Alt", "", &char::from(*letter).to_string()),
        _ => command("Press", "", &format!("{} 1", escaped(bytes))),
    }
}

/// The bytes of a key in the notation of `Press`.
fn escaped(bytes: &[u8]) -> String {
    let one = |byte: &u8| match byte {
        0x1b => "\\e".to_owned(),
        b'\\' => "\\\\".to_owned(),
        b'"' | b'\'' | b'`' | 0..=0x1f | 0x7f.. => format!("\\x{byte:02x}"),
        plain => char::from(*plain).to_string(),
    };
    bytes.iter().map(one).collect()
}

/// A time to the microsecond, as tapes write it.
pub(crate) fn time(time: Duration) -> String {
    let decimal = |whole: u64, fraction: u64, digits: usize| {
        let text = format!("{whole}.{fraction:0digits$}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    let us = time.as_micros() as u64;
    if us < 1_000_000 {
        format!("{}ms", decimal(us / 1000, us % 1000, 3))
    } else {
        format!("{}s", decimal(us / 1_000_000, us % 1_000_000, 6))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuesta_screen::vt::{Modes, key_bytes};
    use cuesta_tape::{Keys, Piece, Step, parse};
    use proptest::prelude::*;

    /// The bytes that the commands type.
    fn bytes(commands: &[String]) -> Vec<u8> {
        let tape = parse(&commands.join("\n"), "t.tape", &|_| Err(String::new())).unwrap_or_else(|e| panic!("{e}"));
        let mut bytes = Vec::new();
        for step in tape.script.steps {
            let Step::Keys { keys, .. } = step else { continue };
            match keys {
                Keys::Text(pieces) => {
                    for piece in pieces {
                        let Piece::Literal(text) = piece else { panic!("a column") };
                        bytes.extend(text.into_bytes());
                    }
                }
                Keys::Press { key, count } => {
                    let pressed = key_bytes(&key, Modes::default()).expect("a key of a VT");
                    bytes.extend(pressed.repeat(count as usize));
                }
                Keys::Paste(_) => {}
            }
        }
        bytes
    }

    #[test]
    fn typed_dollar_braces_are_no_column() {
        assert_eq!(pieces("a${b}c"), ["a$", "{b}c"]);
        assert_eq!(pieces("$ {"), ["$ {"]);
        assert_eq!(pieces("\"'`\"x"), ["\"'", "`\"x"]);
        assert_eq!(
            typed("${x}", Some(Duration::from_micros(137_123))),
            ["Type@137.123ms \"$\"", "Type@137.123ms \"{x}\""]
        );
    }

    #[test]
    fn keys_have_their_usual_names() {
        let gap = Some(Duration::from_millis(1500));
        for (pressed, gap, count, wanted) in [
            (Key::Enter, None, 1, "Enter"),
            (Key::Down, gap, 3, "Down@1.5s 3"),
            (Key::Home, None, 1, "Press Home"),
            (Key::Function(5), gap, 2, "Press@1.5s F5 2"),
            (Key::Bytes(vec![3]), gap, 1, "Sleep 1.5s Ctrl+C"),
            (Key::Bytes(b"\x1bs".to_vec()), None, 1, "Alt+\"s\""),
            (Key::Bytes(b"\x1bx".to_vec()), None, 1, "Alt+x"),
            (Key::Bytes(b"\x1b[1;2H".to_vec()), None, 1, "Press \"\\e[1;2H\""),
            (Key::Bytes(b"\x1b\"".to_vec()), None, 1, "Press \"\\e\\x22\""),
        ] {
            assert_eq!(key(&pressed, gap, count), wanted);
        }
    }

    #[test]
    fn every_control_character_has_a_spelling() {
        for byte in (0..=0x1f).filter(|byte| *byte != 0x1b) {
            assert_eq!(bytes(&[key(&Key::Bytes(vec![byte]), None, 1)]), [byte]);
            assert_eq!(bytes(&[key(&Key::Bytes(vec![0x1b, byte]), None, 1)]), [0x1b, byte]);
        }
    }

    proptest! {
        #[test]
        fn any_text_spells_and_parses_to_the_same_bytes(text in "[ -~é$\\{\\}\"'`]{1,30}") {
            prop_assert_eq!(bytes(&typed(&text, None)), text.into_bytes());
        }

        #[test]
        fn any_chord_spells_and_parses_to_the_same_bytes(sent in proptest::collection::vec(any::<u8>(), 1..20)) {
            let chord = Key::Bytes([&[0x1b], &sent[..]].concat());
            prop_assert_eq!(bytes(&[key(&chord, None, 1)]), [&[0x1b], &sent[..]].concat());
        }
    }
}
