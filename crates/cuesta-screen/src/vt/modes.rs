//! Tracks the modes that keys depend on, for users without a screen: a few bytes, and no more work for text than searching it
//! for an escape.

use memchr::memchr;

use super::sequence::{Function, FunctionParser};

const ESC: u8 = b'\x1b';
/// DECCKM.
const CURSOR_KEYS: u16 = 1;
/// DECTCEM.
const CURSOR: u16 = 25;

/// Modes that the host has set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Modes {
    /// DECCKM: the arrows send `ESC O A` and so on.
    pub application_cursor: bool,
    /// Pastes are sent between `ESC [ 2 0 0 ~` and `ESC [ 2 0 1 ~`.
    pub bracketed_paste: bool,
    /// The cursor is hidden (DECTCEM reset), as programs do while they draw.
    pub hidden_cursor: bool,
}

/// Follows the modes in the host's output, as a [`Screen`](super::Screen) does.
#[derive(Debug, Clone, Copy)]
pub struct ModeWatch {
    modes: Modes,
    /// What the host has saved of them (XTSAVE); what it has not is reset.
    saved: Modes,
    parser: FunctionParser,
}

impl Default for ModeWatch {
    fn default() -> Self {
        Self {
            modes: Modes::default(),
            saved: Modes { hidden_cursor: true, ..Modes::default() },
            parser: FunctionParser::default(),
        }
    }
}

impl ModeWatch {
    /// Takes output of the host, which may be cut anywhere.
    pub fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.parser.is_in_text() {
                let Some(escape) = memchr(ESC, bytes) else { return };
                bytes = &bytes[escape..];
            }
            match self.parser.take_byte(bytes[0]) {
                // RIS.
                Some(Function::Escape(None)) if bytes[0] == b'c' => self.modes = Modes::default(),
                Some(Function::ControlSequence) => self.control_sequence(bytes[0]),
                _ => {}
            }
            bytes = &bytes[1..];
        }
    }

    /// The modes that are set now.
    pub fn modes(&self) -> Modes {
        self.modes
    }

    fn control_sequence(&mut self, last: u8) {
        let sequence = &self.parser.sequence;
        if sequence.has_subparameters() {
            return;
        }
        match (sequence.private, sequence.intermediate, last) {
            (Some('?'), None, b'h' | b'l') => {
                sequence.numbers().iter().for_each(|number| self.modes.set(*number, last == b'h'));
            }
            (Some('?'), None, b's') => self.saved.copy(self.modes, sequence.numbers()),
            (Some('?'), None, b'r') => self.modes.copy(self.saved, sequence.numbers()),
            // The soft reset.
            (None, Some('!'), b'p') => {
                self.modes.set(CURSOR_KEYS, false);
                self.modes.set(CURSOR, true);
            }
            _ => {}
        }
    }
}

impl Modes {
    fn set(&mut self, number: u16, on: bool) {
        if let Some(mode) = self.mode(number) {
            // The cursor's mode says that it is shown.
            *mode = on != (number == CURSOR);
        }
    }

    /// Copies modes from others.
    fn copy(&mut self, mut from: Self, numbers: &[u16]) {
        for number in numbers {
            if let (Some(mode), Some(from)) = (self.mode(*number), from.mode(*number)) {
                *mode = *from;
            }
        }
    }

    fn mode(&mut self, number: u16) -> Option<&mut bool> {
        match number {
            CURSOR_KEYS => Some(&mut self.application_cursor),
            CURSOR => Some(&mut self.hidden_cursor),
            2004 => Some(&mut self.bracketed_paste),
            _ => None,
        }
    }
}
