//! How cells look, and where two rows look different.

use super::super::{Attributes, Cell, Colour, Style};

/// A row is replaced if at least this many of its cells have changed, and most of its text between the first and the last of them.
const REPLACED: usize = 4;

/// The first changed cell of a row, if most of the row's text is replaced from there on.
pub(super) fn first_replaced(now: &[Cell], was: &[Cell]) -> Option<usize> {
    if now == was {
        return None;
    }
    let (first, last) = (changes(now, was).next()?, changes(now, was).last()?);
    let text = (first..=last).filter(|column| !now[*column].is_blank() || !was[*column].is_blank()).count();
    let changed = changes(now, was).count();
    (changed >= REPLACED && changed * 2 > text).then_some(first)
}

/// The columns in which two rows look different.
pub(super) fn changes<'a>(now: &'a [Cell], was: &'a [Cell]) -> impl Iterator<Item = usize> + 'a {
    let differ = |(_, (now, was)): &(usize, (&Cell, &Cell))| now != was && look(now) != look(was);
    now.iter().zip(was).enumerate().filter(differ).map(|(column, _)| column)
}

/// What is seen of a cell: its character, its style and its combining characters.
pub(super) fn look(cell: &Cell) -> (Option<char>, Style, [Option<char>; 2]) {
    let style = cell.style();
    let attributes = style.attributes - Attributes::PROTECTED;
    let mut marks = cell.marks();
    let marks = [marks.next(), marks.next()];
    if cell.is_blank() {
        let attributes = attributes & (Attributes::INVERSE | Attributes::UNDERLINED | Attributes::CROSSED_OUT);
        let shows_foreground = !attributes.is_empty();
        let foreground = if shows_foreground { style.foreground } else { Colour::Default };
        return (Some(' '), Style { foreground, attributes, ..style }, [None; 2]);
    }
    (cell.character(), Style { attributes, ..style }, marks)
}

/// Whether a cell stands out, as a caret does.
pub(super) fn stands_out(cell: &Cell) -> bool {
    let style = cell.style();
    let marks = Attributes::INVERSE | Attributes::UNDERLINED;
    !(style.attributes & marks).is_empty() || style.background != Colour::Default
}

/// The first and the last column of a number and of a cell on either side.
pub(super) fn number_around(row: &[Cell], column: usize) -> (usize, usize) {
    let is_part =
        |cell: &&Cell| is_digit(cell) || cell.character().is_some_and(|character| ":.,/%".contains(character));
    let left = column - row[..column].iter().rev().take_while(is_part).count();
    let right = column + row[column + 1..].iter().take_while(is_part).count();
    (left.saturating_sub(1), (right + 1).min(row.len() - 1))
}

pub(super) fn is_digit(cell: &Cell) -> bool {
    cell.character().is_some_and(|character| character.is_ascii_digit())
}
