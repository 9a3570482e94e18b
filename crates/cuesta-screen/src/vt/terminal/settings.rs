//! The modes that are remembered until a host asks, or another part looks. Those that belong to the cursor, and which screen is
//! shown, are not here.

use bitflags::bitflags;

bitflags! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    struct Mode: u32 {
        const CURSOR_KEYS = 1;
        const REVERSE_SCREEN = 1 << 1;
        const WRAP = 1 << 2;
        const BLINK = 1 << 3;
        const CURSOR = 1 << 4;
        const KEYPAD = 1 << 5;
        const BACKSPACE = 1 << 6;
        const FOCUS = 1 << 7;
        const WHEEL_KEYS = 1 << 8;
        const PASTE = 1 << 9;
        const FRAME = 1 << 10;
        const SMOOTH = 1 << 11;
        const KEYBOARD_LOCKED = 1 << 12;
        const INSERT = 1 << 13;
        const NO_LOCAL_ECHO = 1 << 14;
        const NEW_LINE = 1 << 15;
        const WRAP_BACK = 1 << 16;
        const TAB_WRAPS = 1 << 17;
    }
}

/// The cursor blinks.
pub(super) const BLINK: u16 = 12;

/// Private modes that are remembered, most only because hosts ask for them.
const PRIVATE: [(u16, Mode); 14] = [
    (1, Mode::CURSOR_KEYS),
    (4, Mode::SMOOTH),
    (5, Mode::REVERSE_SCREEN),
    (7, Mode::WRAP),
    (BLINK, Mode::BLINK),
    (25, Mode::CURSOR),
    (41, Mode::TAB_WRAPS),
    (45, Mode::WRAP_BACK),
    (66, Mode::KEYPAD),
    (67, Mode::BACKSPACE),
    (1004, Mode::FOCUS),
    (1007, Mode::WHEEL_KEYS),
    (2004, Mode::PASTE),
    (2026, Mode::FRAME),
];
/// The modes of ECMA-48.
const ANSI: [(u16, Mode); 4] =
    [(2, Mode::KEYBOARD_LOCKED), (4, Mode::INSERT), (12, Mode::NO_LOCAL_ECHO), (20, Mode::NEW_LINE)];

/// The modes as they are set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Settings {
    modes: Mode,
    /// Which reports of the mouse are on: 9, 1000, 1001, 1002, 1003 or 0.
    mouse: u16,
    /// How they give positions: 1005, 1006, 1015, 1016 or 0.
    positions: u16,
}

impl Default for Settings {
    fn default() -> Self {
        let modes = Mode::WRAP | Mode::CURSOR | Mode::BACKSPACE | Mode::NO_LOCAL_ECHO;
        Self { modes, ..Self::NONE }
    }
}

impl Settings {
    /// None is set.
    pub(super) const NONE: Self = Self { modes: Mode::empty(), mouse: 0, positions: 0 };

    /// Sets a private mode.
    pub(super) fn set(&mut self, mode: u16, on: bool) {
        match mode {
            9 | 1000..=1003 => self.mouse = if on { mode } else { 0 },
            1005 | 1006 | 1015 | 1016 if on => self.positions = mode,
            1005 | 1006 | 1015 | 1016 if self.positions == mode => self.positions = 0,
            mode => self.modes.set(named(&PRIVATE, mode).unwrap_or(Mode::empty()), on),
        }
    }

    pub(super) fn set_ansi(&mut self, mode: u16, on: bool) {
        self.modes.set(named(&ANSI, mode).unwrap_or(Mode::empty()), on);
    }

    /// Whether a private mode is set; `None` if it is not known.
    pub(in super::super) fn is_set(&self, mode: u16) -> Option<bool> {
        match mode {
            9 | 1000..=1003 => Some(self.mouse == mode),
            1005 | 1006 | 1015 | 1016 => Some(self.positions == mode),
            mode => named(&PRIVATE, mode).map(|mode| self.modes.contains(mode)),
        }
    }

    pub(super) fn is_ansi_set(&self, mode: u16) -> Option<bool> {
        named(&ANSI, mode).map(|mode| self.modes.contains(mode))
    }

    /// Modes of ECMA-48 that are known and never set.
    pub(super) fn is_never_set(mode: u16) -> bool {
        matches!(mode, 1 | 5 | 7 | 10 | 11 | 13..=19)
    }

    /// Copies a private mode from others, or all of the mouse's.
    pub(super) fn copy(&mut self, mode: u16, from: &Self) {
        match mode {
            9 | 1000..=1003 => self.mouse = from.mouse,
            1005 | 1006 | 1015 | 1016 => self.positions = from.positions,
            mode => {
                let mode = named(&PRIVATE, mode).unwrap_or(Mode::empty());
                self.modes.set(mode, from.modes.contains(mode));
            }
        }
    }

    pub(super) fn keypad(&mut self, on: bool) {
        self.modes.set(Mode::KEYPAD, on);
    }

    pub(super) fn reset_softly(&mut self) {
        let reset =
            Mode::CURSOR_KEYS | Mode::BLINK | Mode::WRAP_BACK | Mode::KEYPAD | Mode::KEYBOARD_LOCKED | Mode::INSERT;
        self.modes = (self.modes - reset) | Mode::WRAP | Mode::CURSOR;
    }

    pub(super) fn autowraps(&self) -> bool {
        self.modes.contains(Mode::WRAP)
    }

    /// Whether a tab begins the next row if a wrap is pending, as more(1) once needed.
    pub(super) fn tab_wraps(&self) -> bool {
        self.modes.contains(Mode::WRAP | Mode::TAB_WRAPS)
    }

    pub(super) fn wraps_back(&self) -> bool {
        self.modes.contains(Mode::WRAP | Mode::WRAP_BACK)
    }

    pub(super) fn inserts(&self) -> bool {
        self.modes.contains(Mode::INSERT)
    }

    /// Whether a line feed begins a row, as a carriage return does.
    pub(super) fn starts_rows(&self) -> bool {
        self.modes.contains(Mode::NEW_LINE)
    }

    pub(in super::super) fn keys(&self) -> crate::vt::Modes {
        crate::vt::Modes {
            application_cursor: self.modes.contains(Mode::CURSOR_KEYS),
            bracketed_paste: self.modes.contains(Mode::PASTE),
            hidden_cursor: !self.modes.contains(Mode::CURSOR),
        }
    }
}

fn named(table: &[(u16, Mode)], number: u16) -> Option<Mode> {
    table.iter().find(|(known, _)| *known == number).map(|(_, mode)| *mode)
}
