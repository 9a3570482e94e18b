//! Follows on the screen the text that a user types, and finds when each key is shown.
//!
//! The whole text of the row being typed is followed, not the cell at the cursor: programs redraw it, move it, scroll it and wrap it.
//! `row` is what was typed; `prints` is what the host has printed of it; `ends` finds where it may end. At the end of each frame,
//! `standing` finds where the text is on the screen. A key is shown in the first frame in which the text has grown by
//! it, at a cell that was printed, or passed by the cursor, since the key was sent.
//!
//! What a program shows beyond is not typed text: suggestions, completions, placeholders. The text ends
//!
//! 1. at the visible cursor, or at a caret that the program draws before it;
//! 2. with a hidden cursor, at a caret that the program draws (a cell in inverse, underlined or on another ground, a bar, a block or a low
//!    line), or where the style changes;
//! 3. where it stands already, if the cursor has gone elsewhere, after a Return for example.
//!
//! Some keys never appear, such as a password or a command of vi. They are *missed* when a later key is shown. Text that cannot be
//! followed, because the host changes it or draws it twice, loses its keys: they are *lost*, and so are the keys of this row that
//! follow. Doubled letters that appear at once may be one letter drawn twice: they are doubtful until the text has grown on.
//!
//! A blank alone is no evidence that a later key is shown. Where the cursor was visible it must be visible again: until then the program
//! is still drawing.

use std::collections::VecDeque;
use std::ops::Range;

use ends::{BESIDE_CURSOR, beside_cursor, is_before_caret};
use prints::Prints;
use row::{TypedKey, TypedRow};
use standing::begins_row;

use super::Screen;
use super::cells::CellPosition;

mod ends;
mod prints;
mod row;
mod standing;

/// This many characters of a row are remembered and searched for.
const MOST: usize = 64;

/// The text that a user types, row by row, each unshown key with a value of the caller's. `I`: an instant.
#[derive(Debug)]
pub struct TypedText<K, I> {
    /// The last one is being typed; the others have keys that are not shown.
    rows: VecDeque<TypedRow<K>>,
    prints: Prints<I>,
    /// The cursor at the end of the last frame, or when the first of the unshown keys was sent.
    last_cursor: CellPosition,
    /// The cursor was hidden when the first of the unshown keys was sent.
    was_hidden: bool,
    /// What stood beside the hidden cursor then, or at the end of the last frame.
    beside_cursor: [char; BESIDE_CURSOR],
    /// The program has drawn a caret behind typed text, so its hidden cursor tells nothing.
    draws_caret: bool,
    /// Keys were shown that may be one letter drawn twice.
    is_doubtful: bool,
}

/// What became of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyMatch<K, I> {
    /// Shown since an instant, in a cell, if that is certain. A doubtful one counts once it is [`Settled`](Self::Settled).
    Shown { key: K, since: I, cell: Option<CellPosition>, is_doubtful: bool },
    /// The doubtful keys so far are right, or lost.
    Settled { is_right: bool },
    /// Not shown, and a later one is.
    Missed(K),
    /// The text cannot be followed.
    Lost(K),
}

/// A key that types no character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ControlKey {
    Return,
    /// Takes back the last character.
    Erase,
    /// The next character may stand anywhere.
    Other,
}

impl<K, I: Copy> Default for TypedText<K, I> {
    fn default() -> Self {
        Self {
            rows: VecDeque::new(),
            prints: Prints::default(),
            last_cursor: CellPosition::default(),
            was_hidden: false,
            beside_cursor: [' '; BESIDE_CURSOR],
            draws_caret: false,
            is_doubtful: false,
        }
    }
}

impl<K, I: Copy> TypedText<K, I> {
    /// The keys that are not shown, in order.
    pub fn waiting(&self) -> impl Iterator<Item = &K> {
        self.rows.iter().flat_map(TypedRow::waiting)
    }

    /// Whether any key is not shown.
    pub fn is_waiting(&self) -> bool {
        self.rows.iter().any(TypedRow::is_waiting)
    }

    /// The rows of the screen in which the text stands, as far as it is known.
    pub fn rows(&self, screen: &Screen) -> Range<u16> {
        let cells = self.rows.iter().flat_map(|row| &row.keys).filter_map(|key| key.cell?.now(screen));
        cells.map(|cell| cell.0..cell.0 + 1).reduce(|a, b| a.start.min(b.start)..a.end.max(b.end)).unwrap_or_default()
    }

    /// A character is typed, which the screen should show. An optional one may never be shown, whatever follows.
    pub fn type_character(
        &mut self,
        screen: &Screen,
        character: char,
        is_optional: bool,
        value: K,
    ) -> Option<KeyMatch<K, I>> {
        if !self.is_waiting() {
            self.begin_waiting(screen);
        }
        let cursor = CellPosition::new(screen, screen.next_cell());
        if self.rows.back().is_none_or(|row| row.end.is_some()) {
            self.rows.push_back(TypedRow::new(cursor));
        }
        let sent_after = self.prints.count();
        let row = self.rows.back_mut()?;
        if row.is_lost {
            return Some(KeyMatch::Lost(value));
        }
        if !row.is_waiting() {
            row.origin = cursor;
        }
        if row.keys.len() >= MOST && row.shown > 0 {
            row.keys.remove(0);
            row.shown -= 1;
        }
        row.keys.push(TypedKey { character, value: Some(value), cell: None, is_optional, sent_after });
        self.prints.expect(character);
        self.begin_frame(screen);
        None
    }

    /// A key is pressed that types no character. Returns the key that it takes back, if that was not shown.
    pub fn control_key(&mut self, key: ControlKey) -> Option<K> {
        let row = self.rows.back_mut()?;
        if key == ControlKey::Erase
            && row.end.is_none()
            && let Some(erased) = row.keys.pop()
        {
            row.shown = row.shown.min(row.keys.len());
            return erased.value;
        }
        // Behind two of them the text may stand anywhere.
        row.end = Some(if row.end.is_some() { ControlKey::Other } else { key });
        None
    }

    /// What is typed from now on cannot be told from what earlier keys draw: it is lost, until the next Return or input.
    pub fn lose_row(&mut self, screen: &Screen) {
        if self.rows.back().is_none_or(|row| row.end.is_some()) {
            self.rows.push_back(TypedRow::new(CellPosition::new(screen, screen.next_cell())));
        }
        self.rows.back_mut().into_iter().for_each(|row| row.is_lost = true);
    }

    /// Gives up the unshown keys for which `keep` is false. Text that is typed later counts as another row.
    pub fn retain(&mut self, keep: impl Fn(&K) -> bool) {
        for row in &mut self.rows {
            let all = row.keys.len();
            row.keys.retain(|key| key.value.as_ref().is_none_or(&keep));
            if row.keys.len() < all {
                row.end = Some(ControlKey::Other);
            }
        }
        self.drop_finished_rows();
    }

    /// Gives up the key that waits longest.
    pub fn give_up(&mut self) -> Option<KeyMatch<K, I>> {
        let row = self.rows.iter_mut().find(|row| row.is_waiting())?;
        let TypedKey { character, value, sent_after, .. } = row.keys.remove(row.shown);
        // With a hidden cursor it may have been shown wherever it was printed.
        let is_missed = row.stands && !(self.was_hidden && self.prints.was_printed(None, character, sent_after));
        self.drop_finished_rows();
        value.map(if is_missed { KeyMatch::Missed } else { KeyMatch::Lost })
    }

    /// Draws what has come, up to the end of a frame that the host marks (mode 2026), and returns how many bytes that were. `at`: when a
    /// byte came, by its index.
    pub fn draw(&mut self, screen: &mut Screen, bytes: &[u8], at: impl Fn(usize) -> I) -> usize {
        if self.is_waiting() {
            screen.feed_frame(bytes, &mut self.prints.record(at))
        } else {
            screen.feed_frame(bytes, &mut ())
        }
    }

    /// What is drawn from now on belongs to another frame, unless the host has marked the beginning of one.
    pub fn begin_frame(&mut self, screen: &Screen) {
        if !screen.is_in_frame() {
            self.prints.begin_frame();
        }
    }

    /// Looks for the typed text at the end of a frame, or of what has come of it, at `last`.
    pub fn end_frame(&mut self, screen: &Screen, last: I, mut report: impl FnMut(KeyMatch<K, I>)) {
        if !self.is_waiting() {
            return self.settle_when_followed(screen, &mut report);
        }
        if screen.modes().hidden_cursor && !self.was_hidden {
            return;
        }
        for index in 0..self.rows.len() {
            if !self.rows[index].is_waiting() {
                continue;
            }
            let growth = self.growth(screen, index).or_else(|| self.growth_elsewhere(screen, index));
            if let Some(growth) = growth {
                self.miss_rows_before(index, &mut report);
                if growth.may_be_answer {
                    self.rows[index].lose(&mut report);
                    continue;
                }
                self.grow(screen, index, &growth, last, &mut report);
            } else {
                self.check_ungrown(screen, index, &mut report);
            }
        }
        self.drop_finished_rows();
        self.prints.end_frame();
        self.note_cursor(screen);
    }

    /// Another input begins: keys that are still doubtful are right, and a lost row ends. So does a row that a program with a hidden cursor
    /// may have drawn where it cannot be told from other text.
    pub fn begin_input(&mut self, mut report: impl FnMut(KeyMatch<K, I>)) {
        self.settle(&mut report);
        for row in self.rows.iter_mut().filter(|row| self.was_hidden && row.end.is_some()) {
            let may_be_shown = |key: &TypedKey<K>| self.prints.was_printed(None, key.character, key.sent_after);
            let lost = row.keys.extract_if(row.shown.., |key| may_be_shown(key));
            lost.filter_map(|key| key.value).for_each(|key| report(KeyMatch::Lost(key)));
        }
        if let Some(row) = self.rows.back_mut().filter(|row| row.is_lost) {
            row.end = Some(ControlKey::Other);
        }
        self.drop_finished_rows();
    }

    /// Nothing more is expected of the text that was shown: keys that are still doubtful are right.
    pub fn settle(&mut self, mut report: impl FnMut(KeyMatch<K, I>)) {
        if std::mem::take(&mut self.is_doubtful) {
            report(KeyMatch::Settled { is_right: true });
        }
    }

    fn begin_waiting(&mut self, screen: &Screen) {
        self.prints.clear();
        let typed = self.rows.back().into_iter().flat_map(|row| &row.keys);
        typed.for_each(|key| self.prints.expect(key.character));
        self.was_hidden = screen.modes().hidden_cursor;
        self.note_cursor(screen);
        // The text may have moved or gone while nothing was looked for. Without a cursor the next frame will tell.
        if !self.rows.is_empty() && !self.was_hidden {
            self.relocate(screen, self.rows.len() - 1);
        }
        if let Some(row) = self.rows.back_mut().filter(|_| !self.was_hidden)
            && !standing::stands(screen, row)
        {
            row.end = Some(ControlKey::Other);
        }
        self.drop_finished_rows();
    }

    fn note_cursor(&mut self, screen: &Screen) {
        self.last_cursor = CellPosition::new(screen, screen.next_cell());
        if screen.modes().hidden_cursor {
            self.beside_cursor = beside_cursor(screen);
        }
    }

    /// Reports the unshown keys of earlier rows as missed, because a key of this row is shown.
    fn miss_rows_before(&mut self, index: usize, report: &mut impl FnMut(KeyMatch<K, I>)) {
        for row in self.rows.range_mut(..index) {
            let keys = row.keys.drain(row.shown..);
            keys.filter_map(|key| key.value).for_each(|key| report(KeyMatch::Missed(key)));
        }
    }

    /// The text of a row has grown.
    fn grow(
        &mut self,
        screen: &Screen,
        index: usize,
        growth: &standing::Growth,
        last: I,
        report: &mut impl FnMut(KeyMatch<K, I>),
    ) {
        self.settle(&mut *report);
        let row = &mut self.rows[index];
        let unshown = growth.first.saturating_sub(row.shown);
        let missed = unshown.saturating_sub(growth.unseen);
        for (index, key) in row.keys.drain(row.shown..row.shown + unshown).enumerate() {
            let outcome = if index < missed { KeyMatch::Missed } else { KeyMatch::Lost };
            key.value.into_iter().for_each(|key| report(outcome(key)));
        }
        let first = growth.first - unshown;
        let end = first + growth.cells.len();
        if first < row.shown {
            // Those have scrolled off.
            row.keys[..first].iter_mut().for_each(|key| key.cell = None);
        }
        for (key, cell) in row.keys[first..end].iter_mut().zip(&growth.cells) {
            key.cell = cell.map(|cell| CellPosition::new(screen, cell));
        }
        let new = row.shown..end;
        let newest = row.keys[end - 1].cell.and_then(|cell| cell.now(screen));
        self.draws_caret |= newest.is_some_and(|cell| is_before_caret(screen, cell));
        let is_doubtful = row.keys[new.clone()].windows(2).any(|two| two[0].character == two[1].character);
        for (index, key) in row.keys[new.clone()].iter_mut().enumerate() {
            let Some(value) = key.value.take() else { continue };
            // A blank may have been shown before: when it could not be told from the inside of a box, or from the place of a missed key.
            let cells = &growth.cells[..new.start + index + 1 - first];
            let is_in_box = self.was_hidden && (!growth.tells_blanks || begins_row(cells));
            let is_of_frame =
                || key.cell.and_then(|cell| cell.now(screen)).is_some_and(|at| self.prints.is_in_frame(at, ' '));
            if key.character == ' ' && (is_in_box || unshown > 0 && !is_of_frame()) {
                report(KeyMatch::Lost(value));
                continue;
            }
            let since = key.cell.and_then(|cell| self.prints.printed_at(screen, cell, key.character)).unwrap_or(last);
            report(KeyMatch::Shown { key: value, since, cell: key.cell, is_doubtful });
        }
        (row.shown, row.stands) = (end, true);
        row.origin = CellPosition::new(screen, screen.next_cell());
        self.is_doubtful = is_doubtful;
    }

    /// Where a row's text is gone and no cursor tells where it would be, the keys that are not shown may begin another text.
    fn growth_elsewhere(&mut self, screen: &Screen, index: usize) -> Option<standing::Growth> {
        let row = &mut self.rows[index];
        if row.shown == 0 || !self.was_hidden || self.is_doubtful || standing::stands(screen, row) {
            return None;
        }
        row.keys.drain(..std::mem::take(&mut row.shown));
        self.growth(screen, index)
    }

    /// Handles a row whose text has not grown: if it no longer stands, its doubtful keys are lost.
    fn check_ungrown(&mut self, screen: &Screen, index: usize, report: &mut impl FnMut(KeyMatch<K, I>)) {
        let row = &mut self.rows[index];
        row.stands = standing::stands(screen, row);
        if row.stands || !std::mem::take(&mut self.is_doubtful) {
            return;
        }
        report(KeyMatch::Settled { is_right: false });
        row.lose(report);
    }

    /// All keys are shown; the doubtful ones may yet turn out to be one letter drawn twice.
    fn settle_when_followed(&mut self, screen: &Screen, report: &mut impl FnMut(KeyMatch<K, I>)) {
        if !self.is_doubtful {
            return;
        }
        if let Some(row) = self.rows.back_mut()
            && row.end.is_none()
            && !standing::stands(screen, row)
        {
            self.is_doubtful = false;
            row.lose(&mut *report);
            report(KeyMatch::Settled { is_right: false });
        }
    }

    fn drop_finished_rows(&mut self) {
        self.rows.retain(|row| row.is_waiting() || row.end.is_none());
    }
}
