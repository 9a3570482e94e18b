//! The key at the beginning of a piece of input: a character, a control sequence, or a reply of the terminal, which is no key.

use cuesta_screen::vt::{Modes, key_bytes};
use cuesta_tape::Key;

/// The input of a key press.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeyCode {
    /// A printable character.
    Char(char),
    /// A named key or a chord.
    Key(Key),
    /// A text that the terminal said was pasted.
    Paste(String),
    /// The column that stands for a secret.
    Secret(String),
}

impl KeyCode {
    pub(crate) fn is_text(&self) -> bool {
        matches!(self, Self::Char(_) | Self::Paste(_))
    }

    pub(crate) fn characters(&self) -> Vec<char> {
        match self {
            Self::Char(c) => vec![*c],
            Self::Paste(text) => text.chars().collect(),
            Self::Key(_) | Self::Secret(_) => Vec::new(),
        }
    }
}

/// The longest sequence of a key and the longest reply of a terminal, in bytes.
const LONGEST_KEY: usize = 32;
const LONGEST_REPLY: usize = 4096;

/// The beginning of a piece of input.
pub(crate) enum Head {
    /// A key and its length in bytes.
    Key(KeyCode, usize),
    /// This many bytes that are not a key.
    Nothing(usize),
    /// The beginning of a sequence that is not complete.
    Open,
}

/// Reads the first key of a text that is not empty.
pub(crate) fn head(text: &str) -> Head {
    let mut characters = text.chars();
    match characters.next() {
        Some('\x1b') => escape(text, characters.next()),
        Some(c) => Head::Key(character(c), c.len_utf8()),
        None => Head::Nothing(0),
    }
}

fn character(c: char) -> KeyCode {
    match c {
        '\r' => KeyCode::Key(Key::Enter),
        '\t' => KeyCode::Key(Key::Tab),
        '\x7f' => KeyCode::Key(Key::Backspace),
        '\0'..='\x1f' => KeyCode::Key(Key::Bytes(vec![c as u8])),
        _ => KeyCode::Char(c),
    }
}

fn escape(text: &str, second: Option<char>) -> Head {
    match second {
        None => Head::Open,
        Some('[') => control(text),
        Some('O') => match text.chars().nth(2) {
            None => Head::Open,
            Some(c @ ' '..='~') => {
                named(&text[..3]).map_or_else(|| chord(text, 2 + c.len_utf8()), |key| Head::Key(key, 3))
            }
            Some(_) => chord(text, 2),
        },
        Some(']' | 'P' | '_' | '^' | 'X') => reply(text),
        // Escape twice: the first is a key by itself.
        Some('\x1b') => Head::Key(KeyCode::Key(Key::Escape), 1),
        // Alt sends an escape before the key.
        Some(c) => chord(text, 1 + c.len_utf8()),
    }
}

fn chord(text: &str, length: usize) -> Head {
    Head::Key(KeyCode::Key(Key::Bytes(text.as_bytes()[..length].to_vec())), length)
}

/// A control sequence (ECMA-48 §5.4): `ESC [`, parameters, intermediates, a final character.
fn control(text: &str) -> Head {
    let body = &text.as_bytes()[2..];
    let parameters = body.iter().take_while(|byte| (0x20..=0x3f).contains(*byte)).count();
    if parameters > LONGEST_KEY {
        return Head::Nothing(2 + parameters);
    }
    let Some(last) = body.get(parameters).copied() else { return Head::Open };
    if !(0x40..=0x7e).contains(&last) {
        return chord(text, 2);
    }
    let length = 2 + parameters + 1;
    let parameters = &text[2..2 + parameters];
    match (parameters, last) {
        // Replies: cursor position, device attributes, status, modes, window, focus.
        (_, b'c' | b'n' | b't' | b'R' | b'y') | ("", b'I' | b'O') => Head::Nothing(length),
        (_, b'u') if parameters.starts_with('?') => Head::Nothing(length),
        (_, b'u') => match numbered(parameters) {
            Some((c, false)) => Head::Key(KeyCode::Char(c), length),
            Some((_, true)) => Head::Nothing(length),
            None => chord(text, length),
        },
        // A mouse event in the X10 encoding: three more characters.
        ("", b'M') => match text[length..].char_indices().map(|(at, c)| at + c.len_utf8()).nth(2) {
            Some(more) => chord(text, length + more),
            None => Head::Open,
        },
        _ => named(&text[..length]).map_or_else(|| chord(text, length), |key| Head::Key(key, length)),
    }
}

/// The character of a key in kitty's keyboard protocol (`code:shifted:base`, then `modifiers:event`), and whether the key is
/// released. A key with other modifiers than Shift is a chord.
fn numbered(parameters: &str) -> Option<(char, bool)> {
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<u32>().ok());
    let mut fields = parameters.split(';').map(|field| field.split(':'));
    let mut codes = fields.next()?;
    let mut held = fields.next().into_iter().flatten();
    let (plain, shifted) = (number(codes.next())?, number(codes.next()));
    let (modifiers, event) = (number(held.next()).unwrap_or(1), number(held.next()));
    let shift = match modifiers {
        1 => false,
        2 => true,
        _ => return None,
    };
    let c = char::from_u32(shifted.filter(|_| shift).unwrap_or(plain)).filter(|c| !c.is_control())?;
    // Keys without a character have numbers of the private use area.
    let is_text = !('\u{e000}'..='\u{f8ff}').contains(&c);
    let c = if shift && shifted.is_none() { c.to_ascii_uppercase() } else { c };
    is_text.then_some((c, event == Some(3)))
}

/// A reply ends with BEL or `ESC \`.
fn reply(text: &str) -> Head {
    let bell = text.find('\x07').map(|at| at + 1);
    let terminator = text[1..].find("\x1b\\").map(|at| at + 3);
    match (bell, terminator) {
        (Some(end), Some(other)) => Head::Nothing(end.min(other)),
        (Some(end), None) | (None, Some(end)) => Head::Nothing(end),
        (None, None) if text.len() > LONGEST_REPLY => Head::Nothing(text.len()),
        (None, None) => Head::Open,
    }
}

/// The key that sends a sequence, in either mode of the cursor keys.
fn named(sequence: &str) -> Option<KeyCode> {
    let key = match sequence {
        "\x1b[A" | "\x1bOA" => Key::Up,
        "\x1b[B" | "\x1bOB" => Key::Down,
        "\x1b[C" | "\x1bOC" => Key::Right,
        "\x1b[D" | "\x1bOD" => Key::Left,
        "\x1b[H" | "\x1bOH" => Key::Home,
        "\x1b[F" | "\x1bOF" => Key::End,
        "\x1b[2~" => Key::Insert,
        "\x1b[3~" => Key::Delete,
        "\x1b[5~" => Key::PageUp,
        "\x1b[6~" => Key::PageDown,
        _ => {
            let mut keys = (1..=12).map(Key::Function);
            keys.find(|key| key_bytes(key, Modes::default()).as_deref() == Some(sequence.as_bytes()))?
        }
    };
    Some(KeyCode::Key(key))
}
