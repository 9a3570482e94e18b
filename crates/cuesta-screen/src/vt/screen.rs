//! The screen: text, cursor and modes.

use std::num::NonZeroU16;

use vt100::Parser;

use super::Modes;
use super::gaps::Gaps;
use super::replies::Replies;

/// Largest number of columns and of rows.
const MOST: u16 = 1000;

/// A screen without scrollback.
///
/// Memory: 32 bytes a cell (80×24: 60 KiB), the same again once a program has used the alternate screen. Output
/// never grows anything else.
pub struct Screen {
    model: Parser<Replies>,
    gaps: Gaps,
    /// The alternate screen was used and keeps its memory.
    both: bool,
}

/// Size of a cell.
const CELL: usize = size_of::<vt100::Cell>();
/// Overhead of a row.
const ROW: usize = 32;

impl Screen {
    /// An empty screen; at least 2 × 1, at most 1000 × 1000.
    pub fn new(columns: u16, rows: u16) -> Self {
        let (rows, columns) = size(columns, rows);
        let model = Parser::new_with_callbacks(rows, columns, 0, Replies::default());
        Self { model, gaps: Gaps::default(), both: false }
    }

    /// Takes output of the host, which may be cut anywhere.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.gaps.feed(bytes, &mut self.model);
        self.both |= self.is_alternate();
    }

    /// The terminal's replies in order, until they are [forgotten](Self::forget_replies).
    pub fn replies(&self) -> &[u8] {
        self.model.callbacks().pending()
    }

    /// The first `len` bytes of the replies were sent.
    pub fn forget_replies(&mut self, len: usize) {
        self.model.callbacks_mut().forget(len);
    }

    /// Resizes the screen. Rows are cut or filled up, as in a terminal without scrollback.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        let (rows, columns) = size(columns, rows);
        self.model.set_size(rows, columns);
    }

    /// Columns and rows.
    pub fn size(&self) -> (u16, u16) {
        let (rows, columns) = self.model.screen().size();
        (columns.get(), rows.get())
    }

    /// Its memory, in bytes.
    pub fn memory(&self) -> usize {
        let (columns, rows) = self.size();
        let one = usize::from(rows) * (usize::from(columns) * CELL + ROW);
        size_of::<Self>() + if self.both { 2 * one } else { one }
    }

    /// The text of a row, from 0, without blanks at its end; empty where there is no such row.
    pub fn row(&self, row: u16) -> String {
        let mut text = self.text_before((row, u16::MAX));
        text.truncate(text.trim_end_matches(' ').len());
        text
    }

    /// The texts of all rows, from the top.
    pub fn rows(&self) -> impl Iterator<Item = String> + '_ {
        self.model.screen().rows(0, self.size().0).map(|mut row| {
            row.truncate(row.trim_end_matches(' ').len());
            row
        })
    }

    /// The texts of all rows, each with LF behind it.
    pub fn text(&self) -> String {
        self.rows().fold(String::new(), |text, row| text + &row + "\n")
    }

    /// The texts of all rows, with the blanks of the cursor's row up to the cursor.
    pub fn text_to_cursor(&self) -> String {
        let cursor = self.cursor();
        let rows = self.rows().zip(0..).map(|(text, row)| {
            let before = if row == cursor.0 { self.text_before(cursor) } else { String::new() };
            if before.len() > text.len() { before } else { text }
        });
        rows.fold(String::new(), |text, row| text + &row + "\n")
    }

    /// The text of a row up to a column, blanks included.
    pub fn text_before(&self, (row, column): (u16, u16)) -> String {
        let mut text = String::new();
        for column in 0..column.min(self.size().0) {
            match self.model.screen().cell(row, column) {
                Some(cell) if cell.is_wide_continuation() => {}
                Some(cell) if cell.has_contents() => text.push_str(cell.contents()),
                _ => text.push(' '),
            }
        }
        text
    }

    /// The cells of a row that hold a character or nothing, each with its column: all but those behind a wide character.
    pub(crate) fn cells(&self, row: u16) -> impl Iterator<Item = (u16, &str)> {
        let cell = move |column| Some((column, self.model.screen().cell(row, column)?));
        let cells = (0..self.size().0).filter_map(cell).filter(|(_, cell)| !cell.is_wide_continuation());
        cells.map(|(column, cell)| (column, cell.contents()))
    }

    /// The text of a cell: empty where nothing was written, or behind a wide character.
    pub fn cell(&self, row: u16, column: u16) -> &str {
        self.model.screen().cell(row, column).map_or("", vt100::Cell::contents)
    }

    /// The column in which the character that fills a cell begins.
    pub fn begin_of(&self, row: u16, column: u16) -> u16 {
        let behind = self.model.screen().cell(row, column).is_some_and(vt100::Cell::is_wide_continuation);
        column - u16::from(behind && column > 0)
    }

    /// Whether a row goes on in the next one.
    pub fn goes_on(&self, row: u16) -> bool {
        self.model.screen().row_wrapped(row)
    }

    /// Row and column of the cursor, from 0. The column is the number of columns when a character has filled the last one
    /// and the next will begin a new row.
    pub fn cursor(&self) -> (u16, u16) {
        self.model.screen().cursor_position()
    }

    /// The modes that are set now.
    pub fn modes(&self) -> Modes {
        let screen = self.model.screen();
        Modes {
            application_cursor: screen.application_cursor(),
            bracketed_paste: screen.bracketed_paste(),
            hidden_cursor: screen.hide_cursor(),
        }
    }

    /// Whether a program draws on the alternate screen.
    pub fn is_alternate(&self) -> bool {
        self.model.screen().alternate_screen()
    }

    /// Rows that have scrolled off the top so far.
    pub fn scrolled(&self) -> u64 {
        self.model.callbacks().scrolled
    }

    /// How often the whole screen was cleared so far.
    pub(crate) fn cleared(&self) -> u64 {
        self.gaps.cleared
    }
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Screen").field("size", &self.size()).field("cursor", &self.cursor()).finish_non_exhaustive()
    }
}

/// Rows and columns. At least two columns, so that a wide character fits.
fn size(columns: u16, rows: u16) -> (NonZeroU16, NonZeroU16) {
    let of = |wanted: u16, least| NonZeroU16::new(wanted.clamp(least, MOST)).unwrap_or(NonZeroU16::MIN);
    (of(rows, 1), of(columns, 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_written_at_the_cursor() {
        let mut screen = Screen::new(20, 4);
        screen.feed("one \r\n\x1b[1;31mtwo\x1b[0m\x1b[4;3Hd\u{e9}j\u{e0} \u{6f22}e\u{301}".as_bytes());
        assert_eq!(screen.rows().collect::<Vec<_>>(), ["one", "two", "", "  d\u{e9}j\u{e0} \u{6f22}e\u{301}"]);
        assert_eq!(screen.cursor(), (3, 10));
        assert_eq!(screen.row(9), "");
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
