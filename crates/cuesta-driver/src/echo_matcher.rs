//! Matches received characters to the keys whose echo they are.
//!
//! A key's echo is the first printable character like it after the echoes of the keys before. Other output may come between,
//! and control functions show no characters. With an echo map only echoes may come, and each is checked.
//!
//! A key that is never echoed is given up when keys behind it are echoed in order, with nothing printable between them: two
//! keys if the second was sent after the echo of the first had come, else four. Fewer are held, and count when nothing has
//! contradicted them for a while.
//!
//! An end of row that comes while keys before the Return wait is no echo but begins a response. Either the host does not echo
//! this row (a password): it is given up with its Return after being held as long. Or the response came before the echo, which
//! is then looked for from the row's first key on.

use std::collections::VecDeque;
use std::time::Duration;

use cuesta_record::Stamp;
use cuesta_screen::{StreamByte, StreamParser};

/// Keys that wait for their echo.
#[derive(Debug, Default)]
pub(crate) struct EchoMatcher {
    awaited: VecDeque<PendingKey>,
    /// How many timed keys are among them.
    keys: usize,
    /// A Return was echoed as CR: an LF right after it belongs to the same echo.
    line_feed: bool,
    /// A CR came that was no echo. With an LF right after it, it ends a row; alone it begins the same row again.
    carriage_return: bool,
    /// Finds characters among control functions.
    stream: StreamParser,
    /// Keys that seem to be echoed before those ahead of them.
    run: Option<EchoSequence>,
    /// A response that seems to have come before the echo of its row.
    early: Option<EarlyAnswer>,
    /// The slowest recent echo.
    slowest: Duration,
}

/// One character that waits for its echo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PendingKey {
    /// When its key was due.
    pub(crate) due: Stamp,
    /// When it went.
    pub(crate) sent: Stamp,
    want: char,
    /// The last character of its key: pasted text is one key of several characters.
    last: bool,
    /// Whether its echo is timed, and counted if it is missing.
    timed: bool,
}

/// Keys whose echoes seem to have come directly one after another.
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
    /// Index of the Return among the pending characters.
    end: usize,
    /// When the end of row came.
    came: Stamp,
    /// The row's echo, as far as it has come since.
    row: Option<EchoSequence>,
}

/// This many echoes in order are no coincidence, whenever their keys were sent.
const MOST_IN_RUN: usize = 4;
/// Early echoes are held for `HELD`, or for `HELD_TIMES` the slowest recent echo if that is more.
const HELD: Duration = Duration::from_millis(500);
const HELD_TIMES: u32 = 4;
/// At most this many untimed characters may wait for their echo.
const MOST_UNTIMED: usize = 256;

/// What a byte turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum EchoMatch {
    /// The echo of a whole key.
    Echo(PendingKey),
    /// Part of an echo, or the echo of a key that is not timed.
    Part,
    /// It is certain now that keys were echoed early, or after a response: see [`EchoMatcher::overtaken`].
    Overtook,
    /// Not the echo that the map demands.
    Wrong,
    /// No echo.
    Other,
}

/// Keys that were never echoed, and those behind them that were.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Overtaken {
    pub(crate) lost: u64,
    pub(crate) echoed: Vec<(PendingKey, Stamp)>,
    /// When the character came that decided it.
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

    /// A key was sent. Keys that are not shown as themselves (controls, sequences) are not awaited.
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

    /// Follows the stream while no key is pending.
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

    /// Gives up all keys sent before an instant; returns how many timed ones.
    pub(crate) fn give_up_before(&mut self, sent: Stamp) -> u64 {
        self.drop_first(self.awaited.iter().take_while(|key| key.sent < sent).count())
    }

    /// Until when early echoes are held.
    pub(crate) fn held_until(&self) -> Option<Stamp> {
        let early = self.early.map(|early| early.row.map_or(early.came, |row| row.last()));
        let last = early.or(self.run.map(|run| run.last()))?;
        Some(last + HELD.max(self.slowest * HELD_TIMES))
    }

    /// Keys that were echoed early, and how many were never echoed, if that is certain or was held long enough.
    pub(crate) fn overtaken(&mut self, now: Stamp) -> Option<Overtaken> {
        let is_over = self.held_until().is_some_and(|until| until <= now);
        let certain = self.echoed_row().or(self.run.filter(|run| self.is_certain(run)));
        if let Some(run) = certain.or(self.run.filter(|_| is_over && self.early.is_none())) {
            return Some(self.take_run(&run));
        }
        let early = self.early.filter(|_| is_over)?;
        Some(Overtaken { lost: self.drop_first(early.end + 1), echoed: Vec::new(), last: early.came })
    }

    /// Accepts the keys of a sequence as echoed, and gives up those before it.
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

    /// An end of row came before the echo of what was typed before the Return.
    fn answered_early(&mut self, came: Stamp) {
        let Some(end) = self.awaited.iter().position(|key| key.want == CR) else { return };
        self.run = None;
        self.early = Some(EarlyAnswer { end, came, row: None });
    }

    /// Handles a character that does not seem to be the echo of the oldest pending key.
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

    /// Takes a character as the next or first echo of a row that was answered early; says whether it may be.
    fn follow_row(&mut self, character: char, at: impl Fn() -> Stamp) -> bool {
        let Some(early) = self.early else { return false };
        let goes_on = early.row.filter(|row| self.extends(*row, character)).map(|row| row.and(at()));
        let begins = || self.awaited.front().filter(|key| key.want == character).map(|_| EchoSequence::new(0, at()));
        let row = goes_on.or_else(begins);
        self.early = Some(EarlyAnswer { row, ..early });
        row.is_some()
    }

    /// Takes a character as the echo of a later key, if it may be one.
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

    /// Whether a character is the next echo of a sequence.
    fn extends(&self, run: EchoSequence, character: char) -> bool {
        !run.broken && self.awaited.get(run.first + run.len).is_some_and(|key| key.want == character)
    }

    /// The echo of a row that was answered early, if it is no coincidence.
    fn echoed_row(&self) -> Option<EchoSequence> {
        let early = self.early?;
        early.row.filter(|row| row.len == MOST_IN_RUN || row.len > early.end)
    }

    /// Whether a sequence is no coincidence.
    fn is_certain(&self, run: &EchoSequence) -> bool {
        let answered =
            |index: usize| self.awaited.get(run.first + index).is_some_and(|next| next.sent >= run.came[index - 1]);
        run.first == 0 || run.len == MOST_IN_RUN || (1..run.len).any(answered)
    }

    /// Bytes of an incomplete character came.
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

    /// Gives up a number of characters; returns how many timed keys those are. The Return behind a secret does not count.
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

    /// This sequence and the next echo.
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
mod tests;
