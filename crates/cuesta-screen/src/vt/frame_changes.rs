//! Finds what differs from one frame to the next, apart from what changes by itself: a clock, a spinner, a caret that blinks.
//!
//! What changes by itself is learnt from frames that no key has caused. A cell is **set aside** once it has changed in three such frames,
//! until it has not changed for twice the longest time between its changes, and for at least a second. Set aside with it are
//!
//! - the whole number to which a digit belongs, and a cell on either side of it: the minutes of a clock turn over after its seconds
//!   were learnt;
//! - where rows next to one another are replaced, as by text that scrolls, each from its first changed cell to its right end, or to the
//!   border of its box.
//!
//! A caret that a program draws blinks where the last key took it, mostly for the first time there. So once a caret has blinked without a
//! key, a frame that changes nothing but the look of its cell is no answer.
//!
//! The cursor is treated as a cell, and its moves are told apart from changes of cells. A program may hide it while it draws: that changes
//! nothing, and neither does showing it again where it stood. Blanks look alike whether they were written or erased; but one that is written
//! where the cursor stood on an erased cell, and moves it, is a change of the cell.

use std::time::Duration;

use look::{changes, first_replaced, is_digit, look, number_around, stands_out};

use super::cells::is_border;
use super::{Cell, Screen};

mod look;

/// A cell is set aside once it has changed this often.
const LEAST_CHANGES: u8 = 3;
/// It stays so for at least this long, in ms.
const LEAST_TIME: u32 = 1000;
/// Changes further apart than this are not counted together, in ms.
const MOST_APART: u32 = 10_000;
/// A caret is taken to blink once it has changed this often without a key.
const LEAST_BLINKS: u8 = 2;

/// The screen as it was at the end of the last frame, and what has changed by itself so far.
///
/// Memory: 40 bytes a cell (80×24: 75 KiB).
#[derive(Debug, Default)]
pub struct FrameChanges {
    /// The cells, row by row.
    before: Vec<Cell>,
    columns: usize,
    /// Where the cursor was seen last; `None` if it never was.
    cursor: Option<(u16, u16)>,
    alternate: bool,
    /// How each cell has changed by itself, and at last the cursor.
    histories: Vec<History>,
    /// The cell in which the program draws its caret, if one is seen.
    caret: Option<usize>,
    /// How often only the look of the caret's cell has changed, without a key.
    blinks: u8,
    /// Which cells have changed with the last frame. Reused for its memory.
    changed: Vec<bool>,
    /// When the last frame ended, in ms.
    now: u32,
}

/// What may have made a frame differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// A key, from which nothing is learnt.
    Key,
    /// Perhaps an earlier key. A change of a cell then counts only if the cell also changes without a key.
    MaybeKey,
    /// No key.
    Itself,
}

/// How the screen differs from the last frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Difference {
    None,
    /// Only the cursor is seen elsewhere.
    Cursor,
    Cells,
}

/// How a cell has changed by itself.
#[derive(Debug, Default, Clone, Copy)]
struct History {
    /// When it changed last, in ms.
    last: u32,
    /// The longest time between two changes, in ms.
    longest: u32,
    count: u8,
    /// One of the changes had certainly no key for its cause.
    is_certain: bool,
}

impl History {
    fn is_set_aside(&self, now: u32) -> bool {
        self.is_certain && self.count >= LEAST_CHANGES && now.wrapping_sub(self.last) <= self.life()
    }

    /// How long it stays set aside after a change.
    fn life(&self) -> u32 {
        LEAST_TIME.max(self.longest * 2)
    }

    fn note(&mut self, now: u32, by_itself: bool) {
        let since = now.wrapping_sub(self.last);
        if since > if self.count < LEAST_CHANGES { MOST_APART } else { self.life() } {
            *self = Self::default();
        }
        if self.count > 0 {
            self.longest = self.longest.max(since);
        }
        self.last = now;
        self.count = self.count.saturating_add(1);
        self.is_certain |= by_itself;
    }
}

impl FrameChanges {
    /// How the screen differs from the last frame, apart from what is set aside. `at`: the time since any fixed instant.
    pub fn difference(&self, screen: &Screen, at: Duration) -> Difference {
        let now = millis(at);
        if self.is_other_screen(screen) {
            return Difference::Cells;
        }
        let is_seen = |index: usize| !self.histories[index].is_set_aside(now);
        if self.changed_cells(screen).any(is_seen) {
            let is_blink = self.blinks >= LEAST_BLINKS && self.caret.is_some();
            let blinks = is_blink && self.restyled_alone(screen) == self.caret;
            return if blinks { Difference::None } else { Difference::Cells };
        }
        match self.has_moved(screen) && is_seen(self.before.len()) {
            true if self.writes_blank(screen) => Difference::Cells,
            true => Difference::Cursor,
            false => Difference::None,
        }
    }

    /// Whether a blank was written where the cursor stood, and has moved it.
    fn writes_blank(&self, screen: &Screen) -> bool {
        let Some((row, column)) = self.cursor.filter(|(row, column)| screen.cursor() == (*row, *column + 1)) else {
            return false;
        };
        let (row, column) = (usize::from(row), usize::from(column));
        !self.before[row * self.columns + column].is_written() && screen.row_cells(row as u16)[column].is_written()
    }

    /// Whether the cursor is seen where it was.
    pub fn cursor_stays(&self, screen: &Screen) -> bool {
        self.cursor.is_some() && visible_cursor(screen) == self.cursor
    }

    /// Whether the cursor is seen elsewhere.
    fn has_moved(&self, screen: &Screen) -> bool {
        visible_cursor(screen).is_some_and(|cursor| self.cursor != Some(cursor))
    }

    /// Whether a cell that is not set aside looks different from what it was in these cells, row by row.
    pub(super) fn differs_without_set_aside(&self, were: &[Cell], screen: &Screen, at: Duration) -> bool {
        let now = millis(at);
        let cells = rows(screen).zip(were.chunks(self.columns)).enumerate();
        let mut changed =
            cells.flat_map(|(row, (now, was))| changes(now, was).map(move |column| row * self.columns + column));
        changed.any(|index| !self.histories[index].is_set_aside(now))
    }

    /// The indices of the cells that look different from the last frame.
    fn changed_cells<'a>(&'a self, screen: &'a Screen) -> impl Iterator<Item = usize> + 'a {
        let cells = rows(screen).zip(self.before.chunks(self.columns)).enumerate().filter(|(_, (now, was))| now != was);
        cells.flat_map(move |(row, (now, was))| changes(now, was).map(move |column| row * self.columns + column))
    }

    /// The cells whose look has changed and whose character has not.
    fn restyled<'a>(&'a self, screen: &'a Screen) -> impl Iterator<Item = usize> + 'a {
        self.changed_cells(screen)
            .filter(move |index| look(self.cell(screen, *index)).0 == look(&self.before[*index]).0)
    }

    fn cell<'a>(&self, screen: &'a Screen, index: usize) -> &'a Cell {
        &screen.row_cells((index / self.columns) as u16)[index % self.columns]
    }

    /// The cell that has changed, if it is the only one and has kept its character.
    fn restyled_alone(&self, screen: &Screen) -> Option<usize> {
        let mut changed = self.changed_cells(screen);
        let only = changed.next().filter(|_| changed.next().is_none() && !self.has_moved(screen));
        only.filter(|only| self.restyled(screen).next() == Some(*only))
    }

    /// Learns where a program draws its caret, and whether that blinks.
    fn follow_caret(&mut self, screen: &Screen, cause: Cause) {
        match cause {
            Cause::Key => {
                let mut marked = self.restyled(screen).filter(|index| stands_out(self.cell(screen, *index)));
                let only = marked.next().filter(|_| marked.next().is_none());
                drop(marked);
                self.caret = only.or(self.caret);
            }
            Cause::Itself => {
                if let Some(cell) = self.restyled_alone(screen) {
                    self.blinks = if self.caret == Some(cell) { self.blinks.saturating_add(1) } else { 1 };
                    self.caret = Some(cell);
                }
            }
            // A key may light a cell up for a moment.
            Cause::MaybeKey => {}
        }
    }

    /// A frame has ended: learns what has changed by itself. Returns its [difference](Self::difference).
    pub fn end_frame(&mut self, screen: &Screen, at: Duration, cause: Cause) -> Difference {
        let difference = self.difference(screen, at);
        self.now = millis(at);
        if self.is_other_screen(screen) {
            self.begin(screen);
            return difference;
        }
        self.follow_caret(screen, cause);
        self.mark_changed(screen);
        if cause != Cause::Key {
            self.mark_replaced(screen);
        }
        for (history, _) in self.histories.iter_mut().zip(&self.changed).filter(|(_, changed)| **changed) {
            if cause != Cause::Key || history.is_set_aside(self.now) {
                history.note(self.now, cause == Cause::Itself);
            }
        }
        self.cursor = visible_cursor(screen).or(self.cursor);
        for (was, now) in self.before.chunks_mut(self.columns).zip(rows(screen)) {
            was.copy_from_slice(now);
        }
        difference
    }

    /// How many cells are set aside at the end of the last frame.
    pub fn set_aside(&self) -> usize {
        self.histories[..self.before.len()].iter().filter(|history| history.is_set_aside(self.now)).count()
    }

    /// Whether most of the text that the screen shows is set aside, so that a change by a key may be hidden there.
    pub fn hides_most(&self) -> bool {
        let text = self.before.iter().zip(&self.histories).filter(|(cell, _)| !cell.is_blank());
        let (all, set_aside) = text
            .fold((0, 0), |(all, aside), (_, history)| (all + 1, aside + u32::from(history.is_set_aside(self.now))));
        set_aside * 2 > all
    }

    /// Its memory, in bytes.
    pub fn memory(&self) -> usize {
        size_of_val(&*self.before) + size_of_val(&*self.histories) + size_of_val(&*self.changed)
    }

    /// Nothing is known of another screen.
    fn begin(&mut self, screen: &Screen) {
        self.before = rows(screen).flatten().copied().collect();
        self.columns = screen.size().0.into();
        self.histories = vec![History::default(); self.before.len() + 1];
        self.changed = vec![false; self.before.len() + 1];
        (self.cursor, self.alternate) = (visible_cursor(screen), screen.is_alternate());
        (self.caret, self.blinks) = (None, 0);
    }

    fn is_other_screen(&self, screen: &Screen) -> bool {
        let (columns, rows) = screen.size();
        self.columns != usize::from(columns)
            || self.before.len() != self.columns * usize::from(rows)
            || self.alternate != screen.is_alternate()
    }

    /// Marks what has changed, with the numbers that have.
    fn mark_changed(&mut self, screen: &Screen) {
        self.changed.fill(false);
        let before = self.before.chunks(self.columns).zip(self.changed.chunks_mut(self.columns));
        for (row, (was, marks)) in rows(screen).zip(before).filter(|(row, (was, _))| row != was) {
            for column in changes(row, was) {
                let is_number = is_digit(&row[column]) || is_digit(&was[column]);
                let (left, right) = if is_number { number_around(row, column) } else { (column, column) };
                marks[left..=right].fill(true);
            }
        }
        let has_moved = self.has_moved(screen);
        if let Some(mark) = self.changed.last_mut() {
            *mark = has_moved;
        }
    }

    /// Marks the rest of rows that are replaced.
    fn mark_replaced(&mut self, screen: &Screen) {
        let rows: Vec<_> = rows(screen).collect();
        let first: Vec<_> =
            rows.iter().zip(self.before.chunks(self.columns)).map(|(row, was)| first_replaced(row, was)).collect();
        for (number, row) in rows.iter().enumerate() {
            let is_beside = [number.wrapping_sub(1), number + 1]
                .iter()
                .any(|beside| first.get(*beside).is_some_and(Option::is_some));
            if let Some(first) = first[number].filter(|_| is_beside) {
                let end = row[first..].iter().position(is_border).map_or(row.len(), |border| first + border);
                self.changed[number * self.columns..][first..end].fill(true);
            }
        }
    }
}

fn rows(screen: &Screen) -> impl Iterator<Item = &[Cell]> {
    (0..screen.size().1).map(|row| screen.row_cells(row))
}

/// Where the cursor is, if it is seen.
fn visible_cursor(screen: &Screen) -> Option<(u16, u16)> {
    (!screen.modes().hidden_cursor).then(|| screen.cursor())
}

/// Wraps after 49 days.
fn millis(at: Duration) -> u32 {
    at.as_millis() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws frames that no key has caused, `ms` apart, and then one more: how it differs.
    fn difference(first: &str, frames: &[&str], ms: u64, last: &str) -> Difference {
        let mut screen = Screen::new(40, 8);
        let mut changes = FrameChanges::default();
        let mut at = Duration::from_secs(5);
        for frame in [first].iter().chain(frames) {
            screen.feed(frame.as_bytes());
            at += Duration::from_millis(ms);
            changes.end_frame(&screen, at, Cause::Itself);
        }
        screen.feed(last.as_bytes());
        at += Duration::from_millis(ms);
        changes.end_frame(&screen, at, Cause::Key)
    }

    fn differs(first: &str, frames: &[&str], ms: u64, last: &str) -> bool {
        difference(first, frames, ms, last) != Difference::None
    }

    const SPINS: [&str; 6] = ["\x1b[H/", "\x1b[H-", "\x1b[H\\", "\x1b[H|", "\x1b[H/", "\x1b[H-"];

    #[test]
    fn a_cell_that_changes_by_itself_is_set_aside() {
        assert!(!differs("|", &SPINS, 100, "\x1b[H|"));
        assert!(!differs("|", &SPINS, 2000, "\x1b[H|"));
        assert!(differs("|", &SPINS, 100, "\x1b[H|\x1b[Hx\x1b[5;5Hx\x1b[1;2H"));
        // Drawn twice at the beginning.
        assert!(differs("a", &["\x1b[Hb", "\x1b[Hc"], 100, "\x1b[Hd"));
        // The cursor alone.
        assert!(differs("|", &SPINS, 100, "\x1b[C"));
        assert!(!differs("|", &["\x1b[C", "\x1b[D", "\x1b[C", "\x1b[D"], 100, "\x1b[C"));
    }

    #[test]
    fn a_cursor_that_is_hidden_or_shown_again_changes_nothing() {
        assert_eq!(difference("ab", &[], 100, "\x1b[?25l"), Difference::None);
        assert_eq!(difference("ab", &[], 100, "\x1b[?25l\x1b[H"), Difference::None);
        assert_eq!(difference("ab", &["\x1b[?25l"], 100, "\x1b[?25h"), Difference::None);
        assert_eq!(difference("ab", &["\x1b[?25l"], 100, "\x1b[H\x1b[?25h"), Difference::Cursor);
        assert_eq!(difference("\x1b[?25l", &[], 100, "\x1b[?25h"), Difference::Cursor);
        assert_eq!(difference("ab", &[], 100, "\x1b[H"), Difference::Cursor);
        assert_eq!(difference("ab", &[], 100, "\x1b[?25lc"), Difference::Cells);
    }

    #[test]
    fn a_blank_that_is_written_on_an_erased_cell_is_told_from_a_move() {
        assert_eq!(difference("ab", &[], 100, " "), Difference::Cells);
        assert_eq!(difference("ab", &[], 100, "\x1b[C"), Difference::Cursor);
        assert_eq!(difference("ab \x1b[D", &[], 100, " "), Difference::Cursor);
    }

    #[test]
    fn a_cell_that_has_not_changed_for_a_while_is_not() {
        let mut screen = Screen::new(40, 8);
        let mut changes = FrameChanges::default();
        for (tick, frame) in (0..).zip(SPINS) {
            screen.feed(frame.as_bytes());
            changes.end_frame(&screen, Duration::from_millis(100 * tick), Cause::Itself);
        }
        assert_eq!(changes.set_aside(), 1);
        screen.feed(b"\x1b[H|");
        assert_eq!(changes.difference(&screen, Duration::from_millis(1500)), Difference::None);
        assert_eq!(changes.difference(&screen, Duration::from_millis(1600)), Difference::Cells);
    }

    #[test]
    fn nothing_is_learnt_from_what_keys_cause() {
        let mut screen = Screen::new(40, 8);
        let mut changes = FrameChanges::default();
        for (tick, frame) in (0..).zip(SPINS) {
            screen.feed(frame.as_bytes());
            changes.end_frame(
                &screen,
                Duration::from_millis(100 * tick),
                if tick % 2 == 0 { Cause::MaybeKey } else { Cause::Key },
            );
        }
        assert_eq!(changes.set_aside(), 0);
    }

    #[test]
    fn a_number_is_set_aside_as_a_whole() {
        let seconds = ["\x1b[8G7", "\x1b[8G8", "\x1b[8G9"];
        assert!(!differs("12:59:56", &seconds, 1000, "\r13:00:00"));
        assert!(differs("12:59:56", &seconds, 1000, "\x1b[15Gx\x1b[9G"));
    }

    #[test]
    fn text_that_scrolls_is_set_aside_to_its_border() {
        let row = |frame: usize, row: usize| {
            let word = ["first", "second thing", "third", "no"][(frame + row) % 4];
            format!("\x1b[{};3H{word:16}\x1b[{};25H\u{2502} item", row + 1, row + 1)
        };
        let frame = |frame| "\x1b[?25l".to_owned() + &(0..5).map(|number| row(frame, number)).collect::<String>();
        let frames: Vec<_> = (0..6).map(frame).collect();
        let frames: Vec<_> = frames.iter().map(String::as_str).collect();
        assert!(!differs(frames[0], &frames[1..], 200, "\x1b[2;20Hxyz"));
        assert!(differs(frames[0], &frames[1..], 200, "\x1b[2;27H\x1b[7mitem"));
    }

    #[test]
    fn blanks_look_alike() {
        assert!(!differs("ab\x1b[?25l", &[], 100, "  \x1b[K\x1b[H\x1b[1;1Hab\x1b[31m   \x1b[m"));
        assert!(differs("ab\x1b[?25l", &[], 100, "\x1b[41m   \x1b[m"));
    }
}
