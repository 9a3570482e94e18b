//! The screen: text, cursor and modes.

use super::Modes;
use super::cell::Cell;
use super::tap::Tap;
use super::terminal::{FRAME, RegionScrolls, Terminal};
use super::utf8::{Decoded, Decoder};
use super::widths::Widths;

/// Largest number of columns and of rows.
pub(super) const MAX_SIZE: u16 = 1000;

/// A screen without scrollback, as xterm shows it.
///
/// Memory: 24 bytes a cell (80×24: 45 KiB), the same again once a program has used the alternate screen. A thousand bytes of
/// tab stops, and at most 16 KiB of replies, 8 KiB of a string, the palette, and the rows that a resize moved off.
#[derive(Debug)]
pub struct Screen {
    terminal: Terminal,
    decoder: Decoder,
}

impl Screen {
    /// An empty screen; at least 2 × 1, at most 1000 × 1000.
    pub fn new(columns: u16, rows: u16) -> Self {
        Self::with_widths(columns, rows, Widths::default())
    }

    /// As [`new`](Self::new), for a program that counts columns otherwise.
    pub fn with_widths(columns: u16, rows: u16, widths: Widths) -> Self {
        let (columns, rows) = size(columns, rows);
        Self { terminal: Terminal::new(columns, rows, widths), decoder: Decoder::default() }
    }

    /// Takes output of the host, which may be cut anywhere.
    pub fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let drawn = self.feed_frame(bytes, &mut ());
            bytes = &bytes[drawn..];
        }
    }

    /// As [`feed`](Self::feed), up to the end of a frame that the host marks (mode 2026), and tells what is written. Returns how many bytes
    /// that were.
    pub fn feed_frame(&mut self, bytes: &[u8], tap: &mut impl Tap) -> usize {
        let frames = self.terminal.frames;
        let mut at = 0;
        while at < bytes.len() && self.terminal.frames == frames {
            let rest = &bytes[at..];
            if self.decoder.is_idle() && self.terminal.is_in_text() {
                let len = rest.iter().position(|byte| !matches!(byte, b' '..=b'~')).unwrap_or(rest.len());
                if len > 0 {
                    self.terminal.print_ascii(&rest[..len], at, tap);
                    at += len;
                    continue;
                }
            }
            match self.decoder.take(rest[0]) {
                Decoded::Character(character) => self.terminal.take(character, at, tap),
                Decoded::Part => {}
                // The byte belongs to the next character.
                Decoded::CutOff => {
                    self.terminal.take(char::REPLACEMENT_CHARACTER, at.saturating_sub(1), tap);
                    continue;
                }
            }
            at += 1;
        }
        at
    }

    /// Whether the host is drawing a frame, of which nothing is to be shown before its end (mode 2026).
    pub fn is_in_frame(&self) -> bool {
        self.terminal.settings.is_set(FRAME) == Some(true)
    }

    /// How many frames the host has marked the end of (mode 2026).
    pub fn marked_frames(&self) -> u64 {
        self.terminal.frames
    }

    /// The terminal's replies in order, until they are [forgotten](Self::forget_replies).
    pub fn replies(&self) -> &[u8] {
        self.terminal.replies.pending()
    }

    /// The first `len` bytes of the replies were sent.
    pub fn forget_replies(&mut self, len: usize) {
        self.terminal.replies.forget(len);
    }

    /// Resizes the screen without a new layout of its rows. Those below the cursor go first, then those at the top, which come back when
    /// there is room again.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        let (columns, rows) = size(columns, rows);
        self.terminal.resize(columns, rows);
    }

    /// Columns and rows.
    pub fn size(&self) -> (u16, u16) {
        let grid = self.terminal.grid();
        (grid.columns() as u16, grid.rows() as u16)
    }

    /// Its memory, in bytes.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.terminal.memory()
    }

    /// The text of a row, from 0, without blanks at its end; empty where there is no such row.
    pub fn row(&self, row: u16) -> String {
        let mut text = self.text_before((row, u16::MAX));
        text.truncate(text.trim_end_matches(' ').len());
        text
    }

    /// The texts of all rows, from the top.
    pub fn rows(&self) -> impl Iterator<Item = String> + '_ {
        (0..self.size().1).map(|row| self.row(row))
    }

    /// The texts of all rows, each with LF behind it.
    pub fn text(&self) -> String {
        self.rows().fold(String::new(), |text, row| text + &row + "\n")
    }

    /// The texts of all rows, with the blanks of the cursor's row up to the cursor.
    pub fn text_to_cursor(&self) -> String {
        let cursor = self.next_cell();
        let rows = self.rows().zip(0..).map(|(text, row)| {
            let before = if row == cursor.0 { self.text_before(cursor) } else { String::new() };
            if before.len() > text.len() { before } else { text }
        });
        rows.fold(String::new(), |text, row| text + &row + "\n")
    }

    /// The text of a row up to a column, blanks included.
    pub fn text_before(&self, (row, column): (u16, u16)) -> String {
        let cells = self.terminal.grid().row(row.into());
        let mut text = String::with_capacity(cells.len());
        cells.iter().take(column.into()).for_each(|cell| cell.append_to(&mut text));
        text
    }

    /// The cells of a row that hold a character or nothing, each with its column: all but those behind a wide character.
    pub(crate) fn cells(&self, row: u16) -> impl Iterator<Item = (u16, &Cell)> {
        (0..).zip(self.terminal.grid().row(row.into())).filter(|(_, cell)| !cell.is_tail())
    }

    pub(super) fn row_cells(&self, row: u16) -> &[Cell] {
        self.terminal.grid().row(row.into())
    }

    /// A cell; `None` where there is none.
    pub fn cell(&self, row: u16, column: u16) -> Option<&Cell> {
        self.terminal.grid().row(row.into()).get(usize::from(column))
    }

    /// Whether the cell at a row and a column shows a character; an erased cell shows a blank.
    pub fn shows(&self, (row, column): (u16, u16), character: char) -> bool {
        self.cell(row, column).is_some_and(|cell| cell.shows(character))
    }

    /// The column in which the character that fills a cell begins.
    pub fn begin_of(&self, row: u16, column: u16) -> u16 {
        let behind = self.cell(row, column).is_some_and(Cell::is_tail);
        column - u16::from(behind && column > 0)
    }

    /// Whether a row goes on in the next one.
    pub fn is_wrapped(&self, row: u16) -> bool {
        self.terminal.grid().is_wrapped(row.into())
    }

    /// Row and column of the cursor, from 0. It stays on the last column when a character has filled that.
    pub fn cursor(&self) -> (u16, u16) {
        (self.terminal.cursor.row as u16, self.terminal.cursor.column as u16)
    }

    /// Row and column behind the last character: those of the cursor, or the number of columns if the next character will begin a
    /// new row.
    pub fn next_cell(&self) -> (u16, u16) {
        let (row, column) = self.cursor();
        (row, column + u16::from(self.terminal.cursor.is_wrap_pending))
    }

    /// The modes that are set now.
    pub fn modes(&self) -> Modes {
        self.terminal.settings.keys()
    }

    /// Whether a program draws on the alternate screen.
    pub fn is_alternate(&self) -> bool {
        self.terminal.is_alternate
    }

    /// Rows that have scrolled off the top so far, less those that a resize brought back.
    pub fn scrolled(&self) -> u64 {
        self.terminal.scrolled
    }

    /// What has scrolled off in a region so far.
    pub(super) fn region_scrolls(&self) -> &RegionScrolls {
        &self.terminal.region_scrolls
    }

    /// How often the whole screen was cleared so far.
    pub(crate) fn cleared(&self) -> u64 {
        self.terminal.cleared
    }
}

/// Columns and rows. At least two columns, so that a wide character fits.
fn size(columns: u16, rows: u16) -> (usize, usize) {
    (columns.clamp(2, MAX_SIZE).into(), rows.clamp(1, MAX_SIZE).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_emoji_takes_two_columns_where_the_host_counts_so() {
        let shown = |widths, text: &str| {
            let mut screen = Screen::with_widths(10, 2, widths);
            screen.feed(text.as_bytes());
            (screen.row(0), screen.cursor())
        };
        let heart = "\u{2764}\u{fe0f}x";
        assert_eq!(shown(Widths::Xterm, heart), (heart.into(), (0, 2)));
        assert_eq!(shown(Widths::Wcwidth, heart), (heart.into(), (0, 3)));
        assert_eq!(shown(Widths::Wcwidth, "\u{6f22}\u{fe0f}x").1, (0, 3));
        assert_eq!(shown(Widths::Wcwidth, "12345678\u{2764}\u{fe0f}x").1, (1, 1));
        assert_eq!(shown(Widths::Wcwidth, "123456789\u{2764}\u{fe0f}x").1, (1, 1));
    }

    #[test]
    fn a_resize_loses_no_rows() {
        let mut screen = Screen::new(10, 4);
        screen.feed(b"1\r\n2\r\n3\r\n$ ");
        screen.resize(5, 2);
        assert_eq!(
            (screen.rows().collect::<Vec<_>>(), screen.cursor(), screen.scrolled()),
            (vec!["3".into(), "$".into()], (1, 2), 2)
        );
        screen.resize(10, 4);
        assert_eq!(
            (screen.rows().collect::<Vec<_>>(), screen.cursor(), screen.scrolled()),
            (["1", "2", "3", "$"].map(String::from).to_vec(), (3, 2), 0)
        );
        // What scrolls off meanwhile comes back first.
        screen.resize(5, 2);
        screen.feed(b"\r\n4");
        screen.resize(10, 4);
        assert_eq!(screen.rows().collect::<Vec<_>>(), ["2", "3", "$", "4"]);
        // There is no more to come back.
        screen.resize(10, 5);
        assert_eq!(
            (screen.rows().collect::<Vec<_>>(), screen.cursor()),
            (["2", "3", "$", "4", ""].map(String::from).to_vec(), (3, 1))
        );
    }

    #[test]
    fn modes_and_the_alternate_screen() {
        let mut screen = Screen::new(20, 4);
        screen.feed(b"shell\x1b[?1049h\x1b[?1h\x1b[?2004h\x1b[?25l\x1b[2J\x1b[Hfull");
        assert!(screen.is_alternate());
        assert_eq!(screen.modes(), Modes { application_cursor: true, bracketed_paste: true, hidden_cursor: true });
        screen.feed(b"\x1b[?1049l\x1b[?1l\x1b[?2004l\x1b[?25h");
        assert_eq!((screen.row(0), screen.modes(), screen.is_alternate()), ("shell".into(), Modes::default(), false));
    }

    #[test]
    fn any_size_and_any_resize_work() {
        let mut screen = Screen::new(0, 0);
        assert_eq!(screen.size(), (2, 1));
        screen.feed("a\u{6f22}\u{6f22}\r\n\x1b[999;999Hx".as_bytes());
        screen.resize(u16::MAX, 3);
        assert_eq!(screen.size(), (1000, 3));
        screen.feed(b"\x1b[3;1000Hxy");
        screen.resize(80, 24);
        assert_eq!(screen.size(), (80, 24));
    }

    #[test]
    fn scrolled_rows_and_clearings_are_counted() {
        let mut screen = Screen::new(20, 4);
        screen.feed(b"1\r\n2\r\n3\r\n4\r\n5\r\n");
        assert_eq!((screen.scrolled(), screen.cleared()), (2, 0));
        screen.feed(b"\x1b[J\x1b[H\x1b[J\x1b[2J");
        assert_eq!(screen.cleared(), 2);
    }
}
