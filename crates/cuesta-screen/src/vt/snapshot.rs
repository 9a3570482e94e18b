//! What a screen showed at an instant, to tell later what has become of a key that was typed then.

use super::{Attributes, Cell, FrameChanges, Screen};

/// What a screen showed.
#[derive(Debug)]
pub struct Snapshot {
    /// The cells, row by row.
    cells: Vec<Cell>,
    columns: usize,
    /// Where the next character would stand; `None` if the cursor is hidden.
    cursor: Option<(u16, u16)>,
    is_alternate: bool,
    scrolled: u64,
}

/// Where a typed character has appeared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appearance {
    /// It is not on the screen, or was there before.
    Nowhere,
    /// Before the cursor, or before the caret that the program draws.
    Typed,
    /// Only at this row and column, away from the cursor and any caret.
    Elsewhere((u16, u16)),
}

impl Snapshot {
    /// What a screen shows now.
    pub fn new(screen: &Screen) -> Self {
        Self {
            cells: (0..screen.size().1).flat_map(|row| screen.row_cells(row)).copied().collect(),
            columns: screen.size().0.into(),
            cursor: next_cell(screen),
            is_alternate: screen.is_alternate(),
            scrolled: screen.scrolled(),
        }
    }

    /// Whether the screen has only begun to show something since then: nothing stood there, or it was another screen.
    pub fn is_superseded(&self, screen: &Screen) -> bool {
        self.is_other_screen(screen)
            || (self.cells.iter().all(Cell::is_blank) && screen.rows().any(|row| !row.is_empty()))
    }

    /// Where a character that was typed since then has appeared. A host may show it in capitals.
    pub fn find_typed(&self, screen: &Screen, character: char) -> Appearance {
        if self.is_other_screen(screen) {
            return Appearance::Nowhere;
        }
        let cursor = next_cell(screen);
        if let (Some((row, column)), Some(before)) = (cursor, self.cursor_now(screen))
            && column > 0
            && (row, column) != before
            && is_alike(screen.cell(row, screen.begin_of(row, column - 1)), character)
            && self.row_differs(screen, row)
        {
            return Appearance::Typed;
        }
        let new: Vec<_> = self.new_cells(screen, character).collect();
        let mut at_caret = new.iter().filter(|at| self.is_before_caret(screen, **at, cursor.is_some()));
        match (at_caret.next(), at_caret.next(), new.first()) {
            (Some(_), None, _) => Appearance::Typed,
            (_, _, Some(at)) => Appearance::Elsewhere(*at),
            (_, _, None) => Appearance::Nowhere,
        }
    }

    /// Whether a character that had appeared is gone again, and the cursor is back.
    pub fn is_taken_back(&self, screen: &Screen, character: char) -> bool {
        !self.is_other_screen(screen)
            && self.cursor_now(screen) == next_cell(screen)
            && self.find_typed(screen, character) == Appearance::Nowhere
    }

    /// Whether the program has changed to the alternate screen or back since then.
    pub fn is_other_screen(&self, screen: &Screen) -> bool {
        let (columns, rows) = screen.size();
        self.columns != usize::from(columns)
            || self.cells.len() != self.columns * usize::from(rows)
            || self.is_alternate != screen.is_alternate()
    }

    /// Where the cursor would stand now, had it not moved in the text.
    fn cursor_now(&self, screen: &Screen) -> Option<(u16, u16)> {
        let (row, column) = self.cursor?;
        Some((row.checked_sub(self.rows_scrolled(screen)?)?, column))
    }

    fn rows_scrolled(&self, screen: &Screen) -> Option<u16> {
        screen.scrolled().checked_sub(self.scrolled).and_then(|rows| u16::try_from(rows).ok())
    }

    /// The cells that a row of the screen had then.
    fn row_before(&self, screen: &Screen, row: u16) -> Option<&[Cell]> {
        let row = usize::from(row + self.rows_scrolled(screen)?);
        self.cells.chunks(self.columns).nth(row)
    }

    fn row_differs(&self, screen: &Screen, row: u16) -> bool {
        self.row_before(screen, row).is_none_or(|before| before != screen.row_cells(row))
    }

    /// The cells that show a character and did not then.
    fn new_cells<'a>(&'a self, screen: &'a Screen, character: char) -> impl Iterator<Item = (u16, u16)> + 'a {
        (0..screen.size().1).filter(|row| self.row_differs(screen, *row)).flat_map(move |row| {
            let before = self.row_before(screen, row);
            screen.cells(row).filter_map(move |(column, cell)| {
                let was = before.and_then(|before| before.get(usize::from(column)));
                (is_alike(Some(cell), character) && !is_alike(was, character)).then_some((row, column))
            })
        })
    }

    /// Whether the cell behind one, or that cell as it was, looks like a caret: other than its neighbour on the right. Beside a cursor that
    /// can be seen, a caret must stand out.
    fn is_before_caret(&self, screen: &Screen, (row, column): (u16, u16), has_cursor: bool) -> bool {
        let is_caret = |cells: &[Cell], column: usize| {
            let Some(caret) = cells.get(column) else { return false };
            let style = caret.style();
            let marks = Attributes::INVERSE | Attributes::UNDERLINED;
            let is_marked = !has_cursor || !(style.attributes & marks).is_empty();
            is_marked && cells.get(column + 1).is_some_and(|next| next.style() != style)
        };
        is_caret(screen.row_cells(row), usize::from(column) + 1)
            || self.row_before(screen, row).is_some_and(|before| is_caret(before, usize::from(column)))
    }
}

impl FrameChanges {
    /// Whether a screen differs from what it showed then, apart from what changes by itself.
    pub fn differs_from(&self, snapshot: &Snapshot, screen: &Screen, at: std::time::Duration) -> bool {
        snapshot.is_other_screen(screen)
            || snapshot.cursor != next_cell(screen)
            || self.differs_without_set_aside(&snapshot.cells, screen, at)
    }
}

/// Where the next character would stand, if the cursor can be seen.
fn next_cell(screen: &Screen) -> Option<(u16, u16)> {
    (!screen.modes().hidden_cursor).then(|| screen.next_cell())
}

fn is_alike(cell: Option<&Cell>, character: char) -> bool {
    cell.and_then(Cell::character)
        .is_some_and(|shown| shown == character || shown.to_lowercase().eq(character.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where `j` has appeared when a screen that shows one output has shown another.
    fn appearance(before: &str, after: &str) -> Appearance {
        let mut screen = Screen::new(20, 4);
        screen.feed(before.as_bytes());
        let snapshot = Snapshot::new(&screen);
        screen.feed(after.as_bytes());
        snapshot.find_typed(&screen, 'j')
    }

    #[test]
    fn a_character_is_typed_before_the_cursor() {
        assert_eq!(appearance("$ ", "j"), Appearance::Typed);
        assert_eq!(appearance("\u{6f22}\u{5b57}> ", "j"), Appearance::Typed);
        assert_eq!(appearance("LOGIN ", "J"), Appearance::Typed);
        assert_eq!(appearance("$ ", "\r\x1b[K$ j"), Appearance::Typed);
        assert_eq!(appearance("$ jjj\x1b[2D", "jjj\x1b[2D"), Appearance::Typed);
        // At the end of the last row.
        assert_eq!(appearance("\x1b[4;19Hab", "j"), Appearance::Typed);
        assert_eq!(appearance("$ ", ""), Appearance::Nowhere);
        assert_eq!(appearance("$ j\x1b[D", "\x1b[C"), Appearance::Nowhere);
        assert_eq!(appearance("$ ", "*"), Appearance::Nowhere);
        assert_eq!(appearance("text\x1b[H", "\x1b7\x1b[4;18Hj\x1b8"), Appearance::Elsewhere((3, 17)));
    }

    #[test]
    fn a_character_is_typed_before_a_drawn_caret() {
        let draw = |text: &str| format!("\x1b[?25l\x1b[3;1H> {text}\x1b[7m \x1b[m  ");
        assert_eq!(appearance(&draw(""), &draw("j")), Appearance::Typed);
        assert_eq!(appearance(&draw("abc"), &draw("abcj")), Appearance::Typed);
        // A placeholder goes; a list beside it shows more of the same letter.
        let hint = "\x1b[?25l\x1b[3;1H> \x1b[7mS\x1b[m\x1b[2mearch\x1b[m";
        assert_eq!(appearance(hint, &(draw("j") + "\x1b[K\x1b[1;1Hjam jar")), Appearance::Typed);
        // The cursor can be seen, and stands aside.
        let aside = |text: &str| draw(text) + "\x1b[?25h\x1b[4;1H";
        assert_eq!(appearance(&aside(""), &aside("j")), Appearance::Typed);
        assert_eq!(appearance("\x1b[?25lmenu", "\x1b[4;1Hkey j"), Appearance::Elsewhere((3, 4)));
    }

    #[test]
    fn what_backspace_deletes_is_taken_back() {
        let is_taken_back = |before: &str, after: &str| {
            let mut screen = Screen::new(20, 4);
            screen.feed(before.as_bytes());
            let snapshot = Snapshot::new(&screen);
            screen.feed(after.as_bytes());
            snapshot.is_taken_back(&screen, 'j')
        };
        assert!(is_taken_back("$ ", "j\x08 \x08"));
        assert!(is_taken_back("$ ", "j\x08\x1b[K"));
        assert!(!is_taken_back("$ ", "j"));
        assert!(!is_taken_back("$ ", "j^?"));
        assert!(!is_taken_back("$ ", "j\x08 "));
    }
}
