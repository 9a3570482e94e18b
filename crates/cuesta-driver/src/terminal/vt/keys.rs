//! What keys do at a video terminal.

use cuesta_screen::vt::{ControlKey, Modes, key_bytes};
use cuesta_tape::{Key, WaitCondition};

/// What a key should make the screen show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyEffect {
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
    pub(super) fn new(character: char, map: &[(u8, u8)]) -> Self {
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

impl From<KeyEffect> for ControlKey {
    fn from(effect: KeyEffect) -> Self {
        match effect {
            KeyEffect::Return => Self::Return,
            KeyEffect::Erase => Self::Erase,
            KeyEffect::Shown(_) | KeyEffect::Other => Self::Other,
        }
    }
}

/// Why keys or conditions are not for a VT.
pub(in crate::terminal) fn find_mismatch<'a>(
    mut keys: impl Iterator<Item = &'a Key>,
    conditions: &[WaitCondition],
) -> Option<String> {
    if let Some(key) = keys.find(|key| key_bytes(key, Modes::default()).is_none()) {
        let name = key.name().unwrap_or_else(|| "a chord with a 3270's key".to_owned());
        return Some(format!("a VT has no key for {name}: leave it out, or use a tn3270:// target"));
    }
    let locks = conditions.contains(&WaitCondition::Unlock);
    locks
        .then(|| "a VT's keyboard is never locked: wait for a prompt or a screen, or use a tn3270:// target".to_owned())
}
