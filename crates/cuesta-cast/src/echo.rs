//! Finds which printable keys the screen showed at the cursor.
//!
//! Printable keys without another key between them are a **text**. A key of a text is *shown* if at one moment it and the keys
//! after it stood right before the cursor, up to the last key or [`ENOUGH`] of them. So if a program shows each key for a moment
//! and then replaces it by a star, only the last key is shown. If it removes the whole text before the next key is pressed, no
//! key is shown.
//!
//! The screen is searched after each output event. Once a text has ended, its echo may arrive together with the answer to it, so
//! the screen is then searched after each character, up to the end of the row. But a text that a program prints in its answer is
//! no echo. So an echo in an answer has two conditions:
//!
//! - It stands where the text was typed, or where the text was seen before. (For a row that was typed ahead of the answer to the
//!   previous row, no position is known.)
//! - It shows one more key than were echoed before, or several keys that arrived in one input with the key that ended them, as in
//!   a paste; if that key was Enter, the row must end there too. A program that showed none of several separate keys and prints
//!   them all at the end has not echoed them.

use cuesta_screen::vt::{Screen, StreamParser, width};

/// For a long row, this many consecutive keys before the cursor are enough.
pub(crate) const ENOUGH: usize = 8;
/// The echo of a key is searched for until this many later keys were pressed.
const LAG: usize = 64;
/// Most characters of output that are searched for one text.
const MOST_SEARCHED: usize = 16 << 10;

/// The texts of a session, and what the screen showed of them.
#[derive(Debug, Default)]
pub(crate) struct Echo {
    /// Texts that may still be echoed. The last one is being typed, unless it has ended.
    watched: Vec<Text>,
    /// Strokes of finished texts with a character that was not shown.
    unshown: Vec<usize>,
    parser: StreamParser,
    /// No output was received since the last key that ended a text.
    unanswered: bool,
}

/// A printable key.
#[derive(Debug, Clone, Copy)]
struct Key {
    stroke: usize,
    /// The number of the input that it was part of.
    input: usize,
    character: char,
}

#[derive(Debug)]
struct Text {
    keys: Vec<Key>,
    /// For each key: how many keys, this one the last of them, stood in a row right before the cursor; the most at any moment.
    shown_keys: Vec<usize>,
    /// Where the cursor was when the first key was pressed.
    begin: BufferPosition,
    /// The position of the first of the keys that were last found before the cursor.
    last_found: BufferPosition,
    /// The input of the key that ended the text, and whether that was Enter.
    end: Option<(usize, bool)>,
    /// The number of its keys up to the last one that the screen had shown before the latest output event. Not all before that
    /// one need have been shown.
    echoed: usize,
    /// It was typed ahead, before the answer to the previous row.
    ahead: bool,
    /// The program showed it and removed it before the next key.
    taken_away: bool,
    /// Characters of output that are still searched for it.
    characters_left: usize,
}

/// A position on the main or the alternate screen that stays valid when the screen scrolls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct BufferPosition {
    line: u64,
    column: u16,
    alternate: bool,
}

/// The keys that stand right before the cursor.
struct VisibleKeys {
    keys: usize,
    last: usize,
    /// Where the first of them stands.
    begin: BufferPosition,
}

impl Echo {
    /// Adds a stroke that types characters.
    pub(crate) fn type_text(
        &mut self,
        screen: &Screen,
        (stroke, input): (usize, usize),
        characters: impl Iterator<Item = char>,
    ) {
        for character in characters {
            if character.is_control() {
                self.end_text((input, true));
                continue;
            }
            let position = BufferPosition::new(screen, screen.next_cell());
            if self.watched.last().is_none_or(|text| text.end.is_some() || text.begin.line != position.line) {
                self.end_text((input, false));
                self.drop_answered();
                let ahead = self.unanswered && !self.watched.is_empty();
                self.watched.push(Text::new(position, ahead));
            }
            if let Some(text) = self.watched.last_mut() {
                text.keys.push(Key { stroke, input, character });
                text.shown_keys.push(0);
            }
        }
    }

    /// Called when another key is pressed: notes whether the program has removed the text.
    pub(crate) fn look_again(&mut self, screen: &Screen) {
        if let Some(text) = self.watched.last_mut().filter(|text| text.end.is_none()) {
            let is_here = text.begin.line == BufferPosition::new(screen, screen.next_cell()).line;
            text.taken_away |= is_here && text.is_whole() && text.visible_keys(screen).keys < text.enough();
        }
    }

    /// Adds a stroke that types no characters.
    pub(crate) fn press_key(&mut self, input: usize, is_enter: bool) {
        self.drop_answered();
        self.end_text((input, is_enter));
        self.unanswered = true;
    }

    /// Feeds the screen with output and returns its readable characters.
    pub(crate) fn feed(&mut self, screen: &mut Screen, text: &str) -> String {
        self.unanswered = false;
        self.watched.iter_mut().for_each(|text| text.echoed = text.seen_keys());
        if self.watched.iter().any(|text| text.end.is_some()) {
            let mut parser = self.parser;
            let mut characters = text.chars().peekable();
            while let Some(c) = characters.next() {
                screen.feed(c.encode_utf8(&mut [0; 4]).as_bytes());
                let next = characters.peek().copied();
                if parser.is_readable(c) {
                    self.watched.iter_mut().for_each(|text| text.look_at(screen, c, next));
                }
            }
        } else {
            screen.feed(text.as_bytes());
        }
        self.watched.iter_mut().for_each(|text| text.look(screen, None));
        self.finish(|text| text.characters_left == 0);
        self.parser.readable(text)
    }

    /// Ends the session: the strokes with a character that was not shown, in no order.
    pub(crate) fn unshown(mut self) -> Vec<usize> {
        self.finish(|_| true);
        self.unshown
    }

    fn end_text(&mut self, end: (usize, bool)) {
        if let Some(text) = self.watched.last_mut().filter(|text| text.end.is_none()) {
            text.end = Some(end);
            self.unanswered = true;
        }
    }

    /// Texts that ended and were answered are no longer echoed when another key is pressed.
    fn drop_answered(&mut self) {
        if !self.unanswered {
            self.finish(|text| text.end.is_some());
        }
    }

    fn finish(&mut self, is_finished: impl Fn(&Text) -> bool) {
        for text in self.watched.extract_if(.., |text| is_finished(text)) {
            let keys = text.keys.iter().zip(text.find_shown_keys());
            self.unshown.extend(keys.filter(|(_, shown)| !shown).map(|(key, _)| key.stroke));
        }
    }
}

impl Text {
    fn new(begin: BufferPosition, ahead: bool) -> Self {
        let (keys, shown_keys) = (Vec::new(), Vec::new());
        Self {
            keys,
            shown_keys,
            begin,
            last_found: begin,
            end: None,
            echoed: 0,
            ahead,
            taken_away: false,
            characters_left: MOST_SEARCHED,
        }
    }

    fn enough(&self) -> usize {
        self.keys.len().min(ENOUGH)
    }

    /// Whether the end of the text stood before the cursor at one moment.
    fn is_whole(&self) -> bool {
        self.shown_keys.last().is_some_and(|shown| *shown >= self.enough())
    }

    /// The number of keys up to the last one that was seen.
    fn seen_keys(&self) -> usize {
        self.shown_keys.iter().rposition(|shown| *shown > 0).map_or(0, |last| last + 1)
    }

    /// Looks for the text after a character of an answer.
    fn look_at(&mut self, screen: &Screen, c: char, next: Option<char>) {
        if self.end.is_some() {
            self.look(screen, next);
            self.characters_left = if c == '\n' && !self.ahead { 0 } else { self.characters_left.saturating_sub(1) };
        }
    }

    /// Looks for the text; `next` is the character that follows.
    fn look(&mut self, screen: &Screen, next: Option<char>) {
        if self.characters_left == 0 {
            return;
        }
        let visible = self.visible_keys(screen);
        if visible.keys > 0 && self.is_echo(&visible, next) {
            self.shown_keys[visible.last] = visible.keys.max(self.shown_keys[visible.last]);
            self.last_found = visible.begin;
        }
    }

    /// Whether keys before the cursor are an echo, and not the program's output.
    fn is_echo(&self, visible: &VisibleKeys, next: Option<char>) -> bool {
        let Some((end, is_enter)) = self.end else { return true };
        let is_here = self.ahead || [self.begin, self.last_found].contains(&visible.begin);
        let is_next = visible.last <= self.echoed;
        let is_last = visible.last + 1 == self.keys.len();
        let in_one_piece = self.keys[self.echoed.min(visible.last)..].iter().all(|key| key.input == end);
        let row_ends = !is_enter || !is_last || matches!(next, Some('\r' | '\n'));
        is_here && (is_next || (in_one_piece && row_ends))
    }

    /// The most keys in a row that stand right before the cursor now.
    fn visible_keys(&self, screen: &Screen) -> VisibleKeys {
        let first = self.keys.len().saturating_sub(LAG);
        let mut most = VisibleKeys { keys: 0, last: usize::MAX, begin: self.begin };
        for last in first..self.keys.len() {
            let (keys, begin) = standing(screen, &self.keys[..=last]);
            if keys > most.keys {
                most = VisibleKeys { keys, last, begin: BufferPosition::new(screen, begin) };
            }
        }
        most
    }

    /// Whether each key was shown.
    fn find_shown_keys(&self) -> Vec<bool> {
        let last = self.keys.len().saturating_sub(1);
        let mut shown = vec![false; self.keys.len()];
        if self.taken_away {
            return shown;
        }
        for (end, shown_keys) in self.shown_keys.iter().enumerate() {
            // The latest keys may still be hidden when others follow.
            let sure = if end == last { 0 } else { ENOUGH - 1 };
            // The range is empty or invalid if too few keys stood there.
            if let Some(keys) = shown.get_mut(end + 1 - shown_keys..(end + 1).saturating_sub(sure)) {
                keys.fill(true);
            }
        }
        shown
    }
}

/// The line in which the cursor is, counted from the first that the session had.
pub(crate) fn line(screen: &Screen) -> u64 {
    screen.scrolled() + u64::from(screen.next_cell().0)
}

impl BufferPosition {
    pub(crate) fn new(screen: &Screen, (row, column): (u16, u16)) -> Self {
        Self { line: screen.scrolled() + u64::from(row), column, alternate: screen.is_alternate() }
    }

    /// The position this many lines and columns before, if there is one.
    pub(crate) fn step_back(self, (lines, columns): (u64, u16)) -> Option<Self> {
        let (line, column) = (self.line.checked_sub(lines)?, self.column.checked_sub(columns)?);
        Some(Self { line, column, ..self })
    }
}

/// How many of the last of these keys stand right before the cursor, and where the first of them stands.
fn standing(screen: &Screen, keys: &[Key]) -> (usize, (u16, u16)) {
    let mut position = screen.next_cell();
    let mut count = 0;
    for key in keys.iter().rev() {
        let Some(before) = retreat(screen, position, key.character) else { break };
        position = before;
        count += 1;
    }
    (count, position)
}

/// The position of a character, if it stands right before this one: in the same row, or at the end of the row above if only
/// blanks stand before the position in this row, because a row was full or the program has begun another.
fn retreat(screen: &Screen, position: (u16, u16), character: char) -> Option<(u16, u16)> {
    if width(character) == 0 {
        let (row, column) = (position.0, position.1.checked_sub(1)?);
        let cell = screen.cell(row, screen.begin_of(row, column))?;
        return cell.marks().any(|mark| mark == character).then_some(position);
    }
    in_row(screen, position, character).or_else(|| {
        let above = end_above(screen, position)?;
        let swallowed = (character == ' ').then_some(above);
        in_row(screen, above, character).or(swallowed)
    })
}

fn in_row(screen: &Screen, (row, column): (u16, u16), character: char) -> Option<(u16, u16)> {
    let column = screen.begin_of(row, column.checked_sub(1)?);
    screen.shows((row, column), character).then_some((row, column))
}

/// The end of the text in the row above, without the mark of a row that goes on (emacs' `\`).
fn end_above(screen: &Screen, (row, column): (u16, u16)) -> Option<(u16, u16)> {
    let is_blank = |row: u16, column: u16| screen.shows((row, column), ' ');
    let above = row.checked_sub(1)?;
    if !(0..column).all(|column| is_blank(row, column)) {
        return None;
    }
    let columns = screen.size().0;
    let end = (0..columns).rev().find(|column| !is_blank(above, *column))?;
    let is_mark = end == columns - 1 && screen.shows((above, end), '\\');
    Some((above, if is_mark { end } else { end + 1 }))
}
