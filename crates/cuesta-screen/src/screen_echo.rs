//! Finds typed keys on the screen where the cursor stood: the echo of a keystroke on the screen.
//!
//! Keys wait in a queue, one character each. Whatever sequences a program draws with, a key is *shown* when its character
//! stands in a cell and the cursor right behind it. Two rules say so, each for the longest run of keys that it holds for:
//!
//! 1. **In place.** The cursor has moved from where it stood, by the width of the keys, and the cells between show them;
//!    where a row is full, on into the next one. *Where it stood* is where the cursor was when the first waiting key was
//!    sent, or where it last came to rest, moved up with what has scrolled since. Looked at after every character that
//!    comes, so a key is found even if the answer to a later one comes with it.
//! 2. **Elsewhere.** A program may have scrolled, begun a new row (emacs' `\` in the last column, word wrap, indentation)
//!    or moved the row sideways: then the keys that stand right before the cursor count, read back over the end of a full
//!    row, and over a Return to the end of the row above. Looked at only when the cursor *rests*: at the end of what was
//!    read, not hidden, and not where it rested before.
//!
//! So a cursor that wanders while a program draws its status line shows nothing. A key that never appears (a password, a
//! command of vi) is given up by the caller's patience, or **overtaken**: when the cursor rests and a later key is shown in
//! place, or a later input (what follows a Return or another control key) in either way. A blank overtakes nobody,
//! and nothing is overtaken in place in another row when a Return was typed behind it: what stands there is an answer.
//!
//! What can deceive the rules: other output that puts just the awaited character just there; a program that hides the
//! cursor for good and draws one of its own (then nothing is shown *at the cursor*, unless it was hidden when the key went).

use std::collections::VecDeque;

use unicode_width::UnicodeWidthChar;

use crate::Screen;

/// So many waiting keys are looked for at once.
const LOOKED_FOR: usize = 64;

/// Keys that wait to be shown, each with what the caller wants back.
#[derive(Debug)]
pub struct ScreenEcho<K> {
    waiting: VecDeque<AwaitedKey<K>>,
    /// What was typed behind the last of them.
    turn: Separator,
    /// Where the cursor stood when the first of them was sent.
    begun: CellPosition,
    /// Where it came to rest since.
    rested: CellPosition,
    /// The cursor was hidden when the first was sent: that says nothing then.
    hidden: bool,
    /// How the cursor stood when it was last looked at, and since which character of the read.
    last: (u16, u16, bool),
    since: usize,
}

/// What became of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyMatch<K> {
    /// The screen shows it since this character of the read, and where; no place if that cannot be said.
    Shown(K, usize, Option<CellPosition>),
    /// It was never shown, and a later one is.
    Overtaken(K),
}

#[derive(Debug)]
struct AwaitedKey<K> {
    character: char,
    /// What was typed just before it.
    turn: Separator,
    key: K,
}

/// What was typed that is not shown as itself.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Separator {
    #[default]
    None,
    /// A Return: what follows stands in another row.
    Return,
    /// Anything else: what follows may stand anywhere.
    Other,
}

/// A place on the screen, and what had scrolled off above it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct CellPosition {
    row: u16,
    column: u16,
    scrolled: u64,
}

impl<K> Default for ScreenEcho<K> {
    fn default() -> Self {
        Self {
            waiting: VecDeque::new(),
            turn: Separator::None,
            begun: CellPosition::default(),
            rested: CellPosition::default(),
            hidden: false,
            last: (0, 0, false),
            since: 0,
        }
    }
}

impl<K> ScreenEcho<K> {
    /// How many keys wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The key that waits longest.
    pub fn front(&self) -> Option<&K> {
        self.waiting.front().map(|typed| &typed.key)
    }

    /// The keys that wait, in order.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.waiting.iter().map(|typed| &typed.key)
    }

    /// Gives up all keys but some.
    pub fn retain(&mut self, keep: impl Fn(&K) -> bool) {
        let all = self.waiting.len();
        self.waiting.retain(|typed| keep(&typed.key));
        if self.waiting.len() < all {
            self.turn(false);
        }
    }

    /// Gives up the key that waits longest.
    pub fn give_up(&mut self) -> Option<K> {
        self.waiting.pop_front().map(|typed| typed.key)
    }

    /// A character is typed that the screen should show.
    pub fn await_key(&mut self, screen: &Screen, character: char, key: K) {
        let turn = std::mem::take(&mut self.turn);
        if self.waiting.is_empty() {
            self.rest_at(screen);
            self.begun = self.rested;
            self.hidden = screen.modes().hidden_cursor;
            self.last = stands(screen);
        }
        self.waiting.push_back(AwaitedKey { character, turn, key });
    }

    /// A key is typed that is not shown as itself: a Return, or any other.
    pub fn turn(&mut self, is_return: bool) {
        self.turn = match (self.turn, is_return) {
            _ if self.waiting.is_empty() => Separator::None,
            (Separator::None, true) => Separator::Return,
            _ => Separator::Other,
        };
    }

    /// Feeds the screen with characters `from..` of a read, and says what it shows on the way. `exactly`: to the
    /// character, for a line on which each has an instant of its own.
    pub fn feed(
        &mut self,
        screen: &mut Screen,
        bytes: &[u8],
        from: usize,
        exactly: bool,
        mut found: impl FnMut(KeyMatch<K>),
    ) {
        let mut rest = bytes;
        while let Some(first) = self.waiting.front() {
            let last = last_byte(first.character);
            let next = if exactly { Some(0) } else { rest.iter().position(|byte| *byte == last) };
            let Some(next) = next.filter(|next| *next < rest.len()) else { break };
            let at = from + bytes.len() - rest.len() + next;
            screen.feed(&rest[..=next]);
            rest = &rest[next + 1..];
            self.look(screen, at);
            if let Some(shown) = self.in_place(screen, 0) {
                self.take(screen, 0, shown, at, &mut found);
            }
        }
        screen.feed(rest);
    }

    /// All of a read, `len` characters, has been fed: looks where the cursor rests.
    pub fn rest(&mut self, screen: &Screen, len: usize, mut found: impl FnMut(KeyMatch<K>)) {
        if self.waiting.is_empty() {
            return;
        }
        self.look(screen, len.saturating_sub(1));
        let at = std::mem::take(&mut self.since);
        if screen.modes().hidden_cursor && !self.hidden {
            return;
        }
        let places = (0..self.looked_for()).find_map(|first| Some((first, self.in_place(screen, first)?)));
        let places = places.filter(|(first, end)| *first == 0 || self.is_ink(*first, *end));
        match places.or_else(|| self.elsewhere(screen)) {
            Some((first, end)) => self.take(screen, first, end, at, &mut found),
            None => self.rest_at(screen),
        }
    }

    fn rest_at(&mut self, screen: &Screen) {
        let (row, column) = screen.cursor();
        self.rested = CellPosition { row, column, scrolled: screen.scrolled() };
    }

    /// Remembers since when the cursor stands as it does.
    fn look(&mut self, screen: &Screen, at: usize) {
        let now = stands(screen);
        if now != self.last {
            (self.last, self.since) = (now, at);
        }
    }

    fn looked_for(&self) -> usize {
        self.waiting.len().min(LOOKED_FOR)
    }

    /// Whether any of these keys is more than a blank.
    fn is_ink(&self, first: usize, end: usize) -> bool {
        self.waiting.range(first..end).any(|typed| typed.character != ' ')
    }

    /// The keys up to `end` are done with; those from `first` on are shown.
    fn take(&mut self, screen: &Screen, first: usize, end: usize, at: usize, found: &mut impl FnMut(KeyMatch<K>)) {
        let places = self.places(screen, first, end);
        for (index, typed) in self.waiting.drain(..end).enumerate() {
            found(match index.checked_sub(first) {
                None => KeyMatch::Overtaken(typed.key),
                Some(index) => KeyMatch::Shown(typed.key, at, places[index]),
            });
        }
        self.rest_at(screen);
        self.begun = self.rested;
    }

    /// Where these keys stand, which end before the cursor.
    fn places(&self, screen: &Screen, first: usize, end: usize) -> [Option<CellPosition>; LOOKED_FOR] {
        let mut places = [None; LOOKED_FOR];
        let mut place = screen.cursor();
        let mut turn = self.waiting.get(end).map_or(self.turn, |typed| typed.turn);
        for index in (first..end).rev() {
            let typed = &self.waiting[index];
            let direct = before(screen, place, typed.character);
            let returned = || before(screen, above(screen, place)?, typed.character);
            let Some(at) = direct.or_else(|| (turn == Separator::Return).then(returned).flatten()) else { break };
            places[index - first] = Some(CellPosition { row: at.0, column: at.1, scrolled: screen.scrolled() });
            (place, turn) = (at, typed.turn);
        }
        places
    }

    /// Whether a Return was typed behind a key.
    fn is_returned(&self, index: usize) -> bool {
        self.turn == Separator::Return || self.waiting.range(index + 1..).any(|typed| typed.turn == Separator::Return)
    }

    /// Rule 1: the end of the keys from `first` on that stand between where the cursor stood and where it stands.
    fn in_place(&self, screen: &Screen, first: usize) -> Option<usize> {
        let rows = [self.begun, self.rested].map(|place| place.now(screen).map(|(row, _)| row));
        // A Return that has led to another row was answered: what stands there is no echo of half of what was typed.
        let answered = first > 0 && rows[0] != rows[1] && self.is_returned(first);
        let begins = [Some(self.begun), Some(self.rested).filter(|_| !answered)];
        begins.into_iter().flatten().filter_map(|begin| self.in_place_from(screen, first, begin)).max()
    }

    fn in_place_from(&self, screen: &Screen, first: usize, begin: CellPosition) -> Option<usize> {
        let cursor = screen.cursor();
        let mut place = begin.now(screen)?;
        let mut end = None;
        for (index, typed) in self.waiting.range(first..self.looked_for()).enumerate() {
            if index > 0 && typed.turn != Separator::None {
                break;
            }
            let Some(behind) = advance(screen, place, typed.character) else { break };
            place = behind;
            if place == cursor {
                end = Some(first + index + 1);
            }
        }
        end
    }

    /// Rule 2: the first and the end of the keys that stand right before the cursor.
    fn elsewhere(&self, screen: &Screen) -> Option<(usize, usize)> {
        let cursor = screen.cursor();
        if [self.begun, self.rested].iter().any(|place| place.now(screen) == Some(cursor)) {
            return None;
        }
        let inputs = (0..self.looked_for()).filter(|first| {
            *first == 0 || (self.waiting[*first].turn != Separator::None && self.waiting[*first].character != ' ')
        });
        inputs.into_iter().find_map(|first| {
            let ends = (first + 1..=self.looked_for()).rev();
            ends.into_iter().find(|end| self.stand_before(screen, first, *end, cursor)).map(|end| (first, end))
        })
    }

    /// Whether these keys stand right before a place, or before the Return that was typed behind them.
    fn stand_before(&self, screen: &Screen, first: usize, end: usize, place: (u16, u16)) -> bool {
        let turn = self.waiting.get(end).map_or(self.turn, |typed| typed.turn);
        self.read_back(screen, first, end, place)
            || (turn == Separator::Return
                && above(screen, place).is_some_and(|place| self.read_back(screen, first, end, place)))
    }

    fn read_back(&self, screen: &Screen, first: usize, end: usize, mut place: (u16, u16)) -> bool {
        for index in (first..end).rev() {
            let typed = &self.waiting[index];
            let Some(before) = retreat(screen, place, typed.character) else { return false };
            place = before;
            if index > first {
                let crossed = match typed.turn {
                    Separator::None => Some(place),
                    Separator::Return => above(screen, place),
                    Separator::Other => None,
                };
                let Some(crossed) = crossed else { return false };
                place = crossed;
            }
        }
        true
    }
}

impl CellPosition {
    /// The beginning of the row that the cursor is in.
    pub(crate) fn of_row(screen: &Screen) -> Self {
        Self { row: screen.cursor().0, column: 0, scrolled: screen.scrolled() }
    }

    pub(crate) fn row(self) -> u16 {
        self.row
    }

    /// The same of another row of the screen as it is.
    pub(crate) fn in_row(self, row: u16) -> Self {
        Self { row, ..self }
    }

    /// Row and column behind a character that stands here, unless it has scrolled away.
    pub fn behind(self, screen: &Screen, character: char) -> Option<(u16, u16)> {
        let (row, column) = self.now(screen)?;
        Some((row, column + width(character)))
    }

    /// Row and column now, unless it has scrolled away.
    pub(crate) fn now(self, screen: &Screen) -> Option<(u16, u16)> {
        let up = u16::try_from(screen.scrolled() - self.scrolled).ok()?;
        Some((self.row.checked_sub(up)?, self.column))
    }
}

fn stands(screen: &Screen) -> (u16, u16, bool) {
    let (row, column) = screen.cursor();
    (row, column, screen.modes().hidden_cursor)
}

fn last_byte(character: char) -> u8 {
    let mut bytes = [0; 4];
    let len = character.encode_utf8(&mut bytes).len();
    bytes[len - 1]
}

fn width(character: char) -> u16 {
    character.width().unwrap_or(1).min(2) as u16
}

/// The place behind a character that stands at a place, if it stands there.
fn advance(screen: &Screen, (row, column): (u16, u16), character: char) -> Option<(u16, u16)> {
    let columns = screen.size().0;
    let width = width(character);
    if width == 0 {
        return is_joined(screen, (row, column), character).then_some((row, column));
    }
    let is_full = column + width > columns;
    // A wide character leaves a single column blank, and the row is then not marked as going on.
    if is_full && column == columns && !screen.goes_on(row) {
        return None;
    }
    let (row, column) = if is_full { (row + 1, 0) } else { (row, column) };
    let cell = screen.cell(row, column);
    let shows = cell.starts_with(character) || (cell.is_empty() && character == ' ');
    shows.then_some((row, column + width))
}

/// The place of a character that stands right before a place, if it does. A blank must have been written there.
fn retreat(screen: &Screen, (row, column): (u16, u16), character: char) -> Option<(u16, u16)> {
    if width(character) == 0 {
        return is_joined(screen, (row, column), character).then_some((row, column));
    }
    let (row, column) = if column == 0 { end_of_full(screen, row.checked_sub(1)?)? } else { (row, column) };
    let column = screen.begin_of(row, column - 1);
    screen.cell(row, column).starts_with(character).then_some((row, column))
}

/// The place before a place, of a character that stands or should stand there, also if it is a blank never written.
fn before(screen: &Screen, (row, column): (u16, u16), character: char) -> Option<(u16, u16)> {
    if character != ' ' {
        return retreat(screen, (row, column), character);
    }
    let (row, column) = if column == 0 { end_of_full(screen, row.checked_sub(1)?)? } else { (row, column) };
    matches!(screen.cell(row, column - 1), "" | " ").then_some((row, column - 1))
}

/// Whether the character before a place has this one joined to it.
fn is_joined(screen: &Screen, (row, column): (u16, u16), character: char) -> bool {
    let Some(before) = column.checked_sub(1) else { return false };
    screen.cell(row, screen.begin_of(row, before)).chars().skip(1).any(|joined| joined == character)
}

/// The end of a row that goes on in the next one: because it was full, or by a mark in the last column.
fn end_of_full(screen: &Screen, row: u16) -> Option<(u16, u16)> {
    let columns = screen.size().0;
    if screen.goes_on(row) {
        return Some((row, columns));
    }
    (screen.cell(row, columns - 1) == "\\").then_some((row, columns - 1))
}

/// The end of the row above, if nothing but blanks stands before a place.
fn above(screen: &Screen, (row, column): (u16, u16)) -> Option<(u16, u16)> {
    let is_blank = |column: &u16| matches!(screen.cell(row, *column), "" | " ");
    let above = row.checked_sub(1)?;
    let end = (0..screen.size().0).rev().find(|column| !matches!(screen.cell(above, *column), "" | " "))?;
    (0..column).all(|column| is_blank(&column)).then_some((above, end + 1))
}
