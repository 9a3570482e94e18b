//! A VT's keyboard without a display, for users whose program looks at no screen.

use std::borrow::Cow;

use cuesta_lines::Received;
use cuesta_screen::block::Refusal;
use cuesta_screen::vt::{OutputWatch, Screen};
use cuesta_tape::Program;

use super::{Keystroke, Terminal};
use crate::echoes::Echoes;
use crate::watch::Picture;

pub(super) struct Keyboard {
    output: OutputWatch,
    /// What people see who look at the user. The user does not look at it.
    display: Option<Box<Screen>>,
    size: (u16, u16),
}

impl Keyboard {
    /// The keyboard of a terminal with this many columns and rows.
    pub(super) fn new(size: (u16, u16)) -> Self {
        Self { output: OutputWatch::new(size), display: None, size }
    }
}

impl Echoes for Keyboard {}

impl Terminal for Keyboard {
    fn lacks(&self, program: &Program) -> bool {
        program.needs_screen
    }

    fn press<'a>(&mut self, key: Keystroke<'a>) -> Result<Cow<'a, [u8]>, Refusal> {
        Ok(key.vt_bytes(self.output.modes()))
    }

    fn read(&mut self, bytes: &[u8], _: &Received) {
        self.output.feed(bytes);
        if let Some(display) = &mut self.display {
            display.feed(bytes);
        }
    }

    fn replies(&self) -> &[u8] {
        self.output.replies()
    }

    fn forget_replies(&mut self, len: usize) {
        self.output.forget_replies(len);
    }

    fn picture(&mut self, so_far: &dyn Fn() -> Vec<u8>) -> Picture {
        let (columns, rows) = self.size;
        let display = self.display.get_or_insert_with(|| {
            let mut display = Screen::new(columns, rows);
            display.feed(&so_far());
            Box::new(display)
        });
        Picture::take(display, false)
    }
}
