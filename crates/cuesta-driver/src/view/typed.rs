//! What a key means for the screen.

use cuesta_record::Stamp;

/// A key that the screen should show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    /// When it should have gone.
    pub(crate) due: Stamp,
    /// When it went.
    pub(crate) sent: Stamp,
    /// Whether the moment at which it is shown is a figure, and its absence counted.
    pub(crate) timed: bool,
    /// What is waited for next may be its own echo: no other key comes before that.
    pub(crate) answers: bool,
}

/// How a key goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Going {
    pub(crate) key: Key,
    /// It is the first since an answer.
    pub(crate) first: bool,
}

/// What is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Typed {
    /// The screen should show this character.
    Shown(char),
    Return,
    /// Backspace: takes back what was typed.
    Erase,
    /// Anything else that is not shown as itself.
    Other,
}

impl Typed {
    /// What a character means, where the host shows for it what the map says.
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
        assert_eq!(Typed::new('é', &[]), Typed::Shown('é'));
        assert_eq!(Typed::new('a', &[(b'a', b'0')]), Typed::Shown('0'));
        assert_eq!(Typed::new('\r', &[]), Typed::Return);
        assert_eq!(Typed::new('\x7f', &[]), Typed::Erase);
        assert_eq!(Typed::new('\x03', &[]), Typed::Other);
    }
}
