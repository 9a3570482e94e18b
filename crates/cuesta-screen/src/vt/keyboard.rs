//! What the keys of a VT send, as xterm's do.

use std::borrow::Cow;

use cuesta_tape::{Held, Key};

use super::Modes;

/// What F1 to F12 send.
const FUNCTIONS: [&[u8]; 12] = [
    b"\x1bOP",
    b"\x1bOQ",
    b"\x1bOR",
    b"\x1bOS",
    b"\x1b[15~",
    b"\x1b[17~",
    b"\x1b[18~",
    b"\x1b[19~",
    b"\x1b[20~",
    b"\x1b[21~",
    b"\x1b[23~",
    b"\x1b[24~",
];

/// What a terminal in these modes sends for a key; `None` if a VT has no such key.
pub fn key_bytes(key: &Key, modes: Modes) -> Option<Cow<'_, [u8]>> {
    match key {
        Key::Bytes(bytes) => Some(Cow::Borrowed(bytes)),
        Key::Character(c) => Some(Cow::Owned(c.to_string().into_bytes())),
        Key::Chord { held, keys } => {
            let pressed: Option<Vec<_>> = keys.iter().map(|key| pressed_with(*held, key)).collect();
            pressed.map(|pressed| Cow::Owned(pressed.concat()))
        }
        key => {
            let application = modes.application_cursor.then(|| in_application_mode(key)).flatten();
            application.or_else(|| named(key)).map(Cow::Borrowed)
        }
    }
}

fn named(key: &Key) -> Option<&'static [u8]> {
    Some(match key {
        Key::Enter => b"\r",
        Key::Backspace => b"\x7f",
        Key::Delete => b"\x1b[3~",
        Key::Insert => b"\x1b[2~",
        Key::Escape => b"\x1b",
        Key::Tab => b"\t",
        Key::Space => b" ",
        Key::Up => b"\x1b[A",
        Key::Down => b"\x1b[B",
        Key::Right => b"\x1b[C",
        Key::Left => b"\x1b[D",
        Key::PageUp => b"\x1b[5~",
        Key::PageDown => b"\x1b[6~",
        Key::Home => b"\x1b[H",
        Key::End => b"\x1b[F",
        Key::Function(number) => FUNCTIONS.get(usize::from(*number).wrapping_sub(1))?,
        _ => return None,
    })
}

/// What a cursor key sends in application mode (DECCKM).
fn in_application_mode(key: &Key) -> Option<&'static [u8]> {
    Some(match key {
        Key::Up => b"\x1bOA",
        Key::Down => b"\x1bOB",
        Key::Right => b"\x1bOC",
        Key::Left => b"\x1bOD",
        Key::Home => b"\x1bOH",
        Key::End => b"\x1bOF",
        _ => return None,
    })
}

/// What a key sends while others are held down.
fn pressed_with(held: Held, key: &Key) -> Option<Vec<u8>> {
    let plain = match key {
        Key::Tab if held.shift => return Some(b"\x1b[Z".to_vec()),
        Key::Up => return Some(arrow(held, 'A')),
        Key::Down => return Some(arrow(held, 'B')),
        Key::Right => return Some(arrow(held, 'C')),
        Key::Left => return Some(arrow(held, 'D')),
        // xterm sends backspace instead of delete.
        Key::Backspace if held.ctrl => b"\x08".to_vec(),
        Key::Space if held.ctrl => vec![0],
        Key::Character(c) => character(held, *c),
        key => named(key)?.to_vec(),
    };
    // Alt comes as an escape before the key.
    Some(if held.alt { [b"\x1b", &plain[..]].concat() } else { plain })
}

/// xterm numbers what is held: 1 + shift + 2·alt + 4·ctrl.
fn arrow(held: Held, letter: char) -> Vec<u8> {
    let modifier = 1 + u8::from(held.shift) + 2 * u8::from(held.alt) + 4 * u8::from(held.ctrl);
    format!("\x1b[1;{modifier}{letter}").into_bytes()
}

fn character(held: Held, c: char) -> Vec<u8> {
    if let Some(control) = held.ctrl.then(|| control(c)).flatten() {
        return vec![control];
    }
    let c = if held.shift { shifted(c) } else { c };
    c.to_string().into_bytes()
}

/// The control character of a key, as on a VT220: letters and `@ [ \ ] ^ _`, and digits for those.
fn control(c: char) -> Option<u8> {
    Some(match c {
        'a'..='z' | 'A'..='Z' | '@' | '[' | '\\' | ']' | '^' | '_' => c as u8 & 0x1f,
        ' ' | '2' => 0x00,
        '3'..='7' => c as u8 - b'3' + 0x1b,
        '-' | '/' => 0x1f,
        '8' | '?' => 0x7f,
        _ => return None,
    })
}

/// The character that the key of `c` types with shift, on a US keyboard.
fn shifted(c: char) -> char {
    const PLAIN: &str = "1234567890-=[]\\;',./`";
    const SHIFTED: &str = "!@#$%^&*()_+{}|:\"<>?~";
    match PLAIN.find(c) {
        Some(at) => SHIFTED.as_bytes()[at] as char,
        None => c.to_ascii_uppercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chord(names: &str, keys: Vec<Key>) -> Key {
        let held = Held { shift: names.contains('S'), alt: names.contains('A'), ctrl: names.contains('C') };
        Key::Chord { held, keys }
    }

    fn plain(key: &Key) -> Vec<u8> {
        key_bytes(key, Modes::default()).unwrap().into_owned()
    }

    #[test]
    fn chords_send_the_same_bytes_as_xterm() {
        for (names, key, bytes) in [
            ("C", 'c', &b"\x03"[..]),
            ("C", 'C', b"\x03"),
            ("CS", 'p', b"\x10"),
            ("CA", 'c', b"\x1b\x03"),
            ("C", '@', b"\0"),
            ("C", '[', b"\x1b"),
            ("C", '\\', b"\x1c"),
            ("C", ']', b"\x1d"),
            ("C", '^', b"\x1e"),
            ("C", '-', b"\x1f"),
            ("C", '5', b"\x1d"),
            ("C", '.', b"."),
            ("A", 'x', b"\x1bx"),
            ("A", '[', b"\x1b["),
            ("A", 'é', b"\x1b\xc3\xa9"),
            ("S", '[', b"{"),
            ("S", '1', b"!"),
        ] {
            assert_eq!(plain(&chord(names, vec![Key::Character(key)])), bytes, "{names}+{key}");
        }
        for (names, key, bytes) in [
            ("C", Key::Space, &b"\0"[..]),
            ("C", Key::Enter, b"\r"),
            ("C", Key::Backspace, b"\x08"),
            ("C", Key::Left, b"\x1b[1;5D"),
            ("CAS", Key::Up, b"\x1b[1;8A"),
            ("A", Key::Enter, b"\x1b\r"),
            ("S", Key::Tab, b"\x1b[Z"),
        ] {
            assert_eq!(plain(&chord(names, vec![key.clone()])), bytes, "{names}+{key:?}");
        }
        let letters = |text: &str| text.chars().map(Key::Character).collect();
        assert_eq!(plain(&chord("A", letters("foo"))), b"\x1bf\x1bo\x1bo");
        assert_eq!(plain(&chord("S", letters("abc"))), b"ABC");
    }

    #[test]
    fn cursor_keys_follow_the_hosts_mode() {
        let application = Modes { application_cursor: true, ..Modes::default() };
        for (key, normal, in_application) in [
            (Key::Up, &b"\x1b[A"[..], &b"\x1bOA"[..]),
            (Key::Left, b"\x1b[D", b"\x1bOD"),
            (Key::Home, b"\x1b[H", b"\x1bOH"),
            (Key::End, b"\x1b[F", b"\x1bOF"),
            (Key::PageUp, b"\x1b[5~", b"\x1b[5~"),
            (Key::Function(5), b"\x1b[15~", b"\x1b[15~"),
            (Key::Bytes(b"\x1b[1;5D".to_vec()), b"\x1b[1;5D", b"\x1b[1;5D"),
        ] {
            assert_eq!(plain(&key), normal, "{key:?}");
            assert_eq!(key_bytes(&key, application).as_deref(), Some(in_application), "{key:?}");
        }
    }

    #[test]
    fn keys_of_a_3270_send_nothing() {
        for key in [Key::Clear, Key::ProgramAccess(1), Key::Function(13), chord("C", vec![Key::Clear])] {
            assert_eq!(key_bytes(&key, Modes::default()), None, "{key:?}");
        }
    }
}
