//! What the host has printed of the characters that are typed, and where.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::super::Screen;
use super::super::cell::Style;
use super::super::cells::CellPosition;
use super::super::tap::{Movement, Printed, Tap};

/// If more of them are remembered than a usual screen has cells, a frame begins with those of the frame before alone.
const MANY: usize = 4096;
/// Most that are remembered.
const MOST: usize = 2 * MANY;

/// The characters that were printed since the first unshown key was sent, if they are typed ones.
#[derive(Debug)]
pub(super) struct Prints<I> {
    /// By row, from the top of the screen as it was when the first unshown key was sent, column and character.
    all: BTreeMap<(i32, u16, char), Print<I>>,
    /// The typed characters, as bits of ASCII.
    ascii: u128,
    /// Others were typed too.
    others: bool,
    count: u64,
    /// The frame that is being drawn began with this one.
    frame: u64,
    /// The host marks its end.
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

/// Remembers what is printed, each with the instant of its byte.
pub(super) struct Stamping<'a, I, F> {
    prints: &'a mut Prints<I>,
    at: F,
}

impl<I> Default for Prints<I> {
    fn default() -> Self {
        Self { all: BTreeMap::new(), ascii: 0, others: false, count: 0, frame: 0, is_marked: false, scrolled: 0 }
    }
}

impl<I: Copy> Prints<I> {
    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.all.clear();
        (self.ascii, self.others, self.scrolled) = (0, false, 0);
    }

    /// Remembers this character too.
    pub(super) fn expect(&mut self, character: char) {
        match u32::from(character) {
            code @ 0..128 => self.ascii |= 1 << code,
            _ => self.others = true,
        }
    }

    /// How many were printed so far.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn begin_frame(&mut self) {
        if self.all.len() > MANY {
            self.all.retain(|_, print| print.number >= self.frame);
        }
        self.frame = self.count;
    }

    /// Ends the frame, if the host has marked it; else more of it may come.
    pub(super) fn end_frame(&mut self) {
        if std::mem::take(&mut self.is_marked) {
            self.begin_frame();
        }
    }

    /// Remembers what is drawn; `at`: when a byte came, by its index.
    pub(super) fn at<F: Fn(usize) -> I>(&mut self, at: F) -> Stamping<'_, I, F> {
        Stamping { prints: self, at }
    }

    /// Whether a character was printed in a cell after this many others. `None`: in any cell.
    pub(super) fn has(&self, cell: Option<(u16, u16)>, character: char, after: u64) -> bool {
        match cell {
            Some(cell) => self.print(cell, character).is_some_and(|print| print.number >= after),
            None => self.all.iter().any(|((_, _, printed), print)| *printed == character && print.number >= after),
        }
    }

    /// Whether a character was printed in a cell in this frame.
    pub(super) fn is_new(&self, cell: (u16, u16), character: char) -> bool {
        self.print(cell, character).is_some_and(|print| print.number >= self.frame)
    }

    /// When a character was printed in a cell in this frame; `None` also for a frame that is shown at once, at its end.
    pub(super) fn in_frame(&self, screen: &Screen, cell: CellPosition, character: char) -> Option<I> {
        let print = self.print(cell.now(screen)?, character)?;
        (print.number >= self.frame && !self.is_marked).then_some(print.at)
    }

    /// The cells that were printed in this frame and hold a typed character, each with that.
    pub(super) fn new_cells(&self) -> impl Iterator<Item = ((u16, u16), char)> + '_ {
        let new = self.all.iter().filter(|(_, print)| print.number >= self.frame);
        new.filter_map(|((row, column, character), _)| {
            Some(((u16::try_from(row - self.scrolled).ok()?, *column), *character))
        })
    }

    fn print(&self, (row, column): (u16, u16), character: char) -> Option<&Print<I>> {
        self.all.get(&(i32::from(row) + self.scrolled, column, character))
    }

    fn add(&mut self, Printed { character, row, column, style, .. }: Printed, at: I) {
        let number = self.count;
        self.count += 1;
        let is_full = self.all.len() >= MOST;
        let print = Print { style, at, number };
        match self.all.entry((i32::from(row) + self.scrolled, column, character)) {
            Entry::Vacant(_) if is_full => {}
            Entry::Vacant(cell) => {
                cell.insert(print);
            }
            // Drawn twice in a frame, it shows since the first time. A blank may have been none that was typed.
            Entry::Occupied(mut cell) => {
                let before = cell.get_mut();
                let again = before.number >= self.frame && before.style == style && character != ' ';
                *before = if again { Print { number, ..*before } } else { print };
            }
        }
    }
}

impl<I: Copy, F: Fn(usize) -> I> Tap for Stamping<'_, I, F> {
    fn printed(&mut self, printed: Printed) {
        let is_expected = match u32::from(printed.character) {
            code @ 0..128 => self.prints.ascii & (1 << code) != 0,
            _ => self.prints.others,
        };
        if is_expected {
            self.prints.add(printed, (self.at)(printed.at));
        }
    }

    fn moved(&mut self, movement: Movement) {
        match movement {
            Movement::ScrolledUp { top: 0, count, .. } => self.prints.scrolled += i32::from(count),
            Movement::Frame(true) => self.prints.is_marked = true,
            Movement::Resized { moved, .. } => self.prints.scrolled -= i32::from(moved),
            _ => {}
        }
    }
}
