//! Splits input into entries, and decides which of them are secrets.
//!
//! An **entry** is what a person types into one field or row: printable keys, pastes and the keys that edit them (Backspace,
//! left and right, Ctrl+U), up to any other key. It is kept if the screen showed it at the cursor. It is also kept if the keys
//! that the screen did not show were commands: single keys, each of which the program answered by itself, as a pager and an
//! editor's normal mode do. All other entries are secrets.

use std::ops::Range;

use cuesta_tape::Key;

use crate::key_code::KeyCode;
use crate::reaction::Reaction;
use crate::strokes::Stroke;

/// Words of a row that asks for a secret, in lower case.
const ASKS: [&str; 8] =
    ["password", "passphrase", "passwort", "kennwort", "passcode", "mot de passe", "secret", "token"];
/// Whole words of a row that asks for a secret.
const ASKS_WHOLE: [&str; 3] = ["pin", "otp", "puk"];
/// Text after these is a secret even if the screen shows it.
const ASSIGNS: [&str; 8] =
    ["set key=", "password=", "passwd=", "passphrase=", "secret=", "token=", "api_key=", "apikey="];
/// Keys that the screen did not show may be commands only if at most this many of them differ; more may be a secret.
const MOST_COMMANDS: usize = 3;

/// The entries of a session, as ranges of strokes.
pub(crate) fn entries(strokes: &[Stroke]) -> Vec<Range<usize>> {
    let mut begin = 0;
    let mut found = Vec::new();
    for entry in strokes.chunk_by(|one, next| belongs(one) && belongs(next) && !is_asked_again(one, next)) {
        let end = begin + entry.len();
        if entry.iter().any(|stroke| stroke.press.code.is_text()) {
            found.push(begin..end);
        }
        begin = end;
    }
    found
}

fn belongs(stroke: &Stroke) -> bool {
    stroke.press.code.is_text() || is_edit(&stroke.press.code)
}

/// Whether the host began another row that asks for a secret.
fn is_asked_again(before: &Stroke, stroke: &Stroke) -> bool {
    before.answer.text.contains('\n') && asks(&stroke.row)
}

/// Whether a key edits the entry or moves within it, as in shells and forms.
fn is_edit(code: &KeyCode) -> bool {
    match code {
        KeyCode::Key(Key::Bytes(bytes)) => matches!(
            &bytes[..],
            [0x01 | 0x02 | 0x05 | 0x06 | 0x08 | 0x0b | 0x14..=0x17 | 0x19 | 0x1f]
                | [0x1b, b'b' | b'd' | b'f' | 0x7f]
                | b"\x1b[1;5C"
                | b"\x1b[1;5D"
        ),
        KeyCode::Key(key) => {
            matches!(key, Key::Backspace | Key::Delete | Key::Left | Key::Right | Key::Home | Key::End)
        }
        _ => false,
    }
}

/// The text of an entry after edits at its end.
pub(crate) fn text(entry: &[Stroke]) -> String {
    let mut text = String::new();
    for stroke in entry {
        match &stroke.press.code {
            KeyCode::Char(c) => text.push(*c),
            KeyCode::Paste(pasted) => text.push_str(pasted),
            KeyCode::Key(Key::Backspace) => _ = text.pop(),
            KeyCode::Key(Key::Bytes(bytes)) if bytes[..] == [0x08] => _ = text.pop(),
            KeyCode::Key(Key::Bytes(bytes)) if bytes[..] == [0x15] => text.clear(),
            KeyCode::Key(_) | KeyCode::Secret(_) => {}
        }
    }
    text
}

/// Number of printable keys of an entry.
pub(crate) fn keys(entry: &[Stroke]) -> usize {
    entry.iter().map(|stroke| stroke.press.code.characters().len()).sum()
}

/// Whether an entry must be hidden.
pub(crate) fn is_secret(entry: &[Stroke]) -> bool {
    let typed: Vec<&Stroke> = entry.iter().filter(|stroke| stroke.press.code.is_text()).collect();
    let unechoed = typed.iter().any(|stroke| stroke.echoes == Some(false));
    let commands = typed.split(|stroke| stroke.shown).all(are_commands);
    unechoed || !commands || assigns(&text(entry))
}

/// Whether keys that the screen did not show were commands.
fn are_commands(keys: &[&Stroke]) -> bool {
    let Some(first) = keys.first() else { return true };
    let is_single = |key: &&Stroke| matches!(key.press.code, KeyCode::Char(_)) && key.reaction != Reaction::Sign;
    if asks(&first.row) || !keys.iter().all(is_single) {
        return false;
    }
    are_answered(keys) && different(keys) <= MOST_COMMANDS && !has_number(keys)
}

/// Whether the program answered each key. On the alternate screen one may wait for the next, as an editor's `d` for its `w`.
fn are_answered(keys: &[&Stroke]) -> bool {
    let unanswered = |key: &&Stroke| key.reaction == Reaction::None;
    if keys.iter().any(|key| !key.alternate) {
        return !keys.iter().any(unanswered);
    }
    let two = keys.windows(2).any(|pair| pair.iter().all(unanswered));
    keys.len() == 1 || (!two && !keys.last().is_some_and(unanswered))
}

/// Whether two digits are adjacent: probably a code, not a count before a command.
fn has_number(keys: &[&Stroke]) -> bool {
    let is_digit = |key: &Stroke| matches!(key.press.code, KeyCode::Char(digit) if digit.is_ascii_digit());
    keys.windows(2).any(|pair| pair.iter().all(|key| is_digit(key)))
}

/// The number of keys, repeated presses of the same key counted once.
fn different(keys: &[&Stroke]) -> usize {
    let mut codes: Vec<&KeyCode> = keys.iter().map(|key| &key.press.code).collect();
    codes.dedup();
    codes.len()
}

/// Whether a row asks for a secret.
pub(crate) fn asks(row: &str) -> bool {
    let row = row.to_lowercase();
    let mut words = row.split(|c: char| !c.is_alphanumeric());
    words.any(|word| ASKS_WHOLE.contains(&word)) || ASKS.iter().any(|word| row.contains(word))
}

/// Whether a row gives a secret a name, as `set key=` and `export TOKEN=` do.
fn assigns(text: &str) -> bool {
    let text = text.to_lowercase();
    ASSIGNS.iter().any(|word| text.split_once(word).is_some_and(|(_, value)| !value.trim().is_empty()))
}
