//! Compares what a display shows at two instants, row by row, without numbers and spinners.

use std::ops::Range;

use cuesta_screen::vt::hash_without_motion;

/// The rows of a display at an instant.
#[derive(Debug)]
pub(crate) struct RowHashes {
    /// A hash of each row.
    rows: Vec<u64>,
    typed_at: TypedAt,
    /// How many rows have scrolled off so far.
    scrolled: u64,
}

/// Where typing changes a display.
#[derive(Debug, Clone)]
pub(crate) enum TypedAt {
    /// At the cursor, in this row.
    Cursor(u16),
    /// In these rows, where the cursor is hidden.
    Rows(Range<u16>),
}

impl RowHashes {
    /// `rows`: the texts of all rows, from the top; `scrolled`: how many rows have scrolled off so far.
    pub(crate) fn new(rows: impl IntoIterator<Item = impl AsRef<str>>, typed_at: TypedAt, scrolled: u64) -> Self {
        let rows = rows.into_iter().map(|row| hash_without_motion(row.as_ref())).collect();
        Self { rows, typed_at, scrolled }
    }

    /// The rows that differ both from the row that was in the same place before, and from the one that has scrolled there.
    pub(crate) fn changed_since(&self, before: &Self) -> impl Iterator<Item = usize> {
        let scrolled = self.scrolled_since(before);
        let stood = move |at: usize, row: u64| [at, at + scrolled].iter().any(|at| before.rows.get(*at) == Some(&row));
        self.rows.iter().enumerate().filter(move |(at, row)| !stood(*at, **row)).map(|(at, _)| at)
    }

    /// As [`changed_since`](Self::changed_since), without the rows that typing changes: those that the cursor has passed, or those of the
    /// typed text.
    pub(crate) fn changed_beside_typed(&self, before: &Self) -> impl Iterator<Item = usize> {
        let typed = match (&before.typed_at, &self.typed_at) {
            (TypedAt::Cursor(begun), TypedAt::Cursor(now)) => {
                let begun = usize::from(*begun).saturating_sub(self.scrolled_since(before));
                begun.min(usize::from(*now))..usize::from(*now).max(begun) + 1
            }
            (_, TypedAt::Cursor(now)) => usize::from(*now)..usize::from(*now) + 1,
            (_, TypedAt::Rows(rows)) => rows.start.into()..rows.end.into(),
        };
        self.changed_since(before).filter(move |row| !typed.contains(row))
    }

    fn scrolled_since(&self, before: &Self) -> usize {
        usize::try_from(self.scrolled - before.scrolled).unwrap_or(usize::MAX / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(before: &RowHashes, after: &RowHashes) -> (Vec<usize>, Vec<usize>) {
        (after.changed_since(before).collect(), after.changed_beside_typed(before).collect())
    }

    #[test]
    fn a_row_is_unchanged_where_it_stands_and_where_it_has_scrolled_to() {
        let before = RowHashes::new(["working o", "one", "two", "$ ", "12:00"], TypedAt::Cursor(3), 0);
        let typed = RowHashes::new(["working O", "one", "two", "$ ls", "12:01"], TypedAt::Cursor(3), 0);
        assert_eq!(changed(&before, &typed), (vec![0, 3], vec![0]));
        let scrolled = RowHashes::new(["working O", "two", "$ ls", "new", "12:01"], TypedAt::Cursor(3), 1);
        assert_eq!(changed(&typed, &scrolled), (vec![3], vec![]));
    }

    #[test]
    fn typed_text_that_wraps_at_the_last_row_is_where_the_cursor_has_come_through() {
        let before = RowHashes::new(["one", "two", "$ "], TypedAt::Cursor(2), 5);
        let wrapped = RowHashes::new(["$ a long", "command", "of rows"], TypedAt::Cursor(2), 7);
        assert_eq!(changed(&before, &wrapped), (vec![0, 1, 2], vec![]));
    }
}
