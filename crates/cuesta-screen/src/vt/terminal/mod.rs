//! The terminal behind a screen: its cells, its cursor, and what control functions do to them, as in xterm.
//!
//! - This file: the state, writing characters, and moving the cursor.
//! - `functions`: which control function does what.
//! - `modes`: the private modes that a host sets, saves and restores; `settings`: those that are only remembered.
//! - `replies`: answers to the host's queries; `colours`: those that it sets and asks for.
//!
//! One rule decides where the next character goes after one in the last column: the cursor stays on that column, and the wrap is
//! pending. Moving the cursor and changing cells cancel it; a tab and a change of style do not.

use std::ops::Range;

use self::colours::Colours;
use self::modes::SavedModes;
use self::replies::Replies;
use self::settings::Settings;
use super::cell::{Cell, Style};
use super::charset::Charset;
use super::grid::Grid;
use super::screen::MAX_SIZE;
use super::sequence::FunctionParser;
use super::tap::{Movement, Printed, Tap};
use super::widths::{EMOJI, Widths, is_format, is_widened_as_emoji, width};

mod colours;
mod functions;
mod modes;
mod replies;
mod settings;

/// Most bytes of a string, such as a command; a longer one is not obeyed.
const MAX_STRING: usize = 8192;
/// The cursor's shape until the host chooses another.
const STEADY_BLOCK: u16 = 2;
/// Tab stops are this far apart until the host sets others.
const TAB_DISTANCE: usize = 8;

/// A terminal.
#[derive(Debug)]
pub(super) struct Terminal {
    /// The cells that are shown.
    grid: Grid,
    /// Those of the other screen, once it was used.
    other: Option<Grid>,
    pub(super) is_alternate: bool,
    pub(super) cursor: Cursor,
    /// The saved cursors of the main and of the alternate screen.
    saved: [Cursor; 2],
    /// The rows that scroll.
    region: Range<usize>,
    /// By column: whether there is a tab stop, also beyond the last column.
    tabs: Vec<bool>,
    pub(super) settings: Settings,
    colours: Colours,
    pub(super) widths: Widths,
    saved_modes: SavedModes,
    /// Which erasing spares protected characters.
    protection: Protection,
    /// The character set for the next character only.
    single_shift: Option<usize>,
    /// The last character that was sent and written, while nothing else has come, for REP.
    last: Option<char>,
    /// The cell to which a combining character is joined.
    base: Option<(usize, usize)>,
    /// The cursor's shape (DECSCUSR) without blinking: 2, 4 or 6.
    shape: u16,
    parser: FunctionParser,
    string: String,
    pub(super) replies: Replies,
    /// Rows that went off the top, less those that came back.
    pub(super) scrolled: u64,
    /// How often the host erased the whole screen, or reset the terminal.
    pub(super) cleared: u64,
}

/// The cursor, and what is saved with it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cursor {
    pub(super) row: usize,
    pub(super) column: usize,
    /// The last column was written: the next character begins another row.
    pub(super) is_wrap_pending: bool,
    style: Style,
    /// Rows are counted from the top of the region, and the cursor stays in it.
    origin: bool,
    /// G0 to G3.
    charsets: [Charset; 4],
    /// Which of them is in use.
    charset: usize,
}

impl Cursor {
    /// The nearest position on a screen of this size.
    fn within(self, columns: usize, rows: usize) -> Self {
        Self { row: self.row.min(rows - 1), column: self.column.min(columns - 1), ..self }
    }
}

/// How characters are protected from erasing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protection {
    /// No character has been.
    None,
    /// From selective erasing (DECSCA).
    Selective,
    /// From any erasing (SPA of ECMA-48).
    Always,
}

/// What a function erases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Erasing {
    Plain,
    /// All but what DECSCA has protected.
    Selective,
}

impl Terminal {
    pub(super) fn new(columns: usize, rows: usize, widths: Widths) -> Self {
        Self {
            grid: Grid::new(columns, rows),
            other: None,
            is_alternate: false,
            cursor: Cursor::default(),
            saved: [Cursor::default(); 2],
            region: 0..rows,
            tabs: tab_stops(),
            settings: Settings::default(),
            colours: Colours::default(),
            widths,
            saved_modes: SavedModes::default(),
            protection: Protection::None,
            single_shift: None,
            last: None,
            base: None,
            shape: STEADY_BLOCK,
            parser: FunctionParser::default(),
            string: String::new(),
            replies: Replies::default(),
            scrolled: 0,
            cleared: 0,
        }
    }

    pub(super) fn grid(&self) -> &Grid {
        &self.grid
    }

    pub(super) fn memory(&self) -> usize {
        self.grid.memory() + self.other.as_ref().map_or(0, Grid::memory) + self.tabs.len()
    }

    pub(super) fn resize(&mut self, columns: usize, rows: usize, tap: &mut impl Tap) {
        let moved = self.grid.resize(columns, rows, self.cursor.row);
        self.cursor.row = self.cursor.row.saturating_add_signed(moved);
        self.cursor = self.cursor.within(columns, rows);
        let base = self.base.and_then(|(row, column)| Some((row.checked_add_signed(moved)?, column)));
        self.base = base.filter(|(row, column)| *row < rows && *column < columns);
        self.scrolled = self.scrolled.saturating_add_signed(-moved as i64);
        // The other screen keeps the row of its own cursor.
        let other_cursor = &mut self.saved[usize::from(!self.is_alternate)];
        let other_moved = self.other.as_mut().map_or(0, |other| {
            let row = other_cursor.row.min(other.rows() - 1);
            other.resize(columns, rows, row)
        });
        other_cursor.row = other_cursor.row.saturating_add_signed(other_moved);
        self.region = 0..rows;
        let [columns, rows] = [columns, rows].map(|number| number as u16);
        let [moved, other_moved] = [moved, other_moved].map(|number| number as i16);
        tap.moved(Movement::Resized { columns, rows, moved, other_moved });
    }

    /// Writes printable ASCII, whose first byte is at index `at` of the read.
    pub(super) fn print_ascii(&mut self, mut text: &[u8], mut at: usize, tap: &mut impl Tap) {
        let charset = self.cursor.charsets[self.cursor.charset];
        if self.single_shift.is_some() || charset != Charset::Ascii || self.settings.inserts() {
            for (index, byte) in text.iter().enumerate() {
                self.print(char::from(*byte), at + index, tap);
            }
            return;
        }
        let Some(last) = text.last() else { return };
        self.last = Some(char::from(*last));
        while !text.is_empty() {
            self.wrap_if_pending(tap);
            let Cursor { row, column, style, .. } = self.cursor;
            let len = text.len().min(self.grid.columns() - column);
            // Without autowrap each character that does not fit replaces the last one.
            let (now, rest) = text.split_at(len);
            self.grid.write_text(row, column, now, style);
            for (index, byte) in now.iter().enumerate() {
                let column = (column + index) as u16;
                tap.printed(Printed {
                    character: char::from(*byte),
                    row: row as u16,
                    column,
                    width: 1,
                    style,
                    at: at + index,
                });
            }
            self.base = Some((row, column + len - 1));
            self.advance(len);
            (text, at) = (rest, at + len);
        }
    }

    /// Writes a character whose last byte is at index `at` of the read.
    pub(super) fn print(&mut self, character: char, at: usize, tap: &mut impl Tap) {
        let set = self.single_shift.take().unwrap_or(self.cursor.charset);
        let (original, character) = (character, self.cursor.charsets[set].map(character));
        let width = width(character);
        if width == 0 {
            self.combine(character, at, tap);
            return;
        }
        self.last = Some(original);
        self.wrap_if_pending(tap);
        let columns = self.grid.columns();
        if self.cursor.column + width > columns {
            if !self.settings.autowraps() {
                return;
            }
            self.wrap(tap);
        }
        if self.settings.inserts() {
            self.insert_cells(width, tap);
        }
        let Cursor { row, column, style, .. } = self.cursor;
        let cell = Cell::new(character, style);
        if width == 1 {
            self.grid.write(row, column, cell);
        } else {
            self.grid.write_wide(row, column, cell);
        }
        tap.printed(Printed { character, row: row as u16, column: column as u16, width: width as u16, style, at });
        self.base = Some((row, column));
        self.advance(width);
    }

    /// Joins a combining character to the last character written, or, where the cursor has moved since, to the one under it, which may
    /// be a blank. Characters that only steer how others are drawn show nothing.
    fn combine(&mut self, mark: char, at: usize, tap: &mut impl Tap) {
        if is_format(mark) {
            self.last = None;
            return;
        }
        let (row, column) = self.base.unwrap_or_else(|| self.under_cursor());
        if mark == EMOJI && self.widths == Widths::Wcwidth {
            self.widen(row, column, tap);
        }
        if self.grid.combine(row, column, mark) {
            let style = self.grid.row(row)[column].style();
            tap.printed(Printed { character: mark, row: row as u16, column: column as u16, width: 0, style, at });
        }
    }

    /// The cell of the character under the cursor.
    fn under_cursor(&self) -> (usize, usize) {
        let Cursor { row, column, .. } = self.cursor;
        (row, column - usize::from(column > 0 && self.grid.row(row)[column].is_tail()))
    }

    /// Gives a second column to a character that is drawn as an emoji, if it stands right before the cursor and there is room.
    fn widen(&mut self, row: usize, column: usize, tap: &mut impl Tap) {
        let is_before_cursor =
            (row, column + 1) == (self.cursor.row, self.cursor.column) && !self.cursor.is_wrap_pending;
        let is_emoji = self.grid.row(row)[column].character().is_some_and(is_widened_as_emoji);
        if is_before_cursor && is_emoji {
            if self.settings.inserts() {
                self.insert_cells(1, tap);
            }
            self.grid.widen(row, column);
            tap.moved(Movement::Widened { row: row as u16, column: column as u16 });
            self.advance(1);
        }
    }

    fn advance(&mut self, width: usize) {
        let next = self.cursor.column + width;
        self.cursor.is_wrap_pending = next >= self.grid.columns();
        self.cursor.column = next.min(self.grid.columns() - 1);
    }

    fn wrap_if_pending(&mut self, tap: &mut impl Tap) {
        if std::mem::take(&mut self.cursor.is_wrap_pending) && self.settings.autowraps() {
            self.wrap(tap);
        }
    }

    /// Goes on in the next row.
    fn wrap(&mut self, tap: &mut impl Tap) {
        self.grid.set_wrapped(self.cursor.row, true);
        self.index(tap);
        self.cursor.column = 0;
    }

    /// Moves the cursor to a row and a column, at most to the last ones, or to those of the region.
    fn move_to(&mut self, row: usize, column: usize) {
        let rows = if self.cursor.origin { self.region.clone() } else { 0..self.grid.rows() };
        self.cursor.row = (rows.start + row).min(rows.end - 1);
        self.cursor.column = column.min(self.grid.columns() - 1);
        self.cursor_moved();
    }

    /// The row as the host counts it.
    fn row(&self) -> usize {
        if self.cursor.origin { self.cursor.row.saturating_sub(self.region.start) } else { self.cursor.row }
    }

    fn cursor_moved(&mut self) {
        self.cursor.is_wrap_pending = false;
        self.base = None;
    }

    fn up(&mut self, count: usize) {
        let top = if self.cursor.row < self.region.start { 0 } else { self.region.start };
        self.cursor.row = self.cursor.row.saturating_sub(count).max(top);
        self.cursor_moved();
    }

    fn down(&mut self, count: usize) {
        let end = if self.cursor.row < self.region.end { self.region.end } else { self.grid.rows() };
        self.cursor.row = (self.cursor.row + count).min(end - 1);
        self.cursor_moved();
    }

    /// Moves the cursor left; in reverse-wrap mode over the beginning of a row to the end of the one above, and from the first row to
    /// the last one.
    fn left(&mut self, count: usize) {
        let Cursor { row, column, is_wrap_pending, .. } = self.cursor;
        self.cursor.column = column.saturating_sub(count);
        if self.settings.wraps_back() {
            let (columns, cells) = (self.grid.columns(), self.grid.columns() * self.grid.rows());
            let back = count - usize::from(is_wrap_pending);
            let cell = (row * columns + column + cells - back % cells) % cells;
            (self.cursor.row, self.cursor.column) = (cell / columns, cell % columns);
        }
        self.cursor_moved();
    }

    fn right(&mut self, count: usize) {
        self.cursor.column = (self.cursor.column + count).min(self.grid.columns() - 1);
        self.cursor_moved();
    }

    fn carriage_return(&mut self) {
        self.cursor.column = 0;
        self.cursor_moved();
    }

    /// Moves the cursor one row down, and scrolls at the end of the region.
    fn index(&mut self, tap: &mut impl Tap) {
        if self.cursor.row + 1 == self.region.end {
            self.scroll_up(self.region.clone(), 1, tap);
            self.cursor_moved();
        } else {
            self.down(1);
        }
    }

    /// Moves the cursor one row up, and scrolls at the beginning of the region.
    fn reverse_index(&mut self, tap: &mut impl Tap) {
        if self.cursor.row == self.region.start {
            self.scroll_down(self.region.clone(), 1, tap);
            self.cursor_moved();
        } else {
            self.up(1);
        }
    }

    /// Moves the cursor to one of the next tab stops, at most once into the next row. A pending wrap stays.
    fn tab(&mut self, count: usize, tap: &mut impl Tap) {
        for _ in 0..count {
            let before = self.cursor.column;
            if self.cursor.is_wrap_pending && self.settings.tab_wraps() {
                self.index(tap);
                self.cursor.column = 0;
            }
            let next = (self.cursor.column + 1..self.grid.columns()).find(|column| self.tabs[*column]);
            self.cursor.column = next.unwrap_or(self.grid.columns() - 1);
            if self.cursor.column <= before {
                return;
            }
        }
    }

    fn back_tab(&mut self, count: usize) {
        for _ in 0..count {
            self.cursor.column = (0..self.cursor.column).rev().find(|column| self.tabs[*column]).unwrap_or(0);
            if self.cursor.column == 0 {
                return;
            }
        }
    }

    fn scroll_up(&mut self, rows: Range<usize>, count: usize, tap: &mut impl Tap) {
        let count = count.min(rows.len());
        if rows.start == 0 {
            self.scrolled += count as u64;
        }
        self.grid.scroll_up(rows.clone(), count, self.cursor.style.background);
        tap.moved(Movement::ScrolledUp { top: rows.start as u16, bottom: rows.end as u16, count: count as u16 });
    }

    fn scroll_down(&mut self, rows: Range<usize>, count: usize, tap: &mut impl Tap) {
        let count = count.min(rows.len());
        self.grid.scroll_down(rows.clone(), count, self.cursor.style.background);
        tap.moved(Movement::ScrolledDown { top: rows.start as u16, bottom: rows.end as u16, count: count as u16 });
    }

    /// Inserts empty cells at the cursor.
    fn insert_cells(&mut self, count: usize, tap: &mut impl Tap) {
        let Cursor { row, column, style, .. } = self.cursor;
        self.grid.insert(row, column, count, style.background);
        let count = count.min(self.grid.columns() - column) as u16;
        tap.moved(Movement::Inserted { row: row as u16, column: column as u16, count });
    }

    fn delete_cells(&mut self, count: usize, tap: &mut impl Tap) {
        let Cursor { row, column, style, .. } = self.cursor;
        self.grid.delete(row, column, count, style.background);
        let count = count.min(self.grid.columns() - column) as u16;
        tap.moved(Movement::Deleted { row: row as u16, column: column as u16, count });
    }

    /// Erases cells of a row.
    fn erase(&mut self, row: usize, columns: Range<usize>, erasing: Erasing, tap: &mut impl Tap) {
        let spares = self.spares(erasing);
        let is_spared = |cell: &Cell| spares && cell.is_protected();
        self.grid.erase(row, columns.clone(), self.cursor.style.background, is_spared);
        tap.moved(Movement::Erased { row: row as u16, from: columns.start as u16, to: columns.end as u16, spares });
    }

    /// Whether erasing spares protected characters.
    fn spares(&self, erasing: Erasing) -> bool {
        match self.protection {
            Protection::None => false,
            Protection::Selective => erasing == Erasing::Selective,
            Protection::Always => true,
        }
    }

    /// Erases the whole screen.
    fn clear(&mut self, tap: &mut impl Tap) {
        self.grid.fill(Cell::erased(self.cursor.style.background));
        self.cursor_moved();
        tap.moved(Movement::Cleared);
    }

    /// Switches to the alternate screen or the main one.
    fn switch_screen(&mut self, alternate: bool, tap: &mut impl Tap) {
        if self.is_alternate == alternate {
            return;
        }
        let empty = || Grid::new(self.grid.columns(), self.grid.rows());
        let shown = self.other.take().unwrap_or_else(empty);
        self.other = Some(std::mem::replace(&mut self.grid, shown));
        self.is_alternate = alternate;
        self.base = None;
        tap.moved(Movement::Alternate(alternate));
    }

    fn save_cursor(&mut self) {
        self.saved[usize::from(self.is_alternate)] = self.cursor;
    }

    fn restore_cursor(&mut self) {
        // The screen may have been larger then.
        let saved = self.saved[usize::from(self.is_alternate)];
        self.cursor = saved.within(self.grid.columns(), self.grid.rows());
        if self.cursor.origin {
            self.cursor.row = self.cursor.row.min(self.region.end - 1);
        }
        self.base = None;
    }
}

fn tab_stops() -> Vec<bool> {
    (0..MAX_SIZE.into()).map(|column| column % TAB_DISTANCE == 0).collect()
}
