//! An observer of what a host writes on a screen, by which text can be followed.

use super::cell::Style;

/// Observes, in order, which characters are written and how rows move.
#[allow(unused_variables)] // Default methods ignore their arguments.
pub trait Tap {
    /// A character was written.
    fn printed(&mut self, printed: Printed) {}

    /// Rows at the top of the screen have scrolled off, and those below moved up.
    fn scrolled(&mut self, rows: u16) {}

    /// A frame begins that the host draws at once (mode 2026).
    fn frame_begins(&mut self) {}
}

/// Looks at nothing.
impl Tap for () {}

/// A character that was written into a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Printed {
    /// The character, after the host's character set; a combining one is joined to what the cell holds.
    pub character: char,
    pub row: u16,
    pub column: u16,
    pub style: Style,
    /// The index of its last byte in the read; 0 for a U+FFFD whose last byte came with the read before.
    pub at: usize,
}
