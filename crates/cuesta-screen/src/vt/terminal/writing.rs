//! Writing characters: wrapping, inserting, joining combining ones.

use super::super::cell::Cell;
use super::super::charset::Charset;
use super::super::tap::{Printed, Tap};
use super::super::widths::{EMOJI, Widths, is_format, is_widened_as_emoji, width};
use super::{Cursor, Terminal};

impl Terminal {
    /// Writes printable ASCII, whose first byte is at index `at` of the read.
    pub(in super::super) fn print_ascii(&mut self, mut text: &[u8], mut at: usize, tap: &mut impl Tap) {
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
                tap.printed(Printed { character: char::from(*byte), row: row as u16, column, style, at: at + index });
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
            self.insert_cells(width);
        }
        let Cursor { row, column, style, .. } = self.cursor;
        let cell = Cell::new(character, style);
        if width == 1 {
            self.grid.write(row, column, cell);
        } else {
            self.grid.write_wide(row, column, cell);
        }
        tap.printed(Printed { character, row: row as u16, column: column as u16, style, at });
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
            self.widen(row, column);
        }
        if self.grid.combine(row, column, mark) {
            let style = self.grid.row(row)[column].style();
            tap.printed(Printed { character: mark, row: row as u16, column: column as u16, style, at });
        }
    }

    /// The cell of the character under the cursor.
    fn under_cursor(&self) -> (usize, usize) {
        let Cursor { row, column, .. } = self.cursor;
        (row, column - usize::from(column > 0 && self.grid.row(row)[column].is_tail()))
    }

    /// Gives a second column to a character that is drawn as an emoji, if it stands right before the cursor and there is room.
    fn widen(&mut self, row: usize, column: usize) {
        let is_before_cursor =
            (row, column + 1) == (self.cursor.row, self.cursor.column) && !self.cursor.is_wrap_pending;
        let is_emoji = self.grid.row(row)[column].character().is_some_and(is_widened_as_emoji);
        if is_before_cursor && is_emoji {
            if self.settings.inserts() {
                self.insert_cells(1);
            }
            self.grid.widen(row, column);
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
}
