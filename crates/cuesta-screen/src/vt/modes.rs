//! The modes of the terminal that keys depend on.

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

impl Modes {
    /// Sets or resets the modes with these numbers.
    pub(super) fn set(&mut self, numbers: &[u16], on: bool) {
        for number in numbers {
            if let Some(mode) = self.mode(*number) {
                // The cursor's mode says that it is shown.
                *mode = on != (*number == CURSOR);
            }
        }
    }

    /// Copies the modes with these numbers from others.
    pub(super) fn copy(&mut self, mut from: Self, numbers: &[u16]) {
        for number in numbers {
            if let (Some(mode), Some(from)) = (self.mode(*number), from.mode(*number)) {
                *mode = *from;
            }
        }
    }

    /// DECSTR.
    pub(super) fn reset_softly(&mut self) {
        self.set(&[CURSOR_KEYS], false);
        self.set(&[CURSOR], true);
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
