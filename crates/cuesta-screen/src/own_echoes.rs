//! Finds text on the screen that only echoes the user's own keys, so that no wait takes it for an answer.
//!
//! Three things are known: the cells in which [`ScreenEcho`](crate::ScreenEcho) found keys, the rows that were typed, and the rows that
//! the host has edited (a command fetched from the history, a name completed). A cell is an echo while it shows the key that
//! was found there. A row is one where it shows, behind a prompt and up to its end, a row that was typed or its beginning: a
//! row editor draws again behind its prompt what the terminal has echoed before. The prompt is what stood before the first
//! echo; if nothing stood there, what ends as prompts do. Edited rows are echoes as they stood when the cursor left them.

use std::collections::VecDeque;

use crate::Screen;
use crate::screen_echo::CellPosition;

/// Cells and typed characters that are remembered; older ones are forgotten.
const MOST: usize = 256;
/// Typed rows that are remembered.
const MOST_ROWS: usize = 8;
/// What ordinary prompts end with.
const PROMPT_ENDS: [char; 8] = ['$', '#', '%', '>', ':', '?', '❯', '»'];

/// What was typed since the last answer, and where the screen shows it.
#[derive(Debug, Default)]
pub struct OwnEchoes {
    cells: VecDeque<EchoCell>,
    /// How many of them, the last ones, were found since the last key.
    late: usize,
    rows: VecDeque<TypedRow>,
    /// Where the input began.
    begun: CellPosition,
    /// How often the screen had been cleared by then.
    cleared: u64,
    /// Rows that the host has edited, as they were entered.
    edited: Vec<(CellPosition, String)>,
    /// The number of the row that is being typed.
    number: u32,
}

#[derive(Debug)]
struct EchoCell {
    place: CellPosition,
    character: char,
}

/// A row that was typed.
#[derive(Debug, Default)]
struct TypedRow {
    number: u32,
    text: String,
    /// What stands before its first echo.
    before: Option<String>,
    /// Keys were typed that change a row in a way of the host's own.
    edited: bool,
}

/// A text from the screen, and which of its bytes say more than what was typed.
#[derive(Debug, Default)]
pub struct MarkedText {
    /// Rows, each with LF behind it, or one row.
    pub text: String,
    /// By byte: blanks and echoes do not say anything.
    says: Vec<bool>,
}

impl MarkedText {
    /// Whether a match with this part of the text can be an answer: it is not only an echo.
    pub fn is_answer(&self, part: std::ops::Range<usize>) -> bool {
        self.says[part.clone()].contains(&true) || self.text[part].chars().all(char::is_whitespace)
    }

    /// Whether it shows anything but blanks and echoes.
    pub fn says_anything(&self) -> bool {
        self.says.contains(&true)
    }

    fn push(&mut self, text: &str, says: bool) {
        self.text.push_str(text);
        self.says.resize(self.text.len(), says);
    }

    /// Another row follows.
    pub(crate) fn append(&mut self, row: Self) {
        self.text.push_str(&row.text);
        self.says.extend(row.says);
        self.push("\n", false);
    }

    fn trim(&mut self) {
        let len = self.text.trim_end_matches(' ').len();
        self.text.truncate(len);
        self.says.truncate(len);
    }
}

impl OwnEchoes {
    /// Another input begins: what was shown of the last one is no longer of interest.
    pub fn begin(&mut self, screen: &Screen) {
        self.cells.clear();
        self.rows.clear();
        self.edited.clear();
        self.begun = CellPosition::of_row(screen);
        self.cleared = screen.cleared();
        self.late = 0;
        self.number = self.number.wrapping_add(1);
    }

    /// A key goes: what it shows comes later.
    pub fn mark(&mut self) {
        self.late = 0;
    }

    /// A character was typed whose echo is no answer; gives the number of its row.
    pub fn typed(&mut self, character: char) -> u32 {
        let row = self.row();
        if row.text.len() < MOST {
            row.text.push(character);
        } else {
            row.edited = true;
        }
        self.number
    }

    /// A key was typed that is not shown as itself.
    pub fn turn(&mut self, is_return: bool, is_erase: bool) {
        if is_return {
            self.number = self.number.wrapping_add(1);
        } else if !is_erase || self.row().text.pop().is_none() {
            self.row().edited = true;
        }
    }

    /// Whether the host has had to edit the row that is being typed: what it then shows is not what was typed.
    pub fn is_edited(&self) -> bool {
        self.rows.back().is_some_and(|row| row.number == self.number && row.edited)
    }

    /// The cursor is about to leave a row that the host has edited: what stands there, from where the input began, is what
    /// was entered.
    pub fn leaves_edited(&mut self, screen: &Screen) {
        let last = CellPosition::of_row(screen);
        let first = self.begun.now(screen).map_or(last.row(), |(row, _)| row);
        // Who clears the screen, or draws above the row, edits no row.
        let rows = if self.cleared == screen.cleared() { first..last.row() + 1 } else { 0..0 };
        self.edited = rows.map(|row| (last.in_row(row), screen.row(row))).collect();
    }

    /// The screen shows a typed character.
    pub fn add(&mut self, screen: &Screen, place: CellPosition, character: char, row: u32) {
        if self.cells.len() >= MOST {
            self.cells.pop_front();
        }
        self.cells.push_back(EchoCell { place, character });
        self.late = (self.late + 1).min(self.cells.len());
        let row = self.rows.iter_mut().find(|typed| typed.number == row && typed.before.is_none());
        if let (Some(row), Some(at)) = (row, place.now(screen)) {
            row.before = Some(screen.text_before(at));
        }
    }

    /// A row of the screen without what has been echoed there since the last key; nothing if that is nothing.
    pub(crate) fn row_without_late(&self, screen: &Screen, row: u16) -> Option<String> {
        let late = self.columns(screen, row, self.cells.len() - self.late);
        if late.is_empty() {
            return None;
        }
        let mut text = String::new();
        for (column, cell) in screen.cells(row) {
            text.push_str(if cell.is_empty() || late.contains(&column) { " " } else { cell });
        }
        text.truncate(text.trim_end_matches(' ').len());
        Some(text)
    }

    /// A row of the screen up to its last character, or to the cursor if that stands behind it and `to_cursor`.
    pub fn shown(&self, screen: &Screen, row: u16, to_cursor: bool) -> MarkedText {
        let echoes = self.columns(screen, row, 0);
        let mut shown = MarkedText::default();
        for (column, cell) in screen.cells(row) {
            let says = !matches!(cell, "" | " ") && !echoes.contains(&column);
            shown.push(if cell.is_empty() { " " } else { cell }, says);
        }
        shown.trim();
        let is_edited =
            self.edited.iter().any(|(place, text)| place.now(screen) == Some((row, 0)) && *text == shown.text);
        let drawn_again = if is_edited { 0 } else { self.drawn_again(screen, row, &shown.text) };
        shown.says[drawn_again..].fill(false);
        let (cursor_row, column) = screen.cursor();
        if to_cursor && cursor_row == row {
            let blanks = screen.text_before((row, column)).len().saturating_sub(shown.text.len());
            shown.push(&" ".repeat(blanks), false);
        }
        shown
    }

    /// The columns of a row that show echoes, of the cells from this one on.
    fn columns(&self, screen: &Screen, row: u16, from: usize) -> Vec<u16> {
        let places = self.cells.range(from..).filter_map(|cell| {
            let (at, column) = cell.place.now(screen)?;
            (at == row && screen.cell(row, column).starts_with(cell.character)).then_some(column)
        });
        places.collect()
    }

    /// From which byte on a row of the screen shows a typed row, or its beginning, behind a prompt.
    fn drawn_again(&self, screen: &Screen, row: u16, text: &str) -> usize {
        // What has filled a row goes on in the next one.
        let mut above = String::new();
        let mut first = row;
        while first > 0 && screen.goes_on(first - 1) {
            first -= 1;
            above.insert_str(0, &screen.text_before((first, u16::MAX)));
        }
        let whole = above.clone() + text;
        let begins = self.rows.iter().filter_map(|typed| typed.begins_in(&whole)).min();
        begins.map_or(text.len(), |begin| begin.saturating_sub(above.len()))
    }

    fn row(&mut self) -> &mut TypedRow {
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
    /// Where this row begins in a row of the screen that ends with it or with its beginning.
    fn begins_in(&self, shown: &str) -> Option<usize> {
        let first = self.text.chars().next().filter(|_| !self.edited)?;
        let typed = self.text.trim_end();
        let begins = shown.match_indices(first).map(|(begin, _)| begin);
        begins.into_iter().find(|begin| typed.starts_with(&shown[*begin..]) && self.is_prompt(&shown[..*begin]))
    }

    /// Whether a row editor may have written this before a row that was typed.
    fn is_prompt(&self, text: &str) -> bool {
        match self.before.as_deref() {
            Some(before) if !before.trim().is_empty() => before == text,
            _ => text.trim_end().ends_with(PROMPT_ENDS),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KeyMatch, ScreenEcho};

    /// What is typed, and then drawn; which of the rows says more than an echo.
    fn says(before: &str, typed: &str, drawn: &[&str]) -> Vec<String> {
        let mut screen = Screen::new(20, 6);
        screen.feed(before.as_bytes());
        let (mut shown, mut echoed) = (ScreenEcho::default(), OwnEchoes::default());
        for key in typed.chars() {
            if key == '\r' {
                shown.turn(true);
                echoed.turn(true, false);
            } else {
                let row = echoed.typed(key);
                shown.await_key(&screen, key, (key, row));
            }
        }
        for read in drawn {
            let mut found = Vec::new();
            shown.feed(&mut screen, read.as_bytes(), 0, false, |key| found.push(key));
            shown.rest(&screen, read.len(), |key| found.push(key));
            for key in found {
                if let KeyMatch::Shown((character, row), _, Some(place)) = key {
                    echoed.add(&screen, place, character, row);
                }
            }
        }
        let rows = (0..6).map(|row| echoed.shown(&screen, row, false));
        let rows = rows.map(|row| {
            row.text.bytes().zip(row.says).filter(|(_, says)| *says).map(|(byte, _)| char::from(byte)).collect()
        });
        rows.filter(|row: &String| !row.is_empty()).collect()
    }

    #[test]
    fn an_echo_says_nothing_however_it_comes() {
        assert_eq!(says("$ ", "echo DONE\r", &["echo DONE\r\n"]), ["$"]);
        assert_eq!(says("$ ", "echo DONE\r", &["ec", "ho D", "ONE\r\n", "DONE\r\n$ "]), ["$", "DONE", "$"]);
        assert_eq!(says("1234567890$ ", "echo DONE\r", &["echo DON", "E\r\nDONE\r\n$ "]), ["1234567890$", "DONE", "$"]);
        assert_eq!(says("$ ", "echo DONE\r", &["\r\x1b[K$ \x1b[1mecho\x1b[m DONE\r\n"]), ["$"]);
    }

    #[test]
    fn what_a_row_editor_draws_again_is_an_echo_too() {
        assert_eq!(
            says("", "echo DONE\r", &["echo DONE\r\n", "$ ", "echo D", "ONE\r\n", "DONE\r\n$ "]),
            ["$", "DONE", "$"]
        );
        assert_eq!(says("$ ", "echo DONE\r", &["echo DONE", "\r\n$ echo DONE"]), ["$", "$"]);
        // Not what answers in the same words.
        assert_eq!(says("? ", "joe\r", &["joe\r\n", "You are: joe\r\n"]), ["?", "Youare:joe"]);
        assert_eq!(says("", "hello\r", &["hello\r\n", "hello\r\n"]), ["hello"]);
    }

    #[test]
    fn what_is_never_echoed_leaves_the_answer_alone() {
        assert_eq!(says("$ ", "echo DONE\r", &["\r\n", "DONE", "\r\n$ "]), ["$", "DONE", "$"]);
        assert_eq!(says("$ ", "echo DONE\r", &["\r\nD", "O", "NE\r\n$ "]), ["$", "DONE", "$"]);
    }
}
