//! The terminal behind a screen: its cells, its cursor, and what control functions do to them, as in xterm.
//!
//! - This file: the state, and changes of its cells other than by writing.
//! - `functions`: which control function does what; `writing` and `moving`: characters and the cursor.
//! - `modes`: the private modes that a host sets, saves and restores; `settings`: those that are only remembered.
//! - `replies`: answers to the host's queries; `colours`: those that it sets and asks for.
//!
//! One rule decides where the next character goes after one in the last column: the cursor stays on that column, and the wrap is
//! pending. Moving the cursor and changing cells cancel it; a tab and a change of style do not.

use std::ops::Range;

use self::colours::Colours;
pub(super) use self::modes::FRAME;
use self::modes::SavedModes;
use self::settings::Settings;
use super::cell::{Cell, Style};
use super::charset::Charset;
use super::grid::Grid;
use super::screen::MAX_SIZE;
use super::sequence::FunctionParser;
use super::tap::Tap;
use super::widths::Widths;
use crate::replies::Replies;

mod colours;
mod functions;
mod modes;
mod moving;
mod replies;
mod settings;
mod writing;

/// Most bytes of a string, such as a command; a longer one is not obeyed.
const MAX_STRING: usize = 8192;
/// The cursor's shape until the host chooses another.
const STEADY_BLOCK: u16 = 2;
/// Tab stops are this far apart until the host sets others.
const TAB_DISTANCE: usize = 8;

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
    pub(super) region_scrolls: RegionScrolls,
    /// How often the host erased the whole screen, or reset the terminal.
    pub(super) cleared: u64,
    /// How many frames the host has marked the end of.
    pub(super) frames: u64,
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

/// Rows that have scrolled off the top of a region that does not begin at the top of the screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RegionScrolls {
    pub(super) region: Range<usize>,
    pub(super) count: usize,
    /// How often it became another region.
    pub(super) changes: u64,
}

impl RegionScrolls {
    fn count(&mut self, region: &Range<usize>, count: usize) {
        if self.region != *region {
            *self = Self { region: region.clone(), count: 0, changes: self.changes + 1 };
        }
        self.count = self.count.saturating_add(count);
    }
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
            replies: Replies::new(replies::MAX_PENDING),
            scrolled: 0,
            region_scrolls: RegionScrolls::default(),
            cleared: 0,
            frames: 0,
        }
    }

    pub(super) fn grid(&self) -> &Grid {
        &self.grid
    }

    pub(super) fn memory(&self) -> usize {
        self.grid.memory() + self.other.as_ref().map_or(0, Grid::memory) + self.tabs.len()
    }

    pub(super) fn resize(&mut self, columns: usize, rows: usize) {
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
    }

    fn scroll_up(&mut self, rows: Range<usize>, count: usize, tap: &mut impl Tap) {
        let count = count.min(rows.len());
        if rows.start == 0 {
            self.scrolled += count as u64;
            tap.scrolled(count as u16);
        } else {
            self.region_scrolls.count(&rows, count);
        }
        self.grid.scroll_up(rows, count, self.cursor.style.background);
    }

    fn scroll_down(&mut self, rows: Range<usize>, count: usize) {
        self.grid.scroll_down(rows, count, self.cursor.style.background);
    }

    /// Inserts empty cells at the cursor.
    fn insert_cells(&mut self, count: usize) {
        let Cursor { row, column, style, .. } = self.cursor;
        self.grid.insert(row, column, count, style.background);
    }

    fn delete_cells(&mut self, count: usize) {
        let Cursor { row, column, style, .. } = self.cursor;
        self.grid.delete(row, column, count, style.background);
    }

    /// Erases cells of a row.
    fn erase(&mut self, row: usize, columns: Range<usize>, erasing: Erasing) {
        let spares = self.spares(erasing);
        self.grid.erase(row, columns, self.cursor.style.background, |cell| spares && cell.is_protected());
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
    fn clear(&mut self) {
        self.grid.fill(Cell::erased(self.cursor.style.background));
        self.cursor_moved();
    }

    fn switch_screen(&mut self, alternate: bool) {
        if self.is_alternate == alternate {
            return;
        }
        let empty = || Grid::new(self.grid.columns(), self.grid.rows());
        let shown = self.other.take().unwrap_or_else(empty);
        self.other = Some(std::mem::replace(&mut self.grid, shown));
        self.is_alternate = alternate;
        self.base = None;
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
