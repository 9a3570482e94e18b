//! The character sets that a host may choose (ISO 2022; DEC STD 070 §7).

/// A set of graphic characters in place of ASCII.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Charset {
    #[default]
    Ascii,
    /// The upper half of ISO 8859-1, which begins with a pound sign where a British terminal has one.
    Latin1,
    /// DEC's special graphics: lines and corners.
    Lines,
}

/// The special graphics from U+005F to U+007E.
const LINES: [char; 32] = [
    ' ', '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺', '⎻', '─', '⎼', '⎽', '├', '┤',
    '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
];

impl Charset {
    /// The set that a sequence chooses by its intermediate and last character; `None` if it names none. Other sets than these are
    /// shown as ASCII: national ones as in xterm until a host asks for them (DECNRCM).
    pub(super) fn chosen_by(intermediate: char, last: char) -> Option<Self> {
        match (intermediate, last) {
            (_, 'A') => Some(Self::Latin1),
            ('-' | '.' | '/', _) => None,
            (_, '0') => Some(Self::Lines),
            (
                _,
                'B'
                | 'C'
                | 'E'
                | 'f'
                | 'H'
                | 'K'
                | 'Q'
                | 'R'
                | 'Y'
                | 'Z'
                | '`'
                | '1'
                | '2'
                | '4'..='7'
                | '9'
                | '<'..='>',
            ) => Some(Self::Ascii),
            _ => None,
        }
    }

    pub(super) fn map(self, character: char) -> char {
        match (self, character) {
            (Self::Latin1, '!'..='~') => char::from(character as u8 | 0x80),
            (Self::Lines, '_'..='~') => LINES[character as usize - '_' as usize],
            _ => character,
        }
    }
}
