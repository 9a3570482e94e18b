//! Matches received characters to the keys whose echo they are.
//!
//! A key's echo is the first printable character like it after the echoes of the keys before. Other output may come between,
//! and control functions show no characters. With an echo map only echoes may come, and each is checked.
//!
//! A key that is never echoed is given up when keys behind it are echoed in order, with nothing printable between them: two
//! keys if the second was sent after the echo of the first had come, else four. Fewer stay unconfirmed, and count when nothing
//! has contradicted them for a while.
//!
//! An end of row that comes while keys before the Return wait is no echo but begins a response. Then either the host does not
//! echo this row (a password), and its keys are given up with the Return after the same while; or the response came before the
//! echo, which is then looked for from the row's first key on.
//!
//! The echo of a row stands in one piece. If the host moves the cursor while keys of a row wait, draws the row again, or writes other
//! characters behind the first echo of the row, then the row is **lost**: what looks like an echo may be a suggestion, a redrawn row, or
//! text that streams meanwhile. Its keys get no figure, and a screen is needed to follow them.
//!
//! Examples. `⏎` is Return, `CR LF` when it is echoed; all keys are sent before anything is read, if nothing else is said.
//!
//! ```text
//! keys typed        bytes read               outcome
//! l s ⏎             ls CR LF                 three echoes: `Echo` at l, s and CR
//! x l, then s       l, then s                l begins an `EchoSequence`. s was sent after the echo of l and continues it, so it is
//!                                            certain: `Resolved`. x is never echoed; l and s are, each when its byte came
//! x l               l                        one echo proves nothing: after `UNCONFIRMED`, x is never echoed, and l is
//! l s ⏎             CR LF false CR LF ls CR  the first CR LF begins an `EarlyResponse`; ls CR is the echo of the whole row:
//!                                            `Resolved`, with three late echoes
//! l i s             list CSI 3 D             three echoes, and then the cursor moves: `Lost`, with what was matched in this read
//! p w ⏎             CR LF $                  an `EarlyResponse` too, but no echo follows: after `UNCONFIRMED`, none of the
//!                                            three keys is echoed, as with a password
//! ```

use std::collections::VecDeque;

use cuesta_record::Stamp;
use cuesta_screen::vt::{StreamByte, StreamParser};
use cuesta_tape::Echo;

use super::{AwaitedEcho, SentKey, SlowestEcho};

use early::{EarlyResponse, EchoSequence};

mod early;

/// The keys of a session that wait for their echo, in the order in which they were sent.
#[derive(Debug, Default)]
pub(crate) struct EchoMatcher {
    queue: VecDeque<AwaitedEcho>,
    /// How many timed keys are in it.
    timed: usize,
    /// The CR that came last, if nothing has come since.
    carriage_return: Option<CarriageReturn>,
    /// Finds characters among control functions.
    stream: StreamParser,
    /// Keys behind the first that seem to be echoed, although the first is not.
    sequence: Option<EchoSequence>,
    /// A response that seems to have come before the echo of its row. Boxed, because that is rare.
    early: Option<Box<EarlyResponse>>,
    slowest: SlowestEcho,
    /// An echo of the row that is being echoed has come.
    row_begun: bool,
    /// The row that is being typed is lost.
    row_lost: bool,
    /// The last character was a blank that is no echo: with a CR behind it, it wraps a row.
    is_blank: bool,
    /// Timed keys of lost rows since they were counted last.
    lost: usize,
}

/// The meaning of a CR, behind which an LF may follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CarriageReturn {
    /// It was the echo of a Return: the LF belongs to the same echo.
    Echo,
    /// It was no echo: with the LF it ends a row, alone it begins the same row again.
    Output,
}

/// Keys of a typist that wait for their echoes at once. Each user takes memory for them.
const USUAL_KEYS: usize = 2;

/// At most this many untimed characters may wait for their echo.
const MOST_UNTIMED: usize = 256;

/// What a byte turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum EchoMatch {
    /// The echo of a whole key.
    Echo(AwaitedEcho),
    /// It belongs to an echo: a part of one, or the echo of a key that is not timed.
    Consumed,
    /// It makes echoes that came early certain: keys before them are never echoed, or a response came before its echo. The
    /// caller gets them from [`EchoMatcher::resolve_unconfirmed`].
    Resolved,
    /// The row that is being echoed is lost, with the echoes that were found in this read. [`EchoMatcher::take_lost`] counts its keys.
    Lost,
    /// Not the echo that the map demands.
    Wrong,
    /// No echo.
    Other,
}

const CR: char = '\r';
const LF: char = '\n';
const BACKSPACE: char = '\x08';

impl EchoMatcher {
    /// Whether any character may still be an echo.
    pub(crate) fn expects_echo(&self) -> bool {
        self.carriage_return == Some(CarriageReturn::Echo) || !self.queue.is_empty()
    }

    /// Another input begins: what is typed now is another row, also where no Return has ended the last one.
    pub(crate) fn begin_input(&mut self) {
        (self.row_begun, self.row_lost) = (false, false);
    }

    /// Whether a row has begun to be echoed whose Return has not been echoed.
    pub(crate) fn is_in_row(&self) -> bool {
        self.row_begun
    }

    /// How many timed keys still wait.
    pub(crate) fn unechoed(&self) -> usize {
        self.timed
    }

    /// When the timed key that waits longest was due.
    pub(crate) fn oldest(&self) -> Option<Stamp> {
        self.queue.iter().find(|echo| echo.is_timed_by(Echo::Timed)).map(|echo| echo.key.due)
    }

    /// A key was sent. Keys that are not shown as themselves (controls, sequences) are not awaited.
    pub(crate) fn await_key(&mut self, text: &[u8], map: &[(u8, u8)], key: SentKey) {
        let Ok(text) = std::str::from_utf8(text) else { return };
        if text != "\r" && text.chars().any(|character| character.is_ascii_control()) {
            return;
        }
        let is_timed_key = key.echo != Echo::Untimed;
        let counts = usize::from(is_timed_key && !text.is_empty());
        if self.row_lost {
            self.lost += counts;
            self.row_lost = text != "\r";
            return;
        }
        self.timed += counts;
        if self.queue.capacity() == 0 {
            self.queue.reserve_exact(USUAL_KEYS);
        }
        let mut typed = text.chars().peekable();
        while let Some(character) = typed.next() {
            let mapped = map.iter().find(|(from, _)| char::from(*from) == character);
            let character = mapped.map_or(character, |(_, to)| char::from(*to));
            self.queue.push_back(AwaitedEcho { key, character, ends_key: typed.peek().is_none(), row: 0 });
        }
        while !is_timed_key
            && self.queue.len() > MOST_UNTIMED
            && self.queue.front().is_some_and(|echo| !echo.is_timed_by(Echo::Timed))
        {
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
            StreamByte::Part(bytes, len) => return self.incomplete(&bytes[..len]),
            function if function.moves_cursor() && !strict => return self.lose_row(),
            StreamByte::Control | StreamByte::ControlSequence(_) => return EchoMatch::Other,
        };
        let before = self.carriage_return.take();
        if before == Some(CarriageReturn::Echo) && character == LF {
            return EchoMatch::Consumed;
        }
        let Some(front) = self.queue.front() else {
            return if self.breaks_row(character, before, false) { self.lose_row() } else { EchoMatch::Other };
        };
        let goes_on = self.sequence.is_some_and(|sequence| self.extends(sequence, character));
        if shows(front.character, character) && !goes_on && self.early.is_none() {
            let sent = front.key.sent;
            self.sequence = None;
            self.carriage_return = (character == CR).then_some(CarriageReturn::Echo);
            (self.row_begun, self.is_blank) = (front.character != CR, false);
            let echoed = self.pop().filter(|echo| echo.ends_key && echo.is_timed_by(Echo::Timed));
            if echoed.is_some() {
                self.slowest.learn(at().since(sent));
            }
            return echoed.map_or(EchoMatch::Consumed, EchoMatch::Echo);
        }
        if strict {
            self.give_up_front();
            return EchoMatch::Wrong;
        }
        if self.breaks_row(character, before, goes_on) {
            return self.lose_row();
        }
        self.is_blank = character == ' ';
        if character == CR && !goes_on && self.early.is_none() {
            self.carriage_return = Some(CarriageReturn::Output);
            return EchoMatch::Other;
        }
        if before == Some(CarriageReturn::Output) && character == LF {
            self.begin_early_response(at());
        }
        if character.is_control() && character != CR {
            return EchoMatch::Other;
        }
        self.follow(character, goes_on, at)
    }

    /// How many timed keys of lost rows there were since the last call.
    pub(crate) fn take_lost(&mut self) -> usize {
        std::mem::take(&mut self.lost)
    }

    /// Whether a character that is no echo shows that the row which is being echoed is drawn anew, or mixed with other text.
    fn breaks_row(&self, character: char, before: Option<CarriageReturn>, goes_on: bool) -> bool {
        if !self.row_begun || goes_on || self.early.is_some() || self.sequence.is_some() {
            return false;
        }
        let is_redrawn =
            character == BACKSPACE || before == Some(CarriageReturn::Output) && character != LF && !self.is_blank;
        let is_expected = self.row().any(|echo| echo.character == character);
        is_redrawn || !(is_expected || character.is_control() || character == ' ')
    }

    /// The keys of the row that is being echoed which wait for their echo.
    fn row(&self) -> impl Iterator<Item = &AwaitedEcho> {
        self.queue.iter().take_while(|echo| echo.character != CR)
    }

    /// The row that is being echoed cannot be followed: gives up its keys.
    fn lose_row(&mut self) -> EchoMatch {
        let keys = self.row().count();
        if keys == 0 && !(self.row_begun && self.queue.is_empty()) {
            return EchoMatch::Other;
        }
        // With the Return behind them, which a row that is drawn anew seems to echo.
        let count = self.queue.len().min(keys + 1);
        self.row_lost = count == keys;
        (self.early, self.row_begun) = (None, false);
        self.lost += self.drop_first(count);
        EchoMatch::Lost
    }

    /// Gives up all keys sent before an instant; returns how many timed ones. Their echo may still come, and breaks no row.
    pub(crate) fn give_up_before(&mut self, sent: Stamp) -> usize {
        let count = self.queue.iter().take_while(|echo| echo.key.sent < sent).count();
        self.row_begun &= count == 0;
        self.drop_first(count)
    }

    /// Bytes of an incomplete character came.
    fn incomplete(&self, bytes: &[u8]) -> EchoMatch {
        let is_echo = self.queue.front().is_some_and(|key| {
            let mut buffer = [0; 4];
            key.character.encode_utf8(&mut buffer).as_bytes().starts_with(bytes)
        });
        if is_echo { EchoMatch::Consumed } else { EchoMatch::Other }
    }

    fn give_up_front(&mut self) {
        self.sequence = None;
        self.early = None;
        while self.pop().is_some_and(|echo| !echo.ends_key) {}
    }

    /// Gives up the first `characters` of the queue; returns how many timed keys those are. The Return behind a secret does not
    /// count.
    fn drop_first(&mut self, characters: usize) -> usize {
        let mut lost = 0;
        let mut is_secret = false;
        for echo in (0..characters).filter_map(|_| self.pop()) {
            let is_timed = echo.is_timed_by(Echo::Timed);
            lost += usize::from(echo.ends_key && is_timed && !(is_secret && echo.character == CR));
            is_secret = !is_timed;
        }
        let left = |index: usize| index.checked_sub(characters);
        self.sequence =
            self.sequence.and_then(|sequence| Some(EchoSequence { first: left(sequence.first)?, ..sequence }));
        self.early = self.early.take().and_then(|mut early| {
            (early.end, early.row) = (left(early.end)?, None);
            Some(early)
        });
        lost
    }

    fn pop(&mut self) -> Option<AwaitedEcho> {
        let first = self.queue.pop_front();
        self.timed -= usize::from(first.is_some_and(|echo| echo.ends_key && echo.is_timed_by(Echo::Timed)));
        first
    }
}

fn shows(want: char, character: char) -> bool {
    want == character || (want == CR && character == LF)
}

#[cfg(test)]
mod tests;
