//! Which character that came is the echo of which key.
//!
//! On the stream, an echo is the first printable character like the one expected after those before it have come; output
//! of the host may stand between, and control functions show nothing. With a map of what is shown for what is typed,
//! nothing but echoes may come, and each is checked.
//!
//! A key that is never echoed is given up when keys behind it are echoed in order and nothing printable stands between
//! them: two, if the second went only after the echo of the first had come, else four. A Return that is shown gives up all
//! keys before it. What is less is held: it counts when nothing has contradicted it for a while.

use std::collections::VecDeque;
use std::time::Duration;

use cuesta_record::Stamp;
use cuesta_screen::{Byte, Characters};

/// Keys that wait for their echo.
#[derive(Debug, Default)]
pub(crate) struct Echoes {
    awaited: VecDeque<Awaited>,
    /// How many timed keys that is.
    keys: usize,
    /// A return was shown as CR: an LF right after it belongs to the same echo.
    line_feed: bool,
    /// Where the stream stands.
    stream: Characters,
    /// Keys that seem to have overtaken those before them.
    run: Option<Run>,
    /// The longest that an echo took of late.
    slowest: Duration,
}

/// One character that waits for its echo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Awaited {
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

/// Keys behind the one that waits longest, of which echoes seem to have come one directly after another.
#[derive(Debug, Clone, Copy)]
struct Run {
    first: usize,
    came: [Stamp; MOST_IN_RUN],
    len: usize,
    /// Another character has come since.
    broken: bool,
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
pub(crate) enum Seen {
    /// The echo of a whole key.
    Echo(Awaited),
    /// Part of an echo, or the echo of a key that is not timed.
    Part,
    /// Keys were echoed behind others that never were: see [`Echoes::overtaken`].
    Overtook,
    /// Not what the map says it must be; the key counts as answered wrongly.
    Wrong,
    /// No echo.
    Other,
}

/// Keys that were never echoed, how many, and those that were echoed behind them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Overtaken {
    pub(crate) lost: u64,
    pub(crate) echoed: Vec<(Awaited, Stamp)>,
}

const CR: char = '\r';
const LF: char = '\n';

impl Echoes {
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
            self.awaited.push_back(Awaited { due, sent, want, last: typed.peek().is_none(), timed });
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
    pub(crate) fn take(&mut self, byte: u8, strict: bool, at: impl FnOnce() -> Stamp) -> Seen {
        let character = match self.stream.take(byte) {
            Byte::Character(character) => character,
            Byte::Part(bytes, len) => return self.part(&bytes[..len]),
            Byte::Control => return Seen::Other,
        };
        if std::mem::take(&mut self.line_feed) && character == LF {
            return Seen::Part;
        }
        let Some(front) = self.awaited.front() else { return Seen::Other };
        let goes_on = self.run.is_some_and(|run| self.extends(run, character));
        if shows(front.want, character) && !goes_on {
            let sent = front.sent;
            self.run = None;
            self.line_feed = character == CR;
            let echoed = self.pop().filter(|key| key.last && key.timed);
            if echoed.is_some() {
                self.took(at().since(sent));
            }
            return echoed.map_or(Seen::Part, Seen::Echo);
        }
        if strict {
            self.give_up_front();
            return Seen::Wrong;
        }
        if character == CR {
            return self.returned(at);
        }
        if character.is_control() {
            return Seen::Other;
        }
        self.follow(character, goes_on, at)
    }

    /// Gives up all keys sent before an instant; says what that leaves.
    pub(crate) fn give_up_before(&mut self, sent: Stamp) -> u64 {
        let mut lost = 0;
        while self.awaited.front().is_some_and(|key| key.sent < sent) {
            lost += u64::from(self.drop_first(1));
        }
        lost
    }

    /// Until when what seems to have overtaken others is held.
    pub(crate) fn held_until(&self) -> Option<Stamp> {
        let run = self.run?;
        Some(run.came[run.len - 1] + HELD.max(self.slowest * HELD_TIMES))
    }

    /// The keys that were echoed behind others, and how many those are, if that is certain or was held long enough.
    pub(crate) fn overtaken(&mut self, now: Stamp) -> Option<Overtaken> {
        let run = self.run.filter(|run| self.is_certain(run) || self.held_until().is_some_and(|until| until <= now))?;
        let lost = u64::from(self.drop_first(run.first));
        let mut echoed = Vec::new();
        for came in &run.came[..run.len] {
            let key = self.pop();
            echoed.extend(key.filter(|key| key.last && key.timed).map(|key| (key, *came)));
        }
        self.run = None;
        Some(Overtaken { lost, echoed })
    }

    /// A Return is shown before what was typed ahead of it: that was not echoed (a password) and never will be.
    fn returned(&mut self, at: impl FnOnce() -> Stamp) -> Seen {
        let Some(first) = self.awaited.iter().position(|key| key.want == CR) else { return Seen::Other };
        self.line_feed = true;
        self.run = Some(Run { first, came: [at(); MOST_IN_RUN], len: 1, broken: true });
        Seen::Overtook
    }

    /// Takes in a printable character that is not the echo of the key that waits longest.
    fn follow(&mut self, character: char, goes_on: bool, at: impl FnOnce() -> Stamp) -> Seen {
        if let Some(run) = self.run.as_mut().filter(|_| goes_on) {
            run.came[run.len] = at();
            run.len += 1;
            let certain = self.run.is_some_and(|run| self.is_certain(&run));
            return if certain { Seen::Overtook } else { Seen::Other };
        }
        let first = self.awaited.iter().skip(1).position(|key| key.want == character).map(|behind| behind + 1);
        match (first, &mut self.run) {
            (Some(first), run) if run.is_none_or(|run| run.broken || first < run.first) => {
                *run = Some(Run { first, came: [at(); MOST_IN_RUN], len: 1, broken: false });
            }
            (_, Some(run)) => run.broken = true,
            _ => {}
        }
        Seen::Other
    }

    /// Whether a character is the echo that comes next in a run.
    fn extends(&self, run: Run, character: char) -> bool {
        !run.broken && self.awaited.get(run.first + run.len).is_some_and(|key| key.want == character)
    }

    /// Whether a run cannot well be chance.
    fn is_certain(&self, run: &Run) -> bool {
        let is_return = self.awaited.get(run.first).is_some_and(|key| key.want == CR);
        let answered =
            |index: usize| self.awaited.get(run.first + index).is_some_and(|next| next.sent >= run.came[index - 1]);
        run.first == 0 || is_return || run.len == MOST_IN_RUN || (1..run.len).any(answered)
    }

    /// Bytes of a character came that is not complete.
    fn part(&self, bytes: &[u8]) -> Seen {
        let is_echo = self.awaited.front().is_some_and(|key| {
            let mut buffer = [0; 4];
            key.want.encode_utf8(&mut buffer).as_bytes().starts_with(bytes)
        });
        if is_echo { Seen::Part } else { Seen::Other }
    }

    fn took(&mut self, delay: Duration) {
        self.slowest = delay.max(self.slowest * 15 / 16);
    }

    fn give_up_front(&mut self) {
        while self.pop().is_some_and(|key| !key.last) {}
    }

    /// Gives up so many characters; says how many timed keys that is.
    fn drop_first(&mut self, characters: usize) -> u32 {
        let mut lost = 0;
        for _ in 0..characters {
            lost += u32::from(self.pop().is_some_and(|key| key.last && key.timed));
        }
        self.run = self.run.and_then(|run| Some(Run { first: run.first.checked_sub(characters)?, ..run }));
        lost
    }

    fn pop(&mut self) -> Option<Awaited> {
        let first = self.awaited.pop_front();
        self.keys -= usize::from(first.is_some_and(|key| key.last && key.timed));
        first
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
    fn typed(keys: &[&str], map: &[(u8, u8)]) -> Echoes {
        let mut echoes = Echoes::default();
        for (n, key) in keys.iter().enumerate() {
            echoes.await_key(key.as_bytes(), map, true, stamp(n), stamp(n));
        }
        echoes
    }

    fn number(key: &Awaited) -> char {
        char::from_digit(key.sent.as_nanos() as u32, 10).unwrap_or('?')
    }

    /// What each byte turned out to be. The first comes when ten keys may have been sent, then one each ns.
    fn shown(echoes: &mut Echoes, text: impl AsRef<[u8]>, strict: bool) -> String {
        let mut told = String::new();
        for (index, byte) in text.as_ref().iter().enumerate() {
            match echoes.take(*byte, strict, || stamp(10 + index)) {
                Seen::Echo(key) => told.push(number(&key)),
                Seen::Part => told.push('_'),
                Seen::Wrong => told.push('!'),
                Seen::Other => told.push('.'),
                Seen::Overtook => told += &overtaken(echoes, stamp(10 + index)),
            }
        }
        told
    }

    /// `-` for each key that was given up, and those that were echoed behind them, each with when that was.
    fn overtaken(echoes: &mut Echoes, now: Stamp) -> String {
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
    fn a_password_is_given_up_at_the_return() {
        let mut echoes = typed(&["p", "w", "\r", "l"], &[]);
        assert_eq!(shown(&mut echoes, "\r\nl", false), "(--2@10)_3");
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
        assert_eq!(shown(&mut echoes, "u\r\n", false), "0(2@11)_");
        assert_eq!(echoes.give_up_before(Stamp::FAR), 0);
    }
}
