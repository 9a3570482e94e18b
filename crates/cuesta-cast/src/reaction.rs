//! How the program reacted to a key that it did not echo, to distinguish commands from secrets.

use cuesta_screen::vt::Screen;

/// Most columns that a sign for one key takes; longer output is a message.
const MOST_SIGNS: usize = 4;

/// The change of the screen from one key to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reaction {
    /// Nothing.
    None,
    /// The cursor advanced over something new: a star, or another sign that the program shows for every key.
    Sign,
    /// Any other change of the screen or the cursor.
    Other,
}

/// The screen at a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScreenState {
    rows: Vec<String>,
    row: usize,
    column: usize,
    scrolled: u64,
    alternate: bool,
}

impl ScreenState {
    pub(crate) fn capture(screen: &Screen) -> Self {
        let (row, column) = screen.next_cell();
        Self {
            rows: screen.rows().collect(),
            row: row.into(),
            column: column.into(),
            scrolled: screen.scrolled(),
            alternate: screen.is_alternate(),
        }
    }

    /// The change from this view to the next.
    pub(crate) fn reaction(&self, next: &Self) -> Reaction {
        // A resize may bring rows back.
        let Some(up) = next.scrolled.checked_sub(self.scrolled) else { return Reaction::Other };
        let up = usize::try_from(up).unwrap_or(usize::MAX);
        let before = |row: usize| self.rows.get(row.saturating_add(up)).map_or("", String::as_str);
        if self == next {
            Reaction::None
        } else if self.alternate == next.alternate
            && self.row.checked_sub(up) == Some(next.row)
            && self.is_new_before(next, before(next.row))
        {
            Reaction::Sign
        } else {
            Reaction::Other
        }
    }

    /// Whether the cursor moved right in its row, over something new or over blanks.
    fn is_new_before(&self, next: &Self, before: &str) -> bool {
        let passed = next.column.saturating_sub(self.column);
        let part = |row: &str| row.chars().skip(self.column).take(passed).collect::<String>();
        let part_after = part(&next.rows[next.row]);
        (1..=MOST_SIGNS).contains(&passed) && (part_after.is_empty() || part(before) != part_after)
    }
}
