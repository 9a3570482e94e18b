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
//!                                            certain: `Overtook`. x is never echoed; l and s are, each when its byte came
//! x l               l                        one echo proves nothing: after `UNCONFIRMED`, x is never echoed, and l is
//! l s ⏎             CR LF false CR LF ls CR  the first CR LF begins an `EarlyResponse`; ls CR is the echo of the whole row:
//!                                            `Overtook`, with three late echoes
//! l i s             list CSI 3 D             three echoes, and then the cursor moves: `Lost`, with what was matched in this read
//! p w ⏎             CR LF $                  an `EarlyResponse` too, but no echo follows: after `UNCONFIRMED`, none of the
//!                                            three keys is echoed, as with a password
//! ```

use std::collections::VecDeque;
use std::time::Duration;

use cuesta_record::Stamp;
use cuesta_screen::vt::{StreamByte, StreamParser};

/// The keys of a session that wait for their echo, in the order in which they were sent.
#[derive(Debug, Default)]
pub(crate) struct EchoMatcher {
    queue: VecDeque<PendingKey>,
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
    /// The row that is being echoed has begun.
    row_begun: bool,
    /// The row that is being typed is lost.
    row_lost: bool,
    /// The last character was a blank that is no echo: with a CR behind it, it wraps a row.
    is_blank: bool,
    /// Timed keys of lost rows since they were counted last.
    lost: u64,
}

/// A CR, which an LF may follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CarriageReturn {
    /// It was the echo of a Return: the LF belongs to the same echo.
    Echo,
    /// It was no echo: with the LF it ends a row, alone it begins the same row again.
    Output,
}

/// The slowest recent echo of a session; `None` before the first echo.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct SlowestEcho(pub(crate) Option<Duration>);

impl SlowestEcho {
    /// An echo took this long. A slow one fades by a sixteenth with each echo after it.
    pub(crate) fn learn(&mut self, took: Duration) {
        self.0 = Some(took.max(self.0.unwrap_or_default() * 15 / 16));
    }
}

/// One character that waits for its echo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PendingKey {
    /// When its key was due.
    pub(crate) due: Stamp,
    /// When its key was sent.
    pub(crate) sent: Stamp,
    pub(crate) want: char,
    /// The last character of its key: pasted text is one key of several characters.
    ends_key: bool,
    /// Whether its echo is timed, and counted if it is missing.
    timed: bool,
}

/// Keys behind one that is not echoed, whose own echoes seem to have come directly one after another: `l` and `s` of `x l s`
/// when `ls` is read.
#[derive(Debug, Clone, Copy)]
struct EchoSequence {
    first: usize,
    came: [Stamp; MOST_IN_SEQUENCE],
    len: usize,
    /// Another character has come since.
    broken: bool,
}

/// An end of row came while keys before the Return waited for their echo: CR LF after `l s ⏎`, before any `ls`.
#[derive(Debug, Clone, Copy)]
struct EarlyResponse {
    /// Index of the Return among the pending characters.
    end: usize,
    /// When the end of row came.
    came: Stamp,
    /// The echo of the row, as far as it has come since.
    row: Option<EchoSequence>,
}

/// This many echoes in order are no coincidence, even if all their keys were sent before the first echo came.
const MOST_IN_SEQUENCE: usize = 4;
/// Echoes that came early are unconfirmed for this long, or for `UNCONFIRMED_TIMES` the slowest recent echo if that is more.
const UNCONFIRMED: Duration = Duration::from_millis(500);
const UNCONFIRMED_TIMES: u32 = 4;
/// At most this many untimed characters may wait for their echo.
const MOST_UNTIMED: usize = 256;

/// What a byte turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum EchoMatch {
    /// The echo of a whole key.
    Echo(PendingKey),
    /// It belongs to an echo: a part of one, or the echo of a key that is not timed.
    Consumed,
    /// With it, echoes that came early are certain: keys before them are never echoed, or a response came before its echo. The
    /// caller gets them from [`EchoMatcher::overtaken`].
    Overtook,
    /// The row that is being echoed is lost, with the echoes that were found in this read. [`EchoMatcher::lost`] counts its keys.
    Lost,
    /// Not the echo that the map demands.
    Wrong,
    /// No echo.
    Other,
}

/// Keys that were never echoed, and the keys behind them that were.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Overtaken {
    pub(crate) lost: u64,
    pub(crate) echoes: Vec<(PendingKey, Stamp)>,
    /// When the character came that proved it.
    pub(crate) last: Stamp,
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
        self.queue.iter().find(|key| key.timed).map(|key| key.due)
    }

    /// A key was sent. Keys that are not shown as themselves (controls, sequences) are not awaited.
    pub(crate) fn await_key(&mut self, key: &[u8], map: &[(u8, u8)], timed: bool, due: Stamp, sent: Stamp) {
        let Ok(key) = std::str::from_utf8(key) else { return };
        if key != "\r" && key.chars().any(|character| character.is_ascii_control()) {
            return;
        }
        if self.row_lost {
            self.lost += u64::from(timed && !key.is_empty());
            self.row_lost = key != "\r";
            return;
        }
        self.timed += usize::from(timed && !key.is_empty());
        let mut typed = key.chars().peekable();
        while let Some(character) = typed.next() {
            let mapped = map.iter().find(|(from, _)| char::from(*from) == character);
            let want = mapped.map_or(character, |(_, to)| char::from(*to));
            self.queue.push_back(PendingKey { due, sent, want, ends_key: typed.peek().is_none(), timed });
        }
        while !timed && self.queue.len() > MOST_UNTIMED && self.queue.front().is_some_and(|key| !key.timed) {
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
        if shows(front.want, character) && !goes_on && self.early.is_none() {
            let sent = front.sent;
            self.sequence = None;
            self.carriage_return = (character == CR).then_some(CarriageReturn::Echo);
            (self.row_begun, self.is_blank) = (front.want != CR, false);
            let echoed = self.pop().filter(|key| key.ends_key && key.timed);
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
    pub(crate) fn lost(&mut self) -> u64 {
        std::mem::take(&mut self.lost)
    }

    /// Whether a character that is no echo shows that the row which is being echoed is drawn anew, or mixed with other text.
    fn breaks_row(&self, character: char, before: Option<CarriageReturn>, goes_on: bool) -> bool {
        if !self.row_begun || goes_on || self.early.is_some() || self.sequence.is_some() {
            return false;
        }
        let is_redrawn =
            character == BACKSPACE || before == Some(CarriageReturn::Output) && character != LF && !self.is_blank;
        let is_expected = self.row().any(|key| key.want == character);
        is_redrawn || !(is_expected || character.is_control() || character == ' ')
    }

    /// The keys of the row that is being echoed which wait for their echo.
    fn row(&self) -> impl Iterator<Item = &PendingKey> {
        self.queue.iter().take_while(|key| key.want != CR)
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
    pub(crate) fn give_up_before(&mut self, sent: Stamp) -> u64 {
        let count = self.queue.iter().take_while(|key| key.sent < sent).count();
        self.row_begun &= count == 0;
        self.drop_first(count)
    }

    /// Until when echoes that came early are unconfirmed; `None` without any.
    pub(crate) fn unconfirmed_until(&self) -> Option<Stamp> {
        let early = self.early.as_ref().map(|early| early.row.map_or(early.came, |row| row.last()));
        let last = early.or(self.sequence.map(|sequence| sequence.last()))?;
        Some(last + UNCONFIRMED.max(self.slowest.0.unwrap_or_default() * UNCONFIRMED_TIMES))
    }

    /// Keys that were echoed early, and how many were never echoed, once that is certain or was unconfirmed long enough.
    pub(crate) fn overtaken(&mut self, now: Stamp) -> Option<Overtaken> {
        let is_over = self.unconfirmed_until().is_some_and(|until| until <= now);
        let certain = self.echoed_row().or(self.sequence.filter(|sequence| self.is_certain(sequence)));
        if let Some(sequence) = certain.or(self.sequence.filter(|_| is_over && self.early.is_none())) {
            return Some(self.accept(&sequence));
        }
        let EarlyResponse { end, came, .. } = *self.early.as_deref().filter(|_| is_over)?;
        Some(Overtaken { lost: self.drop_first(end + 1), echoes: Vec::new(), last: came })
    }

    /// Accepts the keys of a sequence as echoed, and gives up those before it.
    fn accept(&mut self, sequence: &EchoSequence) -> Overtaken {
        let lost = self.drop_first(sequence.first);
        let mut echoes = Vec::new();
        for came in &sequence.came[..sequence.len] {
            let Some(key) = self.pop().filter(|key| key.ends_key && key.timed) else { continue };
            self.slowest.learn(came.since(key.sent));
            echoes.push((key, *came));
        }
        self.sequence = None;
        self.early = None;
        Overtaken { lost, echoes, last: sequence.last() }
    }

    /// Handles an end of row that comes while keys before the Return wait for their echo: it may begin the response to that row.
    fn begin_early_response(&mut self, came: Stamp) {
        let Some(end) = self.queue.iter().position(|key| key.want == CR) else { return };
        self.sequence = None;
        self.early = Some(Box::new(EarlyResponse { end, came, row: None }));
    }

    /// Handles a character that does not seem to be the echo of the oldest pending key.
    fn follow(&mut self, character: char, goes_on: bool, at: impl Fn() -> Stamp) -> EchoMatch {
        let row_goes_on = self.follow_row(character, &at);
        if goes_on {
            self.sequence = self.sequence.map(|sequence| sequence.and(at()));
        } else if character != CR {
            self.follow_behind(character, &at);
        }
        self.carriage_return = (character == CR && (goes_on || row_goes_on)).then_some(CarriageReturn::Echo);
        let certain = self.echoed_row().is_some() || self.sequence.is_some_and(|sequence| self.is_certain(&sequence));
        if certain { EchoMatch::Overtook } else { EchoMatch::Other }
    }

    /// Takes a character as the next or first echo of a row that was answered early; says whether it may be.
    fn follow_row(&mut self, character: char, at: impl Fn() -> Stamp) -> bool {
        let Some(early) = self.early.as_deref() else { return false };
        let goes_on = early.row.filter(|row| self.extends(*row, character)).map(|row| row.and(at()));
        let begins = || self.queue.front().filter(|key| key.want == character).map(|_| EchoSequence::new(0, at()));
        let row = goes_on.or_else(begins);
        if let Some(early) = &mut self.early {
            early.row = row;
        }
        row.is_some()
    }

    /// Takes a character as the echo of a later key, if it may be one.
    fn follow_behind(&mut self, character: char, at: impl Fn() -> Stamp) {
        // Keys of a row that was answered early are echoed from the first on, or not at all.
        let from = self.early.as_ref().map_or(1, |early| early.end + 1);
        let first = self.queue.iter().skip(from).position(|key| key.want == character).map(|behind| from + behind);
        match (first, &mut self.sequence) {
            (Some(first), sequence) if sequence.is_none_or(|sequence| sequence.broken || first < sequence.first) => {
                *sequence = Some(EchoSequence::new(first, at()));
            }
            (_, Some(sequence)) => sequence.broken = true,
            _ => {}
        }
    }

    /// Whether a character is the next echo of a sequence.
    fn extends(&self, sequence: EchoSequence, character: char) -> bool {
        !sequence.broken && self.queue.get(sequence.first + sequence.len).is_some_and(|key| key.want == character)
    }

    /// The echo of a row that was answered early, if it is no coincidence.
    fn echoed_row(&self) -> Option<EchoSequence> {
        let early = self.early.as_deref()?;
        early.row.filter(|row| row.len == MOST_IN_SEQUENCE || row.len > early.end)
    }

    /// Whether a sequence is no coincidence.
    fn is_certain(&self, sequence: &EchoSequence) -> bool {
        let sent_after_echo = |index: usize| {
            self.queue.get(sequence.first + index).is_some_and(|next| next.sent >= sequence.came[index - 1])
        };
        // A row that was answered is no password's if its echo may have begun.
        let was_sent_after_answer = |early: &EarlyResponse| {
            let first = self.queue.get(sequence.first).filter(|_| sequence.first == early.end + 1);
            early.row.is_none() && first.is_some_and(|key| key.sent >= early.came)
        };
        sequence.first == 0
            || sequence.len == MOST_IN_SEQUENCE
            || (1..sequence.len).any(sent_after_echo)
            || self.early.as_deref().is_some_and(was_sent_after_answer)
    }

    /// Bytes of an incomplete character came.
    fn incomplete(&self, bytes: &[u8]) -> EchoMatch {
        let is_echo = self.queue.front().is_some_and(|key| {
            let mut buffer = [0; 4];
            key.want.encode_utf8(&mut buffer).as_bytes().starts_with(bytes)
        });
        if is_echo { EchoMatch::Consumed } else { EchoMatch::Other }
    }

    fn give_up_front(&mut self) {
        self.sequence = None;
        self.early = None;
        while self.pop().is_some_and(|key| !key.ends_key) {}
    }

    /// Gives up the first `characters` of the queue; returns how many timed keys those are. The Return behind a secret does not
    /// count.
    fn drop_first(&mut self, characters: usize) -> u64 {
        let mut lost = 0;
        let mut is_secret = false;
        for key in (0..characters).filter_map(|_| self.pop()) {
            lost += u64::from(key.ends_key && key.timed && !(is_secret && key.want == CR));
            is_secret = !key.timed;
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

    fn pop(&mut self) -> Option<PendingKey> {
        let first = self.queue.pop_front();
        self.timed -= usize::from(first.is_some_and(|key| key.ends_key && key.timed));
        first
    }
}

impl EchoSequence {
    fn new(first: usize, came: Stamp) -> Self {
        Self { first, came: [came; MOST_IN_SEQUENCE], len: 1, broken: false }
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
