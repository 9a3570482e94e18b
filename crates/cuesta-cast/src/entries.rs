//! Splits input into entries, and decides which of them are secrets.
//!
//! An **entry** is what a person types into one field or row: printable keys, pastes and the keys that edit them (Backspace,
//! left and right, Ctrl+U), up to any other key. It is kept if the screen showed it at the cursor. It is also kept if the keys
//! that the screen did not show were commands: single keys, each of which the program answered by itself, as a pager and an
//! editor's normal mode do. All other entries are secrets, and so is an entry that the screen showed if it holds `credentials`,
//! or answers a question for a secret.

use std::ops::Range;

use cuesta_tape::Key;

use crate::credentials::{find_credentials, names_secret};
use crate::key_code::KeyCode;
use crate::reaction::Reaction;
use crate::strokes::Stroke;

/// Questions for a secret whose words alone name none, in lower case, and words of other scripts.
const ASKS: [&str; 14] = [
    "verification code",
    "security code",
    "access code",
    "authentication code",
    "one-time",
    "card number",
    "mot de passe",
    "hasło",
    "lösenord",
    "пароль",
    "密码",
    "密碼",
    "パスワード",
    "비밀번호",
];
/// The most characters of a question.
const LONGEST_QUESTION: usize = 60;
/// Keys that the screen did not show may be commands only if at most this many of them differ; more may be a secret.
const MOST_COMMANDS: usize = 3;

pub(crate) fn find_entries(strokes: &[Stroke]) -> Vec<Range<usize>> {
    let mut begin = 0;
    let mut entries = Vec::new();
    for entry in strokes.chunk_by(|one, next| belongs(one) && belongs(next) && !is_asked_again(one, next)) {
        let end = begin + entry.len();
        if entry.iter().any(|stroke| stroke.press.code.is_text()) {
            entries.push(begin..end);
        }
        begin = end;
    }
    entries
}

fn belongs(stroke: &Stroke) -> bool {
    stroke.press.code.is_text() || is_edit(&stroke.press.code)
}

/// Whether the host began another row that asks for a secret.
fn is_asked_again(before: &Stroke, stroke: &Stroke) -> bool {
    before.answer.text.contains('\n') && asks_for_secret(&stroke.row)
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
pub(crate) fn typed_text(entry: &[Stroke]) -> String {
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
pub(crate) fn count_keys(entry: &[Stroke]) -> usize {
    entry.iter().map(|stroke| stroke.press.code.characters().len()).sum()
}

/// Whether an entry must be hidden; `previous` is the key before it.
pub(crate) fn is_secret(entry: &[Stroke], previous: Option<&Stroke>) -> bool {
    let typed: Vec<&Stroke> = entry.iter().filter(|stroke| stroke.press.code.is_text()).collect();
    let unechoed = typed.iter().any(|stroke| stroke.echoes == Some(false));
    let commands = typed.split(|stroke| stroke.shown).all(are_commands);
    unechoed || !commands || !find_credentials(&typed_text(entry)).is_empty() || answers_question(&typed, previous)
}

/// Whether keys that the screen did not show were commands.
fn are_commands(keys: &[&Stroke]) -> bool {
    let Some(first) = keys.first() else { return true };
    let is_single = |key: &&Stroke| matches!(key.press.code, KeyCode::Char(_)) && key.reaction != Reaction::Sign;
    if asks_for_secret(&first.row) || !keys.iter().all(is_single) {
        return false;
    }
    are_answered(keys) && count_different(keys) <= MOST_COMMANDS && !has_number(keys)
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
fn count_different(keys: &[&Stroke]) -> usize {
    let mut codes: Vec<&KeyCode> = keys.iter().map(|key| &key.press.code).collect();
    codes.dedup();
    codes.len()
}

pub(crate) fn asks_for_secret(row: &str) -> bool {
    let lower = row.to_lowercase();
    row.split(|c: char| !c.is_alphanumeric()).any(names_secret) || ASKS.iter().any(|words| lower.contains(words))
}

/// Whether an entry answers a question for a secret. Keys that came together with the key before them were typed for another row.
fn answers_question(typed: &[&Stroke], previous: Option<&Stroke>) -> bool {
    let Some(first) = typed.first() else { return false };
    let is_ahead = previous.is_some_and(|previous| previous.press.input == first.press.input);
    let before: String = first.row.chars().take(first.cursor.1.into()).collect();
    !is_ahead && is_question(&before)
}

/// Whether the text before an entry is a question for a secret, and not a prompt or a row in which such a word stands by chance.
fn is_question(before: &str) -> bool {
    let question = before.trim_end();
    let last = question.rsplit(['.', '!', '|', '│', '┃']).next().unwrap_or_default();
    let ends = [':', '?', '=', '：', '？'].iter().any(|end| question.ends_with(*end));
    let only = question.strip_suffix(['>', ']']).is_some_and(|word| word.chars().all(char::is_alphabetic));
    (ends || only) && last.chars().count() <= LONGEST_QUESTION && asks_for_secret(last)
}
