//! Counts what became of keys, and of the answer, by what output has shown.

use cuesta_record::{EchoedKey, Failure, FollowedKind, KeyFrame, Stamp, WaitEnd, clock};
use cuesta_tape::{Echo, WaitCondition};

use super::Session;
use crate::echoes::{Echoes, OutputEvent, SentKey};

impl Session {
    /// Keys that still wait for their echo.
    pub(crate) fn unechoed(&self) -> usize {
        self.echoes.unechoed() + self.terminal.unechoed()
    }

    /// Handles what output has shown, and empties the buffer.
    pub(super) fn handle_events(&mut self, events: &mut Vec<OutputEvent>) {
        events.drain(..).for_each(|event| self.handle_event(event));
    }

    fn handle_event(&mut self, event: OutputEvent) {
        match event {
            // A key that was kept back may have been shown before the measurement.
            OutputEvent::Shown(key, at) | OutputEvent::Framed { key, frame: KeyFrame { last: at, .. }, .. }
                if key.echo == Echo::Change && at < self.shared.measuring_since() => {}
            OutputEvent::Shown(key, at) => {
                let series = &self.shared.groups[self.group].series;
                self.shared.record_wait(series.echo, WaitEnd::Answered, (key.due, at));
                self.shared.record_wait(series.echo_from_sent, WaitEnd::Answered, (key.sent, at));
                if key.echo == Echo::Timed {
                    self.log_key(key, at, None);
                }
                self.end_of_echo(at);
            }
            OutputEvent::Framed { key, shown, frame, is_first } => {
                let end = if frame.is_whole { WaitEnd::Answered } else { WaitEnd::TimedOut };
                self.shared.record_wait(self.shared.groups[self.group].series.frame, end, (key.due, frame.last));
                self.shared.tally(|tally| tally.counts.frames.count_key(&frame, is_first));
                self.log_key(key, shown, Some(frame));
            }
            OutputEvent::DrawnFor { frames, bytes } => {
                self.shared.tally(|tally| tally.counts.frames.count_drawn(frames, bytes));
            }
            OutputEvent::Missed(echo) => self.count_unechoed(echo, WaitEnd::Lost, Stamp::FAR),
            OutputEvent::Lost => self.shared.tally(|tally| tally.counts.unfollowed += 1),
            OutputEvent::Wrong => self.shared.tally(|tally| {
                tally.counts.stray += 1;
                tally.counts.count_failure(Failure::WrongEcho);
            }),
            OutputEvent::Settled(at) => self.end_of_echo(at),
            OutputEvent::SetAside(cells) => self.shared.tally(|tally| {
                tally.counts.set_aside = tally.counts.set_aside.max(cells as u64);
            }),
            OutputEvent::Answer(at) => self.complete_on_screen(at),
        }
    }

    /// Adds a key to the log of all keys, if one is kept, and to that of probe lines.
    fn log_key(&self, key: SentKey, shown: Stamp, frame: Option<KeyFrame>) {
        self.follow_end(FollowedKind::Echo, key.sent, shown);
        if self.shared.spec.log_keys {
            let series = self.shared.groups[self.group].series.echo.ended(WaitEnd::Answered).number();
            let SentKey { due, sent, .. } = key;
            let user = self.shared.user(self.slot, |user| user.user);
            let key = EchoedKey { series, user, due, sent, shown, frame };
            self.shared.tally(|tally| tally.keys.push(key));
        }
    }

    /// Decides about echoes that came early, where they are certain or were unconfirmed long enough at `now`. Says whether there were any.
    pub(crate) fn resolve_echoes(&mut self, now: Stamp) -> bool {
        let mut events = Vec::new();
        self.echoes.resolve(now, &mut events);
        let any = !events.is_empty();
        self.handle_events(&mut events);
        any
    }

    /// No more echo will come for a key. If it was the last one's, that may complete the response.
    fn end_of_echo(&mut self, at: Stamp) {
        self.report_unechoed();
        if self.unechoed() == 0 && matches!(self.condition(), Some(WaitCondition::Echo)) {
            self.response.complete_by_echo(at);
        }
    }

    /// Gives up keys without echo that were sent before an instant.
    pub(crate) fn give_up_echoes(&mut self, sent_before: Stamp) {
        self.resolve_echoes(sent_before);
        let mut events = Vec::new();
        self.echoes.give_up_before(sent_before, &mut events);
        self.terminal.give_up_before(sent_before, &mut events);
        let any = !events.is_empty();
        let end = if sent_before == Stamp::FAR { WaitEnd::Lost } else { WaitEnd::TimedOut };
        for event in events {
            match event {
                OutputEvent::Missed(echo) => self.count_unechoed(echo, end, sent_before),
                event => self.handle_event(event),
            }
        }
        self.resolve_echoes(sent_before);
        if any {
            self.report_unechoed();
        }
    }

    /// Counts a key, timed in this way, that was never echoed: given up because it was sent before an instant, or since its echo cannot come any more
    /// ([`Stamp::FAR`]).
    fn count_unechoed(&self, echo: Echo, end: WaitEnd, sent_before: Stamp) {
        self.shared.tally(|tally| tally.counts.count_failures(Failure::Unechoed, 1));
        let (series, times) = (&self.shared.groups[self.group].series, (sent_before, clock::now()));
        self.shared.record_wait(series.echo, end, times);
        self.shared.record_wait(series.echo_from_sent, end, times);
        if echo != Echo::Timed {
            self.shared.record_wait(series.frame, end, times);
        }
    }

    /// Reports how many keys wait for their echo, and since when.
    pub(super) fn report_unechoed(&self) {
        let oldest = self.echoes.oldest().into_iter().chain(self.terminal.oldest()).min();
        let on_screen = self.terminal.unechoed();
        self.shared.user(self.slot, |user| user.wait_for_echoes(oldest, self.unechoed(), on_screen));
    }
}
