//! Where typed text may end: at a cursor, or at what a program draws for one.

use super::super::Screen;
use super::super::cell::{Attributes, Cell, Style};
use super::super::cells::is_border;

/// A hidden cursor stands at most this many columns beside the text.
const BESIDE: u16 = 2;
/// The number of cells in which the last character of such a text may stand.
pub(super) const BESIDE_CURSOR: usize = 2 * BESIDE as usize + 1;

/// A position behind which nothing is typed text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct End {
    pub(super) at: (u16, u16),
    pub(super) mark: Mark,
}

/// What marks the end of the typed text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mark {
    Cursor,
    /// A caret that the program draws.
    Caret,
    /// The hidden cursor is near.
    NearCursor,
    /// The style changes there, or nothing follows.
    Style,
}

impl End {
    /// Whether a blank before it is typed, and not the inside of a box.
    pub(super) fn tells_blanks(self, screen: &Screen) -> bool {
        match self.mark {
            Mark::Cursor | Mark::Caret => true,
            Mark::NearCursor => self.at == screen.next_cell(),
            Mark::Style => false,
        }
    }
}

/// A caret in the cursor's row before it, with only blanks between.
pub(super) fn caret_before(screen: &Screen, (row, column): (u16, u16)) -> Option<(u16, u16)> {
    let cells = (0..column).rev().map(|column| (row, column)).take_while(|at| screen.shows(*at, ' '));
    cells.into_iter().find(|at| at.1 > 0 && is_caret(screen, *at, style_of(screen, (at.0, at.1 - 1))))
}

/// What marks the end of a text whose last character stands in a cell, if anything does. A caret over a character is no end of the text
/// but behind it. `is_typed`: which characters may be the text's own.
pub(super) fn mark_at(
    screen: &Screen,
    cell: (u16, u16),
    end: (u16, u16),
    is_typed: impl Fn(char) -> bool,
) -> Option<Mark> {
    let cursor = screen.next_cell();
    let style = style_of(screen, cell);
    let is_near = cursor.0 == end.0 && cursor.1.abs_diff(end.1) <= BESIDE;
    let ends = screen.cell(end.0, end.1).is_none_or(|next| next.is_blank() || is_border(next) || next.style() != style);
    match () {
        () if is_under_caret(screen, cell) => None,
        () if is_caret(screen, end, style) => Some(Mark::Caret),
        () if caret_character(screen, end).is_some_and(|caret| !is_typed(caret)) => Some(Mark::Caret),
        () if is_near && ends => Some(Mark::NearCursor),
        () => ends.then_some(Mark::Style),
    }
}

/// The characters in the cells beside the cursor in which a text may end that the hidden cursor is near.
pub(super) fn beside_cursor(screen: &Screen) -> [char; BESIDE_CURSOR] {
    let (row, column) = screen.next_cell();
    std::array::from_fn(|index| {
        let column = (column + index as u16).checked_sub(BESIDE + 1);
        column.and_then(|column| screen.cell(row, column)?.character()).unwrap_or(' ')
    })
}

/// The index among those of the cell before a position that the hidden cursor is near.
pub(super) fn place_beside_cursor(screen: &Screen, end: (u16, u16)) -> usize {
    usize::from(end.1 + BESIDE - screen.next_cell().1)
}

/// Whether a caret that the program draws stands behind a cell, with the cursor hidden.
pub(super) fn is_before_caret(screen: &Screen, cell: (u16, u16)) -> bool {
    let end = (cell.0, cell.1 + 1);
    screen.modes().hidden_cursor && mark_at(screen, cell, end, |_| false) == Some(Mark::Caret)
}

/// Whether a cell is in inverse and those beside it are not.
fn is_under_caret(screen: &Screen, (row, column): (u16, u16)) -> bool {
    let is_inverse = |column| style_of(screen, (row, column)).attributes.contains(Attributes::INVERSE);
    is_inverse(column) && !is_inverse(column + 1) && (column == 0 || !is_inverse(column - 1))
}

/// Whether a cell is drawn as a caret behind a text of this style: in inverse, underlined or on another ground, and alone so.
fn is_caret(screen: &Screen, (row, column): (u16, u16), text: Style) -> bool {
    let drawn = |style: Style| (style.attributes & (Attributes::INVERSE | Attributes::UNDERLINED), style.background);
    let Some(caret) = screen.cell(row, column).map(|cell| drawn(cell.style())) else { return false };
    let next = screen.cell(row, column + 1).map(|cell| drawn(cell.style()));
    caret != drawn(text) && next != Some(caret)
}

/// The bar, block or low line in a cell, if nothing follows it: many programs draw their caret so.
fn caret_character(screen: &Screen, (row, column): (u16, u16)) -> Option<char> {
    let is_end = screen.cell(row, column + 1).is_none_or(|next| next.is_blank() || is_border(next));
    let character = screen.cell(row, column)?.character()?;
    (is_end && matches!(character, '|' | '_' | '\u{2588}'..='\u{258f}')).then_some(character)
}

pub(super) fn style_of(screen: &Screen, (row, column): (u16, u16)) -> Style {
    screen.cell(row, column).map(Cell::style).unwrap_or_default()
}
