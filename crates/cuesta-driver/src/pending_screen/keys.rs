//! What a key does to a screen.

use cuesta_record::Stamp;

/// A key that the screen should show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ScreenKey {
    /// When it was due.
    pub(crate) due: Stamp,
    /// When it went.
    pub(crate) sent: Stamp,
    /// Whether its echo is timed, and counted if it is missing.
    pub(crate) timed: bool,
    /// Whether its own echo may be the response: no other key comes before the next wait.
    pub(crate) answers: bool,
}

/// A key as it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SentKey {
    pub(crate) key: ScreenKey,
    /// It is the first since a response.
    pub(crate) first: bool,
}

/// What a key should make the screen show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyEffect {
    /// The screen should show this character.
    Shown(char),
    Return,
    /// Backspace: takes back what was typed.
    Erase,
    /// Anything else that is not shown as itself.
    Other,
}

impl KeyEffect {
    /// The effect of a character; `map` holds what the host shows for others.
    pub(crate) fn new(character: char, map: &[(u8, u8)]) -> Self {
        match character {
            '\r' | '\n' => Self::Return,
            '\x7f' | '\x08' => Self::Erase,
            character if character.is_control() => Self::Other,
            character => {
                let mapped = map.iter().find(|(from, _)| char::from(*from) == character);
                Self::Shown(mapped.map_or(character, |(_, to)| char::from(*to)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_shown_or_is_not() {
        assert_eq!(KeyEffect::new('é', &[]), KeyEffect::Shown('é'));
        assert_eq!(KeyEffect::new('a', &[(b'a', b'0')]), KeyEffect::Shown('0'));
        assert_eq!(KeyEffect::new('\r', &[]), KeyEffect::Return);
        assert_eq!(KeyEffect::new('\x7f', &[]), KeyEffect::Erase);
        assert_eq!(KeyEffect::new('\x03', &[]), KeyEffect::Other);
    }
}
