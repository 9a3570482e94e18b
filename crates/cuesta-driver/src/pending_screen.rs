//! What a user sees: a screen, and what has come and is not drawn yet.
//!
//! What a read brought is stamped and put here; it is drawn later and in pieces, so that nobody's drawing makes somebody
//! else's characters late. A key that is sent meanwhile takes its place between the reads, as if all before it had been
//! drawn. Bounded: nothing more is read while too much waits to be drawn. Pure.

use std::collections::VecDeque;

use answer::Hold;
use cuesta_lines::Received;
use cuesta_record::Stamp;
use cuesta_screen::{ChangedRows, KeyMatch, OwnEchoes, Screen, ScreenEcho};

use cuesta_tape::WaitCondition;

mod answer;
mod keys;

pub(crate) use keys::{KeyEffect, ScreenKey, SentKey};

/// No more is read while so much is not drawn; one read more may come on top of it.
const FULL: usize = 16 * 1024;
/// What is kept of the memory for it while nothing waits.
const KEPT: usize = 1024;

/// A user's screen.
#[derive(Debug)]
pub(crate) struct PendingScreen {
    screen: Screen,
    screen_echo: ScreenEcho<Waiting>,
    changed_rows: ChangedRows,
    own_echoes: OwnEchoes,
    /// What has come and is not drawn.
    bytes: Vec<u8>,
    /// How much of it is drawn all the same.
    drawn: usize,
    /// What happened and is not drawn, in order.
    events: VecDeque<Event>,
    /// Timed keys that it has not shown.
    pending: usize,
    /// Keys that a piece has shown.
    found: Vec<KeyMatch<Waiting>>,
    /// Something has been drawn since the last key.
    came: bool,
    /// The last key was the one whose answer is waited for.
    answers: bool,
    /// When it first showed, after the last key, anything that is no echo: the beginning of an answer.
    first: Option<Stamp>,
    /// Since when the screen has shown what is waited for.
    matched: Option<Stamp>,
    hold: Hold,
    /// Whether the others have had their turn since the last piece was drawn.
    pub(crate) has_turn: bool,
    /// What it took in memory when that was last asked.
    told: usize,
}

/// A key that the screen has not shown, with what it shows for it and the number of its row.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    key: ScreenKey,
    character: char,
    row: u32,
}

/// So many keys that are not timed may wait to be shown.
const MOST_UNTIMED: usize = 256;

#[derive(Debug)]
enum Event {
    /// A read came; so many of its characters are drawn.
    Read(Received, usize),
    /// A key went.
    Sent(KeyEffect, SentKey),
}

/// What the screen shows all at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScreenEvent {
    /// A key, since an instant.
    Key(ScreenKey, Stamp),
    /// Not a key, and it never will.
    Missed,
    /// What is waited for, since an instant.
    Answer(Stamp),
}

impl PendingScreen {
    pub(crate) fn new((columns, rows): (u16, u16)) -> Self {
        Self {
            screen: Screen::new(columns, rows),
            screen_echo: ScreenEcho::default(),
            changed_rows: ChangedRows::default(),
            own_echoes: OwnEchoes::default(),
            bytes: Vec::new(),
            drawn: 0,
            events: VecDeque::new(),
            pending: 0,
            found: Vec::new(),
            came: false,
            answers: false,
            first: None,
            matched: None,
            hold: Hold::default(),
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

    /// How many timed keys it has not shown yet.
    pub(crate) fn pending(&self) -> usize {
        self.pending
    }

    /// When the timed key that it has not shown for the longest time was due.
    pub(crate) fn oldest(&self) -> Option<Stamp> {
        let waiting = self.screen_echo.keys().map(|waiting| &waiting.key);
        waiting.chain(self.events.iter().filter_map(Event::key)).find(|key| key.timed).map(|key| key.due)
    }

    /// A read came.
    pub(crate) fn read(&mut self, bytes: &[u8], received: &Received) {
        self.bytes.extend_from_slice(bytes);
        self.events.push_back(Event::Read(*received, 0));
    }

    /// A key goes.
    pub(crate) fn sent(&mut self, typed: KeyEffect, going: SentKey) {
        self.pending += usize::from(going.key.timed && matches!(typed, KeyEffect::Shown(_)));
        if self.is_drawn() {
            self.apply(typed, going);
        } else {
            self.events.push_back(Event::Sent(typed, going));
        }
    }

    fn apply(&mut self, typed: KeyEffect, SentKey { key, first }: SentKey) {
        self.came = false;
        self.answers = key.answers;
        (self.first, self.matched, self.hold.since) = (None, None, None);
        if first {
            self.own_echoes.begin(&self.screen);
            self.hold.begin(&mut self.screen_echo);
        }
        self.own_echoes.mark();
        if key.answers {
            self.changed_rows.mark(&self.screen);
        } else {
            self.changed_rows.forget();
        }
        match typed {
            KeyEffect::Shown(character) => self.await_key(character, key),
            KeyEffect::Return | KeyEffect::Erase | KeyEffect::Other => {
                // Programs that draw the whole screen end no row.
                if typed == KeyEffect::Return {
                    self.hold.end_row(self.own_echoes.is_edited() && !self.screen.is_alternate());
                }
                self.screen_echo.turn(typed == KeyEffect::Return);
                self.own_echoes.turn(typed == KeyEffect::Return, typed == KeyEffect::Erase);
            }
        }
    }

    fn await_key(&mut self, character: char, key: ScreenKey) {
        if key.timed {
            // A key that nobody times, and that is perhaps never shown, must not stand in the way of one that is a figure.
            self.screen_echo.retain(|waiting| waiting.key.timed);
        } else if self.screen_echo.len() >= MOST_UNTIMED
            && self.screen_echo.front().is_some_and(|waiting| !waiting.key.timed)
        {
            self.screen_echo.give_up();
        }
        let row = if key.answers { 0 } else { self.own_echoes.typed(character) };
        self.screen_echo.await_key(&self.screen, character, Waiting { key, character, row });
    }

    /// Gives up all timed keys sent before an instant; says how many. Others go as whole inputs: the end of one that lost
    /// its beginning could be found in an answer.
    pub(crate) fn give_up_before(&mut self, sent: Stamp) -> u64 {
        let mut lost = 0;
        while self.screen_echo.front().is_some_and(|waiting| waiting.key.timed && waiting.key.sent < sent) {
            self.screen_echo.give_up();
            lost += 1;
        }
        self.pending -= lost as usize;
        lost
    }

    /// Draws one piece of what came, at most so much, and tells what the screen then shows.
    pub(crate) fn draw(&mut self, most: usize, condition: Option<&WaitCondition>, events: &mut Vec<ScreenEvent>) {
        while let Some(Event::Sent(typed, going)) = self.events.front() {
            let (typed, going) = (*typed, *going);
            self.events.pop_front();
            self.apply(typed, going);
        }
        let Some(Event::Read(received, from)) = self.events.front_mut() else { return };
        let (received, from) = (*received, *from);
        // While a match is held the screen is looked at after each character: then a turn is a few of them.
        let most = if self.matched.is_some() && self.is_held() { most / 32 } else { most };
        let to = received.len.min(from + most.max(1));
        let ends = to == received.len;
        if ends {
            self.events.pop_front();
        } else if let Some(Event::Read(_, drawn)) = self.events.front_mut() {
            *drawn = to;
        }
        // What came before a key that has gone is no answer to it.
        let is_last = !self.events.iter().any(|event| matches!(event, Event::Sent(..)));
        let condition = condition.filter(|condition| condition.needs_screen() && is_last);
        self.draw_read(&received, from..to, condition, events);
        if ends {
            self.rest(&received, condition, events);
        }
        self.tidy();
    }

    fn draw_read(
        &mut self,
        received: &Received,
        range: std::ops::Range<usize>,
        condition: Option<&WaitCondition>,
        events: &mut Vec<ScreenEvent>,
    ) {
        // On a line with a speed the screen is looked at after each character, because each has an instant of its own; and
        // while a match is held, because what it matched may be gone when the read ends, and something else match then.
        let exactly = !received.per_character.is_zero() || (self.matched.is_some() && self.is_held());
        let step = if exactly && condition.is_some() { 1 } else { range.len() };
        for from in range.clone().step_by(step.max(1)) {
            let to = range.end.min(from + step);
            let bytes = &self.bytes[self.drawn..self.drawn + (to - from)];
            let ends_row = if self.hold.edited_return { bytes.iter().position(|byte| *byte == b'\n') } else { None };
            let (before, behind) = bytes.split_at(ends_row.unwrap_or(0));
            let found = &mut self.found;
            let mut feed = |screen: &mut Screen, bytes: &[u8], from| {
                self.screen_echo.feed(screen, bytes, from, exactly, |key| found.push(key));
            };
            if ends_row.is_some() {
                feed(&mut self.screen, before, from);
                self.own_echoes.leaves_edited(&self.screen);
                self.hold.edited_return = false;
                (self.first, self.matched, self.hold.since) = (None, None, None);
            }
            feed(&mut self.screen, behind, from + before.len());
            self.drawn += to - from;
            (self.came, self.hold.host_has_spoken) = (true, true);
            self.find(received, events);
            if let Some(condition) = condition.filter(|_| exactly) {
                self.look(condition, received.at_character(from));
            }
        }
    }

    /// All of a read is drawn.
    fn rest(&mut self, received: &Received, condition: Option<&WaitCondition>, events: &mut Vec<ScreenEvent>) {
        let found = &mut self.found;
        self.screen_echo.rest(&self.screen, received.len, |key| found.push(key));
        self.find(received, events);
        if let Some(condition) = condition {
            self.look(condition, received.at_character(received.len.saturating_sub(1)));
            events.extend(self.matched.filter(|_| !self.is_held()).map(ScreenEvent::Answer));
        }
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
    fn key(&self) -> Option<&ScreenKey> {
        match self {
            Self::Sent(KeyEffect::Shown(_), going) => Some(&going.key),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use cuesta_tape::Pattern;

    use super::*;

    /// A screen on which the host has drawn.
    fn view() -> PendingScreen {
        let mut view = PendingScreen::new((20, 5));
        comes(&mut view, "\r", 1, 0);
        drawn(&mut view, None);
        view
    }

    fn at(nanos: u64) -> Stamp {
        Stamp::from_nanos(nanos)
    }

    /// A read at an instant, on a line with a speed if `per_character` is not zero.
    fn comes(view: &mut PendingScreen, text: &str, nanos: u64, per_character: u64) {
        let per_character = Duration::from_nanos(per_character);
        view.read(text.as_bytes(), &Received { len: text.len(), at: at(nanos), per_character, ..Received::default() });
    }

    fn key(nanos: u64, timed: bool, answers: bool) -> ScreenKey {
        ScreenKey { due: at(nanos), sent: at(nanos), timed, answers }
    }

    /// A timed key.
    fn types(view: &mut PendingScreen, character: char, nanos: u64) -> ScreenKey {
        let key = key(nanos, true, false);
        view.sent(KeyEffect::Shown(character), SentKey { key, first: false });
        key
    }

    /// An input that is not timed, all at once; the Return is the last key.
    fn enters(view: &mut PendingScreen, text: &str, nanos: u64) {
        for (index, character) in text.chars().enumerate() {
            view.sent(KeyEffect::Shown(character), SentKey { key: key(nanos, false, false), first: index == 0 });
        }
        view.sent(KeyEffect::Return, SentKey { key: key(nanos, false, true), first: text.is_empty() });
    }

    fn drawn(view: &mut PendingScreen, condition: Option<&WaitCondition>) -> Vec<ScreenEvent> {
        let mut events = Vec::new();
        while !view.is_drawn() {
            view.draw(4, condition, &mut events);
        }
        events
    }

    fn prompt() -> WaitCondition {
        WaitCondition::Prompt(Pattern::new(r"\$ $").expect("a pattern"))
    }

    #[test]
    fn a_key_takes_its_place_between_the_reads() {
        let mut view = view();
        comes(&mut view, "\r\nold $ ", 10, 0);
        let shown = types(&mut view, 'l', 20);
        comes(&mut view, "l", 30, 0);
        assert_eq!((view.pending(), view.oldest()), (1, Some(at(20))));
        assert_eq!(drawn(&mut view, None), [ScreenEvent::Key(shown, at(30))]);
        assert_eq!(view.pending(), 0);
    }

    #[test]
    fn what_came_before_a_key_is_no_answer_to_it() {
        let mut view = view();
        let condition = prompt();
        comes(&mut view, "$ ", 10, 0);
        enters(&mut view, "", 20);
        assert_eq!(drawn(&mut view, Some(&condition)), []);
        assert!(!view.look_again(&condition, at(20)));
        comes(&mut view, "\r\n$ ", 30, 0);
        assert_eq!(drawn(&mut view, Some(&condition)), [ScreenEvent::Answer(at(30))]);
        assert!(view.look_again(&condition, at(30)));
    }

    #[test]
    fn on_a_line_with_a_speed_each_character_has_its_instant() {
        let mut view = view();
        let condition = prompt();
        enters(&mut view, "", 20);
        // At the fourth character; the bell changes nothing, and what held only for a while does not count.
        comes(&mut view, "\r\n$ \x07\x07", 100, 10);
        assert_eq!(drawn(&mut view, Some(&condition)), [ScreenEvent::Answer(at(130))]);
        enters(&mut view, "", 20);
        comes(&mut view, "\r\n$ gone", 200, 10);
        assert_eq!(drawn(&mut view, Some(&condition)), []);
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
        types(&mut view, 'a', 1);
        types(&mut view, 'b', 5);
        assert_eq!((view.give_up_before(at(5)), view.pending()), (1, 1));
        assert_eq!(view.give_up_before(Stamp::FAR), 1);
    }

    fn screen(pattern: &str) -> WaitCondition {
        WaitCondition::Screen(Pattern::new(pattern).expect("a pattern"))
    }

    #[test]
    fn a_late_echo_is_no_answer_and_the_answer_is() {
        for condition in [screen("DONE"), WaitCondition::Line(Pattern::new("DONE").expect("a pattern"))] {
            let mut view = view();
            comes(&mut view, "$ ", 10, 0);
            drawn(&mut view, None);
            enters(&mut view, "echo DONE", 20);
            for (read, instant) in [("echo D", 30), ("ONE", 40), ("\r\n", 50)] {
                comes(&mut view, read, instant, 0);
                assert_eq!(drawn(&mut view, Some(&condition)), [], "{condition:?} {read}");
            }
            comes(&mut view, "DONE", 60, 0);
            assert_eq!(drawn(&mut view, Some(&condition)), [ScreenEvent::Answer(at(60))], "{condition:?}");
        }
    }

    #[test]
    fn an_answer_before_the_echo_is_held_and_keeps_its_instant() {
        let mut view = view();
        let condition = screen("DONE");
        enters(&mut view, "echo DONE", 20);
        comes(&mut view, "\r\nDONE\r\n", 30, 0);
        assert_eq!(drawn(&mut view, Some(&condition)), []);
        assert!(view.held_until().is_some());
        comes(&mut view, "echo DONE", 90, 0);
        assert_eq!(drawn(&mut view, Some(&condition)), [ScreenEvent::Answer(at(30))]);
    }

    #[test]
    fn a_prompt_before_the_echo_is_no_answer() {
        let mut view = view();
        enters(&mut view, "ls", 20);
        comes(&mut view, "$ ", 30, 0);
        assert_eq!(drawn(&mut view, Some(&prompt())), []);
        comes(&mut view, "ls\r\n", 40, 0);
        assert_eq!(drawn(&mut view, Some(&prompt())), []);
        comes(&mut view, "$ ", 50, 0);
        assert_eq!(drawn(&mut view, Some(&prompt())), [ScreenEvent::Answer(at(50))]);
    }

    #[test]
    fn a_prompt_before_a_row_that_was_typed_ahead_is_no_answer() {
        let mut view = view();
        let condition = prompt();
        comes(&mut view, "$ ", 10, 0);
        drawn(&mut view, None);
        enters(&mut view, "sleep 1", 20);
        view.sent(KeyEffect::Shown('x'), SentKey { key: key(21, false, false), first: false });
        view.sent(KeyEffect::Return, SentKey { key: key(21, false, true), first: false });
        comes(&mut view, "sleep 1\r\nx\r\n", 30, 0);
        comes(&mut view, "$ ", 1_000, 0);
        assert_eq!(drawn(&mut view, Some(&condition)), []);
        assert_eq!(view.held_until(), Some(at(1_000) + Duration::from_millis(500)));
        comes(&mut view, "x\r\n", 1_001, 0);
        assert_eq!((drawn(&mut view, Some(&condition)), view.held_until()), (vec![], None));
        comes(&mut view, "$ ", 2_000, 0);
        assert_eq!(drawn(&mut view, Some(&condition)), []);
        assert_eq!(view.held_until(), Some(at(2_000) + Duration::from_millis(500)));
        assert_eq!((view.release(), view.held_until()), (Some(at(2_000)), None));
    }

    #[test]
    fn the_first_prompt_is_no_answer_to_what_was_typed_before_it() {
        let mut view = PendingScreen::new((20, 5));
        enters(&mut view, "ls", 20);
        comes(&mut view, "ls\r\n", 21, 0);
        comes(&mut view, "$ ", 30, 0);
        assert_eq!(drawn(&mut view, Some(&prompt())), []);
        comes(&mut view, "ls\r\nfile\r\n$ ", 40, 0);
        assert_eq!((drawn(&mut view, Some(&prompt())), view.release()), (vec![], Some(at(40))));
    }

    #[test]
    fn a_host_that_does_not_echo_is_waited_for_three_times() {
        let mut view = view();
        let condition = screen("42");
        for input in 1..=3 {
            enters(&mut view, "sum", 20 * input);
            comes(&mut view, "\r\n42\r\n", 20 * input + 5, 0);
            assert_eq!(drawn(&mut view, Some(&condition)), []);
            assert_eq!((view.release(), view.held_until()), (Some(at(20 * input + 5)), None));
        }
        enters(&mut view, "sum", 80);
        comes(&mut view, "\r\n42\r\n", 90, 0);
        assert_eq!(drawn(&mut view, Some(&condition)), [ScreenEvent::Answer(at(90))]);
    }

    #[test]
    fn a_password_says_nothing_of_whether_the_host_echoes() {
        let mut view = view();
        enters(&mut view, "secret", 20);
        comes(&mut view, "\r\nwelcome\r\n", 30, 0);
        assert_eq!(drawn(&mut view, Some(&screen("welcome"))), []);
        assert_eq!(view.release(), Some(at(30)));
        enters(&mut view, "ls", 40);
        comes(&mut view, "$ ", 50, 0);
        assert_eq!(drawn(&mut view, Some(&prompt())), [], "the first prompt is late");
        comes(&mut view, "ls\r\n$ ", 60, 0);
        assert_eq!(drawn(&mut view, Some(&prompt())), [ScreenEvent::Answer(at(60))]);
    }

    /// Up, which fetches a command from the history, and Return.
    fn fetches(view: &mut PendingScreen, nanos: u64) {
        view.sent(KeyEffect::Other, SentKey { key: key(nanos, false, false), first: true });
        view.sent(KeyEffect::Return, SentKey { key: key(nanos, false, true), first: false });
    }

    #[test]
    fn what_the_host_edits_itself_is_no_answer() {
        for reads in [&["\r$ echo DONE\r\n"][..], &["\r$ echo", " DONE", "\r\n"], &["\r$ echo a very long DONE\r\n"]] {
            let mut view = view();
            comes(&mut view, "$ ", 10, 0);
            drawn(&mut view, None);
            fetches(&mut view, 20);
            for (index, read) in reads.iter().enumerate() {
                comes(&mut view, read, 30 + index as u64, 0);
                assert_eq!(drawn(&mut view, Some(&screen("DONE"))), [], "{read:?} of {reads:?}");
            }
            assert!(view.held_until().is_none());
            comes(&mut view, "DONE\r\n", 60, 0);
            assert_eq!(drawn(&mut view, Some(&screen("DONE"))), [ScreenEvent::Answer(at(60))], "{reads:?}");
            assert_eq!(view.began(at(60)), at(60));
        }
    }

    #[test]
    fn a_row_that_is_never_left_holds_no_answer_for_ever() {
        let mut view = view();
        comes(&mut view, "$ ", 10, 0);
        drawn(&mut view, None);
        fetches(&mut view, 20);
        comes(&mut view, "\x1b[HDONE", 30, 0);
        assert_eq!(drawn(&mut view, Some(&screen("DONE"))), []);
        assert!(view.held_until().is_some());
        assert_eq!((view.release(), view.held_until()), (Some(at(30)), None));
    }

    #[test]
    fn the_last_key_may_be_its_own_answer() {
        let mut view = view();
        let condition = screen("hello");
        for (index, character) in "hello".chars().enumerate() {
            let key = key(20, false, index == 4);
            view.sent(KeyEffect::Shown(character), SentKey { key, first: index == 0 });
        }
        comes(&mut view, "hell", 30, 0);
        assert_eq!(drawn(&mut view, Some(&screen("hell"))), []);
        comes(&mut view, "o", 40, 0);
        assert_eq!(drawn(&mut view, Some(&condition)), [ScreenEvent::Answer(at(40))]);
    }

    #[test]
    fn the_last_key_may_be_its_own_answer_behind_what_looks_like_a_prompt() {
        let mut view = view();
        comes(&mut view, "$ ", 10, 0);
        for (index, character) in "fox".chars().enumerate() {
            let key = key(20, true, index == 2);
            view.sent(KeyEffect::Shown(character), SentKey { key, first: index == 0 });
        }
        comes(&mut view, "fox", 40, 0);
        let condition = WaitCondition::Line(Pattern::new("x$").expect("a pattern"));
        assert_eq!(drawn(&mut view, Some(&condition)).last(), Some(&ScreenEvent::Answer(at(40))));
    }

    #[test]
    fn blanks_up_to_the_cursor_can_be_looked_for() {
        let mut view = view();
        enters(&mut view, "", 20);
        comes(&mut view, "\r\nfile\r\n$ ", 30, 0);
        assert_eq!(drawn(&mut view, Some(&screen("\\$ $"))), [ScreenEvent::Answer(at(30))]);
        assert!(view.is_on_screen(Pattern::new("^\\$ $").expect("a pattern").regex()));
    }
}
