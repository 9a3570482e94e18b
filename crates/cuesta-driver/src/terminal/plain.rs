//! A VT's keyboard without a display, for users whose program looks at no screen.

use std::borrow::Cow;

use cuesta_lines::Received;
use cuesta_screen::block::Refusal;
use cuesta_screen::vt::OutputWatch;
use cuesta_tape::Program;

use super::{Keystroke, Terminal};
use crate::echoes::Echoes;

pub(super) struct Keyboard(OutputWatch);

impl Keyboard {
    /// The keyboard of a terminal with this many columns and rows.
    pub(super) fn new(size: (u16, u16)) -> Self {
        Self(OutputWatch::new(size))
    }
}

impl Echoes for Keyboard {}

impl Terminal for Keyboard {
    fn lacks(&self, program: &Program) -> bool {
        program.needs_screen
    }

    fn press<'a>(&mut self, key: Keystroke<'a>) -> Result<Cow<'a, [u8]>, Refusal> {
        Ok(key.vt_bytes(self.0.modes()))
    }

    fn read(&mut self, bytes: &[u8], _: &Received) {
        self.0.feed(bytes);
    }

    fn replies(&self) -> &[u8] {
        self.0.replies()
    }

    fn forget_replies(&mut self, len: usize) {
        self.0.forget_replies(len);
    }
}
