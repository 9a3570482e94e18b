//! Finds the rows that changed since the last key, so that no wait is satisfied by what the screen showed before.
//!
//! When a key goes, the rows are remembered (as hashes), with the cursor and what had scrolled and been cleared. Later:
//!
//! What has been echoed since of the keys before that one makes nothing fresh: see [`OwnEchoes`].
//!
//! - A row is **stale** if it is one of those rows: what has scrolled off the top is left out, and the rest is aligned
//!   with the screen in order, as many rows as can be, each at the earliest place. A row that has changed in any character
//!   is fresh as a whole. If the whole screen has been cleared since, or the other screen is shown, all rows are fresh.
//! - The **cursor's row** is fresh if its text, its place on the screen or the cursor has changed since, or anything has
//!   scrolled or been cleared.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::own_echoes::MarkedText;
use crate::{OwnEchoes, Screen};

/// The screen as it was when the last key went.
#[derive(Debug, Default)]
pub struct ChangedRows {
    /// The rows as hashes; blank rows are 0. Empty = everything is fresh.
    rows: Vec<u64>,
    cursor: (u16, u16),
    scrolled: u64,
    cleared: u64,
    alternate: bool,
}

impl ChangedRows {
    /// A key goes: what the screen shows now is stale from now on.
    pub fn mark(&mut self, screen: &Screen) {
        self.rows.clear();
        self.rows.extend(screen.rows().map(|row| hash(&row)));
        self.cursor = screen.cursor();
        self.scrolled = screen.scrolled();
        self.cleared = screen.cleared();
        self.alternate = screen.is_alternate();
    }

    /// Forgets the mark: everything is fresh.
    pub fn forget(&mut self) {
        self.rows.clear();
    }

    /// The cursor has moved to a place because the screen shows what was typed before that key: that makes nothing fresh.
    pub fn follow_cursor(&mut self, to: Option<(u16, u16)>) {
        self.cursor = to.unwrap_or(self.cursor);
    }

    /// The texts of all rows, each with LF behind it, the stale ones left blank. `to_cursor`: the cursor's row with the
    /// blanks up to the cursor.
    pub fn shown(&self, screen: &Screen, echoed: &OwnEchoes, to_cursor: bool) -> MarkedText {
        let rows = 0..screen.size().1;
        let texts = rows.clone().zip(screen.rows());
        let now: Vec<_> =
            texts.map(|(row, text)| hash(&echoed.row_without_late(screen, row).unwrap_or(text))).collect();
        let stale = aligned(self.before(screen), &now);
        let mut shown = MarkedText::default();
        for (row, stale) in rows.zip(stale) {
            shown.append(if stale { MarkedText::default() } else { echoed.shown(screen, row, to_cursor) });
        }
        shown
    }

    /// Whether the row that the cursor is in has changed, or the cursor, by more than echoes.
    pub fn is_row_fresh(&self, screen: &Screen, echoed: &OwnEchoes) -> bool {
        let row = screen.cursor().0;
        self.before(screen).is_empty()
            || self.cursor != screen.cursor()
            || self.scrolled != screen.scrolled()
            || self.rows.get(usize::from(row)).copied() != Some(hash(&Self::row_now(screen, echoed, row)))
    }

    fn row_now(screen: &Screen, echoed: &OwnEchoes, row: u16) -> String {
        echoed.row_without_late(screen, row).unwrap_or_else(|| screen.row(row))
    }

    /// The rows that were there before and can still be there.
    fn before(&self, screen: &Screen) -> &[u64] {
        if self.cleared != screen.cleared() || self.alternate != screen.is_alternate() {
            return &[];
        }
        let gone = usize::try_from(screen.scrolled() - self.scrolled).unwrap_or(usize::MAX);
        self.rows.get(gone..).unwrap_or_default()
    }
}

/// A row's text as a number; nothing is 0.
fn hash(row: &str) -> u64 {
    if row.is_empty() {
        return 0;
    }
    let mut hasher = DefaultHasher::new();
    row.hash(&mut hasher);
    hasher.finish().max(1)
}

/// Which of the rows `now` are rows of `before`, in order: a longest common subsequence, each row as far up as can be.
fn aligned(before: &[u64], now: &[u64]) -> Vec<bool> {
    // What is unchanged at the top needs no table.
    let same = before.iter().zip(now).take_while(|(before, now)| before == now).count();
    let mut stale = vec![true; same];
    stale.resize(now.len(), false);
    let (before, now) = (&before[same..], &now[same..]);
    // longest[i][j]: of before[i..] and now[j..].
    let width = now.len() + 1;
    let mut longest = vec![0u16; (before.len() + 1) * width];
    for i in (0..before.len()).rev() {
        for j in (0..now.len()).rev() {
            let here = i * width + j;
            longest[here] = if before[i] == now[j] && before[i] != 0 {
                longest[here + width + 1] + 1
            } else {
                longest[here + width].max(longest[here + 1])
            };
        }
    }
    let mut i = 0;
    for j in 0..now.len() {
        // The first row before, from `i` on, with which this one can be part of a longest alignment.
        let left = longest[i * width + j];
        let partner = (i..before.len()).find(|i| before[*i] == now[j] && before[*i] != 0);
        if let Some(partner) = partner.filter(|partner| longest[(partner + 1) * width + j + 1] + 1 == left) {
            stale[same + j] = true;
            i = partner + 1;
        }
    }
    stale
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is fresh after a key was sent at one point and more came; rows parted by `|`.
    fn fresh(before: &str, after: &str) -> String {
        let mut screen = Screen::new(20, 6);
        screen.feed(before.as_bytes());
        let mut fresh = ChangedRows::default();
        fresh.mark(&screen);
        screen.feed(after.as_bytes());
        fresh.shown(&screen, &OwnEchoes::default(), false).text.trim_end().replace('\n', "|")
    }

    #[test]
    fn what_stood_there_is_stale_also_after_it_has_moved_up() {
        assert_eq!(fresh("ok\r\n$ ls", "\r\nok\r\n$ "), "||ok|$");
        assert_eq!(fresh("1\r\n2\r\n3\r\n4\r\nok\r\n$ ls", "\r\nok\r\n$ "), "||||ok|$");
        // The whole screen has been scrolled off.
        assert_eq!(fresh("ok\r\n$ ls", &"\r\nok".repeat(9)), "ok|ok|ok|ok|ok|ok");
    }

    #[test]
    fn the_same_output_again_is_fresh() {
        assert_eq!(fresh("$ ls\r\nx\r\ny\r\n$ ls", "\r\nx\r\ny"), "||||x|y");
        assert_eq!(fresh("$ ls\r\nx\r\ny\r\n$ ls", "\r\nx\r\ny\r\n$ "), "|||x|y|$");
    }

    #[test]
    fn a_pager_that_turns_a_page_shows_the_new_rows() {
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
    fn a_cleared_screen_and_another_one_are_fresh() {
        assert_eq!(fresh("$ top", "\x1b[H\x1b[2J$ top"), "$ top");
        assert_eq!(fresh("$ vi", "\x1b[?1049h$ vi"), "$ vi");
        assert_eq!(fresh("$ vi", "\x1b[?1049h\x1b[?1049l"), "");
    }

    #[test]
    fn without_a_mark_everything_is_fresh() {
        let mut screen = Screen::new(20, 2);
        screen.feed(b"a\r\nb");
        let mut fresh = ChangedRows::default();
        assert_eq!(fresh.shown(&screen, &OwnEchoes::default(), false).text, "a\nb\n");
        assert!(fresh.is_row_fresh(&screen, &OwnEchoes::default()));
        fresh.mark(&screen);
        assert_eq!(fresh.shown(&screen, &OwnEchoes::default(), false).text, "\n\n");
        fresh.forget();
        assert_eq!(fresh.shown(&screen, &OwnEchoes::default(), false).text, "a\nb\n");
    }

    #[test]
    fn the_cursors_row_is_fresh_once_something_changed_it() {
        let row = |before: &str, after: &str| {
            let mut screen = Screen::new(20, 3);
            screen.feed(before.as_bytes());
            let mut fresh = ChangedRows::default();
            fresh.mark(&screen);
            screen.feed(after.as_bytes());
            fresh.is_row_fresh(&screen, &OwnEchoes::default())
        };
        assert!(!row("$ ", ""));
        assert!(!row("$ ", "\x1b7\x1b[3;1Hclock\x1b8\x07"));
        assert!(row("$ ", "\r\n$ "));
        // The same prompt in the same place, but all has moved up, or was drawn anew.
        assert!(row("1\r\n2\r\n$ ", "\r\n$ "));
        assert!(row("\x1b[H$ ", "\x1b[H\x1b[2J$ "));
        assert!(row("$ x", "\x08 \x08"));
    }
}
