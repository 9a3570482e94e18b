//! A user's screen, and the queue of what has come and is not drawn yet.
//!
//! Reads are stamped and queued here, and drawn later in pieces, so that drawing for one user does not delay the stamps of
//! another. Keys sent meanwhile are queued between the reads, as if all before them had been drawn. Bounded: reading stops
//! while too much waits to be drawn. Pure.
//!
//! - Here: the queue, and drawing. `answer`: whether the screen meets a wait condition.

use std::collections::VecDeque;

use answer::Hold;
use cuesta_lines::Received;
use cuesta_record::Stamp;
use cuesta_screen::vt::{ChangedRows, KeyMatch, OwnEchoes, Screen, ScreenEcho};

use cuesta_tape::WaitCondition;

mod answer;

/// Reading stops while this much is not drawn; one more read may come on top of it.
const FULL: usize = 16 * 1024;
/// How much of the queue's memory is kept while it is empty.
const KEPT: usize = 1024;

/// A user's screen.
#[derive(Debug)]
pub(crate) struct UserScreen {
    screen: Screen,
    screen_echo: ScreenEcho<UnshownKey>,
    changed_rows: ChangedRows,
    own_echoes: OwnEchoes,
    /// What has come and is not drawn.
    bytes: Vec<u8>,
    /// How much of it is drawn already.
    drawn: usize,
    /// Reads and keys that are not drawn, in order.
    events: VecDeque<Event>,
    /// How many timed keys the screen has not shown.
    unechoed: usize,
    /// Keys that the last piece has shown. Reused for its memory.
    matches: Vec<KeyMatch<UnshownKey>>,
    /// Something has been drawn since the last key.
    has_output: bool,
    /// The last key sent ended its input, so its response is waited for.
    ends_input: bool,
    /// When the screen first showed anything but echoes after the last key: the beginning of a response.
    first_output: Option<Stamp>,
    /// Since when the screen has met the wait condition.
    matched: Option<Stamp>,
    hold: Hold,
    /// Whether other tasks have had their turn since the last piece was drawn.
    pub(crate) has_turn: bool,
    /// Memory size last reported, in bytes.
    reported_memory: usize,
}

/// A key that the screen should show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ScreenKey {
    /// When it was due.
    pub(crate) due: Stamp,
    /// When it was sent.
    pub(crate) sent: Stamp,
    /// Whether its echo is timed, and counted if it is missing.
    pub(crate) timed: bool,
    /// Whether it is the first key since the last response.
    pub(crate) begins_input: bool,
    /// Whether the next wait follows it, with no other key between, so that its own echo may be the response.
    pub(crate) ends_input: bool,
}

/// What a key should make the screen show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyEffect {
    /// The screen should show this character.
    Shown(char),
    Return,
    /// Backspace: takes back what was typed.
    Erase,
    /// Anything else that is not shown as itself.
    Other,
}

/// A key that the screen has not shown yet, the character that it will show, and the number of the typed row.
#[derive(Debug, Clone, Copy)]
struct UnshownKey {
    key: ScreenKey,
    character: char,
    row: u32,
}

/// At most this many untimed keys may wait to be shown.
const MOST_UNTIMED: usize = 256;

#[derive(Debug)]
enum Event {
    /// A read, and how many of its characters are drawn.
    Read(Received, usize),
    /// A key was sent.
    Key(KeyEffect, ScreenKey),
}

/// What a drawn piece brought about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScreenEvent {
    /// A key has been shown since an instant.
    Key(ScreenKey, Stamp),
    /// A key will never be shown.
    Missed,
    /// The wait condition has been met since an instant.
    Answer(Stamp),
}

impl UserScreen {
    pub(crate) fn new((columns, rows): (u16, u16)) -> Self {
        Self {
            screen: Screen::new(columns, rows),
            screen_echo: ScreenEcho::default(),
            changed_rows: ChangedRows::default(),
            own_echoes: OwnEchoes::default(),
            bytes: Vec::new(),
            drawn: 0,
            events: VecDeque::new(),
            unechoed: 0,
            matches: Vec::new(),
            has_output: false,
            ends_input: false,
            first_output: None,
            matched: None,
            hold: Hold::default(),
            has_turn: false,
            reported_memory: 0,
        }
    }

    /// The memory size last reported, and the size now, in bytes.
    pub(crate) fn memory_change(&mut self) -> (usize, usize) {
        let now = size_of::<Self>() + self.screen.memory() + self.bytes.capacity();
        (std::mem::replace(&mut self.reported_memory, now), now)
    }

    /// The screen as it is drawn.
    pub(crate) fn screen(&self) -> &Screen {
        &self.screen
    }

    /// The text of the cursor's row, with the blanks before the cursor.
    pub(crate) fn cursor_row(&self) -> String {
        let cursor = self.screen.cursor();
        let (row, before) = (self.screen.row(cursor.0), self.screen.text_before(cursor));
        if before.len() > row.len() { before } else { row }
    }

    /// The first `len` bytes of the screen's replies have been sent.
    pub(crate) fn forget_replies(&mut self, len: usize) {
        self.screen.forget_replies(len);
    }

    /// Whether reading should stop because too much waits to be drawn.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes.len() - self.drawn >= FULL
    }

    /// Whether all that came is drawn.
    pub(crate) fn is_drawn(&self) -> bool {
        self.events.is_empty()
    }

    /// How many timed keys it has not shown yet.
    pub(crate) fn unechoed(&self) -> usize {
        self.unechoed
    }

    /// When the timed key that it has not shown for the longest time was due.
    pub(crate) fn oldest(&self) -> Option<Stamp> {
        let waiting = self.screen_echo.keys().map(|unshown| &unshown.key);
        waiting.chain(self.events.iter().filter_map(Event::key)).find(|key| key.timed).map(|key| key.due)
    }

    /// A read came.
    pub(crate) fn read(&mut self, bytes: &[u8], received: &Received) {
        self.bytes.extend_from_slice(bytes);
        self.events.push_back(Event::Read(*received, 0));
    }

    /// A key is sent.
    pub(crate) fn key(&mut self, effect: KeyEffect, key: ScreenKey) {
        self.unechoed += usize::from(key.timed && matches!(effect, KeyEffect::Shown(_)));
        if self.is_drawn() {
            self.apply(effect, key);
        } else {
            self.events.push_back(Event::Key(effect, key));
        }
    }

    fn apply(&mut self, effect: KeyEffect, key: ScreenKey) {
        self.has_output = false;
        self.ends_input = key.ends_input;
        (self.first_output, self.matched, self.hold.since) = (None, None, None);
        if key.begins_input {
            self.own_echoes.begin(&self.screen);
            self.hold.begin(&mut self.screen_echo);
        }
        self.own_echoes.mark();
        if key.ends_input {
            self.changed_rows.mark(&self.screen);
        } else {
            self.changed_rows.forget();
        }
        match effect {
            KeyEffect::Shown(character) => self.await_key(character, key),
            KeyEffect::Return | KeyEffect::Erase | KeyEffect::Other => {
                // Programs that draw the whole screen end no row.
                if effect == KeyEffect::Return {
                    self.hold.end_row(self.own_echoes.is_edited() && !self.screen.is_alternate());
                }
                self.screen_echo.control_key(effect == KeyEffect::Return);
                self.own_echoes.control_key(effect == KeyEffect::Return, effect == KeyEffect::Erase);
            }
        }
    }

    fn await_key(&mut self, character: char, key: ScreenKey) {
        if key.timed {
            // An untimed key may never be shown, and must not delay a timed one.
            self.screen_echo.retain(|unshown| unshown.key.timed);
        } else if self.screen_echo.len() >= MOST_UNTIMED
            && self.screen_echo.front().is_some_and(|unshown| !unshown.key.timed)
        {
            self.screen_echo.give_up();
        }
        let row = if key.ends_input { 0 } else { self.own_echoes.printable_key(character) };
        self.screen_echo.await_key(&self.screen, character, UnshownKey { key, character, row });
    }

    /// Gives up all timed keys sent before an instant; returns how many. Untimed keys are given up as whole inputs: the end of
    /// an input without its beginning could be found in a response.
    pub(crate) fn give_up_before(&mut self, sent: Stamp) -> u64 {
        let mut lost = 0;
        while self.screen_echo.front().is_some_and(|unshown| unshown.key.timed && unshown.key.sent < sent) {
            self.screen_echo.give_up();
            lost += 1;
        }
        self.unechoed -= lost as usize;
        lost
    }

    /// Draws one piece, at most `most` bytes, and reports what that brought about.
    pub(crate) fn draw(&mut self, most: usize, condition: Option<&WaitCondition>, events: &mut Vec<ScreenEvent>) {
        while let Some(&Event::Key(effect, key)) = self.events.front() {
            self.events.pop_front();
            self.apply(effect, key);
        }
        let Some(Event::Read(received, from)) = self.events.front_mut() else { return };
        let (received, from) = (*received, *from);
        // While a match is held the screen is checked after each character, so a turn takes fewer of them.
        let most = if self.matched.is_some() && self.is_match_held() { most / 32 } else { most };
        let to = received.len.min(from + most.max(1));
        let ends = to == received.len;
        if ends {
            self.events.pop_front();
        } else if let Some(Event::Read(_, drawn)) = self.events.front_mut() {
            *drawn = to;
        }
        // What came before a key is no response to it.
        let no_key_follows = !self.events.iter().any(|event| matches!(event, Event::Key(..)));
        let condition = condition.filter(|condition| condition.needs_screen() && no_key_follows);
        self.draw_range(&received, from..to, condition, events);
        if ends {
            self.end_read(&received, condition, events);
        }
        self.tidy();
    }

    fn draw_range(
        &mut self,
        received: &Received,
        range: std::ops::Range<usize>,
        condition: Option<&WaitCondition>,
        events: &mut Vec<ScreenEvent>,
    ) {
        // On a line with a speed the screen is checked after each character, because each has an instant of its own. While a
        // match is held it is too, because the match may be gone at the end of the read and another one there.
        let exactly = !received.per_character.is_zero() || (self.matched.is_some() && self.is_match_held());
        let step = if exactly && condition.is_some() { 1 } else { range.len() };
        for from in range.clone().step_by(step.max(1)) {
            let to = range.end.min(from + step);
            let bytes = &self.bytes[self.drawn..self.drawn + (to - from)];
            let ends_row = if self.hold.edited_return { bytes.iter().position(|byte| *byte == b'\n') } else { None };
            let (before, behind) = bytes.split_at(ends_row.unwrap_or(0));
            let matches = &mut self.matches;
            let mut feed = |screen: &mut Screen, bytes: &[u8], from| {
                self.screen_echo.feed(screen, bytes, from, exactly, |key| matches.push(key));
            };
            if ends_row.is_some() {
                feed(&mut self.screen, before, from);
                self.own_echoes.leave_edited_row(&self.screen);
                self.hold.edited_return = false;
                (self.first_output, self.matched, self.hold.since) = (None, None, None);
            }
            feed(&mut self.screen, behind, from + before.len());
            self.drawn += to - from;
            (self.has_output, self.hold.host_has_spoken) = (true, true);
            self.handle_matches(received, events);
            if let Some(condition) = condition.filter(|_| exactly) {
                self.check(condition, received.at_character(from));
            }
        }
    }

    /// All of a read is drawn.
    fn end_read(&mut self, received: &Received, condition: Option<&WaitCondition>, events: &mut Vec<ScreenEvent>) {
        let matches = &mut self.matches;
        self.screen_echo.rest(&self.screen, received.len, |key| matches.push(key));
        self.handle_matches(received, events);
        if let Some(condition) = condition {
            self.check(condition, received.at_character(received.len.saturating_sub(1)));
            events.extend(self.matched.filter(|_| !self.is_match_held()).map(ScreenEvent::Answer));
        }
    }

    /// Releases the memory of a flood once it is drawn.
    fn tidy(&mut self) {
        if self.drawn == self.bytes.len() {
            self.bytes.clear();
            self.bytes.shrink_to(KEPT);
            self.drawn = 0;
        } else if self.drawn >= FULL {
            self.bytes.drain(..self.drawn);
            self.drawn = 0;
        }
    }
}

impl KeyEffect {
    /// The effect of a character; `map` holds what the host shows for others.
    pub(crate) fn new(character: char, map: &[(u8, u8)]) -> Self {
        match character {
            '\r' | '\n' => Self::Return,
            '\x7f' | '\x08' => Self::Erase,
            character if character.is_control() => Self::Other,
            character => {
                let mapped = map.iter().find(|(from, _)| char::from(*from) == character);
                Self::Shown(mapped.map_or(character, |(_, to)| char::from(*to)))
            }
        }
    }
}

impl Event {
    fn key(&self) -> Option<&ScreenKey> {
        match self {
            Self::Key(KeyEffect::Shown(_), key) => Some(key),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
