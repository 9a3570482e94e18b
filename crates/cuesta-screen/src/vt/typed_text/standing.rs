//! Finds where the typed text is on the screen, and how far it has grown.

use super::super::cell::Cell;
use super::super::cells::{advance, before, end_above, is_border};
use super::super::widths::{is_format, width};
use super::super::{CellPosition, Screen};
use super::ends::{End, Mark, caret_before, mark_at, place_beside_cursor, style_of};
use super::row::{TypedKey, TypedRow};
use super::{ControlKey, MOST, TypedText};

/// A text that has been scrolled sideways is known by this many of its characters before the new ones.
const TAIL: usize = 4;

/// How far the text of a row has grown.
#[derive(Debug)]
pub(super) struct Growth {
    /// The first key that these cells show; keys before it that are not shown are missed.
    pub(super) first: usize,
    /// The number of earlier keys that stand directly before these cells: the screen shows them, but it is not known since when.
    pub(super) unseen: usize,
    /// The cell of each key; `None` for one that is not drawn by itself.
    pub(super) cells: Vec<Option<(u16, u16)>>,
    /// Whether a blank among them is known to be typed: without a cursor or a caret it may be the inside of a box.
    pub(super) tells_blanks: bool,
    /// Whether these cells may be no echo: the text may have stood elsewhere, before a caret that is not known as one.
    pub(super) may_be_answer: bool,
}

/// Text that was read back from its end.
struct Trace {
    cells: Vec<Option<(u16, u16)>>,
    /// All of the text was found, or as much as has not scrolled off.
    is_whole: bool,
}

impl<K, I: Copy> TypedText<K, I> {
    /// How far the text of a row has grown, if it has.
    pub(super) fn growth(&mut self, screen: &Screen, index: usize) -> Option<Growth> {
        let growth = self.growth_at_end(screen, &self.rows[index]).or_else(|| {
            self.relocate(screen, index);
            self.growth_in_place(screen, &self.rows[index])
        });
        growth.or_else(|| self.growth_without_optional(screen, index))
    }

    /// How far the text has grown if the keys with which the row begins are never shown.
    fn growth_without_optional(&mut self, screen: &Screen, index: usize) -> Option<Growth> {
        let count = self.rows[index].optional();
        let optional: Vec<_> = self.rows[index].keys.drain(..count).collect();
        let growth = (count > 0).then(|| self.growth_at_end(screen, &self.rows[index])).flatten();
        self.rows[index].keys.splice(..0, optional);
        growth.map(|growth| Growth { first: growth.first + count, unseen: 0, ..growth })
    }

    /// How far the text has grown before a cursor or a caret.
    fn growth_at_end(&self, screen: &Screen, row: &TypedRow<K>) -> Option<Growth> {
        let waiting = &row.keys[row.shown..];
        let ends = self.ends(screen, row, |character| waiting.iter().any(|key| key.character == character));
        let find = |look: fn(&Self, &Screen, &TypedRow<K>, End) -> Option<Growth>| {
            ends.iter().find_map(|end| look(self, screen, row, *end))
        };
        find(Self::growth_of_whole_text).or_else(|| find(Self::growth_behind_missed))
    }

    /// Finds the shown text of a row where it has moved to: before the cursor or a caret.
    pub(super) fn relocate(&mut self, screen: &Screen, index: usize) {
        let row = &self.rows[index];
        let Some(last) = row.keys[..row.shown].last().map(|key| key.character) else { return };
        if stands_in_place(screen, row) {
            return;
        }
        let ends = self.ends(screen, row, |character| character == last);
        let mut traces =
            ends.iter().filter(|end| end.mark != Mark::Style).map(|end| trace_back(screen, row, row.shown, end.at));
        if let Some(trace) = traces.find(|trace| trace.is_whole) {
            let keys = self.rows[index].keys.iter_mut();
            keys.zip(trace.cells).for_each(|(key, cell)| key.cell = cell.map(|cell| CellPosition::new(screen, cell)));
        }
    }

    /// The positions where the text may end, the most likely first. `is_last`: whether a character may be its last one.
    fn ends(&self, screen: &Screen, row: &TypedRow<K>, is_last: impl Fn(char) -> bool) -> Vec<End> {
        let cursor = screen.next_cell();
        if screen.modes().hidden_cursor {
            return self.ends_without_cursor(screen, row, is_last);
        }
        let mut ends = vec![End { at: cursor, mark: Mark::Cursor }];
        ends.extend(caret_before(screen, cursor).map(|at| End { at, mark: Mark::Caret }));
        if row.end == Some(ControlKey::Return) {
            ends.extend(end_above(screen, cursor, Cell::is_blank).map(|at| End { at, mark: Mark::Cursor }));
        }
        ends
    }

    /// The positions behind characters of the text that were printed in this frame. Text that has moved, or begins, must have a caret or
    /// the hidden cursor beside it.
    fn ends_without_cursor(&self, screen: &Screen, row: &TypedRow<K>, is_last: impl Fn(char) -> bool) -> Vec<End> {
        let is_known = row.shown > 0 && stands_in_place(screen, row);
        let new = self.prints.new_cells().filter(|(_, character)| is_last(*character));
        let mut ends: Vec<_> = new
            .filter_map(|((at, column), character)| {
                let end = (at, column + width(character) as u16);
                let mark = mark_at(screen, (at, column), end, &is_last)?;
                let is_end = match mark {
                    Mark::NearCursor if !self.draws_caret => {
                        row.shown > 0 || !self.stood_there_before(screen, end, character)
                    }
                    Mark::NearCursor | Mark::Style => is_known,
                    Mark::Cursor | Mark::Caret => true,
                };
                is_end.then_some(End { at: end, mark })
            })
            .collect();
        ends.sort_by_key(|end| end.mark);
        ends
    }

    /// Whether this character stood there, beside the hidden cursor, at the end of the last frame already, as in a status row.
    fn stood_there_before(&self, screen: &Screen, end: (u16, u16), character: char) -> bool {
        self.beside_cursor.get(place_beside_cursor(screen, end)) == Some(&character)
    }

    /// The growth if the whole text stands before an end, or all of it that has not scrolled off.
    fn growth_of_whole_text(&self, screen: &Screen, row: &TypedRow<K>, end: End) -> Option<Growth> {
        traces(screen, row, end).find_map(|(count, trace)| {
            let first = count - trace.cells.len();
            // Where the text as it was stands whole, it has moved and not grown: `lll` also ends in `ll`.
            let has_only_moved = || trace_back(screen, row, row.shown, end.at).is_whole;
            let is_tail = first < row.shown && trace.cells.len() >= count - row.shown + TAIL && !has_only_moved();
            let begun_at = row.keys.get(first).and_then(|key| key.cell).and_then(|cell| cell.now(screen));
            let is_certain = end.mark == Mark::Caret && trace.is_whole && count > 1;
            let is_there = begun_at.is_none_or(|at| trace.cells[0] == Some(at))
                || is_certain && row.end.is_none()
                || !stands_in_place(screen, row);
            let may_be_answer = end.mark == Mark::NearCursor && row.shown == 0 && row.end.is_some();
            let is_text = is_there && (trace.is_whole || is_tail);
            let growth =
                Growth { first, unseen: 0, cells: trace.cells, tells_blanks: end.tells_blanks(screen), may_be_answer };
            let is_blank = row.keys[count - 1].character == ' ';
            let is_certain_end =
                end.mark == Mark::Cursor || !is_blank || growth.tells_blanks && !begins_row(&growth.cells);
            (is_text && is_certain_end && self.has_evidence(screen, row, &growth, end)).then_some(growth)
        })
    }

    /// The growth if keys stand where the text had ended, and keys before them are not shown: as few as possible.
    fn growth_behind_missed(&self, screen: &Screen, row: &TypedRow<K>, end: End) -> Option<Growth> {
        let begins = self.next_cells(screen, row, end);
        let shown: Vec<_> = row.keys[..row.shown].iter().map(|key| key.cell?.now(screen)).collect();
        let growths = traces(screen, row, end).filter_map(|(count, mut trace)| {
            let in_trace = trace.cells.iter().position(|cell| cell.is_some() && begins.contains(cell))?;
            let first = count - trace.cells.len() + in_trace;
            let cells = trace.cells.split_off(in_trace);
            let unseen = trace.cells.iter().rev().take_while(|cell| !shown.contains(cell)).count();
            let growth = Growth { first, unseen, cells, tells_blanks: end.tells_blanks(screen), may_be_answer: false };
            let shows_more = first == row.shown || row.keys[first..count].iter().any(|key| key.character != ' ');
            (first >= row.shown && shows_more && self.has_evidence(screen, row, &growth, end)).then_some(growth)
        });
        growths.min_by_key(|growth| growth.first)
    }

    /// The cells in which the text may go on. A hidden cursor does not tell them.
    fn next_cells(&self, screen: &Screen, row: &TypedRow<K>, end: End) -> [Option<(u16, u16)>; 2] {
        if end.mark != Mark::Cursor {
            let last = row.keys[..row.shown].last();
            return [last.and_then(|key| key.cell?.behind(screen, key.character)), None];
        }
        // After a Return, what begins in another row is an answer.
        let [origin, last] = [row.origin, self.last_cursor].map(|at| at.now(screen));
        let is_answered = row.end.is_some() && origin.map(|at| at.0) != last.map(|at| at.0);
        [origin, last.filter(|_| !is_answered)]
    }

    /// Whether each new key was printed since it was sent, in the style of the text, or passed by the cursor.
    fn has_evidence(&self, screen: &Screen, row: &TypedRow<K>, growth: &Growth, end: End) -> bool {
        let new = row.shown.saturating_sub(growth.first);
        let keys = &row.keys[growth.first.max(row.shown)..];
        let cells = growth.cells.iter().skip(new);
        let is_printed = keys.iter().zip(cells).all(|(key, cell)| {
            self.is_printed(key, *cell)
                || end.mark == Mark::Cursor && cell.is_none_or(|cell| self.is_passed(screen, row, cell))
        });
        is_printed && (end.mark == Mark::Cursor || has_one_style(screen, &growth.cells, new))
    }

    fn is_printed(&self, key: &TypedKey<K>, cell: Option<(u16, u16)>) -> bool {
        is_format(key.character)
            || cell.is_none() && key.character == ' '
            || self.prints.was_printed(cell.filter(|_| width(key.character) > 0), key.character, key.sent_after)
    }

    /// Whether the cursor has passed a cell since it rested last, or since it stood behind the text: emacs draws some blanks by a tab and a
    /// backspace, and between them the cursor stands too far to the right.
    fn is_passed(&self, screen: &Screen, row: &TypedRow<K>, cell: (u16, u16)) -> bool {
        let is_behind = |at: (u16, u16)| cell.0 == at.0 && cell.1 >= at.1;
        row.origin.now(screen).is_some_and(is_behind)
            || self.last_cursor.now(screen).is_some_and(|last| is_behind(last) || cell.0 == last.0 + 1)
    }

    /// The growth where the text goes on, once the cursor has left the text.
    fn growth_in_place(&self, screen: &Screen, row: &TypedRow<K>) -> Option<Growth> {
        let is_hidden = screen.modes().hidden_cursor;
        let last = row.keys[..row.shown].iter().rev().find_map(|key| Some((key, key.cell?)));
        let begins = match last {
            Some((key, cell)) => [cell.behind(screen, key.character), None],
            // Where text begins, only a cursor tells.
            None if is_hidden => [None, None],
            None => [row.origin, self.last_cursor].map(|at| at.now(screen)),
        };
        let has_left = |at: (u16, u16)| is_hidden || screen.next_cell().0 != at.0;
        let may_be_left = row.end.is_some() || !is_hidden && last.is_some();
        let begins = begins.into_iter().flatten().filter(|at| may_be_left && has_left(*at));
        let growths =
            begins.map(|at| self.growth_printed_from(screen, row, at)).filter(|growth| !growth.cells.is_empty());
        growths.max_by_key(|growth| growth.cells.len())
    }

    /// The growth by keys that were printed one behind the other from a position on. Keys of a row that was ended may have been erased
    /// again, if they were printed in this frame.
    fn growth_printed_from(&self, screen: &Screen, row: &TypedRow<K>, mut at: (u16, u16)) -> Growth {
        let mut cells: Vec<Option<(u16, u16)>> = Vec::new();
        let mut before = row.keys[..row.shown].last().and_then(|key| key.cell?.now(screen));
        for key in row.keys[row.shown..].iter().take(MOST) {
            let columns = width(key.character) as u16;
            let shown =
                advance(screen, at, key.character).map(|behind| (behind, (behind.0, behind.1.saturating_sub(columns))));
            let gone = || {
                let cell = if at.1 + columns > screen.size().0 { (at.0 + 1, 0) } else { at };
                let is_gone = row.end.is_some() && self.prints.is_in_frame(cell, key.character);
                is_gone.then_some(((cell.0, cell.1 + columns), cell))
            };
            let Some((behind, cell)) = shown.filter(|shown| self.is_printed(key, Some(shown.1))).or_else(gone) else {
                break;
            };
            let has_style = shown.is_none() || has_one_style(screen, &[before, Some(cell)], 1);
            if !self.is_printed(key, Some(cell)) || !has_style {
                break;
            }
            cells.push(Some(cell));
            (before, at) = (Some(cell), behind);
        }
        let tells_blanks = !screen.modes().hidden_cursor;
        Growth { first: row.shown, unseen: 0, cells, tells_blanks, may_be_answer: false }
    }
}

/// Whether the shown text of a row still stands, and the cursor, if it is in that row, behind it.
pub(super) fn stands<K>(screen: &Screen, row: &TypedRow<K>) -> bool {
    let Some(last) = row.keys[..row.shown].last() else { return true };
    let cursor = screen.next_cell();
    let end = last.cell.and_then(|cell| cell.behind(screen, last.character));
    let is_in_row = !screen.modes().hidden_cursor && end.is_some_and(|end| end.0 == cursor.0);
    stands_in_place(screen, row)
        && (!is_in_row || end == Some(cursor) || end.is_some() && end == caret_before(screen, cursor))
}

/// Whether the cells still show the text; those that have scrolled off do.
fn stands_in_place<K>(screen: &Screen, row: &TypedRow<K>) -> bool {
    row.keys[..row.shown].iter().all(|key| {
        let cell = key.cell.and_then(|cell| cell.now(screen));
        width(key.character) == 0 || cell.is_none_or(|cell| screen.shows(cell, key.character))
    })
}

/// The text read back from an end, for each number of keys that may be shown, the largest first.
fn traces<'a, K>(
    screen: &'a Screen,
    row: &'a TypedRow<K>,
    end: End,
) -> impl Iterator<Item = (usize, Trace)> + use<'a, K> {
    let most = row.keys.len().min(row.shown + MOST);
    (row.shown + 1..=most).rev().filter_map(move |count| {
        let trace = trace_back(screen, row, count, end.at);
        (!trace.cells.is_empty()).then_some((count, trace))
    })
}

/// Reads the first keys of a row back from the position behind the last of them.
fn trace_back<K>(screen: &Screen, row: &TypedRow<K>, count: usize, end: (u16, u16)) -> Trace {
    let (mut cells, mut begin) = (Vec::new(), end);
    for (index, key) in row.keys[..count].iter().enumerate().rev() {
        let direct = before(screen, begin, key.character);
        // In a box, borders stand beside the text.
        let wrapped = || end_above(screen, begin, |cell| cell.is_blank() || is_border(cell));
        let blank = || last_of_row_above(screen, begin).filter(|at| key.character == ' ' && screen.shows(*at, ' '));
        if let Some(at) = direct.or_else(|| before(screen, wrapped()?, key.character)).or_else(blank) {
            cells.push(Some(at));
            begin = at;
        } else if begin == (0, 0) && !cells.is_empty() && has_scrolled_off(screen, row, index) {
            cells.resize(count, None);
            break;
        } else if key.character == ' ' && !cells.is_empty() && !is_continued(screen, begin) && wrapped().is_some() {
            // The blank between two words is not drawn where a program wraps them.
            cells.push(None);
        } else {
            break;
        }
    }
    let is_whole = cells.len() == count;
    cells.reverse();
    Trace { cells, is_whole }
}

/// The last cell of the row above, for a position at the beginning of a row.
fn last_of_row_above(screen: &Screen, (row, column): (u16, u16)) -> Option<(u16, u16)> {
    Some((row.checked_sub(1).filter(|_| column == 0)?, screen.size().0 - 1))
}

/// Whether the cell of a key is above the screen, or would be.
fn has_scrolled_off<K>(screen: &Screen, row: &TypedRow<K>, index: usize) -> bool {
    let cell = if index < row.shown { row.keys[index].cell } else { Some(row.origin) };
    cell.is_none_or(|cell| cell.now(screen).is_none())
}

/// Whether the terminal itself has wrapped the text before a position.
fn is_continued(screen: &Screen, (row, column): (u16, u16)) -> bool {
    column == 0 && row > 0 && screen.is_wrapped(row - 1)
}

/// Whether the last of these cells is in another row than the one before it. A blank there may be the inside of a box.
pub(super) fn begins_row(cells: &[Option<(u16, u16)>]) -> bool {
    let row = |cell: &Option<(u16, u16)>| cell.map(|(row, _)| row);
    matches!(cells, [.., before, last] if row(before) != row(last))
}

/// Whether cells from index `from` on have the style of the one before them.
fn has_one_style(screen: &Screen, cells: &[Option<(u16, u16)>], from: usize) -> bool {
    let styles: Vec<_> =
        cells.iter().skip(from.saturating_sub(1)).flatten().map(|cell| style_of(screen, *cell)).collect();
    styles.windows(2).all(|two| two[0] == two[1])
}
