//! A VT's keyboard without a display, for users whose program looks at no screen.

use std::borrow::Cow;

use cuesta_lines::Received;
use cuesta_screen::block::Refusal;
use cuesta_screen::vt::{ModeWatch, QueryWatch};
use cuesta_tape::Program;

use super::{Keystroke, Terminal};
use crate::echoes::Echoes;

/// A keyboard. Modes that the host set before it are not known.
pub(super) struct Keyboard {
    /// The host's modes, if a key of the program depends on them.
    modes: Option<Box<ModeWatch>>,
    queries: QueryWatch,
}

impl Keyboard {
    /// The keyboard for a program, of a terminal of this size.
    pub(super) fn new(program: &Program, size: (u16, u16)) -> Self {
        Self { modes: program.needs_modes.then(Box::default), queries: QueryWatch::new(size) }
    }
}

impl Echoes for Keyboard {}

impl Terminal for Keyboard {
    fn lacks(&self, program: &Program) -> bool {
        program.needs_screen || (program.needs_modes && self.modes.is_none())
    }

    fn press<'a>(&mut self, key: Keystroke<'a>) -> Result<Cow<'a, [u8]>, Refusal> {
        Ok(key.vt_bytes(self.modes.as_ref().map(|modes| modes.modes()).unwrap_or_default()))
    }

    fn read(&mut self, bytes: &[u8], _: &Received) {
        if let Some(modes) = &mut self.modes {
            modes.feed(bytes);
        }
        self.queries.feed(bytes);
    }

    fn replies(&self) -> &[u8] {
        self.queries.answers()
    }

    fn forget_replies(&mut self, len: usize) {
        self.queries.forget(len);
    }
}
