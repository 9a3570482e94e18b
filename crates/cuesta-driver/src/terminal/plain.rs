//! A VT's keyboard without a display, for users whose program looks at no screen.

use cuesta_lines::Received;
use cuesta_screen::block::Refusal;
use cuesta_screen::vt::ModeWatch;
use cuesta_tape::Program;

use super::{KeyInput, Keystroke, Terminal};

/// A keyboard that follows the host's modes if keys depend on them.
#[derive(Debug)]
pub(crate) struct PlainTerminal {
    modes: Option<ModeWatch>,
}

impl PlainTerminal {
    /// The keyboard for a program. Modes that the host set before this are not known.
    pub(crate) fn new(program: &Program) -> Self {
        Self { modes: program.needs_modes.then(ModeWatch::default) }
    }
}

impl Terminal for PlainTerminal {
    fn lacks(&self, program: &Program) -> bool {
        program.needs_screen || (program.needs_modes && self.modes.is_none())
    }

    fn press<'a>(&mut self, input: KeyInput<'a>) -> Result<Keystroke<'a>, Refusal> {
        Ok(Keystroke::of_vt(input, self.modes.map(|watch| watch.modes()).unwrap_or_default()))
    }

    fn read(&mut self, bytes: &[u8], _: &Received) {
        if let Some(modes) = &mut self.modes {
            modes.feed(bytes);
        }
    }
}
