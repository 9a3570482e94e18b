//! Echoes that may have come early: of keys behind one that is not echoed, or of a row that was answered before its echo.

use std::time::Duration;

use cuesta_record::Stamp;
use cuesta_tape::Echo;

use super::{AwaitedEcho, CR, CarriageReturn, EchoMatch, EchoMatcher};

/// This many echoes in order are no coincidence, even if all their keys were sent before the first echo came.
const MOST_IN_SEQUENCE: usize = 4;
/// Echoes that came early are unconfirmed for this long, or for `UNCONFIRMED_TIMES` the slowest recent echo if that is more.
pub(super) const UNCONFIRMED: Duration = Duration::from_millis(500);
const UNCONFIRMED_TIMES: u32 = 4;

/// Keys behind one that is not echoed, whose own echoes seem to have come directly one after another: `l` and `s` of `x l s`
/// when `ls` is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct EchoSequence {
    /// Index of the first of them among the awaited echoes.
    pub(super) first: usize,
    pub(super) came: [Stamp; MOST_IN_SEQUENCE],
    pub(super) len: usize,
    /// Another character has come since.
    pub(super) broken: bool,
}

/// An end of row came while keys before the Return waited for their echo: CR LF after `l s ⏎`, before any `ls`.
#[derive(Debug, Clone, Copy)]
pub(super) struct EarlyResponse {
    /// Index of the Return among the awaited echoes.
    pub(super) end: usize,
    /// When the end of row came.
    pub(super) came: Stamp,
    /// The echo of the row, as far as it has come since.
    pub(super) row: Option<EchoSequence>,
}

/// What became of keys whose echoes came early: how many were never echoed, and which were.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Resolution {
    pub(crate) never_echoed: usize,
    pub(crate) echoes: Vec<(AwaitedEcho, Stamp)>,
    /// When the character came that proved it.
    pub(crate) last: Stamp,
}

impl EchoMatcher {
    /// Until when echoes that came early are unconfirmed; `None` without any.
    pub(crate) fn unconfirmed_until(&self) -> Option<Stamp> {
        let early = self.early.as_ref().map(|early| early.row.map_or(early.came, |row| row.last()));
        let last = early.or(self.sequence.map(|sequence| sequence.last()))?;
        Some(last + UNCONFIRMED.max(self.slowest.0.unwrap_or_default() * UNCONFIRMED_TIMES))
    }

    /// Decides about echoes that came early, once they are certain or were unconfirmed for long enough.
    pub(crate) fn resolve_unconfirmed(&mut self, now: Stamp) -> Option<Resolution> {
        let is_over = self.unconfirmed_until().is_some_and(|until| until <= now);
        let certain = self.echoed_row().or(self.sequence.filter(|sequence| self.is_certain(sequence)));
        if let Some(sequence) = certain.or(self.sequence.filter(|_| is_over && self.early.is_none())) {
            return Some(self.accept(&sequence));
        }
        let EarlyResponse { end, came, .. } = *self.early.as_deref().filter(|_| is_over)?;
        Some(Resolution { never_echoed: self.drop_first(end + 1), echoes: Vec::new(), last: came })
    }

    /// Accepts the keys of a sequence as echoed, and gives up those before it.
    fn accept(&mut self, sequence: &EchoSequence) -> Resolution {
        let never_echoed = self.drop_first(sequence.first);
        let mut echoes = Vec::new();
        for came in &sequence.came[..sequence.len] {
            let Some(echo) = self.pop().filter(|echo| echo.ends_key && echo.is_timed_by(Echo::Timed)) else { continue };
            self.slowest.learn(came.since(echo.key.sent));
            echoes.push((echo, *came));
        }
        self.sequence = None;
        self.early = None;
        Resolution { never_echoed, echoes, last: sequence.last() }
    }

    /// Handles an end of row that comes while keys before the Return wait for their echo: it may begin the response to that row.
    pub(super) fn begin_early_response(&mut self, came: Stamp) {
        let Some(end) = self.queue.iter().position(|echo| echo.character == CR) else { return };
        self.sequence = None;
        self.early = Some(Box::new(EarlyResponse { end, came, row: None }));
    }

    /// Handles a character that does not seem to be the echo of the oldest pending key.
    pub(super) fn follow(&mut self, character: char, goes_on: bool, at: impl Fn() -> Stamp) -> EchoMatch {
        let row_goes_on = self.follow_row(character, &at);
        if goes_on {
            self.sequence = self.sequence.map(|sequence| sequence.and(at()));
        } else if character != CR {
            self.follow_behind(character, &at);
        }
        self.carriage_return = (character == CR && (goes_on || row_goes_on)).then_some(CarriageReturn::Echo);
        let certain = self.echoed_row().is_some() || self.sequence.is_some_and(|sequence| self.is_certain(&sequence));
        if certain { EchoMatch::Resolved } else { EchoMatch::Other }
    }

    /// Takes a character as the next or first echo of a row that was answered early; says whether it may be.
    fn follow_row(&mut self, character: char, at: impl Fn() -> Stamp) -> bool {
        let Some(early) = self.early.as_deref() else { return false };
        let goes_on = early.row.filter(|row| self.extends(*row, character)).map(|row| row.and(at()));
        let begins =
            || self.queue.front().filter(|echo| echo.character == character).map(|_| EchoSequence::new(0, at()));
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
        let first =
            self.queue.iter().skip(from).position(|echo| echo.character == character).map(|behind| from + behind);
        match (first, &mut self.sequence) {
            (Some(first), sequence) if sequence.is_none_or(|sequence| sequence.broken || first < sequence.first) => {
                *sequence = Some(EchoSequence::new(first, at()));
            }
            (_, Some(sequence)) => sequence.broken = true,
            _ => {}
        }
    }

    pub(super) fn extends(&self, sequence: EchoSequence, character: char) -> bool {
        !sequence.broken
            && self.queue.get(sequence.first + sequence.len).is_some_and(|echo| echo.character == character)
    }

    /// The echo of a row that was answered early, if it is no coincidence.
    fn echoed_row(&self) -> Option<EchoSequence> {
        let early = self.early.as_deref()?;
        early.row.filter(|row| row.len == MOST_IN_SEQUENCE || row.len > early.end)
    }

    /// Whether a sequence is no coincidence.
    fn is_certain(&self, sequence: &EchoSequence) -> bool {
        let sent_after_echo = |index: usize| {
            self.queue.get(sequence.first + index).is_some_and(|next| next.key.sent >= sequence.came[index - 1])
        };
        // A row that was answered is no password's if its echo may have begun.
        let was_sent_after_answer = |early: &EarlyResponse| {
            let first = self.queue.get(sequence.first).filter(|_| sequence.first == early.end + 1);
            early.row.is_none() && first.is_some_and(|echo| echo.key.sent >= early.came)
        };
        sequence.first == 0
            || sequence.len == MOST_IN_SEQUENCE
            || (1..sequence.len).any(sent_after_echo)
            || self.early.as_deref().is_some_and(was_sent_after_answer)
    }
}

impl EchoSequence {
    pub(super) fn new(first: usize, came: Stamp) -> Self {
        Self { first, came: [came; MOST_IN_SEQUENCE], len: 1, broken: false }
    }

    /// This sequence and the next echo.
    pub(super) fn and(mut self, came: Stamp) -> Self {
        self.came[self.len] = came;
        self.len += 1;
        self
    }

    pub(super) fn last(&self) -> Stamp {
        self.came[self.len - 1]
    }
}
