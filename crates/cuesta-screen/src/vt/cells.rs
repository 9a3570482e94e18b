//! Positions on the screen, and steps from one character to the next or the one before.

use super::cell::Cell;
use super::{Screen, widths};

/// A position on the screen that stays valid when the screen scrolls: with the number of rows scrolled off by then.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct CellPosition {
    row: u16,
    column: u16,
    scrolled: u64,
}

impl CellPosition {
    pub(crate) fn new(screen: &Screen, (row, column): (u16, u16)) -> Self {
        Self { row, column, scrolled: screen.scrolled() }
    }

    /// The beginning of the cursor's row.
    pub(crate) fn of_row(screen: &Screen) -> Self {
        Self::new(screen, (screen.cursor().0, 0))
    }

    pub(crate) fn row(self) -> u16 {
        self.row
    }

    /// The same column of another row.
    pub(crate) fn in_row(self, row: u16) -> Self {
        Self { row, ..self }
    }

    /// Row and column behind a character at this position, unless it has scrolled off.
    pub fn behind(self, screen: &Screen, character: char) -> Option<(u16, u16)> {
        let (row, column) = self.now(screen)?;
        Some((row, column + width(character)))
    }

    /// Row and column now, unless it has scrolled off.
    pub(crate) fn now(self, screen: &Screen) -> Option<(u16, u16)> {
        let up = screen.scrolled().wrapping_sub(self.scrolled).cast_signed();
        Some((u16::try_from(i64::from(self.row) - up).ok()?, self.column))
    }
}

fn width(character: char) -> u16 {
    widths::width(character) as u16
}

/// The position behind a character, if the character stands at this position.
pub(crate) fn advance(screen: &Screen, (row, column): (u16, u16), character: char) -> Option<(u16, u16)> {
    let columns = screen.size().0;
    let width = width(character);
    if width == 0 {
        // It may have given the character before it a second column.
        let is_widened = screen.cell(row, column).is_some_and(Cell::is_tail);
        return is_joined(screen, (row, column), character).then_some((row, column + u16::from(is_widened)));
    }
    let is_full = column + width > columns;
    // A wide character leaves a single column blank, and the row is then not marked as going on.
    if is_full && column == columns && !screen.is_wrapped(row) {
        return None;
    }
    let (row, column) = if is_full { (row + 1, 0) } else { (row, column) };
    screen.shows((row, column), character).then_some((row, column + width))
}

/// The position of a character, if it stands right before this position. A blank may also be a cell that was never written.
pub(crate) fn before(screen: &Screen, (row, column): (u16, u16), character: char) -> Option<(u16, u16)> {
    if width(character) == 0 {
        return is_joined(screen, (row, column), character).then_some((row, column));
    }
    let (row, column) = if column == 0 { end_of_full(screen, row.checked_sub(1)?)? } else { (row, column) };
    if character == ' ' {
        return screen.shows((row, column - 1), ' ').then_some((row, column - 1));
    }
    let column = screen.begin_of(row, column - 1);
    (screen.cell(row, column)?.character() == Some(character)).then_some((row, column))
}

/// Whether this character without a width is joined to the one before the position, or is not drawn at all.
fn is_joined(screen: &Screen, (row, column): (u16, u16), character: char) -> bool {
    if widths::is_format(character) {
        return true;
    }
    let Some(before) = column.checked_sub(1) else { return false };
    let cell = screen.cell(row, screen.begin_of(row, before));
    cell.is_some_and(|cell| cell.marks().any(|joined| joined == character))
}

/// The end of a row that continues in the next one: it is full, or has emacs' mark in its last column.
fn end_of_full(screen: &Screen, row: u16) -> Option<(u16, u16)> {
    let columns = screen.size().0;
    if screen.is_wrapped(row) {
        // A wide character that did not fit begins the next row, and nothing was written before it.
        let is_unwritten = screen.cell(row, columns - 1).is_some_and(|cell| cell.character().is_none());
        let is_short = is_unwritten && screen.cell(row + 1, 1).is_some_and(Cell::is_tail);
        return Some((row, columns - u16::from(is_short)));
    }
    screen.shows((row, columns - 1), '\\').then_some((row, columns - 1))
}

/// Whether a cell shows the border of a box.
pub(crate) fn is_border(cell: &Cell) -> bool {
    matches!(cell.character(), Some('|' | '\u{2500}'..='\u{259f}'))
}

/// The end of the row above, if only empty cells stand before the position.
pub(crate) fn end_above(
    screen: &Screen,
    (row, column): (u16, u16),
    is_empty: impl Fn(&Cell) -> bool,
) -> Option<(u16, u16)> {
    let is_empty = |row: u16, column: u16| screen.cell(row, column).is_none_or(&is_empty);
    let above = row.checked_sub(1)?;
    let end = (0..screen.size().0).rev().find(|column| !is_empty(above, *column))?;
    (0..column).all(|column| is_empty(row, column)).then_some((above, end + 1))
}
