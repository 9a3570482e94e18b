//! What happens to the cells of a screen, told as it happens, so that text can be followed.

use super::cell::Style;

/// Is told of all that happens to the cells of a screen, in order. What follows by itself is not told: a wide character of which one
/// cell was written, erased, moved or cut off becomes blanks.
#[allow(unused_variables)] // Default methods ignore their arguments.
pub trait Tap {
    /// A character was written.
    fn printed(&mut self, printed: Printed) {}

    /// Cells moved, or were erased.
    fn moved(&mut self, movement: Movement) {}
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
    /// How many cells it takes: 2, 1, or 0 if it is joined.
    pub width: u16,
    pub style: Style,
    /// The index of its last byte in the read; 0 for a U+FFFD whose last byte came with the read before.
    pub at: usize,
}

/// A change of cells other than by writing. Rows and columns are counted from 0; ends are not part of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Movement {
    /// The rows from `top` to `bottom` moved up; empty ones came in at the bottom.
    ScrolledUp { top: u16, bottom: u16, count: u16 },
    /// The rows from `top` to `bottom` moved down; empty ones came in at the top.
    ScrolledDown { top: u16, bottom: u16, count: u16 },
    /// Empty cells were inserted in a row; those from `column` on moved right.
    Inserted { row: u16, column: u16, count: u16 },
    /// Cells of a row were deleted; those behind them moved left. The last one that stayed was erased where the second cell of a wide
    /// character had stood behind it.
    Deleted { row: u16, column: u16, count: u16 },
    /// The character there takes a second column from now on, as it is drawn as an emoji.
    Widened { row: u16, column: u16 },
    /// Cells of a row were erased; those that are protected stay if `spares` is true.
    Erased { row: u16, from: u16, to: u16, spares: bool },
    /// The whole screen was erased.
    Cleared,
    /// The whole screen was filled with E (DECALN).
    Aligned,
    /// The other screen is shown: the alternate one, or the main one.
    Alternate(bool),
    /// Both screens have another size. The rows of the shown one moved down by `moved`, or up if it is negative; those of the other one
    /// by `other_moved`. From above come rows that a resize moved off, or that scrolled off since.
    Resized { columns: u16, rows: u16, moved: i16, other_moved: i16 },
    /// A frame that the host draws at once begins or ends (mode 2026).
    Frame(bool),
}
