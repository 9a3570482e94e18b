//! Finds text on the screen that only echoes the user's own keys, so that no wait takes it for an answer.
//!
//! A cell is an echo while it shows the key that [`TypedText`](super::TypedText) found there. A row, too, can be an echo:
//!
//! - It shows, behind a prompt and up to its end, a typed row or the beginning of one. Line editors redraw behind their prompt
//!   what the terminal has echoed before. The prompt is the text before the first echo; if there was none, any text that ends
//!   as prompts do.
//! - The host has edited it (a command from the history, a completed name), and it is unchanged since the cursor left it.

use std::collections::VecDeque;

use super::Screen;
use super::cells::CellPosition;

/// Most cells, and most characters of a row, that are remembered.
const MOST: usize = 256;
/// Most typed rows that are remembered.
const MOST_ROWS: usize = 8;
/// The last characters of ordinary prompts.
const PROMPT_ENDS: [char; 8] = ['$', '#', '%', '>', ':', '?', '❯', '»'];

/// The keys of the latest input, and the cells that show them.
#[derive(Debug, Default)]
pub struct OwnEchoes {
    cells: VecDeque<EchoCell>,
    /// How many of them, the last ones, were found since the last key.
    recent: usize,
    rows: VecDeque<TypedRow>,
    /// The beginning of the row in which the input began.
    origin: CellPosition,
    /// How often the screen had been cleared when the input began.
    cleared: u64,
    /// Rows that the host has edited, as they stood when the cursor left them.
    edited_rows: Vec<(CellPosition, String)>,
    /// The number of the row that is being typed.
    number: u32,
}

#[derive(Debug)]
struct EchoCell {
    position: CellPosition,
    character: char,
}

#[derive(Debug, Default)]
struct TypedRow {
    number: u32,
    text: String,
    /// The text before its first echo.
    prompt: Option<String>,
    /// The host has edited it: keys were typed whose effect only the host knows.
    is_edited: bool,
}

/// Text from the screen, and which of its bytes are output of the host and not echoes.
#[derive(Debug, Default)]
pub struct MarkedText {
    /// Rows, each with LF behind it, or one row.
    pub text: String,
    /// By byte; false for blanks and echoes.
    is_output: Vec<bool>,
}

impl MarkedText {
    /// Whether a match with this part of the text can be an answer: it is not only echo.
    pub fn is_answer(&self, part: std::ops::Range<usize>) -> bool {
        self.is_output[part.clone()].contains(&true) || self.text[part].chars().all(char::is_whitespace)
    }

    /// Whether it is more than blanks and echoes.
    pub fn has_output(&self) -> bool {
        self.is_output.contains(&true)
    }

    fn push(&mut self, text: &str, is_output: bool) {
        self.text.push_str(text);
        self.mark_added(is_output);
    }

    /// Marks the bytes that were added last.
    fn mark_added(&mut self, is_output: bool) {
        self.is_output.resize(self.text.len(), is_output);
    }

    /// Appends a row.
    pub(crate) fn append(&mut self, row: Self) {
        self.text.push_str(&row.text);
        self.is_output.extend(row.is_output);
        self.push("\n", false);
    }

    fn trim(&mut self) {
        self.truncate(self.text.trim_end_matches(' ').len());
    }

    /// Keeps the first `len` bytes.
    pub fn truncate(&mut self, len: usize) {
        self.text.truncate(len);
        self.is_output.truncate(len);
    }
}

impl OwnEchoes {
    /// Begins another input and forgets the last one.
    pub fn begin_input(&mut self, screen: &Screen) {
        self.cells.clear();
        self.rows.clear();
        self.edited_rows.clear();
        self.origin = CellPosition::of_row(screen);
        self.cleared = screen.cleared();
        self.recent = 0;
        self.number = self.number.wrapping_add(1);
    }

    /// A key is sent: only echoes from now on are recent.
    pub fn key_sent(&mut self) {
        self.recent = 0;
    }

    /// Adds a typed character, and returns the number of its row for [`OwnEchoes::add`].
    pub fn printable_key(&mut self, character: char) -> u32 {
        let row = self.current_row();
        if row.text.len() < MOST {
            row.text.push(character);
        } else {
            row.is_edited = true;
        }
        self.number
    }

    /// Adds a key that types no character.
    pub fn control_key(&mut self, is_return: bool, is_erase: bool) {
        if is_return {
            self.number = self.number.wrapping_add(1);
        } else if !is_erase || self.current_row().text.pop().is_none() {
            self.current_row().is_edited = true;
        }
    }

    /// Whether the host has edited the row that is being typed, so that the screen shows another text than the keys.
    pub fn is_edited(&self) -> bool {
        self.rows.back().is_some_and(|row| row.number == self.number && row.is_edited)
    }

    /// Remembers the rows from the beginning of the input to the cursor as edited ones. Called before the cursor leaves them.
    pub fn leave_edited_row(&mut self, screen: &Screen) {
        let last = CellPosition::of_row(screen);
        let first = self.origin.now(screen).map_or(last.row(), |(row, _)| row);
        // A program that clears the screen or draws above the row edits no row.
        let rows = if self.cleared == screen.cleared() { first..last.row() + 1 } else { 0..0 };
        self.edited_rows = rows.map(|row| (last.in_row(row), screen.row(row))).collect();
    }

    /// Adds a cell that shows a typed character.
    pub fn add(&mut self, screen: &Screen, position: CellPosition, character: char, row: u32) {
        if self.cells.len() >= MOST {
            self.cells.pop_front();
        }
        self.cells.push_back(EchoCell { position, character });
        self.recent = (self.recent + 1).min(self.cells.len());
        let row = self.rows.iter_mut().find(|typed| typed.number == row && typed.prompt.is_none());
        if let (Some(row), Some(at)) = (row, position.now(screen)) {
            row.prompt = Some(screen.text_before(at));
        }
    }

    /// A row of the screen without the echoes found since the last key; `None` if it has none.
    pub(crate) fn row_without_recent_echoes(&self, screen: &Screen, row: u16) -> Option<String> {
        let mut text = self.without_recent_echoes(screen, row, u16::MAX)?;
        text.truncate(text.trim_end_matches(' ').len());
        Some(text)
    }

    /// As [`row_without_recent_echoes`](Self::row_without_recent_echoes), up to a column and with blanks there.
    pub(crate) fn without_recent_echoes(&self, screen: &Screen, row: u16, to: u16) -> Option<String> {
        let recent = self.echo_columns(screen, row, self.cells.len() - self.recent);
        if recent.is_empty() {
            return None;
        }
        let mut text = String::new();
        for (column, cell) in screen.cells(row).take_while(|(column, _)| *column < to) {
            if recent.contains(&column) {
                text.push(' ');
            } else {
                cell.append_to(&mut text);
            }
        }
        Some(text)
    }

    /// A row of the screen up to its last character; with `to_cursor`, at least up to the cursor.
    pub fn marked_row(&self, screen: &Screen, row: u16, to_cursor: bool) -> MarkedText {
        let echoes = self.echo_columns(screen, row, 0);
        let mut marked = MarkedText::default();
        for (column, cell) in screen.cells(row) {
            cell.append_to(&mut marked.text);
            marked.mark_added(!cell.is_blank() && !echoes.contains(&column));
        }
        marked.trim();
        let is_edited = self
            .edited_rows
            .iter()
            .any(|(position, text)| position.now(screen) == Some((row, 0)) && *text == marked.text);
        let redrawn_from = if is_edited { 0 } else { self.redrawn_from(screen, row, &marked.text) };
        marked.is_output[redrawn_from..].fill(false);
        let (cursor_row, column) = screen.next_cell();
        if to_cursor && cursor_row == row {
            let blanks = screen.text_before((row, column)).len().saturating_sub(marked.text.len());
            marked.push(&" ".repeat(blanks), false);
        }
        marked
    }

    /// The columns of a row that show echoes; only cells from index `from` on.
    fn echo_columns(&self, screen: &Screen, row: u16, from: usize) -> Vec<u16> {
        let columns = self.cells.range(from..).filter_map(|cell| {
            let (at, column) = cell.position.now(screen)?;
            (at == row && screen.shows((row, column), cell.character)).then_some(column)
        });
        columns.collect()
    }

    /// The byte from which a row of the screen shows a typed row, or its beginning, behind a prompt.
    fn redrawn_from(&self, screen: &Screen, row: u16, text: &str) -> usize {
        // The text of a full row continues in the next one.
        let mut above = String::new();
        let mut first = row;
        while first > 0 && screen.is_wrapped(first - 1) {
            first -= 1;
            above.insert_str(0, &screen.text_before((first, u16::MAX)));
        }
        let whole = above.clone() + text;
        let begins = self.rows.iter().filter_map(|typed| typed.begin_in(&whole)).min();
        begins.map_or(text.len(), |begin| begin.saturating_sub(above.len()))
    }

    /// The row that is being typed.
    fn current_row(&mut self) -> &mut TypedRow {
        if self.rows.back().is_none_or(|row| row.number != self.number) {
            if self.rows.len() >= MOST_ROWS {
                self.rows.pop_front();
            }
            self.rows.push_back(TypedRow { number: self.number, ..TypedRow::default() });
        }
        let last = self.rows.len() - 1;
        &mut self.rows[last]
    }
}

impl TypedRow {
    /// The byte at which this row begins in a row of the screen that ends with it or with its beginning.
    fn begin_in(&self, shown: &str) -> Option<usize> {
        let first = self.text.chars().next().filter(|_| !self.is_edited)?;
        let typed = self.text.trim_end();
        let begins = shown.match_indices(first).map(|(begin, _)| begin);
        begins.into_iter().find(|begin| typed.starts_with(&shown[*begin..]) && self.is_prompt(&shown[..*begin]))
    }

    /// Whether this text may be a line editor's prompt before the row.
    fn is_prompt(&self, text: &str) -> bool {
        match self.prompt.as_deref() {
            Some(prompt) if !prompt.trim().is_empty() => prompt == text,
            _ => text.trim_end().ends_with(PROMPT_ENDS),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vt::{ControlKey, KeyMatch, TypedText};

    /// Types keys, draws the reads, and returns the output in each row without echoes and blanks.
    fn output(before: &str, typed: &str, drawn: &[&str]) -> Vec<String> {
        let mut screen = Screen::new(20, 6);
        screen.feed(before.as_bytes());
        let (mut typed_text, mut own_echoes) = (TypedText::default(), OwnEchoes::default());
        for key in typed.chars() {
            if key == '\r' {
                typed_text.control_key(ControlKey::Return);
                own_echoes.control_key(true, false);
            } else {
                let row = own_echoes.printable_key(key);
                typed_text.type_character(&screen, key, false, (key, row));
            }
        }
        for read in drawn {
            let mut found = Vec::new();
            typed_text.draw(&mut screen, read.as_bytes(), |at| at);
            typed_text.end_frame(&screen, read.len(), |key| found.push(key));
            for key in found {
                if let KeyMatch::Shown { key: (character, row), cell: Some(place), .. } = key {
                    own_echoes.add(&screen, place, character, row);
                }
            }
        }
        let rows = (0..6).map(|row| own_echoes.marked_row(&screen, row, false));
        let rows = rows.map(|row| {
            row.text
                .bytes()
                .zip(row.is_output)
                .filter(|(_, is_output)| *is_output)
                .map(|(byte, _)| char::from(byte))
                .collect()
        });
        rows.filter(|row: &String| !row.is_empty()).collect()
    }

    #[test]
    fn an_echo_is_no_output_however_it_is_cut() {
        assert_eq!(output("$ ", "echo DONE\r", &["echo DONE\r\n"]), ["$"]);
        assert_eq!(output("$ ", "echo DONE\r", &["ec", "ho D", "ONE\r\n", "DONE\r\n$ "]), ["$", "DONE", "$"]);
        assert_eq!(
            output("1234567890$ ", "echo DONE\r", &["echo DON", "E\r\nDONE\r\n$ "]),
            ["1234567890$", "DONE", "$"]
        );
        assert_eq!(output("$ ", "echo DONE\r", &["\r\x1b[K$ \x1b[1mecho\x1b[m DONE\r\n"]), ["$"]);
    }

    #[test]
    fn a_row_that_a_line_editor_redraws_is_an_echo() {
        assert_eq!(
            output("", "echo DONE\r", &["echo DONE\r\n", "$ ", "echo D", "ONE\r\n", "DONE\r\n$ "]),
            ["$", "DONE", "$"]
        );
        assert_eq!(output("$ ", "echo DONE\r", &["echo DONE", "\r\n$ echo DONE"]), ["$", "$"]);
        // An answer in the same words is output.
        assert_eq!(output("? ", "joe\r", &["joe\r\n", "You are: joe\r\n"]), ["?", "Youare:joe"]);
        assert_eq!(output("", "hello\r", &["hello\r\n", "hello\r\n"]), ["hello"]);
    }

    #[test]
    fn without_an_echo_the_answer_is_output() {
        assert_eq!(output("$ ", "echo DONE\r", &["\r\n", "DONE", "\r\n$ "]), ["$", "DONE", "$"]);
        assert_eq!(output("$ ", "echo DONE\r", &["\r\nD", "O", "NE\r\n$ "]), ["$", "DONE", "$"]);
    }
}
