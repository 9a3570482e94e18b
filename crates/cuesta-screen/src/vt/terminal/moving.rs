//! Moving the cursor, also over the ends of the region, which scrolls then, and to tab stops.

use super::super::tap::Tap;
use super::{Cursor, Terminal};

impl Terminal {
    /// Moves the cursor to a row and a column, at most to the last ones, or to those of the region.
    pub(super) fn move_to(&mut self, row: usize, column: usize) {
        let rows = if self.cursor.origin { self.region.clone() } else { 0..self.grid.rows() };
        self.cursor.row = (rows.start + row).min(rows.end - 1);
        self.cursor.column = column.min(self.grid.columns() - 1);
        self.cursor_moved();
    }

    /// The row as the host counts it.
    pub(super) fn row(&self) -> usize {
        if self.cursor.origin { self.cursor.row.saturating_sub(self.region.start) } else { self.cursor.row }
    }

    pub(super) fn cursor_moved(&mut self) {
        self.cursor.is_wrap_pending = false;
        self.base = None;
    }

    pub(super) fn up(&mut self, count: usize) {
        let top = if self.cursor.row < self.region.start { 0 } else { self.region.start };
        self.cursor.row = self.cursor.row.saturating_sub(count).max(top);
        self.cursor_moved();
    }

    pub(super) fn down(&mut self, count: usize) {
        let end = if self.cursor.row < self.region.end { self.region.end } else { self.grid.rows() };
        self.cursor.row = (self.cursor.row + count).min(end - 1);
        self.cursor_moved();
    }

    /// Moves the cursor left; in reverse-wrap mode over the beginning of a row to the end of the one above, and from the first row to
    /// the last one.
    pub(super) fn left(&mut self, count: usize) {
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

    pub(super) fn right(&mut self, count: usize) {
        self.cursor.column = (self.cursor.column + count).min(self.grid.columns() - 1);
        self.cursor_moved();
    }

    pub(super) fn carriage_return(&mut self) {
        self.cursor.column = 0;
        self.cursor_moved();
    }

    /// Moves the cursor one row down, and scrolls at the end of the region.
    pub(super) fn index(&mut self, tap: &mut impl Tap) {
        if self.cursor.row + 1 == self.region.end {
            self.scroll_up(self.region.clone(), 1, tap);
            self.cursor_moved();
        } else {
            self.down(1);
        }
    }

    /// Moves the cursor one row up, and scrolls at the beginning of the region.
    pub(super) fn reverse_index(&mut self) {
        if self.cursor.row == self.region.start {
            self.scroll_down(self.region.clone(), 1);
            self.cursor_moved();
        } else {
            self.up(1);
        }
    }

    /// Moves the cursor to one of the next tab stops, at most once into the next row. A pending wrap stays.
    pub(super) fn tab(&mut self, count: usize, tap: &mut impl Tap) {
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

    pub(super) fn back_tab(&mut self, count: usize) {
        for _ in 0..count {
            self.cursor.column = (0..self.cursor.column).rev().find(|column| self.tabs[*column]).unwrap_or(0);
            if self.cursor.column == 0 {
                return;
            }
        }
    }
}
