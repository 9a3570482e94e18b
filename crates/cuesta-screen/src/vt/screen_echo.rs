//! Finds typed keys on the screen, at the cursor: the echo of a keystroke on the screen.
//!
//! Keys wait in a queue, one character each. Programs draw with many sequences, so a key counts as shown by the result: its
//! character stands in a cell, and the cursor stands right behind it. Two rules find the longest run of such keys:
//!
//! 1. **In place.** The cursor has moved from its origin by the width of the keys, and the cells between show them. A full row
//!    continues in the next one. The origin is the cursor's position when the first waiting key was sent, or its last rest
//!    position; both move up when the screen scrolls. This rule is tried after every character that is received, so a key is
//!    found even if the answer to a later one arrives in the same read.
//! 2. **Elsewhere.** A program may scroll, begin a new row (emacs' `\` in the last column, word wrap, indentation) or shift the
//!    row sideways. Then the keys right before the cursor count, read backwards over the end of a full row, and over a Return to
//!    the end of the row above. This rule is tried only when the cursor rests: all of a read is drawn, the cursor is visible,
//!    and it stands at another position than at its last rest.
//!
//! So a cursor that wanders while a program draws its status line shows no key. Some keys never appear, such as a password or a
//! command of vi. The caller gives them up after a while, or they are **overtaken** when the cursor rests: by a later key that
//! is found in place, or by a key of a later input (behind a Return or another control key) under either rule. A blank overtakes
//! no key. After a Return, text in place in another row overtakes no key, because it is an answer.
//!
//! Limits: output that puts the awaited character at the awaited position by chance counts as an echo. A program that hides the
//! cursor for good and draws its own shows no key, unless the cursor was hidden when the key was sent.

use std::collections::VecDeque;

use super::Screen;
use super::cells::{CellPosition, above, advance, before, retreat};

/// Only this many of the waiting keys are searched for at once.
const MAX_SEARCHED: usize = 64;

/// Keys that wait to be shown, each with a value of the caller's.
#[derive(Debug)]
pub struct ScreenEcho<K> {
    waiting: VecDeque<AwaitedKey<K>>,
    /// The control key typed after the last of them.
    separator: Separator,
    /// The cursor's position when the first of them was sent.
    origin: CellPosition,
    /// The cursor's last rest position since then.
    rest: CellPosition,
    /// The cursor was hidden when the first was sent, so a hidden cursor does not exclude an echo.
    hidden: bool,
    /// The cursor's last known row, column and invisibility, and the character of the read that set them.
    last_cursor: (u16, u16, bool),
    since: usize,
}

/// The result for one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyMatch<K> {
    /// Shown: the character of the read since which it is, and its cell, if that is certain.
    Shown(K, usize, Option<CellPosition>),
    /// It was not shown, and a later one is.
    Overtaken(K),
}

#[derive(Debug)]
struct AwaitedKey<K> {
    character: char,
    /// The control key typed just before it.
    separator: Separator,
    value: K,
}

/// Control keys between two characters.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Separator {
    #[default]
    None,
    /// One Return: the next character stands in another row.
    Return,
    /// Anything else: the next character may stand anywhere.
    Other,
}

impl<K> Default for ScreenEcho<K> {
    fn default() -> Self {
        Self {
            waiting: VecDeque::new(),
            separator: Separator::None,
            origin: CellPosition::default(),
            rest: CellPosition::default(),
            hidden: false,
            last_cursor: (0, 0, false),
            since: 0,
        }
    }
}

impl<K> ScreenEcho<K> {
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The key that waits longest.
    pub fn front(&self) -> Option<&K> {
        self.waiting.front().map(|key| &key.value)
    }

    /// The keys that wait, in order.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.waiting.iter().map(|key| &key.value)
    }

    /// Gives up the keys for which `keep` is false.
    pub fn retain(&mut self, keep: impl Fn(&K) -> bool) {
        let all = self.waiting.len();
        self.waiting.retain(|key| keep(&key.value));
        if self.waiting.len() < all {
            self.control_key(false);
        }
    }

    /// Gives up the key that waits longest.
    pub fn give_up(&mut self) -> Option<K> {
        self.waiting.pop_front().map(|key| key.value)
    }

    /// Adds a character that the user types and the screen should show.
    pub fn await_key(&mut self, screen: &Screen, character: char, value: K) {
        let separator = std::mem::take(&mut self.separator);
        if self.waiting.is_empty() {
            self.set_rest(screen);
            self.origin = self.rest;
            self.hidden = screen.modes().hidden_cursor;
            self.last_cursor = cursor_state(screen);
        }
        self.waiting.push_back(AwaitedKey { character, separator, value });
    }

    /// Notes a key that types no character: a Return, or any other.
    pub fn control_key(&mut self, is_return: bool) {
        self.separator = match (self.separator, is_return) {
            _ if self.waiting.is_empty() => Separator::None,
            (Separator::None, true) => Separator::Return,
            _ => Separator::Other,
        };
    }

    /// Feeds the screen with `bytes`, which begin at index `from` of a read, and reports the keys that become visible in
    /// place. `exactly` looks after each character, for a line on which each has its own instant; otherwise only after
    /// characters that may end the first key.
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
            self.note_cursor(screen, at);
            if let Some(end) = self.find_in_place(screen, 0) {
                self.resolve(screen, 0, end, at, &mut found);
            }
        }
        screen.feed(rest);
    }

    /// Looks for keys where the cursor rests, after a whole read of `len` bytes.
    pub fn rest(&mut self, screen: &Screen, len: usize, mut found: impl FnMut(KeyMatch<K>)) {
        if self.waiting.is_empty() {
            return;
        }
        self.note_cursor(screen, len.saturating_sub(1));
        let at = std::mem::take(&mut self.since);
        if screen.modes().hidden_cursor && !self.hidden {
            return;
        }
        let range = (0..self.searched()).find_map(|first| Some((first, self.find_in_place(screen, first)?)));
        let range = range.filter(|(first, end)| *first == 0 || self.has_visible(*first, *end));
        match range.or_else(|| self.find_elsewhere(screen)) {
            Some((first, end)) => self.resolve(screen, first, end, at, &mut found),
            None => self.set_rest(screen),
        }
    }

    fn set_rest(&mut self, screen: &Screen) {
        self.rest = CellPosition::new(screen, screen.next_cell());
    }

    /// Remembers since which character the cursor has its position.
    fn note_cursor(&mut self, screen: &Screen, at: usize) {
        let now = cursor_state(screen);
        if now != self.last_cursor {
            (self.last_cursor, self.since) = (now, at);
        }
    }

    fn searched(&self) -> usize {
        self.waiting.len().min(MAX_SEARCHED)
    }

    /// Whether any of these keys is not a blank.
    fn has_visible(&self, first: usize, end: usize) -> bool {
        self.waiting.range(first..end).any(|key| key.character != ' ')
    }

    /// Removes the keys up to `end`: those from `first` on are shown, those before it overtaken.
    fn resolve(&mut self, screen: &Screen, first: usize, end: usize, at: usize, found: &mut impl FnMut(KeyMatch<K>)) {
        let cells = self.cells(screen, first, end);
        for (index, key) in self.waiting.drain(..end).enumerate() {
            found(match index.checked_sub(first) {
                None => KeyMatch::Overtaken(key.value),
                Some(index) => KeyMatch::Shown(key.value, at, cells[index]),
            });
        }
        self.set_rest(screen);
        self.origin = self.rest;
    }

    /// The cells of these keys, which end before the cursor.
    fn cells(&self, screen: &Screen, first: usize, end: usize) -> [Option<CellPosition>; MAX_SEARCHED] {
        let mut cells = [None; MAX_SEARCHED];
        let mut position = screen.next_cell();
        let mut separator = self.waiting.get(end).map_or(self.separator, |key| key.separator);
        for index in (first..end).rev() {
            let key = &self.waiting[index];
            let direct = before(screen, position, key.character);
            let returned = || before(screen, above(screen, position)?, key.character);
            let Some(at) = direct.or_else(|| (separator == Separator::Return).then(returned).flatten()) else { break };
            cells[index - first] = Some(CellPosition::new(screen, at));
            (position, separator) = (at, key.separator);
        }
        cells
    }

    /// Whether a Return was typed after a key.
    fn is_returned(&self, index: usize) -> bool {
        self.separator == Separator::Return
            || self.waiting.range(index + 1..).any(|key| key.separator == Separator::Return)
    }

    /// Rule 1: the end of the keys from `first` on that stand between the origin or the rest position and the cursor.
    fn find_in_place(&self, screen: &Screen, first: usize) -> Option<usize> {
        let rows = [self.origin, self.rest].map(|position| position.now(screen).map(|(row, _)| row));
        // If a Return has led to another row, the text there is an answer and not an echo of the later half of the keys.
        let answered = first > 0 && rows[0] != rows[1] && self.is_returned(first);
        let begins = [Some(self.origin), Some(self.rest).filter(|_| !answered)];
        begins.into_iter().flatten().filter_map(|begin| self.find_from(screen, first, begin)).max()
    }

    fn find_from(&self, screen: &Screen, first: usize, begin: CellPosition) -> Option<usize> {
        let cursor = screen.next_cell();
        let mut position = begin.now(screen)?;
        let mut end = None;
        for (index, key) in self.waiting.range(first..self.searched()).enumerate() {
            if index > 0 && key.separator != Separator::None {
                break;
            }
            let Some(behind) = advance(screen, position, key.character) else { break };
            position = behind;
            if position == cursor {
                end = Some(first + index + 1);
            }
        }
        end
    }

    /// Rule 2: the range of the keys that stand right before the cursor.
    fn find_elsewhere(&self, screen: &Screen) -> Option<(usize, usize)> {
        let cursor = screen.next_cell();
        if [self.origin, self.rest].iter().any(|position| position.now(screen) == Some(cursor)) {
            return None;
        }
        let inputs = (0..self.searched()).filter(|first| {
            *first == 0 || (self.waiting[*first].separator != Separator::None && self.waiting[*first].character != ' ')
        });
        inputs.into_iter().find_map(|first| {
            let ends = (first + 1..=self.searched()).rev();
            ends.into_iter().find(|end| self.stand_before(screen, first, *end, cursor)).map(|end| (first, end))
        })
    }

    /// Whether these keys stand right before a position, or end the row above it if a Return was typed after them.
    fn stand_before(&self, screen: &Screen, first: usize, end: usize, position: (u16, u16)) -> bool {
        let separator = self.waiting.get(end).map_or(self.separator, |key| key.separator);
        self.read_back(screen, first, end, position)
            || (separator == Separator::Return
                && above(screen, position).is_some_and(|position| self.read_back(screen, first, end, position)))
    }

    fn read_back(&self, screen: &Screen, first: usize, end: usize, mut position: (u16, u16)) -> bool {
        for index in (first..end).rev() {
            let key = &self.waiting[index];
            let Some(before) = retreat(screen, position, key.character) else { return false };
            position = before;
            if index > first {
                let crossed = match key.separator {
                    Separator::None => Some(position),
                    Separator::Return => above(screen, position),
                    Separator::Other => None,
                };
                let Some(crossed) = crossed else { return false };
                position = crossed;
            }
        }
        true
    }
}

fn cursor_state(screen: &Screen) -> (u16, u16, bool) {
    let (row, column) = screen.next_cell();
    (row, column, screen.modes().hidden_cursor)
}

fn last_byte(character: char) -> u8 {
    let mut bytes = [0; 4];
    let len = character.encode_utf8(&mut bytes).len();
    bytes[len - 1]
}
