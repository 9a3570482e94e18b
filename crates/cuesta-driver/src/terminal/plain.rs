//! A VT's keyboard without a display, for users whose program looks at no screen.

use std::borrow::Cow;

use cuesta_lines::Received;
use cuesta_screen::block::Refusal;
use cuesta_screen::vt::{ModeWatch, Modes, QueryWatch};
use cuesta_tape::Program;

use super::{Keystroke, Terminal};
use crate::echoes::Echoes;

/// The keyboard for a program, of a terminal of this size. Modes that the host set before this are not known.
pub(super) fn keyboard_for(program: &Program, size: (u16, u16)) -> Box<dyn Terminal> {
    let queries = QueryWatch::new(size);
    if program.needs_modes {
        Box::new(ModedKeyboard { modes: ModeWatch::default(), queries })
    } else {
        Box::new(PlainKeyboard { queries })
    }
}

/// A keyboard whose keys depend on no mode.
struct PlainKeyboard {
    queries: QueryWatch,
}

/// A keyboard that follows the host's modes.
struct ModedKeyboard {
    modes: ModeWatch,
    queries: QueryWatch,
}

impl Echoes for PlainKeyboard {}

impl Terminal for PlainKeyboard {
    fn lacks(&self, program: &Program) -> bool {
        program.needs_screen || program.needs_modes
    }

    fn press<'a>(&mut self, key: Keystroke<'a>) -> Result<Cow<'a, [u8]>, Refusal> {
        Ok(key.vt_bytes(Modes::default()))
    }

    fn read(&mut self, bytes: &[u8], _: &Received) {
        self.queries.feed(bytes);
    }

    fn replies(&self) -> &[u8] {
        self.queries.answers()
    }

    fn forget_replies(&mut self, len: usize) {
        self.queries.forget(len);
    }
}

impl Echoes for ModedKeyboard {}

impl Terminal for ModedKeyboard {
    fn lacks(&self, program: &Program) -> bool {
        program.needs_screen
    }

    fn press<'a>(&mut self, key: Keystroke<'a>) -> Result<Cow<'a, [u8]>, Refusal> {
        Ok(key.vt_bytes(self.modes.modes()))
    }

    fn read(&mut self, bytes: &[u8], _: &Received) {
        self.modes.feed(bytes);
        self.queries.feed(bytes);
    }

    fn replies(&self) -> &[u8] {
        self.queries.answers()
    }

    fn forget_replies(&mut self, len: usize) {
        self.queries.forget(len);
    }
}
