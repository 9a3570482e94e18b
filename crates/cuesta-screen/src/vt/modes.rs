//! Tracks the modes that keys depend on, for users without a screen: a few bytes, and no more work for text than searching it
//! for an escape.

use memchr::memchr;

use super::sequence::{ControlSequence, ESC, SequenceState};

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
#[derive(Debug, Clone, Copy, Default)]
pub struct ModeWatch {
    modes: Modes,
    state: SequenceState,
}

impl ModeWatch {
    /// Takes output of the host, which may be cut anywhere.
    pub fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.state == SequenceState::Text {
                let Some(escape) = memchr(ESC, bytes) else { return };
                bytes = &bytes[escape..];
            }
            match (self.state.step(bytes[0]), bytes[0]) {
                (Some(SequenceState::ControlSequence(control)), last) => self.control(control, last),
                (Some(SequenceState::Escape), b'c') => self.modes = Modes::default(),
                _ => {}
            }
            bytes = &bytes[1..];
        }
    }

    /// The modes that are set now.
    pub fn modes(&self) -> Modes {
        self.modes
    }

    fn control(&mut self, control: ControlSequence, last: u8) {
        match (control.private, control.intermediate, last) {
            (Some(b'?'), None, b'h' | b'l') => {
                control.numbers().iter().for_each(|number| self.set(*number, last == b'h'));
            }
            // The soft reset.
            (None, Some(b'!'), b'p') => {
                self.set(1, false);
                self.set(25, true);
            }
            _ => {}
        }
    }

    fn set(&mut self, number: u16, on: bool) {
        match number {
            1 => self.modes.application_cursor = on,
            25 => self.modes.hidden_cursor = !on,
            2004 => self.modes.bracketed_paste = on,
            _ => {}
        }
    }
}
