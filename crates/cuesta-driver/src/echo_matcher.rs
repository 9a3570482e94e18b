//! Which character that came is the echo of which key.
//!
//! On the stream, an echo is the first printable character like the one expected after those before it have come; output
//! of the host may stand between, and control functions show nothing. With a map of what is shown for what is typed,
//! nothing but echoes may come, and each is checked.
//!
//! A key that is never echoed is given up when keys behind it are echoed in order and nothing printable stands between
//! them: two, if the second went only after the echo of the first had come, else four. What is less is held: it counts when
//! nothing has contradicted it for a while.
//!
//! An end of row that comes while keys before the Return still wait is no echo, but belongs to an answer. Then either the
//! host does not echo this row (a password), and it is given up together with its Return when that has been held for as
//! long; or the answer came before the echo, which is then looked for from the row's first key on.

use std::collections::VecDeque;
use std::time::Duration;

use cuesta_record::Stamp;
use cuesta_screen::{StreamByte, StreamParser};

/// Keys that wait for their echo.
#[derive(Debug, Default)]
pub(crate) struct EchoMatcher {
    awaited: VecDeque<PendingKey>,
    /// How many timed keys that is.
    keys: usize,
    /// A return was shown as CR: an LF right after it belongs to the same echo.
    line_feed: bool,
    /// A CR was no echo: with an LF right after it, it ends a row. Alone it begins the same row anew.
    carriage_return: bool,
    /// Where the stream stands.
    stream: StreamParser,
    /// Keys that seem to have overtaken those before them.
    run: Option<EchoSequence>,
    /// An answer that seems to have overtaken the echo of the row that it answers.
    early: Option<EarlyAnswer>,
    /// The longest that an echo took of late.
    slowest: Duration,
}

/// One character that waits for its echo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PendingKey {
    /// When its key should have gone.
    pub(crate) due: Stamp,
    /// When it went.
    pub(crate) sent: Stamp,
    want: char,
    /// The key is echoed when this one is: what is pasted is several characters.
    last: bool,
    /// Whether its echo is a figure, and its absence counted.
    timed: bool,
}

/// Keys of which echoes seem to have come one directly after another.
#[derive(Debug, Clone, Copy)]
struct EchoSequence {
    first: usize,
    came: [Stamp; MOST_IN_RUN],
    len: usize,
    /// Another character has come since.
    broken: bool,
}

/// An end of row came while keys before the Return waited for their echo.
#[derive(Debug, Clone, Copy)]
struct EarlyAnswer {
    /// Which of the characters that wait is the Return.
    end: usize,
    /// When the end of row came.
    came: Stamp,
    /// The row's echo, as far as it has come since.
    row: Option<EchoSequence>,
}

/// So many echoes in order are no chance, whenever their keys went.
const MOST_IN_RUN: usize = 4;
/// What has overtaken others is held no longer than this, or than so many times the slowest echo.
const HELD: Duration = Duration::from_millis(500);
const HELD_TIMES: u32 = 4;
/// So many characters may wait for an echo that nobody times.
const MOST_UNTIMED: usize = 256;

/// What a character turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum EchoMatch {
    /// The echo of a whole key.
    Echo(PendingKey),
    /// Part of an echo, or the echo of a key that is not timed.
    Part,
    /// It is certain now which keys were echoed behind others, or behind an answer: see [`EchoMatcher::overtaken`].
    Overtook,
    /// Not what the map says it must be; the key counts as answered wrongly.
    Wrong,
    /// No echo.
    Other,
}

/// Keys that were never echoed, how many, and those that were echoed behind them.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Overtaken {
    pub(crate) lost: u64,
    pub(crate) echoed: Vec<(PendingKey, Stamp)>,
    /// When the last character came that says so.
    pub(crate) last: Stamp,
}

const CR: char = '\r';
const LF: char = '\n';

impl EchoMatcher {
    /// Whether any character may still be an echo.
    pub(crate) fn are_awaited(&self) -> bool {
        self.line_feed || !self.awaited.is_empty()
    }

    /// How many timed keys still wait.
    pub(crate) fn pending(&self) -> usize {
        self.keys
    }

    /// When the timed key that waits longest was due.
    pub(crate) fn oldest(&self) -> Option<Stamp> {
        self.awaited.iter().find(|key| key.timed).map(|key| key.due)
    }

    /// A key was sent. Keys that are not shown as themselves (controls, sequences) are not awaited. `timed`: whether its
    /// echo is a figure.
    pub(crate) fn await_key(&mut self, key: &[u8], map: &[(u8, u8)], timed: bool, due: Stamp, sent: Stamp) {
        let Ok(key) = std::str::from_utf8(key) else { return };
        if key != "\r" && key.chars().any(|character| character.is_ascii_control()) {
            return;
        }
        self.keys += usize::from(timed && !key.is_empty());
        let mut typed = key.chars().peekable();
        while let Some(character) = typed.next() {
            let mapped = map.iter().find(|(from, _)| char::from(*from) == character);
            let want = mapped.map_or(character, |(_, to)| char::from(*to));
            self.awaited.push_back(PendingKey { due, sent, want, last: typed.peek().is_none(), timed });
        }
        while !timed && self.awaited.len() > MOST_UNTIMED && self.awaited.front().is_some_and(|key| !key.timed) {
            self.drop_first(1);
        }
    }

    /// Takes in what came while nothing was awaited.
    pub(crate) fn skip(&mut self, bytes: &[u8]) {
        self.stream.skip(bytes);
    }

    /// A byte came. `strict`: a character can only be an echo. `at`: when it came.
    pub(crate) fn take(&mut self, byte: u8, strict: bool, at: impl Fn() -> Stamp) -> EchoMatch {
        let character = match self.stream.take(byte) {
            StreamByte::Character(character) => character,
            StreamByte::Part(bytes, len) => return self.part(&bytes[..len]),
            StreamByte::Control => return EchoMatch::Other,
        };
        if std::mem::take(&mut self.line_feed) && character == LF {
            return EchoMatch::Part;
        }
        let ends_row = std::mem::take(&mut self.carriage_return) && character == LF;
        let Some(front) = self.awaited.front() else { return EchoMatch::Other };
        let goes_on = self.run.is_some_and(|run| self.extends(run, character));
        if shows(front.want, character) && !goes_on && self.early.is_none() {
            let sent = front.sent;
            self.run = None;
            self.line_feed = character == CR;
            let echoed = self.pop().filter(|key| key.last && key.timed);
            if echoed.is_some() {
                self.took(at().since(sent));
            }
            return echoed.map_or(EchoMatch::Part, EchoMatch::Echo);
        }
        if strict {
            self.give_up_front();
            return EchoMatch::Wrong;
        }
        self.carriage_return = character == CR && !goes_on && self.early.is_none();
        if ends_row {
            self.answered_early(at());
        }
        if self.carriage_return || (character.is_control() && character != CR) {
            return EchoMatch::Other;
        }
        self.follow(character, goes_on, at)
    }

    /// Gives up all keys sent before an instant; says what that leaves.
    pub(crate) fn give_up_before(&mut self, sent: Stamp) -> u64 {
        self.drop_first(self.awaited.iter().take_while(|key| key.sent < sent).count())
    }

    /// Until when what seems to have overtaken others is held.
    pub(crate) fn held_until(&self) -> Option<Stamp> {
        let early = self.early.map(|early| early.row.map_or(early.came, |row| row.last()));
        let last = early.or(self.run.map(|run| run.last()))?;
        Some(last + HELD.max(self.slowest * HELD_TIMES))
    }

    /// The keys that were echoed behind others, and how many those are, if that is certain or was held long enough.
    pub(crate) fn overtaken(&mut self, now: Stamp) -> Option<Overtaken> {
        let is_over = self.held_until().is_some_and(|until| until <= now);
        let certain = self.echoed_row().or(self.run.filter(|run| self.is_certain(run)));
        if let Some(run) = certain.or(self.run.filter(|_| is_over && self.early.is_none())) {
            return Some(self.take_run(&run));
        }
        let early = self.early.filter(|_| is_over)?;
        Some(Overtaken { lost: self.drop_first(early.end + 1), echoed: Vec::new(), last: early.came })
    }

    /// Takes the keys of a run for echoed, and gives up those before it.
    fn take_run(&mut self, run: &EchoSequence) -> Overtaken {
        let lost = self.drop_first(run.first);
        let mut echoed = Vec::new();
        for came in &run.came[..run.len] {
            let Some(key) = self.pop().filter(|key| key.last && key.timed) else { continue };
            self.took(came.since(key.sent));
            echoed.push((key, *came));
        }
        self.run = None;
        self.early = None;
        Overtaken { lost, echoed, last: run.last() }
    }

    /// An end of row is shown before what was typed ahead of the Return: it is not the echo of that.
    fn answered_early(&mut self, came: Stamp) {
        let Some(end) = self.awaited.iter().position(|key| key.want == CR) else { return };
        self.run = None;
        self.early = Some(EarlyAnswer { end, came, row: None });
    }

    /// Takes in a character that is not the echo of the key that waits longest, as far as can be told.
    fn follow(&mut self, character: char, goes_on: bool, at: impl Fn() -> Stamp) -> EchoMatch {
        let row_goes_on = self.follow_row(character, &at);
        if goes_on {
            self.run = self.run.map(|run| run.and(at()));
        } else if character != CR {
            self.follow_behind(character, &at);
        }
        self.line_feed = character == CR && (goes_on || row_goes_on);
        let certain = self.echoed_row().is_some() || self.run.is_some_and(|run| self.is_certain(&run));
        if certain { EchoMatch::Overtook } else { EchoMatch::Other }
    }

    /// Takes a character for the next echo of a row that was answered early, or for its first; says if it may be.
    fn follow_row(&mut self, character: char, at: impl Fn() -> Stamp) -> bool {
        let Some(early) = self.early else { return false };
        let goes_on = early.row.filter(|row| self.extends(*row, character)).map(|row| row.and(at()));
        let begins = || self.awaited.front().filter(|key| key.want == character).map(|_| EchoSequence::new(0, at()));
        let row = goes_on.or_else(begins);
        self.early = Some(EarlyAnswer { row, ..early });
        row.is_some()
    }

    /// Takes a character for the echo of a key behind others, unless it is none.
    fn follow_behind(&mut self, character: char, at: impl Fn() -> Stamp) {
        // Keys of a row that was answered early are echoed from the first on, or not at all.
        let from = self.early.map_or(1, |early| early.end + 1);
        let first = self.awaited.iter().skip(from).position(|key| key.want == character).map(|behind| from + behind);
        match (first, &mut self.run) {
            (Some(first), run) if run.is_none_or(|run| run.broken || first < run.first) => {
                *run = Some(EchoSequence::new(first, at()));
            }
            (_, Some(run)) => run.broken = true,
            _ => {}
        }
    }

    /// Whether a character is the echo that comes next in a run.
    fn extends(&self, run: EchoSequence, character: char) -> bool {
        !run.broken && self.awaited.get(run.first + run.len).is_some_and(|key| key.want == character)
    }

    /// The echo of a row that was answered early, if it cannot well be chance.
    fn echoed_row(&self) -> Option<EchoSequence> {
        let early = self.early?;
        early.row.filter(|row| row.len == MOST_IN_RUN || row.len > early.end)
    }

    /// Whether a run cannot well be chance.
    fn is_certain(&self, run: &EchoSequence) -> bool {
        let answered =
            |index: usize| self.awaited.get(run.first + index).is_some_and(|next| next.sent >= run.came[index - 1]);
        run.first == 0 || run.len == MOST_IN_RUN || (1..run.len).any(answered)
    }

    /// Bytes of a character came that is not complete.
    fn part(&self, bytes: &[u8]) -> EchoMatch {
        let is_echo = self.awaited.front().is_some_and(|key| {
            let mut buffer = [0; 4];
            key.want.encode_utf8(&mut buffer).as_bytes().starts_with(bytes)
        });
        if is_echo { EchoMatch::Part } else { EchoMatch::Other }
    }

    fn took(&mut self, delay: Duration) {
        self.slowest = delay.max(self.slowest * 15 / 16);
    }

    fn give_up_front(&mut self) {
        self.run = None;
        self.early = None;
        while self.pop().is_some_and(|key| !key.last) {}
    }

    /// Gives up so many characters; says how many timed keys that is. The Return behind a secret counts no more than that.
    fn drop_first(&mut self, characters: usize) -> u64 {
        let mut lost = 0;
        let mut is_secret = false;
        for key in (0..characters).filter_map(|_| self.pop()) {
            lost += u64::from(key.last && key.timed && !(is_secret && key.want == CR));
            is_secret = !key.timed;
        }
        let left = |index: usize| index.checked_sub(characters);
        self.run = self.run.and_then(|run| Some(EchoSequence { first: left(run.first)?, ..run }));
        self.early = self.early.and_then(|early| Some(EarlyAnswer { end: left(early.end)?, row: None, ..early }));
        lost
    }

    fn pop(&mut self) -> Option<PendingKey> {
        let first = self.awaited.pop_front();
        self.keys -= usize::from(first.is_some_and(|key| key.last && key.timed));
        first
    }
}

impl EchoSequence {
    fn new(first: usize, came: Stamp) -> Self {
        Self { first, came: [came; MOST_IN_RUN], len: 1, broken: false }
    }

    /// This run and the next echo.
    fn and(mut self, came: Stamp) -> Self {
        self.came[self.len] = came;
        self.len += 1;
        self
    }

    fn last(&self) -> Stamp {
        self.came[self.len - 1]
    }
}

fn shows(want: char, character: char) -> bool {
    want == character || (want == CR && character == LF)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(number: usize) -> Stamp {
        Stamp::from_nanos(number as u64)
    }

    /// Keys sent at 0, 1, 2 and so on.
    fn typed(keys: &[&str], map: &[(u8, u8)]) -> EchoMatcher {
        let mut echoes = EchoMatcher::default();
        for (n, key) in keys.iter().enumerate() {
            echoes.await_key(key.as_bytes(), map, true, stamp(n), stamp(n));
        }
        echoes
    }

    fn number(key: &PendingKey) -> char {
        char::from_digit(key.sent.as_nanos() as u32, 10).unwrap_or('?')
    }

    /// What each byte turned out to be. The first comes when ten keys may have been sent, then one each ns.
    fn shown(echoes: &mut EchoMatcher, text: impl AsRef<[u8]>, strict: bool) -> String {
        let mut told = String::new();
        for (index, byte) in text.as_ref().iter().enumerate() {
            match echoes.take(*byte, strict, || stamp(10 + index)) {
                EchoMatch::Echo(key) => told.push(number(&key)),
                EchoMatch::Part => told.push('_'),
                EchoMatch::Wrong => told.push('!'),
                EchoMatch::Other => told.push('.'),
                EchoMatch::Overtook => told += &overtaken(echoes, stamp(10 + index)),
            }
        }
        told
    }

    /// `-` for each key that was given up, and those that were echoed behind them, each with when that was.
    fn overtaken(echoes: &mut EchoMatcher, now: Stamp) -> String {
        let Some(overtaken) = echoes.overtaken(now) else { return String::new() };
        let told = overtaken.echoed.iter().map(|(key, at)| format!("{}@{}", number(key), at.as_nanos()));
        format!("({}{})", "-".repeat(overtaken.lost as usize), told.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn echoes_are_found_among_other_output() {
        let mut echoes = typed(&["a", "b", "\r"], &[]);
        assert_eq!(shown(&mut echoes, "mail! b\r\n15", false), ".0....12_..");
    }

    #[test]
    fn a_character_of_several_bytes_is_one_key() {
        let mut echoes = typed(&["é", "x"], &[]);
        assert_eq!(shown(&mut echoes, "éx", false), "_01");
    }

    #[test]
    fn a_map_is_strict() {
        let mut echoes = typed(&["a", "a", "a"], &[(b'a', b'0')]);
        assert_eq!(shown(&mut echoes, "0a0", true), "0!2");
        assert!(!echoes.are_awaited());
    }

    #[test]
    fn a_password_is_given_up_with_its_return_after_the_end_of_row() {
        let mut echoes = typed(&["p", "w", "\r"], &[]);
        assert_eq!(shown(&mut echoes, "\r\npw", false), "....");
        assert_eq!(overtaken(&mut echoes, stamp(12)), "");
        assert_eq!(echoes.held_until(), Some(stamp(13) + HELD));
        assert_eq!(shown(&mut echoes, "$ ", false), "..");
        assert_eq!(echoes.held_until(), Some(stamp(11) + HELD));
        assert_eq!(overtaken(&mut echoes, stamp(11) + HELD), "(---)");
    }

    #[test]
    fn a_row_that_is_drawn_anew_at_each_key_has_no_end() {
        let mut echoes = typed(&["a", "b", "c", "\r"], &[]);
        assert_eq!(shown(&mut echoes, "\r$ a\r$ ab\r$ abc\r\n", false), "...0....1.....23_");
        assert!(!echoes.are_awaited());
    }

    #[test]
    fn a_password_is_given_up_by_what_is_typed_and_echoed_behind_it() {
        let mut echoes = typed(&["l", "s", "p", "\r"], &[]);
        assert_eq!(shown(&mut echoes, "\r\nwelcome ls\r\n$ ", false), ".".repeat(16));
        // It begins like the password.
        for (index, key, told) in [(30, "l", "."), (40, "s", "(----?@10 ?@10)")] {
            echoes.await_key(key.as_bytes(), &[], true, stamp(index), stamp(index));
            assert_eq!(shown(&mut echoes, key, false), told);
        }
    }

    #[test]
    fn an_answer_before_the_echo_is_no_echo() {
        let mut echoes = typed(&["e", "c", "h", "o", " ", "D", "O", "N", "E", "\r"], &[]);
        assert_eq!(shown(&mut echoes, "\r\nDONE\r\n", false), ".".repeat(8));
        assert_eq!(shown(&mut echoes, "echo DONE\r\n$ ", false), "...(0@10 1@11 2@12 3@13)456789_..");
        let mut echoes = typed(&["l", "s", "\r"], &[]);
        assert_eq!(shown(&mut echoes, "\r\nfalse\r\nls\r\n", false), "...........(0@19 1@20 2@21)_");
    }

    #[test]
    fn a_return_may_be_echoed_behind_a_key_that_is_not() {
        let mut echoes = typed(&["x", "l", "\r"], &[]);
        assert_eq!(shown(&mut echoes, "l\r\n", false), ".._");
        assert_eq!(overtaken(&mut echoes, stamp(11) + HELD), "(-1@10 2@11)");
    }

    #[test]
    fn control_keys_are_not_awaited_and_old_keys_are_given_up() {
        let mut echoes = typed(&["\x1b[A", "\x03", "a", "b"], &[]);
        assert_eq!(echoes.pending(), 2);
        assert_eq!(echoes.give_up_before(Stamp::from_nanos(3)), 1);
        assert_eq!(echoes.pending(), 1);
        assert_eq!(shown(&mut echoes, "b", false), "3");
    }

    #[test]
    fn control_functions_show_no_key() {
        let mut echoes = typed(&["m", "K", "0", "B"], &[]);
        assert_eq!(shown(&mut echoes, "\x1b[?25l\x1b[1;32m\x1b[K\x1b]0;mK0B\x07\x1b(B", false), ".".repeat(28));
        assert_eq!(shown(&mut echoes, "m\x1b[mK\x1b[0m0\x1b(BB", false), "0...1....2...3");
    }

    #[test]
    fn control_functions_are_followed_also_when_nothing_is_awaited() {
        let mut echoes = typed(&[], &[]);
        echoes.skip(b"ready \x1b[1;3");
        echoes.await_key(b"2", &[], true, stamp(0), stamp(0));
        echoes.await_key(b"m", &[], true, stamp(1), stamp(1));
        assert_eq!(shown(&mut echoes, "2m2m", false), "..01");
    }

    #[test]
    fn a_key_is_its_whole_character() {
        let mut echoes = typed(&["é"], &[]);
        assert_eq!(shown(&mut echoes, "è\u{a9}", false), "_...");
        // Cut in two reads.
        assert_eq!(shown(&mut echoes, [0xc3], false) + &shown(&mut echoes, [0xa9], false), "_0");
    }

    #[test]
    fn a_key_that_is_never_echoed_is_given_up_by_those_behind_it() {
        // The second key behind it goes when the first of them has been echoed.
        let mut echoes = typed(&["x", "l"], &[]);
        assert_eq!(shown(&mut echoes, "\x1b[ml", false), "....");
        echoes.await_key(b"s", &[], true, stamp(20), stamp(20));
        assert_eq!(shown(&mut echoes, "\x1b[ms", false), "...(-1@13 ?@13)");
        assert_eq!(echoes.pending(), 0);
        // All typed ahead: four in order are enough, less are held.
        let mut echoes = typed(&["x", "e", "c", "h", "o"], &[]);
        assert_eq!(shown(&mut echoes, "ech", false), "...");
        assert_eq!(shown(&mut echoes, "o", false), "(-1@10 2@11 3@12 4@10)");
    }

    #[test]
    fn what_is_held_counts_from_when_it_came() {
        let mut echoes = typed(&["x", "l"], &[]);
        shown(&mut echoes, "l", false);
        assert_eq!(overtaken(&mut echoes, stamp(11)), "");
        assert_eq!(echoes.held_until(), Some(stamp(10) + HELD));
        assert_eq!(overtaken(&mut echoes, stamp(10) + HELD), "(-1@10)");
    }

    #[test]
    fn other_output_gives_up_no_key() {
        // Text with the keys in it, in order, but not one directly after another.
        let mut echoes = typed(&["e", "c", "h", "o"], &[]);
        assert_eq!(shown(&mut echoes, "cat has no", false), ".".repeat(10));
        assert_eq!(shown(&mut echoes, "echo", false), "0123");
        // The echo that was due comes after all.
        let mut echoes = typed(&["e", "c", "h"], &[]);
        assert_eq!(shown(&mut echoes, "c", false) + &shown(&mut echoes, "ech", false), ".012");
    }

    #[test]
    fn what_is_not_timed_is_counted_nowhere() {
        let mut echoes = typed(&["u"], &[]);
        for key in ["p", "w"] {
            echoes.await_key(key.as_bytes(), &[], false, stamp(1), stamp(1));
        }
        echoes.await_key(b"\r", &[], true, stamp(2), stamp(2));
        assert_eq!(echoes.pending(), 2);
        assert_eq!(shown(&mut echoes, "u\r\n", false), "0..");
        assert_eq!(overtaken(&mut echoes, stamp(12) + HELD), "()");
        assert_eq!(echoes.pending(), 0);
    }
}
