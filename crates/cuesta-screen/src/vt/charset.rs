//! The character sets that a host may choose (ISO 2022; DEC STD 070 §7).

/// A set of graphic characters in place of ASCII.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Charset {
    #[default]
    Ascii,
    /// The upper half of ISO 8859-1, which begins with a pound sign where a British terminal has one.
    Latin1,
    /// DEC's special graphics: lines and corners.
    SpecialGraphics,
}

/// The special graphics from U+005F to U+007E.
const LINES: [char; 32] = [
    ' ', '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺', '⎻', '─', '⎼', '⎽', '├', '┤',
    '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
];

impl Charset {
    /// The set that a sequence designates by its intermediate and last character; `None` if it names none. Other sets than these are
    /// shown as ASCII, as national ones in xterm until a host asks for them (DECNRCM).
    pub(super) fn designated_by(intermediate: char, last: char) -> Option<Self> {
        const OTHERS: &str = "BCEfHKQRYZ`1245679<=>";
        match (intermediate, last) {
            (_, 'A') => Some(Self::Latin1),
            // These designate sets of 96 characters, of which no other one is here.
            ('-' | '.' | '/', _) => None,
            (_, '0') => Some(Self::SpecialGraphics),
            _ => OTHERS.contains(last).then_some(Self::Ascii),
        }
    }

    pub(super) fn map(self, character: char) -> char {
        match (self, character) {
            (Self::Latin1, '!'..='~') => char::from(character as u8 | 0x80),
            (Self::SpecialGraphics, '_'..='~') => LINES[character as usize - '_' as usize],
            _ => character,
        }
    }
}
