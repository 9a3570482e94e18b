//! Finds what is new on the screen since the last key, so that no wait is satisfied by text that stood there before.
//!
//! When a key is sent, the rows are remembered as hashes (`row_hashes`), with the matches of the patterns that are waited for, the cursor,
//! and how far the screen had scrolled. Later:
//!
//! - A row is **stale** if it is one of the remembered rows. Rows that have scrolled off the top are left out, and the rest is
//!   aligned with the screen in order, as many rows as possible, each as far up as possible. A row with any changed character is
//!   fresh as a whole. If the other screen is shown, all rows are fresh.
//! - A match in a fresh row is **old** if the same text was matched in that row before: a clock may run beside it. It stays so while the
//!   screen is cleared and painted again, until a frame has ended that did not show it.
//! - The **cursor's row** is fresh if its text, its row number or the cursor has changed, or the screen has scrolled or been
//!   cleared.
//!
//! Late echoes of keys before the last one make no row fresh: see [`OwnEchoes`].

use std::ops::Range;

use memchr::memchr_iter;

use super::own_echoes::MarkedText;
use super::row_hashes::{align, hash, hash_without_motion};
use super::terminal::RegionScrolls;
use super::{OwnEchoes, Screen};

/// Most matches that are remembered.
const MOST: usize = 256;

/// The screen as it was when the last key was sent.
#[derive(Debug, Default)]
pub struct ChangedRows {
    /// The rows as hashes; blank rows are 0. If empty, all rows are fresh.
    rows: Vec<u64>,
    /// The same without their numbers and spinners.
    shapes: Vec<u64>,
    /// What was matched, as the number of the row in which it ends and its hash.
    matches: Vec<(usize, u64)>,
    cursor: (u16, u16),
    /// The text up to the cursor.
    before_cursor: u64,
    scrolled: u64,
    region_scrolls: RegionScrolls,
    cleared: u64,
    alternate: bool,
    /// The last key ended an input, and nothing was drawn since.
    is_due: bool,
}

/// The fresh rows of a screen.
#[derive(Debug)]
pub struct FreshRows {
    /// All rows, each with LF behind it, stale ones left blank.
    pub text: MarkedText,
    /// By row, the index of the remembered row that is the same.
    remembered: Vec<Option<usize>>,
}

impl ChangedRows {
    /// A key is sent. If it ends an input, the rows are remembered before anything more is drawn, so that sending is not delayed; else all
    /// rows are fresh.
    pub fn key_sent(&mut self, ends_input: bool) {
        self.is_due = ends_input;
        if !ends_input {
            self.forget();
        }
    }

    /// [Marks](Self::mark) the rows if a key has ended an input since.
    pub fn mark_if_due(&mut self, screen: &Screen, find: impl Fn(&str) -> Vec<Range<usize>>) {
        if std::mem::take(&mut self.is_due) {
            self.mark(screen, find);
        }
    }

    /// Remembers the rows as they are now, and the parts of the text that `find` finds, as ranges of bytes: from now on they are old.
    pub fn mark(&mut self, screen: &Screen, find: impl Fn(&str) -> Vec<Range<usize>>) {
        self.rows.clear();
        self.shapes.clear();
        for row in screen.rows() {
            self.rows.push(hash(&row));
            self.shapes.push(hash_without_motion(&row));
        }
        self.cursor = screen.next_cell();
        self.before_cursor = hash(&screen.text_before(self.cursor));
        self.scrolled = screen.scrolled();
        self.region_scrolls = screen.region_scrolls().clone();
        self.cleared = screen.cleared();
        self.alternate = screen.is_alternate();
        self.matches.clear();
        for text in texts(screen) {
            let matches = find(&text).into_iter().map(|part| (row_of(&text, part.end), hash(part_of(&text, part))));
            self.matches.extend(matches.take(MOST - self.matches.len()));
        }
    }

    /// Forgets the mark: all rows are fresh.
    pub fn forget(&mut self) {
        self.rows.clear();
        self.matches.clear();
    }

    /// A frame has ended: forgets the matches of `find` that it no longer shows, so that they are new if they come again.
    pub fn forget_gone(&mut self, screen: &Screen, echoed: &OwnEchoes, find: impl Fn(&str) -> Vec<Range<usize>>) {
        let Some(scrolled_off) = self.scrolled_off(screen).filter(|_| !self.matches.is_empty()) else { return };
        let shown: Vec<_> = texts(screen)
            .flat_map(|text| find(&text).into_iter().map(|part| hash(part_of(&text, part))).collect::<Vec<_>>())
            .collect();
        let Self { matches, rows, .. } = self;
        matches.retain(|(row, matched)| {
            let now = row.checked_sub(scrolled_off).map(|row| hash(&without_echoes(screen, echoed, row as u16)));
            let is_gone = !shown.contains(matched) && now != rows.get(*row).copied();
            if is_gone && let Some(row) = rows.get_mut(*row) {
                *row = 0;
            }
            !is_gone
        });
    }

    /// Follows the cursor to the end of a late echo, which makes no row fresh.
    pub fn follow_cursor(&mut self, to: Option<(u16, u16)>) {
        self.cursor = to.unwrap_or(self.cursor);
    }

    /// The fresh rows. With `to_cursor`, the cursor's row reaches at least to the cursor.
    pub fn fresh_rows(&self, screen: &Screen, echoed: &OwnEchoes, to_cursor: bool) -> FreshRows {
        let rows = 0..screen.size().1;
        let now: Vec<_> = rows.clone().map(|row| hash(&without_echoes(screen, echoed, row))).collect();
        let on_screen: Vec<_> = (0..self.rows.len()).filter(|row| self.current_row(screen, *row).is_some()).collect();
        let before: Vec<_> = on_screen.iter().map(|row| self.rows[*row]).collect();
        let remembered: Vec<_> = align(&before, &now).into_iter().map(|row| Some(on_screen[row?])).collect();
        let mut text = MarkedText::default();
        for (row, same) in rows.zip(&remembered) {
            text.append(if same.is_some() { MarkedText::default() } else { echoed.marked_row(screen, row, to_cursor) });
        }
        FreshRows { text, remembered }
    }

    /// Whether a match in the fresh rows, which ends at a byte of them, is new.
    pub fn is_new(&self, screen: &Screen, fresh: &FreshRows, end: usize, matched: &str) -> bool {
        let row = row_of(&fresh.text.text, end);
        // A row below a region that scrolls stays where it is, and only its numbers change.
        let has_stayed =
            self.shapes.get(row).is_some_and(|before| *before == hash_without_motion(&screen.row(row as u16)));
        let stayed = Some(row).filter(|row| has_stayed && !fresh.remembered.contains(&Some(*row)));
        let same = fresh.remembered.get(row).copied().flatten();
        self.is_new_in_row(screen, fresh, row, same.or(stayed), matched)
    }

    /// As [`is_new`](Self::is_new), in the cursor's row.
    pub fn is_new_at_cursor(&self, screen: &Screen, echoed: &OwnEchoes, matched: &str) -> bool {
        let fresh = self.fresh_rows(screen, echoed, false);
        self.is_new_in_row(screen, &fresh, screen.next_cell().0.into(), None, matched)
    }

    /// Whether a match in a row is new: neither the remembered row `same` had it, nor the one that stood in this place.
    fn is_new_in_row(
        &self,
        screen: &Screen,
        fresh: &FreshRows,
        row: usize,
        same: Option<usize>,
        matched: &str,
    ) -> bool {
        // A blank match has no text that could have stood there.
        if self.scrolled_off(screen).is_none() || matched.trim().is_empty() {
            return true;
        }
        let in_place = (row..self.rows.len()).find(|before| self.current_row(screen, *before) == Some(row));
        // A program that draws its rows anew may have moved that row elsewhere: then it is not this one.
        let replaced = in_place.filter(|row| !fresh.remembered.contains(&Some(*row)));
        let matched = hash(matched);
        ![replaced, same].into_iter().flatten().any(|row| self.matches.contains(&(row, matched)))
    }

    /// Whether the cursor or its row has changed by more than echoes. `to_cursor`: its row up to the cursor.
    pub fn is_row_fresh(&self, screen: &Screen, echoed: &OwnEchoes, to_cursor: bool) -> bool {
        let (row, column) = screen.next_cell();
        if self.rows.is_empty()
            || self.scrolled_off(screen) != Some(0)
            || self.cleared != screen.cleared()
            || self.cursor != (row, column)
        {
            return true;
        }
        if to_cursor {
            let before = echoed.without_recent_echoes(screen, row, column);
            return self.before_cursor != hash(&before.unwrap_or_else(|| screen.text_before((row, column))));
        }
        self.rows.get(usize::from(row)).copied() != Some(hash(&without_echoes(screen, echoed, row)))
    }

    /// The row to which a remembered one has scrolled; `None` if it has scrolled off, or the other screen is shown.
    fn current_row(&self, screen: &Screen, row: usize) -> Option<usize> {
        let row = row.checked_sub(self.scrolled_off(screen)?)?;
        let (before, now) = (&self.region_scrolls, screen.region_scrolls());
        // Where another region has scrolled since, it is not known by how much this one had.
        if before.changes != now.changes || !now.region.contains(&row) {
            return Some(row);
        }
        row.checked_sub(now.count - before.count).filter(|row| now.region.contains(row))
    }

    /// The number of remembered rows that have scrolled off; `None` if the other screen is shown.
    fn scrolled_off(&self, screen: &Screen) -> Option<usize> {
        // Rows that a resize brought back were not on the screen then.
        let scrolled_off = usize::try_from(screen.scrolled().saturating_sub(self.scrolled)).unwrap_or(usize::MAX);
        (self.alternate == screen.is_alternate() && !self.rows.is_empty()).then_some(scrolled_off)
    }
}

/// A row without the echoes found since the last key.
fn without_echoes(screen: &Screen, echoed: &OwnEchoes, row: u16) -> String {
    echoed.row_without_recent_echoes(screen, row).unwrap_or_else(|| screen.row(row))
}

/// The texts of all rows, with LF behind each: without blanks at their ends, and with those up to the cursor, if there are any.
fn texts(screen: &Screen) -> impl Iterator<Item = String> {
    let (text, to_cursor) = (screen.text(), screen.text_to_cursor());
    let differs = text != to_cursor;
    [text].into_iter().chain(differs.then_some(to_cursor))
}

/// A part of a text; nothing if it cuts a character in two.
fn part_of(text: &str, part: Range<usize>) -> &str {
    text.get(part).unwrap_or_default()
}

/// The row in which a byte of a text stands.
fn row_of(text: &str, at: usize) -> usize {
    memchr_iter(b'\n', &text.as_bytes()[..at]).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fresh rows, parted by `|`: `before` is received, a key is sent, and `after` is received.
    fn fresh(before: &str, after: &str) -> String {
        let mut screen = Screen::new(20, 6);
        screen.feed(before.as_bytes());
        let mut changed_rows = ChangedRows::default();
        changed_rows.mark(&screen, |_| Vec::new());
        screen.feed(after.as_bytes());
        changed_rows.fresh_rows(&screen, &OwnEchoes::default(), false).text.text.trim_end().replace('\n', "|")
    }

    #[test]
    fn rows_that_scrolled_up_are_stale() {
        assert_eq!(fresh("ok\r\n$ ls", "\r\nok\r\n$ "), "||ok|$");
        assert_eq!(fresh("1\r\n2\r\n3\r\n4\r\nok\r\n$ ls", "\r\nok\r\n$ "), "||||ok|$");
        // The whole screen has scrolled off.
        assert_eq!(fresh("ok\r\n$ ls", &"\r\nok".repeat(9)), "ok|ok|ok|ok|ok|ok");
    }

    #[test]
    fn the_same_output_again_is_fresh() {
        assert_eq!(fresh("$ ls\r\nx\r\ny\r\n$ ls", "\r\nx\r\ny"), "||||x|y");
        assert_eq!(fresh("$ ls\r\nx\r\ny\r\n$ ls", "\r\nx\r\ny\r\n$ "), "|||x|y|$");
    }

    #[test]
    fn only_the_new_rows_of_a_page_are_fresh() {
        assert_eq!(
            fresh("a\r\nb\r\nc\r\nd\r\ne\r\n:", "\x1b[H\x1b[Kc\r\n\x1b[Kd\r\n\x1b[Ke\r\n\x1b[Kf\r\n\x1b[Kg\r\n\x1b[K:"),
            "|||f|g"
        );
        // Scrolled in a region below a title.
        assert_eq!(fresh("T\r\na\r\nb\r\nc\r\nd\r\n:", "\x1b[2;5r\x1b[5;1H\nnew\x1b[r\x1b[6;2H"), "||||new");
    }

    #[test]
    fn a_changed_row_is_fresh_as_a_whole() {
        assert_eq!(fresh("Loading 10%", "\x1b[1;9H50%"), "Loading 50%");
        assert_eq!(fresh("a\r\nb", "\x1b[H\x1b[L"), "");
    }

    #[test]
    fn a_screen_painted_again_is_stale_and_the_alternate_screen_is_fresh() {
        assert_eq!(fresh("$ top", "\x1b[H\x1b[2J$ top"), "");
        assert_eq!(fresh("$ vi", "\x1b[?1049h\r$ vi"), "$ vi");
        assert_eq!(fresh("$ vi", "\x1b[?1049h\x1b[?1049l"), "");
    }

    #[test]
    fn without_a_mark_everything_is_fresh() {
        let mut screen = Screen::new(20, 2);
        screen.feed(b"a\r\nb");
        let mut changed_rows = ChangedRows::default();
        assert_eq!(changed_rows.fresh_rows(&screen, &OwnEchoes::default(), false).text.text, "a\nb\n");
        assert!(changed_rows.is_row_fresh(&screen, &OwnEchoes::default(), false));
        changed_rows.mark(&screen, |_| Vec::new());
        assert_eq!(changed_rows.fresh_rows(&screen, &OwnEchoes::default(), false).text.text, "\n\n");
        changed_rows.forget();
        assert_eq!(changed_rows.fresh_rows(&screen, &OwnEchoes::default(), false).text.text, "a\nb\n");
    }

    #[test]
    fn the_cursors_row_is_fresh_once_something_changed_it() {
        let row = |before: &str, after: &str| {
            let mut screen = Screen::new(20, 3);
            screen.feed(before.as_bytes());
            let mut changed_rows = ChangedRows::default();
            changed_rows.mark(&screen, |_| Vec::new());
            screen.feed(after.as_bytes());
            changed_rows.is_row_fresh(&screen, &OwnEchoes::default(), false)
        };
        assert!(!row("$ ", ""));
        assert!(!row("$ ", "\x1b7\x1b[3;1Hclock\x1b8\x07"));
        assert!(row("$ ", "\r\n$ "));
        // The prompt is the same and stands in the same row, but the screen has scrolled or was redrawn.
        assert!(row("1\r\n2\r\n$ ", "\r\n$ "));
        assert!(row("\x1b[H$ ", "\x1b[H\x1b[2J$ "));
        assert!(row("$ x", "\x08 \x08"));
    }

    /// Whether `done` and a number are new after each of these reads.
    fn is_new(before: &str, reads: &[&str]) -> Vec<bool> {
        let find = |text: &str| {
            let begins = text.match_indices("done").map(|(begin, _)| begin);
            begins.map(|begin| begin..begin + text[begin..].find('\n').unwrap_or(text.len() - begin)).collect()
        };
        let mut screen = Screen::new(20, 4);
        screen.feed(before.as_bytes());
        let mut changed_rows = ChangedRows::default();
        changed_rows.mark(&screen, find);
        let echoed = OwnEchoes::default();
        let look = |read: &&str| {
            screen.feed(read.as_bytes());
            let fresh = changed_rows.fresh_rows(&screen, &echoed, false);
            let parts: Vec<Range<usize>> = find(&fresh.text.text);
            let text = &fresh.text.text;
            let new = parts.into_iter().any(|part| changed_rows.is_new(&screen, &fresh, part.end, &text[part]));
            changed_rows.forget_gone(&screen, &echoed, find);
            new
        };
        reads.iter().map(look).collect()
    }

    #[test]
    fn a_match_that_stood_there_is_old_until_it_has_gone() {
        // A clock runs in its row, and the row is painted again.
        assert_eq!(is_new("\x1b[2;1H12:01 done", &["\x1b[2;4H2", "\x1b[2J\x1b[2;1H12:03 done"]), [false, false]);
        // A status row below a region that scrolls.
        assert_eq!(is_new("\x1b[1;3r\x1b[4;1H12:01 done\x1b[3;1H", &["\n\x1b7\x1b[4;4H2\x1b8"]), [false]);
        assert_eq!(is_new("\x1b[2;1H12:01 done", &["\x1b[2;7Hbusy", "\x1b[2;7Hdone"]), [false, true]);
        assert_eq!(is_new("done 1", &["\x1b[2J\x1b[Hdone 1", "\x1b[Hdone 2"]), [false, true]);
        // The same answer again, below a title in a region that scrolls.
        assert_eq!(is_new("T\r\n\r\n\r\ndone\x1b[2;4r\x1b[4;5H", &["\n\rdone"]), [true]);
        // And in another row.
        assert_eq!(is_new("done\r\n$ x", &["\r\ndone"]), [true]);
        assert_eq!(is_new("$ x\r\ndone\r\n\r\n$ x", &["\r\ndone", "\r\n\r\ndone"]), [true, true]);
    }
}
