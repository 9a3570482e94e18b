//! Finds the rows that changed since the last key, so that no wait is satisfied by text that stood there before.
//!
//! When a key is sent, the rows are remembered as hashes, with the cursor and how far the screen had scrolled and how often it
//! had been cleared. Later:
//!
//! - A row is **stale** if it is one of the remembered rows. Rows that have scrolled off the top are left out, and the rest is
//!   aligned with the screen in order, as many rows as possible, each as far up as possible. A row with any changed character is
//!   fresh as a whole. If the screen has been cleared, or the other screen is shown, all rows are fresh.
//! - The **cursor's row** is fresh if its text, its row number or the cursor has changed, or the screen has scrolled or been
//!   cleared.
//!
//! Late echoes of keys before the last one make no row fresh: see [`OwnEchoes`].

use std::hash::{DefaultHasher, Hash, Hasher};

use super::own_echoes::MarkedText;
use super::{OwnEchoes, Screen};

/// The screen as it was when the last key was sent.
#[derive(Debug, Default)]
pub struct ChangedRows {
    /// The rows as hashes; blank rows are 0. If empty, all rows are fresh.
    rows: Vec<u64>,
    cursor: (u16, u16),
    scrolled: u64,
    cleared: u64,
    alternate: bool,
}

impl ChangedRows {
    /// Called when a key is sent: the rows as they are now are stale from now on.
    pub fn mark(&mut self, screen: &Screen) {
        self.rows.clear();
        self.rows.extend(screen.rows().map(|row| hash(&row)));
        self.cursor = screen.next_cell();
        self.scrolled = screen.scrolled();
        self.cleared = screen.cleared();
        self.alternate = screen.is_alternate();
    }

    /// Forgets the mark: all rows are fresh.
    pub fn forget(&mut self) {
        self.rows.clear();
    }

    /// Follows the cursor to the end of a late echo, which makes no row fresh.
    pub fn follow_cursor(&mut self, to: Option<(u16, u16)>) {
        self.cursor = to.unwrap_or(self.cursor);
    }

    /// The texts of all rows, each with LF behind it, stale ones left blank. With `to_cursor`, the cursor's row reaches at
    /// least to the cursor.
    pub fn fresh_rows(&self, screen: &Screen, echoed: &OwnEchoes, to_cursor: bool) -> MarkedText {
        let rows = 0..screen.size().1;
        let texts = rows.clone().zip(screen.rows());
        let now: Vec<_> =
            texts.map(|(row, text)| hash(&echoed.row_without_recent_echoes(screen, row).unwrap_or(text))).collect();
        let stale = aligned(self.before(screen), &now);
        let mut fresh = MarkedText::default();
        for (row, stale) in rows.zip(stale) {
            fresh.append(if stale { MarkedText::default() } else { echoed.marked_row(screen, row, to_cursor) });
        }
        fresh
    }

    /// Whether the cursor or its row has changed by more than echoes.
    pub fn is_row_fresh(&self, screen: &Screen, echoed: &OwnEchoes) -> bool {
        let row = screen.next_cell().0;
        self.before(screen).is_empty()
            || self.cursor != screen.next_cell()
            || self.scrolled != screen.scrolled()
            || self.rows.get(usize::from(row)).copied() != Some(hash(&Self::row_now(screen, echoed, row)))
    }

    fn row_now(screen: &Screen, echoed: &OwnEchoes, row: u16) -> String {
        echoed.row_without_recent_echoes(screen, row).unwrap_or_else(|| screen.row(row))
    }

    /// The remembered rows that can still be on the screen.
    fn before(&self, screen: &Screen) -> &[u64] {
        if self.cleared != screen.cleared() || self.alternate != screen.is_alternate() {
            return &[];
        }
        // Rows that a resize brought back were not there then.
        let gone = usize::try_from(screen.scrolled().saturating_sub(self.scrolled)).unwrap_or(usize::MAX);
        self.rows.get(gone..).unwrap_or_default()
    }
}

/// An empty row is 0.
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
    // Unchanged rows at the top need no table.
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

    /// The fresh rows, parted by `|`: `before` is received, a key is sent, and `after` is received.
    fn fresh(before: &str, after: &str) -> String {
        let mut screen = Screen::new(20, 6);
        screen.feed(before.as_bytes());
        let mut changed_rows = ChangedRows::default();
        changed_rows.mark(&screen);
        screen.feed(after.as_bytes());
        changed_rows.fresh_rows(&screen, &OwnEchoes::default(), false).text.trim_end().replace('\n', "|")
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
    fn a_cleared_screen_and_the_alternate_screen_are_fresh() {
        assert_eq!(fresh("$ top", "\x1b[H\x1b[2J$ top"), "$ top");
        assert_eq!(fresh("$ vi", "\x1b[?1049h\r$ vi"), "$ vi");
        assert_eq!(fresh("$ vi", "\x1b[?1049h\x1b[?1049l"), "");
    }

    #[test]
    fn without_a_mark_everything_is_fresh() {
        let mut screen = Screen::new(20, 2);
        screen.feed(b"a\r\nb");
        let mut changed_rows = ChangedRows::default();
        assert_eq!(changed_rows.fresh_rows(&screen, &OwnEchoes::default(), false).text, "a\nb\n");
        assert!(changed_rows.is_row_fresh(&screen, &OwnEchoes::default()));
        changed_rows.mark(&screen);
        assert_eq!(changed_rows.fresh_rows(&screen, &OwnEchoes::default(), false).text, "\n\n");
        changed_rows.forget();
        assert_eq!(changed_rows.fresh_rows(&screen, &OwnEchoes::default(), false).text, "a\nb\n");
    }

    #[test]
    fn the_cursors_row_is_fresh_once_something_changed_it() {
        let row = |before: &str, after: &str| {
            let mut screen = Screen::new(20, 3);
            screen.feed(before.as_bytes());
            let mut changed_rows = ChangedRows::default();
            changed_rows.mark(&screen);
            screen.feed(after.as_bytes());
            changed_rows.is_row_fresh(&screen, &OwnEchoes::default())
        };
        assert!(!row("$ ", ""));
        assert!(!row("$ ", "\x1b7\x1b[3;1Hclock\x1b8\x07"));
        assert!(row("$ ", "\r\n$ "));
        // The prompt is the same and stands in the same row, but the screen has scrolled or was redrawn.
        assert!(row("1\r\n2\r\n$ ", "\r\n$ "));
        assert!(row("\x1b[H$ ", "\x1b[H\x1b[2J$ "));
        assert!(row("$ x", "\x08 \x08"));
    }
}
