//! Keys of a keyboard, by name. What a key sends, or does on the screen, is the terminal's business.

use crate::words;

/// A key of the keyboard that is not a plain character. No terminal has all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// The names of these keys are in [`NAMED`].
    Enter,
    Backspace,
    Delete,
    Insert,
    Escape,
    Tab,
    Space,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    /// F1 to F12 of a VT, PF1 to PF24 of a 3270: the same keys by either name.
    Function(u8),
    /// PA1 to PA3 of a 3270.
    ProgramAccess(u8),
    /// Keys of a 3270, from here to `SystemRequest`.
    Clear,
    Newline,
    EraseToEndOfField,
    EraseInput,
    Reset,
    Attention,
    SystemRequest,
    /// Keys pressed one after another while others are held down: `Ctrl+Alt+C`, `Alt+x`, `Shift+Tab`.
    Chord {
        /// What is held down.
        held: Held,
        /// Named keys and characters.
        keys: Vec<Self>,
    },
    /// A character in a chord.
    Character(char),
    /// A key without a name, as the bytes that a VT sends for it.
    Bytes(Vec<u8>),
}

/// Keys held down while another is pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)] // Keys are called so.
pub struct Held {
    pub shift: bool,
    pub alt: bool,
    pub ctrl: bool,
}

/// Names of keys, as tapes write them.
static NAMED: [(&str, Key); 22] = [
    ("Enter", Key::Enter),
    ("Backspace", Key::Backspace),
    ("Delete", Key::Delete),
    ("Insert", Key::Insert),
    ("Escape", Key::Escape),
    ("Tab", Key::Tab),
    ("Space", Key::Space),
    ("Up", Key::Up),
    ("Down", Key::Down),
    ("Left", Key::Left),
    ("Right", Key::Right),
    ("Home", Key::Home),
    ("End", Key::End),
    ("PageUp", Key::PageUp),
    ("PageDown", Key::PageDown),
    ("Clear", Key::Clear),
    ("Newline", Key::Newline),
    ("EraseEOF", Key::EraseToEndOfField),
    ("EraseInput", Key::EraseInput),
    ("Reset", Key::Reset),
    ("Attn", Key::Attention),
    ("SysReq", Key::SystemRequest),
];

impl Key {
    /// The key of a name; `None` if no key has it.
    pub fn named(name: &str) -> Option<Self> {
        let fixed = NAMED.iter().find(|(own, _)| *own == name).map(|(_, key)| key.clone());
        let function = || numbered(name, "F", 24).or_else(|| numbered(name, "PF", 24)).map(Self::Function);
        fixed.or_else(function).or_else(|| numbered(name, "PA", 3).map(Self::ProgramAccess))
    }

    /// Its name; `None` for a chord, a character, or bytes.
    pub fn name(&self) -> Option<String> {
        match self {
            Self::Function(number) => Some(format!("F{number}")),
            Self::ProgramAccess(number) => Some(format!("PA{number}")),
            key => NAMED.iter().find(|(_, named)| named == key).map(|(name, _)| (*name).to_owned()),
        }
    }

    /// The command of its own that presses it; `None` if only `Press` does.
    pub fn command(&self) -> Option<&'static str> {
        let (name, _) = NAMED.iter().find(|(_, named)| named == self)?;
        words::is_key(name).then_some(name)
    }

    /// Whether a VT sends different bytes for it in different modes, which the host sets.
    pub fn depends_on_modes(&self) -> bool {
        matches!(self, Self::Up | Self::Down | Self::Left | Self::Right | Self::Home | Self::End)
    }
}

/// The number behind `begin`, from 1 and without zeros before it.
fn numbered(name: &str, begin: &str, most: u8) -> Option<u8> {
    let digits = name.strip_prefix(begin).filter(|digits| !digits.starts_with(['0', '+']))?;
    digits.parse().ok().filter(|number| *number <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_to_its_key_and_back() {
        let numbered = (1..=24).map(|n| format!("F{n}")).chain((1..=3).map(|n| format!("PA{n}")));
        for name in NAMED.iter().map(|(name, _)| (*name).to_owned()).chain(numbered) {
            assert_eq!(Key::named(&name).and_then(|key| key.name()), Some(name));
        }
        assert_eq!(Key::named("PF3"), Some(Key::Function(3)));
        for stranger in ["F0", "F25", "F", "F1x", "F01", "F+1", "PA4", "Hom", "ScrollUp"] {
            assert_eq!(Key::named(stranger), None, "{stranger}");
        }
        for nameless in [Key::Character('x'), Key::Bytes(vec![3])] {
            assert_eq!(nameless.name(), None);
        }
    }

    #[test]
    fn every_word_that_is_a_key_names_one() {
        for word in words::names().filter(|name| words::is_key(name)) {
            assert_eq!(Key::named(word).is_none(), word.starts_with("Scroll"), "{word}");
        }
    }
}
