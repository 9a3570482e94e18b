//! Echoes in the stream of characters (`Set Echo timed`).
//!
//! Echoes that are found in a read count at its end, unless the last two may be one letter that the host shows twice: then the next
//! read tells.

use std::cell::Cell;
use std::iter::repeat_n;

use cuesta_record::Stamp;
use cuesta_tape::Echo;

use super::matcher::{EchoMatch, EchoMatcher};
use super::{AwaitedEcho, Echoes, OutputEvent, SentKey};

/// Keys that wait for their echo in the stream.
#[derive(Debug, Default)]
pub(crate) struct StreamEchoes {
    matcher: EchoMatcher,
    /// Echoes that do not count yet: those of this read, and doubtful ones of the read before.
    uncounted: Vec<(AwaitedEcho, Stamp)>,
    /// How many of them are doubtful ones of the read before.
    doubtful: usize,
}

impl StreamEchoes {
    /// A key is sent. `text`: what of it the host may show; `map`: pairs of what is typed and shown.
    pub(crate) fn key_sent(&mut self, text: &[u8], map: &[(u8, u8)], key: SentKey, events: &mut Vec<OutputEvent>) {
        if key.begins_input {
            self.matcher.begin_input();
        }
        self.matcher.await_key(text, map, key);
        events.extend(repeat_n(OutputEvent::Lost, self.matcher.take_lost()));
    }

    /// A read begins. `buffer` is reused for its memory.
    pub(crate) fn begin_read(&mut self, buffer: &Cell<Vec<(AwaitedEcho, Stamp)>>) {
        if self.uncounted.is_empty() {
            self.uncounted = buffer.take();
        }
    }

    pub(crate) fn end_read(&mut self, buffer: &Cell<Vec<(AwaitedEcho, Stamp)>>, events: &mut Vec<OutputEvent>) {
        let is_doubtful =
            matches!(self.uncounted[..], [.., (before, _), (last, _)] if before.character == last.character);
        if !is_doubtful {
            self.confirm(events);
        }
        self.doubtful = self.uncounted.len();
        if self.uncounted.is_empty() {
            buffer.set(std::mem::take(&mut self.uncounted));
        }
    }

    /// Whether any character may still be an echo.
    pub(crate) fn expects_echo(&self) -> bool {
        self.matcher.expects_echo()
    }

    /// Whether the next output may be an echo, or show that what was taken for one is none, as output behind an echo in its row may.
    pub(crate) fn follows(&self) -> bool {
        self.expects_echo() || (!self.uncounted.is_empty() && self.matcher.is_in_row())
    }

    /// Follows these bytes without looking for echoes.
    pub(crate) fn skip(&mut self, bytes: &[u8]) {
        self.matcher.skip(bytes);
    }

    /// A byte came; says whether it belongs to an echo. `strict`: a character can only be an echo.
    pub(crate) fn take(
        &mut self,
        byte: u8,
        strict: bool,
        at: impl Fn() -> Stamp,
        events: &mut Vec<OutputEvent>,
    ) -> bool {
        match self.matcher.take(byte, strict, &at) {
            EchoMatch::Echo(echo) => {
                // The next echo shows that those of the read before were right.
                if self.doubtful > 0 {
                    self.confirm(events);
                }
                self.uncounted.push((echo, at()));
            }
            EchoMatch::Lost => {
                let lost = self.matcher.take_lost() + self.uncounted.drain(..).len();
                self.doubtful = 0;
                events.extend(repeat_n(OutputEvent::Lost, lost));
                events.push(OutputEvent::Settled(at()));
            }
            EchoMatch::Resolved => self.resolve(at(), events),
            EchoMatch::Wrong => events.extend([OutputEvent::Wrong, OutputEvent::Settled(at())]),
            EchoMatch::Consumed => {}
            EchoMatch::Other => return false,
        }
        true
    }

    /// Until when echoes that came early are unconfirmed; `None` without any.
    pub(crate) fn unconfirmed_until(&self) -> Option<Stamp> {
        self.matcher.unconfirmed_until()
    }

    /// Decides about echoes that came early, where they are certain or were unconfirmed long enough at `now`: keys before them were
    /// never echoed.
    pub(crate) fn resolve(&mut self, now: Stamp, events: &mut Vec<OutputEvent>) {
        while let Some(resolution) = self.matcher.resolve_unconfirmed(now) {
            events.extend(repeat_n(OutputEvent::Missed(Echo::Timed), resolution.never_echoed));
            events.extend(resolution.echoes.iter().map(|(echo, at)| OutputEvent::Shown(echo.key, *at)));
            events.push(OutputEvent::Settled(resolution.last));
        }
    }

    /// The echoes that were found so far count.
    fn confirm(&mut self, events: &mut Vec<OutputEvent>) {
        events.extend(self.uncounted.drain(..).map(|(echo, at)| OutputEvent::Shown(echo.key, at)));
        self.doubtful = 0;
    }
}

impl Echoes for StreamEchoes {
    fn unechoed(&self) -> usize {
        self.matcher.unechoed()
    }

    fn oldest(&self) -> Option<Stamp> {
        self.matcher.oldest()
    }

    fn give_up_before(&mut self, sent: Stamp, events: &mut Vec<OutputEvent>) {
        if self.uncounted.first().is_some_and(|(echo, _)| echo.key.sent < sent) {
            self.confirm(events);
        }
        events.extend(repeat_n(OutputEvent::Missed(Echo::Timed), self.matcher.give_up_before(sent)));
    }
}
