//! Keys of the keyboard and the bytes that a terminal sends for them.

use crate::script::Key;

impl Key {
    /// What a terminal in its default modes (DECCKM and DECKPAM off) sends, as xterm does.
    pub fn bytes(&self) -> Vec<u8> {
        let plain: &[u8] = match self {
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
            Self::Chord(bytes) => bytes,
        };
        plain.to_vec()
    }
}
