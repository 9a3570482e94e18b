//! The private modes that a host sets, saves and restores, and what resets them.

use super::super::tap::Tap;
use super::colours::Colours;
use super::{Cursor, Erasing, Protection, STEADY_BLOCK, Settings, Terminal, tab_stops};

/// Draws a frame at once.
pub(in super::super) const FRAME: u16 = 2026;

/// The modes that XTSAVE saved. Those that it did not are reset by XTRESTORE.
#[derive(Debug)]
pub(super) struct SavedModes {
    settings: Settings,
    origin: bool,
    is_alternate: bool,
}

impl Default for SavedModes {
    fn default() -> Self {
        Self { settings: Settings::NONE, origin: false, is_alternate: false }
    }
}

impl Terminal {
    /// Sets a private mode.
    pub(super) fn set(&mut self, mode: u16, on: bool, tap: &mut impl Tap) {
        match mode {
            6 => {
                self.cursor.origin = on;
                self.move_to(0, 0);
            }
            47 => self.switch_screen(on),
            1047 => {
                if !on && self.is_alternate {
                    self.clear();
                }
                self.switch_screen(on);
            }
            1048 if on => self.save_cursor(),
            1048 => self.restore_cursor(),
            1049 if on => {
                self.save_cursor();
                self.switch_screen(true);
                self.clear();
            }
            1049 => {
                self.switch_screen(false);
                self.restore_cursor();
            }
            FRAME => self.frame(on, tap),
            _ => {}
        }
        self.settings.set(mode, on);
    }

    /// A frame begins or ends.
    fn frame(&mut self, begins: bool, tap: &mut impl Tap) {
        let is_in_frame = self.settings.is_set(FRAME) == Some(true);
        self.frames += u64::from(is_in_frame && !begins);
        if begins {
            tap.frame_begins();
        }
    }

    /// XTSAVE.
    pub(super) fn save(&mut self, mode: u16) {
        match mode {
            6 => self.saved_modes.origin = self.cursor.origin,
            47 | 1047 | 1049 => self.saved_modes.is_alternate = self.is_alternate,
            1048 => self.save_cursor(),
            mode => self.saved_modes.settings.copy(mode, &self.settings),
        }
    }

    /// XTRESTORE.
    pub(super) fn restore(&mut self, mode: u16, tap: &mut impl Tap) {
        match mode {
            6 => self.set(mode, self.saved_modes.origin, tap),
            47 | 1047 | 1049 => self.switch_screen(self.saved_modes.is_alternate),
            1048 => self.restore_cursor(),
            FRAME => self.set(mode, self.saved_modes.settings.is_set(mode) == Some(true), tap),
            mode => self.settings.copy(mode, &self.saved_modes.settings),
        }
    }

    /// DECSTR.
    pub(super) fn reset_softly(&mut self) {
        self.region = 0..self.grid.rows();
        let Cursor { row, column, is_wrap_pending, .. } = self.cursor;
        self.cursor = Cursor { row, column, is_wrap_pending, ..Cursor::default() };
        self.settings.reset_softly();
        self.saved[usize::from(self.is_alternate)] = Cursor { is_wrap_pending, ..Cursor::default() };
        (self.single_shift, self.shape, self.protection) = (None, STEADY_BLOCK, Protection::None);
    }

    /// RIS.
    pub(super) fn reset(&mut self) {
        self.cursor = Cursor::default();
        (self.single_shift, self.shape, self.protection) = (None, STEADY_BLOCK, Protection::None);
        self.switch_screen(false);
        self.erase_all(Erasing::Plain);
        self.grid.forget_above();
        self.frame(false, &mut ());
        self.region = 0..self.grid.rows();
        self.saved[0] = Cursor::default();
        self.tabs = tab_stops();
        self.colours = Colours::default();
        self.settings = Settings::default();
    }
}
