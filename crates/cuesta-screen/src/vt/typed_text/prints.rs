//! A log of the typed characters that the host has printed, by cell.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::super::Screen;
use super::super::cell::Style;
use super::super::cells::CellPosition;
use super::super::tap::{Printed, Tap};

/// If the log is longer than this when a frame begins, only the prints of the last frame are kept: an ordinary screen has fewer cells.
const MANY: usize = 4096;
/// The length of the log is at most this.
const MOST: usize = 2 * MANY;

/// The typed characters that were printed since the first unshown key was sent.
#[derive(Debug)]
pub(super) struct Prints<I> {
    /// By row, column and character. Rows are counted from the top of the screen as it was when the first unshown key was sent.
    cells: BTreeMap<(i32, u16, char), Print<I>>,
    /// The typed characters of ASCII, one bit each.
    ascii: u128,
    /// Characters beyond ASCII were typed too.
    has_others: bool,
    /// The number of prints so far.
    count: u64,
    /// The number of the first print of the frame that is being drawn.
    frame: u64,
    /// The host marks the end of this frame.
    is_marked: bool,
    /// How many rows have scrolled off the top since the first unshown key was sent.
    scrolled: i32,
}

#[derive(Debug, Clone, Copy)]
struct Print<I> {
    style: Style,
    at: I,
    number: u64,
}

/// Adds what a screen prints to the log, each with the instant of its byte.
pub(super) struct PrintRecorder<'a, I, F> {
    prints: &'a mut Prints<I>,
    at: F,
}

impl<I> Default for Prints<I> {
    fn default() -> Self {
        Self { cells: BTreeMap::new(), ascii: 0, has_others: false, count: 0, frame: 0, is_marked: false, scrolled: 0 }
    }
}

impl<I: Copy> Prints<I> {
    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.cells.clear();
        (self.ascii, self.has_others, self.scrolled) = (0, false, 0);
    }

    /// A character was typed: logs it from now on.
    pub(super) fn expect(&mut self, character: char) {
        match u32::from(character) {
            code @ 0..128 => self.ascii |= 1 << code,
            _ => self.has_others = true,
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn begin_frame(&mut self) {
        if self.cells.len() > MANY {
            self.cells.retain(|_, print| print.number >= self.frame);
        }
        self.frame = self.count;
    }

    /// Ends the frame, if the host has marked it; else more of it may come.
    pub(super) fn end_frame(&mut self) {
        if std::mem::take(&mut self.is_marked) {
            self.begin_frame();
        }
    }

    /// A tap that logs what is drawn; `at`: when a byte came, by its index.
    pub(super) fn record<F: Fn(usize) -> I>(&mut self, at: F) -> PrintRecorder<'_, I, F> {
        PrintRecorder { prints: self, at }
    }

    /// Whether a character was printed in a cell, by the print with number `since` or a later one. `None`: in any cell.
    pub(super) fn was_printed(&self, cell: Option<(u16, u16)>, character: char, since: u64) -> bool {
        match cell {
            Some(cell) => self.print(cell, character).is_some_and(|print| print.number >= since),
            None => self.cells.iter().any(|((_, _, printed), print)| *printed == character && print.number >= since),
        }
    }

    pub(super) fn is_in_frame(&self, cell: (u16, u16), character: char) -> bool {
        self.print(cell, character).is_some_and(|print| print.number >= self.frame)
    }

    /// When a character was printed in a cell in this frame; `None` also for a frame that is shown as a whole at its end.
    pub(super) fn printed_at(&self, screen: &Screen, cell: CellPosition, character: char) -> Option<I> {
        let print = self.print(cell.now(screen)?, character)?;
        (print.number >= self.frame && !self.is_marked).then_some(print.at)
    }

    /// The cells that were printed in this frame and hold a typed character, each with that.
    pub(super) fn new_cells(&self) -> impl Iterator<Item = ((u16, u16), char)> + '_ {
        let new = self.cells.iter().filter(|(_, print)| print.number >= self.frame);
        new.filter_map(|((row, column, character), _)| {
            Some(((u16::try_from(row - self.scrolled).ok()?, *column), *character))
        })
    }

    fn print(&self, (row, column): (u16, u16), character: char) -> Option<&Print<I>> {
        self.cells.get(&(i32::from(row) + self.scrolled, column, character))
    }

    fn add(&mut self, Printed { character, row, column, style, .. }: Printed, at: I) {
        let number = self.count;
        self.count += 1;
        let is_full = self.cells.len() >= MOST;
        let print = Print { style, at, number };
        match self.cells.entry((i32::from(row) + self.scrolled, column, character)) {
            Entry::Vacant(_) if is_full => {}
            Entry::Vacant(cell) => {
                cell.insert(print);
            }
            // A character drawn twice in a frame is shown since the first time. The first blank may not have been a typed one.
            Entry::Occupied(mut cell) => {
                let before = cell.get_mut();
                let again = before.number >= self.frame && before.style == style && character != ' ';
                *before = if again { Print { number, ..*before } } else { print };
            }
        }
    }
}

impl<I: Copy, F: Fn(usize) -> I> Tap for PrintRecorder<'_, I, F> {
    fn printed(&mut self, printed: Printed) {
        let is_expected = match u32::from(printed.character) {
            code @ 0..128 => self.prints.ascii & (1 << code) != 0,
            _ => self.prints.has_others,
        };
        if is_expected {
            self.prints.add(printed, (self.at)(printed.at));
        }
    }

    fn scrolled(&mut self, rows: u16) {
        self.prints.scrolled += i32::from(rows);
    }

    fn frame_begins(&mut self) {
        self.prints.is_marked = true;
    }
}
