//! A VT's keyboard without a display, for users whose program looks at no screen.

use cuesta_lines::Received;
use cuesta_screen::block::Refusal;
use cuesta_screen::vt::{ModeWatch, Modes};
use cuesta_tape::Program;

use super::{KeyInput, Keystroke, Terminal};

/// The keyboard for a program. Modes that the host set before this are not known.
pub(super) fn keyboard_for(program: &Program) -> Box<dyn Terminal> {
    if program.needs_modes { Box::new(ModedKeyboard::default()) } else { Box::new(PlainKeyboard) }
}

/// A keyboard whose keys depend on no mode. It has no state, so a key costs no access to further memory.
struct PlainKeyboard;

/// A keyboard that follows the host's modes.
#[derive(Default)]
struct ModedKeyboard {
    modes: ModeWatch,
}

impl Terminal for PlainKeyboard {
    fn lacks(&self, program: &Program) -> bool {
        program.needs_screen || program.needs_modes
    }

    fn press<'a>(&mut self, input: KeyInput<'a>) -> Result<Keystroke<'a>, Refusal> {
        Ok(Keystroke::of_vt(input, Modes::default()))
    }

    fn read(&mut self, _: &[u8], _: &Received) {}
}

impl Terminal for ModedKeyboard {
    fn lacks(&self, program: &Program) -> bool {
        program.needs_screen
    }

    fn press<'a>(&mut self, input: KeyInput<'a>) -> Result<Keystroke<'a>, Refusal> {
        Ok(Keystroke::of_vt(input, self.modes.modes()))
    }

    fn read(&mut self, bytes: &[u8], _: &Received) {
        self.modes.feed(bytes);
    }
}
