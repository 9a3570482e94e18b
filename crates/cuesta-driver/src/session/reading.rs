//! Reading: stamps what came and passes it to the echo matcher, the response matcher and the screen.

use std::rc::Rc;
use std::task::{Context, Poll, ready};

use cuesta_lines::{Fault, Received};
use cuesta_record::Stamp;
use cuesta_tape::WaitCondition;

use super::Session;
use crate::echo_matcher::EchoMatch;
use crate::error::LineLoss;

impl Session {
    /// Reads the line once; if nothing has come, draws a piece of what came before.
    pub(super) fn poll_listen(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LineLoss>> {
        if self.screen.is_none() {
            return self.poll_read(cx);
        }
        self.answer_host(cx)?;
        if !self.screen.as_ref().is_some_and(|pending| pending.is_full()) {
            let read = self.poll_read(cx);
            if let Poll::Ready(Err(_)) = read {
                self.draw_all();
            }
            if read.is_ready() {
                return read;
            }
        }
        self.poll_draw(cx)
    }

    /// Reads the line once.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LineLoss>> {
        let shared = Rc::clone(&self.shared);
        shared.with_buffer(|buffer| {
            let received = ready!(self.line.poll_receive(cx, buffer))?;
            if received.len == 0 {
                return Poll::Ready(Err(LineLoss::Fault(Fault::Closed)));
            }
            self.take(&buffer[..received.len], &received);
            self.count_traffic();
            Poll::Ready(Ok(()))
        })
    }

    fn take(&mut self, bytes: &[u8], received: &Received) {
        self.shared.tally(|tally| tally.counts.characters.received += bytes.len() as u64);
        self.came = self.came.or(received.stamped);
        self.heard = true;
        let from = if self.follows { self.take_echoes(bytes, received) } else { 0 };
        self.answer.take(self.program.condition(self.awaited), &bytes[from..], from, received);
        if let Some(pending) = &mut self.screen {
            pending.read(bytes, received);
        }
        if let Some(modes) = &mut self.modes {
            modes.feed(bytes);
        }
        if self.answer.floods(bytes.len()) && !matches!(self.condition(), Some(WaitCondition::Bytes(_))) {
            self.shared.tally(|tally| tally.counts.error("flood"));
        }
    }

    /// Takes echoes out of what came; returns the index from which on nothing is handled yet.
    fn take_echoes(&mut self, bytes: &[u8], received: &Received) -> usize {
        let mut from = 0;
        for (index, byte) in bytes.iter().enumerate() {
            if !self.echoes.are_awaited() {
                self.echoes.skip(&bytes[index..]);
                break;
            }
            let seen = self.echoes.take(*byte, self.strict, || received.at_character(index));
            if seen == EchoMatch::Other {
                continue;
            }
            self.answer.take(self.program.condition(self.awaited), &bytes[from..index], from, received);
            from = index + 1;
            self.seen(&seen, received.at_character(index));
        }
        from
    }

    fn seen(&mut self, seen: &EchoMatch, at: Stamp) {
        match seen {
            EchoMatch::Echo(key) => self.echoed(key.due, key.sent, at),
            EchoMatch::Overtook => {
                self.settle_echoes(at);
            }
            EchoMatch::Wrong => {
                self.shared.tally(|tally| {
                    tally.counts.stray += 1;
                    tally.counts.error("wrong-echo");
                });
                self.echo_over(at);
            }
            EchoMatch::Part | EchoMatch::Other => {}
        }
    }

    pub(super) fn echoed(&mut self, due: Stamp, sent: Stamp, at: Stamp) {
        let series = &self.shared.groups[self.group].series;
        self.shared.tally(|tally| {
            tally.record(series.echo, at.since(due));
            tally.record(series.echo_from_sent, at.since(sent));
        });
        self.echo_over(at);
    }

    /// Accepts as echoes what has been held for long enough by an instant; says whether anything was.
    pub(crate) fn settle_echoes(&mut self, now: Stamp) -> bool {
        let mut any = false;
        while let Some(overtaken) = self.echoes.overtaken(now) {
            any = true;
            self.missed(overtaken.lost);
            for (key, at) in overtaken.echoed {
                self.echoed(key.due, key.sent, at);
            }
            self.echo_over(overtaken.last);
        }
        any
    }

    /// No more echo will come for a key. If it was the last one's, that may complete the response.
    fn echo_over(&mut self, at: Stamp) {
        self.waits_for_echo();
        if self.unechoed() == 0 && matches!(self.condition(), Some(WaitCondition::Echo)) {
            self.answer.echoed(at);
        }
    }

    /// Gives up unechoed keys that were sent before an instant.
    pub(crate) fn give_up_echoes(&mut self, sent_before: Stamp) {
        self.settle_echoes(sent_before);
        let unseen = self.screen.as_mut().map_or(0, |pending| pending.give_up_before(sent_before));
        let lost = self.echoes.give_up_before(sent_before) + unseen;
        self.settle_echoes(sent_before);
        if lost > 0 {
            self.missed(lost);
            self.waits_for_echo();
        }
    }

    /// Counts keys that were never echoed.
    pub(super) fn missed(&self, keys: u64) {
        if keys == 0 {
            return;
        }
        self.shared.tally(|tally| *tally.counts.errors.entry("unechoed").or_default() += keys);
    }

    /// Updates how many keys wait for their echo, and since when.
    pub(super) fn waits_for_echo(&self) {
        self.shared.waits_for_echo(self.slot, self.oldest(), self.unechoed());
    }

    /// When the key that waits longest for its echo was due.
    fn oldest(&self) -> Option<Stamp> {
        let shown = self.screen.as_ref().and_then(|pending| pending.oldest());
        self.echoes.oldest().into_iter().chain(shown).min()
    }
}
