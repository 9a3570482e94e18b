//! Keys of the keyboard and the bytes that a terminal sends for them.

/// A key of the keyboard that is not a plain character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// Named keys.
    Enter,
    /// `\x7f`.
    Backspace,
    /// `\e[3~`.
    Delete,
    /// `\e[2~`.
    Insert,
    /// `\x1b`.
    Escape,
    /// `\t`.
    Tab,
    /// One blank.
    Space,
    /// `\e[A`, or `\eOA` in application mode.
    Up,
    /// See `Up`.
    Down,
    /// See `Up`.
    Left,
    /// See `Up`.
    Right,
    /// `\e[H`, or `\eOH` in application mode.
    Home,
    /// `\e[F`, or `\eOF` in application mode.
    End,
    /// `\e[5~`.
    PageUp,
    /// `\e[6~`.
    PageDown,
    /// F1 to F12.
    Function(u8),
    /// A chord, e.g. `Ctrl+C`, `Alt+x`, `Shift+Tab`, or a key without a name, as the bytes that a terminal sends for it.
    Chord(Vec<u8>),
}

/// The modes that the host has set, as far as they change what keys send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Modes {
    /// DECCKM (`\e[?1h`): cursor keys send application sequences.
    pub application_cursor: bool,
}

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

impl Key {
    /// What a terminal in these modes sends, as xterm does.
    pub fn bytes(&self, modes: Modes) -> &[u8] {
        if modes.application_cursor
            && let Some(bytes) = self.application()
        {
            return bytes;
        }
        match self {
            Self::Enter => b"\r",
            Self::Backspace => b"\x7f",
            Self::Delete => b"\x1b[3~",
            Self::Insert => b"\x1b[2~",
            Self::Escape => b"\x1b",
            Self::Tab => b"\t",
            Self::Space => b" ",
            Self::Up => b"\x1b[A",
            Self::Down => b"\x1b[B",
            Self::Right => b"\x1b[C",
            Self::Left => b"\x1b[D",
            Self::PageUp => b"\x1b[5~",
            Self::PageDown => b"\x1b[6~",
            Self::Home => b"\x1b[H",
            Self::End => b"\x1b[F",
            Self::Function(number) => FUNCTIONS.get(usize::from(*number).wrapping_sub(1)).copied().unwrap_or_default(),
            Self::Chord(bytes) => bytes,
        }
    }

    /// Whether what is sent depends on the modes that the host has set.
    pub fn needs_modes(&self) -> bool {
        self.bytes(Modes::default()) != self.bytes(Modes { application_cursor: true })
    }

    /// What a cursor key sends in application mode.
    fn application(&self) -> Option<&'static [u8]> {
        Some(match self {
            Self::Up => b"\x1bOA",
            Self::Down => b"\x1bOB",
            Self::Right => b"\x1bOC",
            Self::Left => b"\x1bOD",
            Self::Home => b"\x1bOH",
            Self::End => b"\x1bOF",
            _ => return None,
        })
    }

    /// A key that `Press` names.
    pub(crate) fn pressed(word: &str) -> Option<Self> {
        let number = |digits: &str| digits.parse().ok().filter(|number| (1..=12).contains(number));
        match word {
            "Home" => Some(Self::Home),
            "End" => Some(Self::End),
            _ => Self::named(word).or_else(|| word.strip_prefix('F').and_then(number).map(Self::Function)),
        }
    }

    /// The key that a command names; `None` for those that only scroll a window.
    pub(crate) fn named(word: &str) -> Option<Self> {
        Some(match word {
            "Enter" => Self::Enter,
            "Backspace" => Self::Backspace,
            "Delete" => Self::Delete,
            "Insert" => Self::Insert,
            "Escape" => Self::Escape,
            "Tab" => Self::Tab,
            "Space" => Self::Space,
            "Up" => Self::Up,
            "Down" => Self::Down,
            "Left" => Self::Left,
            "Right" => Self::Right,
            "PageUp" => Self::PageUp,
            "PageDown" => Self::PageDown,
            _ => return None,
        })
    }
}

/// Keys held down while another is pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Held {
    pub(crate) shift: bool,
    pub(crate) alt: bool,
    pub(crate) ctrl: bool,
}

impl Held {
    /// The bytes of one key, a name (`Left`) or a character, with these held down.
    pub(crate) fn press(self, key: &str) -> Vec<u8> {
        match key {
            "Tab" if self.shift => b"\x1b[Z".to_vec(),
            // For Ctrl+Backspace xterm sends backspace instead of delete.
            "Backspace" if self.ctrl => self.after_escape(b"\x08".to_vec()),
            "Space" if self.ctrl => self.after_escape(vec![0]),
            "Up" | "Down" | "Right" | "Left" => self.arrow(key),
            _ => match Key::named(key) {
                Some(named) => self.after_escape(named.bytes(Modes::default()).to_vec()),
                None => key.chars().flat_map(|c| self.after_escape(self.character(c))).collect(),
            },
        }
    }

    /// Alt comes as an escape before the key.
    fn after_escape(self, mut bytes: Vec<u8>) -> Vec<u8> {
        if self.alt {
            bytes.insert(0, 0x1b);
        }
        bytes
    }

    /// xterm numbers what is held: 1 + shift + 2·alt + 4·ctrl.
    fn arrow(self, key: &str) -> Vec<u8> {
        let modifier = 1 + u8::from(self.shift) + 2 * u8::from(self.alt) + 4 * u8::from(self.ctrl);
        let letter = match key {
            "Up" => 'A',
            "Down" => 'B',
            "Right" => 'C',
            _ => 'D',
        };
        format!("\x1b[1;{modifier}{letter}").into_bytes()
    }

    fn character(self, c: char) -> Vec<u8> {
        if let Some(control) = self.ctrl.then(|| control(c)).flatten() {
            return vec![control];
        }
        let c = if self.shift { shifted(c) } else { c };
        c.to_string().into_bytes()
    }
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

    fn held(names: &str) -> Held {
        Held { shift: names.contains('S'), alt: names.contains('A'), ctrl: names.contains('C') }
    }

    #[test]
    fn chords_send_the_same_bytes_as_xterm() {
        for (names, key, bytes) in [
            ("C", "c", &b"\x03"[..]),
            ("C", "C", b"\x03"),
            ("CS", "p", b"\x10"),
            ("CA", "c", b"\x1b\x03"),
            ("C", "Space", b"\0"),
            ("C", "@", b"\0"),
            ("C", "[", b"\x1b"),
            ("C", "\\", b"\x1c"),
            ("C", "]", b"\x1d"),
            ("C", "^", b"\x1e"),
            ("C", "-", b"\x1f"),
            ("C", "5", b"\x1d"),
            ("C", ".", b"."),
            ("C", "Enter", b"\r"),
            ("C", "Backspace", b"\x08"),
            ("C", "Left", b"\x1b[1;5D"),
            ("CAS", "Up", b"\x1b[1;8A"),
            ("A", "x", b"\x1bx"),
            ("A", "foo", b"\x1bf\x1bo\x1bo"),
            ("A", "Enter", b"\x1b\r"),
            ("A", "[", b"\x1b["),
            ("A", "é", b"\x1b\xc3\xa9"),
            ("S", "Tab", b"\x1b[Z"),
            ("S", "abc", b"ABC"),
            ("S", "[", b"{"),
            ("S", "1", b"!"),
        ] {
            assert_eq!(held(names).press(key), bytes, "{names}+{key}");
        }
    }

    #[test]
    fn every_key_has_bytes() {
        for word in crate::words::names().filter(|name| crate::words::is_key(name)) {
            let scrolls = word.starts_with("Scroll");
            assert_eq!(Key::named(word).is_none(), scrolls, "{word}");
        }
        assert_eq!(Key::Chord(vec![3]).bytes(Modes::default()), [3]);
        assert_eq!(Key::pressed("F12"), Some(Key::Function(12)));
        for stranger in ["F0", "F13", "F", "F1x", "Hom", "ScrollUp"] {
            assert_eq!(Key::pressed(stranger), None, "{stranger}");
        }
    }

    #[test]
    fn cursor_keys_follow_the_hosts_mode() {
        let application = Modes { application_cursor: true };
        for (key, normal, in_application) in [
            (Key::Up, &b"\x1b[A"[..], &b"\x1bOA"[..]),
            (Key::Left, b"\x1b[D", b"\x1bOD"),
            (Key::Home, b"\x1b[H", b"\x1bOH"),
            (Key::End, b"\x1b[F", b"\x1bOF"),
            (Key::PageUp, b"\x1b[5~", b"\x1b[5~"),
            (Key::Function(5), b"\x1b[15~", b"\x1b[15~"),
            (Key::Chord(b"\x1b[1;5D".to_vec()), b"\x1b[1;5D", b"\x1b[1;5D"),
        ] {
            assert_eq!(key.bytes(Modes::default()), normal, "{key:?}");
            assert_eq!(key.bytes(application), in_application, "{key:?}");
        }
    }
}
