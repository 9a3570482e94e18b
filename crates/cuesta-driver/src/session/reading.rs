//! Reads the line, and passes the stamped characters to the echo matcher, the response matcher and the terminal.

use std::rc::Rc;
use std::task::{Context, Poll, ready};

use cuesta_lines::{Fault, Received, StampPair};
use cuesta_record::{Failure, Stamp, WaitEnd, clock};
use cuesta_tape::WaitCondition;

use super::Session;
use crate::echoes::EchoMatch;
use crate::error::LineLoss;
use crate::terminal::ScreenEvent;

impl Session {
    /// Reads the line once. If there is nothing to read, it draws a piece of the output that was read earlier.
    pub(super) fn poll_listen(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LineLoss>> {
        self.answer_host(cx)?;
        if !self.terminal.is_full() {
            let read = self.poll_read(cx);
            if let Poll::Ready(Err(_)) = read {
                self.draw_all();
            }
            if read.is_ready() {
                return read;
            }
            if self.counted_bisync.is_some() {
                // It may have done something without any text for the user.
                self.count_traffic();
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
        self.shared.tally(|tally| tally.counts.characters.out += bytes.len() as u64);
        if let (None, Some(came)) = (self.first_stamps, received.stamped) {
            self.first_stamps = Some(came);
            self.count_own_part(came);
        }
        self.heard = true;
        self.last_heard = received.at_character(bytes.len().saturating_sub(1));
        let from = if self.program().matches_stream { self.take_echoes(bytes, received) } else { 0 };
        let condition = self.shared.program(self.group, self.program).condition(self.next_condition);
        self.response.take(condition, &bytes[from..], from, received);
        self.terminal.read(bytes, received);
        self.report_answer_signs();
        if self.response.floods(bytes.len()) && self.condition().and_then(WaitCondition::count).is_none() {
            self.shared.tally(|tally| tally.counts.error(Failure::Flood));
        }
    }

    /// Records what this driver added to the time from the last key to the first character after it: from our stamp before the key
    /// to its packet, and from the packet that came to our stamp.
    fn count_own_part(&mut self, came: StampPair) {
        if let Some((kernel, ours)) = self.line.kernel_sent().and_then(|sent| came.since(sent)) {
            let series = self.shared.groups[self.group].series.own;
            self.shared.tally(|tally| tally.record(series, ours.saturating_sub(kernel)));
        }
    }

    /// Takes echoes out of a read; returns the index of the first byte that is not handled yet.
    fn take_echoes(&mut self, bytes: &[u8], received: &Received) -> usize {
        // With a map, only echoes may come while one is expected.
        let strict = !self.program().echo_map.is_empty();
        let mut from = 0;
        if self.echoes.is_empty() {
            self.echoes = self.shared.echo_buffer.take();
        }
        for (index, byte) in bytes.iter().enumerate() {
            // What follows an echo in its row may show that it was none.
            if !self.echo_matcher.expects_echo() && (self.echoes.is_empty() || !self.echo_matcher.is_in_row()) {
                self.echo_matcher.skip(&bytes[index..]);
                break;
            }
            let matched = self.echo_matcher.take(*byte, strict, || received.at_character(index));
            if matched == EchoMatch::Other {
                continue;
            }
            let condition = self.shared.program(self.group, self.program).condition(self.next_condition);
            self.response.take(condition, &bytes[from..index], from, received);
            from = index + 1;
            self.handle_match(&matched, received.at_character(index));
        }
        self.keep_doubtful_echoes();
        from
    }

    /// Counts the echoes that were found in a read, unless the last two may be one letter that the host shows twice.
    fn keep_doubtful_echoes(&mut self) {
        let is_doubtful = matches!(self.echoes[..], [.., (before, _), (last, _)] if before.want == last.want);
        if !is_doubtful {
            self.count_echoes();
        }
        self.doubtful_echoes = self.echoes.len();
        if self.echoes.is_empty() {
            self.shared.echo_buffer.set(std::mem::take(&mut self.echoes));
        }
    }

    /// Counts the echoes that were found so far.
    fn count_echoes(&mut self) {
        let mut echoes = std::mem::take(&mut self.echoes);
        echoes.drain(..).for_each(|(key, at)| self.count_echo(key.due, key.sent, at));
        self.echoes = echoes;
        self.doubtful_echoes = 0;
    }

    fn handle_match(&mut self, matched: &EchoMatch, at: Stamp) {
        match matched {
            EchoMatch::Echo(key) => {
                // The next echo shows that those of the read before were right.
                if self.doubtful_echoes > 0 {
                    self.count_echoes();
                }
                self.echoes.push((*key, at));
            }
            EchoMatch::Lost => {
                let lost = self.echo_matcher.lost() + self.echoes.drain(..).len() as u64;
                self.doubtful_echoes = 0;
                self.count_unfollowed(lost);
                self.end_of_echo(at);
            }
            EchoMatch::Overtook => {
                self.resolve_echoes(at);
            }
            EchoMatch::Wrong => {
                self.shared.tally(|tally| {
                    tally.counts.stray += 1;
                    tally.counts.error(Failure::WrongEcho);
                });
                self.end_of_echo(at);
            }
            EchoMatch::Consumed | EchoMatch::Other => {}
        }
    }

    pub(super) fn count_echo(&mut self, due: Stamp, sent: Stamp, at: Stamp) {
        let series = &self.shared.groups[self.group].series;
        self.shared.record_wait(series.echo, WaitEnd::Answered, (due, at));
        self.shared.record_wait(series.echo_from_sent, WaitEnd::Answered, (sent, at));
        self.end_of_echo(at);
    }

    /// Decides about echoes that came early, where they are certain or were unconfirmed long enough at `now`: counts them, and the
    /// keys before them as never echoed. Says whether there were any.
    pub(crate) fn resolve_echoes(&mut self, now: Stamp) -> bool {
        let mut any = false;
        while let Some(overtaken) = self.echo_matcher.overtaken(now) {
            any = true;
            self.count_unechoed(overtaken.lost, Stamp::FAR);
            for (key, at) in overtaken.echoes {
                self.count_echo(key.due, key.sent, at);
            }
            self.end_of_echo(overtaken.last);
        }
        any
    }

    /// No more echo will come for a key. If it was the last one's, that may complete the response.
    pub(super) fn end_of_echo(&mut self, at: Stamp) {
        self.report_unechoed();
        if self.unechoed() == 0 && matches!(self.condition(), Some(WaitCondition::Echo)) {
            self.response.complete_by_echo(at);
        }
    }

    /// Gives up keys without echo that were sent before an instant.
    pub(crate) fn give_up_echoes(&mut self, sent_before: Stamp) {
        self.resolve_echoes(sent_before);
        if self.echoes.first().is_some_and(|(key, _)| key.sent < sent_before) {
            self.count_echoes();
        }
        let mut events = Vec::new();
        self.terminal.give_up_before(sent_before, &mut events);
        let lost = self.echo_matcher.give_up_before(sent_before);
        self.resolve_echoes(sent_before);
        if lost > 0 || !events.is_empty() {
            for event in events {
                match event {
                    ScreenEvent::Missed => self.count_unechoed(1, sent_before),
                    event => self.handle_screen_event(event),
                }
            }
            self.count_unechoed(lost, sent_before);
            self.report_unechoed();
        }
    }

    /// Counts keys that were never echoed: given up because they were sent before an instant, or since their echo cannot come any
    /// more ([`Stamp::FAR`]).
    pub(super) fn count_unechoed(&self, keys: u64, sent_before: Stamp) {
        self.shared.tally(|tally| tally.counts.add_errors(Failure::Unechoed, keys));
        let end = if sent_before == Stamp::FAR { WaitEnd::Lost } else { WaitEnd::TimedOut };
        let (series, times) = (&self.shared.groups[self.group].series, (sent_before, clock::now()));
        for _ in 0..keys {
            self.shared.record_wait(series.echo, end, times);
            self.shared.record_wait(series.echo_from_sent, end, times);
        }
    }

    /// Counts keys whose text could not be followed.
    pub(super) fn count_unfollowed(&self, keys: u64) {
        self.shared.tally(|tally| tally.counts.unfollowed += keys);
    }

    /// Reports how many keys wait for their echo, and since when.
    pub(super) fn report_unechoed(&self) {
        let (oldest, keys) = (self.oldest_unechoed(), self.unechoed());
        self.shared.user(self.slot, |user| user.wait_for_echoes(oldest, keys));
    }

    /// When the key that waits longest for its echo was due.
    fn oldest_unechoed(&self) -> Option<Stamp> {
        self.echo_matcher.oldest().into_iter().chain(self.terminal.oldest()).min()
    }
}
