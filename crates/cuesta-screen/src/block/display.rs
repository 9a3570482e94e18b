//! A 3270's display: its buffer, its cursor, the lock of its keyboard, and what it sends by itself.

use super::buffer::Buffer;
use super::record::{self, RecordReader};
use crate::replies::Replies;

/// The AID "no key": what a read command gets while no key called for the host.
pub(super) const NO_AID: u8 = 0x60;
/// Columns and rows of the default size, in which every 3270 begins.
pub(super) const DEFAULT_SIZE: (u16, u16) = (80, 24);
/// Most bytes of replies that wait.
const MOST_REPLIES: usize = 64 * 1024;

/// A 3270's display.
#[derive(Debug)]
pub struct Display {
    pub(super) buffer: Buffer,
    /// The size that the host chooses by Erase/Write Alternate.
    pub(super) alternate: (u16, u16),
    reader: RecordReader,
    /// The host has not unlocked the keyboard since the last key that called for it, or since the line was opened.
    pub(super) locked: bool,
    /// The key that called for the host last.
    pub(super) aid: u8,
    /// Characters are inserted, not overwritten.
    pub(super) inserts: bool,
    /// How often the host has unlocked the keyboard.
    pub(super) unlocks: u64,
    replies: Replies,
}

impl Display {
    /// An empty display in its default size, with a locked keyboard. `alternate`: columns and rows of its other size.
    pub fn new(alternate: (u16, u16)) -> Self {
        Self {
            buffer: sized(DEFAULT_SIZE),
            alternate,
            reader: RecordReader::default(),
            locked: true,
            aid: NO_AID,
            inserts: false,
            unlocks: 0,
            replies: Replies::new(MOST_REPLIES),
        }
    }

    /// Takes output of the host, which may be cut anywhere, up to the end of a record, and carries the record out. Returns how
    /// many bytes it took, and whether a record ended.
    pub fn feed(&mut self, bytes: &[u8]) -> (usize, bool) {
        let (taken, ends) = self.reader.take(bytes);
        if ends {
            let reader = std::mem::take(&mut self.reader);
            self.execute(reader.record());
            self.reader = reader;
        }
        (taken, ends)
    }

    /// Columns and rows.
    pub fn size(&self) -> (u16, u16) {
        (self.buffer.columns() as u16, self.buffer.rows() as u16)
    }

    /// Row and column of the cursor, from 0.
    pub fn cursor(&self) -> (u16, u16) {
        let (row, column) = (self.buffer.cursor / self.buffer.columns(), self.buffer.cursor % self.buffer.columns());
        (row as u16, column as u16)
    }

    /// Whether the keyboard is locked.
    pub fn is_locked(&self) -> bool {
        self.locked
    }

    /// How often the host has unlocked the keyboard so far.
    pub fn unlocks(&self) -> u64 {
        self.unlocks
    }

    /// The texts of all rows, each with LF behind it.
    pub fn text(&self) -> String {
        self.fresh_text(false).0
    }

    /// The texts of all rows, each with LF behind it, and for each byte whether the host wrote it since the last key.
    /// `to_cursor`: with the blanks of the cursor's row up to the cursor.
    pub fn fresh_text(&self, to_cursor: bool) -> (String, Vec<bool>) {
        let (mut text, mut fresh) = (String::new(), Vec::new());
        for row in 0..self.buffer.rows() {
            self.add_row(row, to_cursor, &mut text, &mut fresh);
            text.push('\n');
            fresh.push(false);
        }
        (text, fresh)
    }

    /// The same of the cursor's row, without LF.
    pub fn fresh_row(&self, to_cursor: bool) -> (String, Vec<bool>) {
        let (mut text, mut fresh) = (String::new(), Vec::new());
        self.add_row(self.cursor().0.into(), to_cursor, &mut text, &mut fresh);
        (text, fresh)
    }

    fn add_row(&self, row: usize, to_cursor: bool, text: &mut String, fresh: &mut Vec<bool>) {
        let (cursor_row, cursor_column) = self.cursor();
        let least = if to_cursor && row == usize::from(cursor_row) { cursor_column.into() } else { 0 };
        let mut column = 0;
        let mut end = text.len();
        self.buffer.for_each_shown(row, |c, is_fresh| {
            text.push(c);
            fresh.resize(text.len(), is_fresh);
            column += 1;
            if c != ' ' || column <= least {
                end = text.len();
            }
        });
        text.truncate(end);
        fresh.truncate(end);
    }

    /// The text of the cursor's row before the cursor, blanks included.
    pub fn text_before_cursor(&self) -> String {
        let (row, column) = self.cursor();
        let mut text = String::new();
        self.buffer.for_each_shown(row.into(), |c, _| text.push(c));
        text.chars().take(column.into()).collect()
    }

    /// A key was pressed: nothing that is shown now was written since.
    pub fn clear_fresh(&mut self) {
        self.buffer.clear_fresh();
    }

    /// The terminal's own replies in order, until they are [forgotten](Self::forget_replies).
    pub fn replies(&self) -> &[u8] {
        self.replies.pending()
    }

    /// The first `len` bytes of the replies were sent.
    pub fn forget_replies(&mut self, len: usize) {
        self.replies.forget(len);
    }

    pub(super) fn reply(&mut self, record: &[u8]) {
        let mut framed = Vec::new();
        record::append(&mut framed, record);
        self.replies.push(framed);
    }

    /// Its memory, in bytes.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.buffer.memory() + self.reader.memory() + self.replies.memory()
    }

    /// Erases the screen, in one size or the other.
    pub(super) fn resize(&mut self, size: (u16, u16)) {
        if self.size() != size {
            self.buffer = sized(size);
        }
        self.buffer.erase(true);
    }

    pub(super) fn unlock(&mut self) {
        (self.locked, self.aid, self.inserts) = (false, NO_AID, false);
        self.unlocks += 1;
    }
}

fn sized((columns, rows): (u16, u16)) -> Buffer {
    Buffer::new(columns.into(), rows.into())
}
