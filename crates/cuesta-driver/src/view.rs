//! What a user sees: a screen, and what has come and is not drawn yet.
//!
//! What a read brought is stamped and put here; it is drawn later and in pieces, so that nobody's drawing makes somebody
//! else's characters late. A key that is sent meanwhile takes its place between the reads, as if all before it had been
//! drawn. Bounded: nothing more is read while too much waits to be drawn. Pure.

use std::collections::VecDeque;

use cuesta_lines::Received;
use cuesta_record::Stamp;
use cuesta_screen::{Found, Fresh, Screen, Shown};
use regex::bytes::Regex;

use crate::answer::Rule;

/// No more is read while so much is not drawn; one read more may come on top of it.
const FULL: usize = 16 * 1024;
/// What is kept of the memory for it while nothing waits.
const KEPT: usize = 1024;

/// A user's screen.
#[derive(Debug)]
pub(crate) struct View {
    screen: Screen,
    shown: Shown<Key>,
    fresh: Fresh,
    /// What has come and is not drawn.
    bytes: Vec<u8>,
    /// How much of it is drawn all the same.
    drawn: usize,
    /// What happened and is not drawn, in order.
    events: VecDeque<Event>,
    /// Keys among the events that the screen is to show.
    queued: usize,
    /// Something has been drawn since the last key.
    came: bool,
    /// Since which character of the read that is being drawn the screen has shown what is waited for.
    holds: Option<usize>,
    /// Whether the others have had their turn since the last piece was drawn.
    pub(crate) has_turn: bool,
    /// What it took in memory when that was last asked.
    told: usize,
}

/// A key that the screen is to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    /// When it should have gone.
    pub(crate) due: Stamp,
    /// When it went.
    pub(crate) sent: Stamp,
}

/// What a key means for the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Typed {
    /// The screen is to show this character.
    Shown(char, Key),
    Return,
    /// Anything that is not shown as itself.
    Other,
}

impl Typed {
    /// What is typed, where the host shows for a character what the map says. `awaited`: when it was due and when it
    /// went, if the screen is to show it. One key is one character: what is pasted is not awaited.
    pub(crate) fn new(typed: &[u8], map: &[(u8, u8)], awaited: Option<(Stamp, Stamp)>) -> Self {
        if typed == b"\r" {
            return Self::Return;
        }
        let mut characters = std::str::from_utf8(typed).unwrap_or_default().chars();
        match (characters.next(), characters.next(), awaited) {
            (Some(character), None, Some((due, sent))) if !character.is_control() => {
                let shown = map.iter().find(|(from, _)| typed == [*from]).map_or(character, |(_, to)| char::from(*to));
                Self::Shown(shown, Key { due, sent })
            }
            _ => Self::Other,
        }
    }
}

#[derive(Debug)]
enum Event {
    /// A read came; so many of its characters are drawn.
    Read(Received, usize),
    /// A key went. `last`: what is waited for must come after it.
    Sent { typed: Typed, last: bool },
}

/// What the screen shows all at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sight {
    /// A key, since an instant.
    Key(Key, Stamp),
    /// Not a key, and it never will.
    Missed,
    /// What is waited for, since an instant.
    Answer(Stamp),
}

impl View {
    pub(crate) fn new((columns, rows): (u16, u16)) -> Self {
        Self {
            screen: Screen::new(columns, rows),
            shown: Shown::default(),
            fresh: Fresh::default(),
            bytes: Vec::new(),
            drawn: 0,
            events: VecDeque::new(),
            queued: 0,
            came: false,
            holds: None,
            has_turn: false,
            told: 0,
        }
    }

    /// What it took in memory when this was last asked, and takes now, in bytes.
    pub(crate) fn grown(&mut self) -> (usize, usize) {
        let now = size_of::<Self>() + self.screen.memory() + self.bytes.capacity();
        (std::mem::replace(&mut self.told, now), now)
    }

    /// The screen as it is drawn.
    pub(crate) fn screen(&self) -> &Screen {
        &self.screen
    }

    /// The screen's answers have gone.
    pub(crate) fn forget_replies(&mut self, len: usize) {
        self.screen.forget_replies(len);
    }

    /// Whether so much waits to be drawn that no more should be read.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes.len() - self.drawn >= FULL
    }

    /// Whether all that came is drawn.
    pub(crate) fn is_drawn(&self) -> bool {
        self.events.is_empty()
    }

    /// How many keys it has not shown yet.
    pub(crate) fn pending(&self) -> usize {
        self.shown.len() + self.queued
    }

    /// The key that it has not shown for the longest time.
    pub(crate) fn oldest(&self) -> Option<Key> {
        self.shown.front().copied().or_else(|| self.events.iter().find_map(Event::key))
    }

    /// A read came.
    pub(crate) fn read(&mut self, bytes: &[u8], received: &Received) {
        self.bytes.extend_from_slice(bytes);
        self.events.push_back(Event::Read(*received, 0));
    }

    /// A key goes. `last`: what is waited for must come after it.
    pub(crate) fn sent(&mut self, typed: Typed, last: bool) {
        if !self.is_drawn() {
            self.queued += usize::from(matches!(typed, Typed::Shown(..)));
            self.events.push_back(Event::Sent { typed, last });
            return;
        }
        self.apply(typed, last);
    }

    fn apply(&mut self, typed: Typed, last: bool) {
        self.came = false;
        if last {
            self.fresh.mark(&self.screen);
        } else {
            self.fresh.forget();
        }
        match typed {
            Typed::Shown(character, key) => self.shown.await_key(&self.screen, character, key),
            Typed::Return => self.shown.turn(true),
            Typed::Other => self.shown.turn(false),
        }
    }

    /// Gives up all keys sent before an instant; says how many.
    pub(crate) fn give_up_before(&mut self, sent: Stamp) -> u64 {
        let mut lost = 0;
        while self.shown.front().is_some_and(|key| key.sent < sent) {
            lost += u64::from(self.shown.give_up().is_some());
        }
        lost
    }

    /// Draws one piece of what came, at most so much, and tells what the screen then shows.
    pub(crate) fn draw(&mut self, most: usize, rule: Option<&Rule>, sights: &mut Vec<Sight>) {
        while let Some(Event::Sent { typed, last }) = self.events.front() {
            let (typed, last) = (*typed, *last);
            self.queued -= usize::from(matches!(typed, Typed::Shown(..)));
            self.events.pop_front();
            self.apply(typed, last);
        }
        let Some(Event::Read(received, from)) = self.events.front_mut() else { return };
        let (received, from) = (*received, *from);
        let to = received.len.min(from + most.max(1));
        let ends = to == received.len;
        if ends {
            self.events.pop_front();
        } else if let Some(Event::Read(_, drawn)) = self.events.front_mut() {
            *drawn = to;
        }
        // What came before a key that has gone is no answer to it.
        let is_last = !self.events.iter().any(|event| matches!(event, Event::Sent { .. }));
        let rule = rule.filter(|rule| rule.looks() && is_last);
        self.draw_read(&received, from..to, rule, sights);
        if ends {
            self.rest(&received, rule, sights);
        }
        self.tidy();
    }

    fn draw_read(
        &mut self,
        received: &Received,
        range: std::ops::Range<usize>,
        rule: Option<&Rule>,
        sights: &mut Vec<Sight>,
    ) {
        let exactly = !received.per_character.is_zero();
        // On a line with a speed the screen is looked at after each character, because each has an instant of its own.
        let step = if exactly && rule.is_some() { 1 } else { range.len() };
        for from in range.clone().step_by(step.max(1)) {
            let to = range.end.min(from + step);
            let bytes = &self.bytes[self.drawn..self.drawn + (to - from)];
            let found = |found| sights.push(sight(found, received));
            self.shown.feed(&mut self.screen, bytes, from, exactly, found);
            self.drawn += to - from;
            self.came = true;
            if let Some(rule) = rule.filter(|_| exactly) {
                self.holds = if self.holds(rule) { self.holds.or(Some(from)) } else { None };
            }
        }
    }

    /// All of a read is drawn.
    fn rest(&mut self, received: &Received, rule: Option<&Rule>, sights: &mut Vec<Sight>) {
        self.shown.rest(&self.screen, received.len, |found| sights.push(sight(found, received)));
        let since = std::mem::take(&mut self.holds);
        if let Some(rule) = rule
            && (since.is_some() || self.holds(rule))
        {
            sights.push(Sight::Answer(received.at_character(since.unwrap_or(received.len.saturating_sub(1)))));
        }
    }

    /// Whether the screen shows what is waited for, and it came after the last key.
    pub(crate) fn holds(&mut self, rule: &Rule) -> bool {
        self.came
            && match rule {
                Rule::Screen(pattern) => {
                    // The whole screen is quicker to look at than what of it is fresh.
                    pattern.is_match(self.screen.text().as_bytes())
                        && pattern.is_match(self.fresh.text(&self.screen).as_bytes())
                }
                Rule::Line(pattern) => self.fresh.is_row_fresh(&self.screen) && self.row_matches(pattern, false),
                Rule::Prompt(pattern) => self.fresh.is_row_fresh(&self.screen) && self.row_matches(pattern, true),
                Rule::Cursor { row, column } => {
                    let (at_row, at_column) = self.screen.cursor();
                    let at_column = at_column.min(self.screen.size().0 - 1);
                    (*row, *column) == (at_row + 1, at_column + 1)
                }
                Rule::Echo | Rule::Bytes(_) | Rule::Silence(_) | Rule::Disconnect => false,
            }
    }

    /// Whether the row that the cursor is in matches, without blanks at its end or with those up to the cursor. `before`:
    /// the match must end at the cursor or before it.
    fn row_matches(&self, pattern: &Regex, before: bool) -> bool {
        let (row, column) = self.screen.cursor();
        let mut text = self.screen.row(row);
        let up_to_cursor = self.screen.text_before((row, column)).len();
        let matches = |text: &str| {
            let mut found = pattern.find_iter(text.as_bytes());
            found.any(|found| !before || found.end() <= up_to_cursor)
        };
        if matches(&text) {
            return true;
        }
        let blanks = up_to_cursor.saturating_sub(text.len());
        text.extend(std::iter::repeat_n(' ', blanks));
        blanks > 0 && matches(&text)
    }

    /// Gives back what a flood took, once it is drawn.
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

impl Event {
    fn key(&self) -> Option<Key> {
        match self {
            Self::Sent { typed: Typed::Shown(_, key), .. } => Some(*key),
            _ => None,
        }
    }
}

fn sight(found: Found<Key>, received: &Received) -> Sight {
    match found {
        Found::Shown(key, index) => Sight::Key(key, received.at_character(index)),
        Found::Overtaken(_) => Sight::Missed,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn view() -> View {
        View::new((20, 5))
    }

    fn at(nanos: u64) -> Stamp {
        Stamp::from_nanos(nanos)
    }

    /// A read at an instant, on a line with a speed if `per_character` is not zero.
    fn comes(view: &mut View, text: &str, nanos: u64, per_character: u64) {
        let per_character = Duration::from_nanos(per_character);
        view.read(text.as_bytes(), &Received { len: text.len(), at: at(nanos), per_character, ..Received::default() });
    }

    fn key(character: char, nanos: u64) -> Typed {
        Typed::Shown(character, Key { due: at(nanos), sent: at(nanos) })
    }

    fn drawn(view: &mut View, rule: Option<&Rule>) -> Vec<Sight> {
        let mut sights = Vec::new();
        while !view.is_drawn() {
            view.draw(4, rule, &mut sights);
        }
        sights
    }

    fn prompt() -> Rule {
        Rule::Prompt(Regex::new(r"\$ $").expect("a pattern"))
    }

    #[test]
    fn a_key_takes_its_place_between_the_reads() {
        let mut view = view();
        comes(&mut view, "\r\nold $ ", 10, 0);
        view.sent(key('l', 20), false);
        comes(&mut view, "l", 30, 0);
        assert_eq!((view.pending(), view.oldest().map(|key| key.sent)), (1, Some(at(20))));
        let shown = Key { due: at(20), sent: at(20) };
        assert_eq!(drawn(&mut view, None), [Sight::Key(shown, at(30))]);
        assert_eq!(view.pending(), 0);
    }

    #[test]
    fn what_came_before_a_key_is_no_answer_to_it() {
        let mut view = view();
        let rule = prompt();
        comes(&mut view, "$ ", 10, 0);
        view.sent(Typed::Return, true);
        assert_eq!(drawn(&mut view, Some(&rule)), []);
        assert!(!view.holds(&rule));
        comes(&mut view, "\r\n$ ", 30, 0);
        assert_eq!(drawn(&mut view, Some(&rule)), [Sight::Answer(at(30))]);
        assert!(view.holds(&rule));
    }

    #[test]
    fn on_a_line_with_a_speed_each_character_has_its_instant() {
        let mut view = view();
        let rule = prompt();
        view.sent(Typed::Return, true);
        // At the fourth character; the bell changes nothing, and what held only for a while does not count.
        comes(&mut view, "\r\n$ \x07\x07", 100, 10);
        assert_eq!(drawn(&mut view, Some(&rule)), [Sight::Answer(at(130))]);
        view.sent(Typed::Return, true);
        comes(&mut view, "\r\n$ gone", 200, 10);
        assert_eq!(drawn(&mut view, Some(&rule)), []);
    }

    #[test]
    fn reading_stops_while_too_much_waits_and_memory_comes_back() {
        let mut view = view();
        let small = view.grown().1;
        comes(&mut view, &"x".repeat(FULL), 10, 0);
        assert!(view.is_full());
        assert_eq!(drawn(&mut view, None), []);
        let (before, after) = view.grown();
        assert!(!view.is_full() && before == small && after <= small + KEPT, "{small}, {before}, {after}");
    }

    #[test]
    fn keys_never_shown_are_given_up_by_when_they_went() {
        let mut view = view();
        view.sent(key('a', 1), false);
        view.sent(key('b', 5), false);
        assert_eq!((view.give_up_before(at(5)), view.pending()), (1, 1));
        assert_eq!(view.give_up_before(Stamp::FAR), 1);
    }

    #[test]
    fn one_key_is_one_character() {
        let awaited = Some((at(1), at(2)));
        let shown = Key { due: at(1), sent: at(2) };
        assert_eq!(Typed::new("é".as_bytes(), &[], awaited), Typed::Shown('é', shown));
        assert_eq!(Typed::new(b"a", &[(b'a', b'0')], awaited), Typed::Shown('0', shown));
        assert_eq!(Typed::new(b"a", &[], None), Typed::Other);
        assert_eq!(Typed::new(b"\r", &[], awaited), Typed::Return);
        for other in [&b"ls"[..], b"\x1b[A", b"\x03", b""] {
            assert_eq!(Typed::new(other, &[], awaited), Typed::Other);
        }
    }
}
