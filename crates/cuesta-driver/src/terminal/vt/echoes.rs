//! Echoes on the screen (`Set Echo screen`): where it shows the text that is typed. The keys that are timed otherwise are followed as well,
//! so that no echo of theirs is taken for an answer.

use cuesta_record::Stamp;
use cuesta_screen::vt::{CellPosition, KeyMatch};
use cuesta_tape::Echo;

use super::answer::FIRST_HOLD;
use super::keys::KeyEffect;
use super::{Event, Terminal, VtTerminal};
use crate::echoes::{AwaitedEcho, Echoes, OutputEvent, SentKey};

/// At most this many untimed keys may wait to be shown.
const MOST_UNTIMED: usize = 256;

impl VtTerminal {
    /// A character or another key is sent.
    pub(super) fn key(&mut self, effect: KeyEffect, key: SentKey, events: &mut Vec<OutputEvent>) {
        self.unechoed += usize::from(key.echo == Echo::Screen && matches!(effect, KeyEffect::Shown(_)));
        if self.is_drawn() {
            self.apply(effect, key, events);
        } else {
            self.events.push_back(Event::Key(effect, key));
        }
    }

    pub(super) fn await_key(&mut self, character: char, key: SentKey, events: &mut Vec<OutputEvent>) {
        let key = if key.echo == Echo::Screen { self.follow_untimed(character, key, events) } else { key };
        if key.echo != Echo::Screen
            && self.typed_text.waiting().count() >= MOST_UNTIMED
            && self.typed_text.waiting().next().is_some_and(|echo| !echo.is_timed_by(Echo::Screen))
        {
            self.typed_text.give_up();
        }
        // What a program that hides the cursor draws for an editing key may look like this key.
        if key.sent < self.edit_drawn_by && self.screen.modes().hidden_cursor {
            self.typed_text.lose_row(&self.screen);
        }
        let row = if key.ends_input { 0 } else { self.own_echoes.printable_key(character) };
        let lost = self.typed_text.type_character(
            &self.screen,
            character,
            key.echo != Echo::Screen,
            AwaitedEcho { key, character, ends_key: true, row },
        );
        self.handle(lost, events);
    }

    /// A timed key may follow untimed ones, which are never shown if the echoes of all would have come by now. While one of them waits that
    /// types the same character, the next such echo may be that of either: the key is lost, and followed as an untimed one.
    fn follow_untimed(&mut self, character: char, key: SentKey, events: &mut Vec<OutputEvent>) -> SentKey {
        let untimed = |echo: &AwaitedEcho| !echo.is_timed_by(Echo::Screen);
        let longest = self.hold.length().max(FIRST_HOLD);
        if self.typed_text.waiting().all(|echo| untimed(echo) && echo.key.sent + longest < key.sent) {
            self.typed_text.retain(|_| false);
        }
        if !self.typed_text.waiting().any(|echo| untimed(echo) && echo.character == character) {
            return key;
        }
        self.unechoed -= 1;
        events.push(OutputEvent::Lost);
        SentKey { echo: Echo::Untimed, ..key }
    }

    /// Handles what became of keys with a frame.
    pub(super) fn handle_matches(&mut self, events: &mut Vec<OutputEvent>) {
        let mut matches = std::mem::take(&mut self.matches);
        self.handle(matches.drain(..), events);
        self.matches = matches;
    }

    /// Handles what became of keys.
    pub(super) fn handle(
        &mut self,
        matches: impl IntoIterator<Item = KeyMatch<AwaitedEcho, Stamp>>,
        events: &mut Vec<OutputEvent>,
    ) {
        for key_match in matches {
            match key_match {
                KeyMatch::Shown { key, since, cell, is_doubtful } => {
                    self.show_key(key, since, cell);
                    if key.is_timed_by(Echo::Screen) {
                        self.time_key(key.key, since, is_doubtful, events);
                    }
                }
                KeyMatch::Settled { is_right } => self.settle(is_right, events),
                KeyMatch::Missed(key) => {
                    let missed = OutputEvent::Missed(Echo::Screen);
                    events.extend(key.is_timed_by(Echo::Screen).then_some(missed));
                }
                KeyMatch::Lost(key) => events.extend(key.is_timed_by(Echo::Screen).then_some(OutputEvent::Lost)),
            }
            if let KeyMatch::Shown { key, .. } | KeyMatch::Missed(key) | KeyMatch::Lost(key) = key_match {
                self.unechoed -= usize::from(key.is_timed_by(Echo::Screen));
            }
        }
    }

    /// A timed key is shown since an instant.
    fn time_key(&mut self, key: SentKey, since: Stamp, is_doubtful: bool, events: &mut Vec<OutputEvent>) {
        if let Some(frames) = &mut self.key_frames {
            frames.show(key, since, is_doubtful);
        }
        if is_doubtful {
            self.doubtful.push((key, since));
        } else {
            events.push(OutputEvent::Shown(key, since));
        }
    }

    /// The doubtful keys so far are right, or lost.
    fn settle(&mut self, is_right: bool, events: &mut Vec<OutputEvent>) {
        let outcome = |(key, since)| if is_right { OutputEvent::Shown(key, since) } else { OutputEvent::Lost };
        events.extend(self.doubtful.drain(..).map(outcome));
        if let Some(frames) = &mut self.key_frames {
            frames.settle(is_right, events);
        }
    }

    /// Doubtful keys so far are right.
    pub(super) fn settle_doubtful(&mut self, events: &mut Vec<OutputEvent>) {
        let mut settled = None;
        self.typed_text.settle(|key_match| settled = Some(key_match));
        self.handle(settled, events);
    }

    /// The screen shows a key since an instant.
    fn show_key(&mut self, unshown: AwaitedEcho, since: Stamp, cell: Option<CellPosition>) {
        if let Some(changes) = &mut self.change_echoes {
            changes.text_shown(unshown.key.sent, since);
        }
        self.hold.slowest.learn(since.since(unshown.key.sent));
        self.hold.last_echo = since;
        // A match that disappeared before the echo did not answer the keys after it.
        self.hold.vanished = None;
        if let Some(cell) = cell.filter(|_| !unshown.key.ends_input) {
            self.own_echoes.add(&self.screen, cell, unshown.character, unshown.row);
            self.changed_rows.follow_cursor(cell.behind(&self.screen, unshown.character));
        }
    }
}

impl Echoes for VtTerminal {
    fn unechoed(&self) -> usize {
        self.unechoed + self.change_echoes.as_ref().map_or(0, |changes| changes.unechoed())
    }

    fn oldest(&self) -> Option<Stamp> {
        let waiting = self.typed_text.waiting().map(|unshown| &unshown.key);
        let timed = waiting
            .chain(self.events.iter().filter_map(Event::key))
            .find(|key| key.echo == Echo::Screen)
            .map(|key| key.due);
        timed.into_iter().chain(self.change_echoes.as_ref().and_then(|changes| changes.oldest())).min()
    }

    /// Untimed keys are given up as whole inputs: the end of an input without its beginning could be found in a response.
    fn give_up_before(&mut self, sent: Stamp, events: &mut Vec<OutputEvent>) {
        if self.doubtful.first().is_some_and(|(key, _)| key.sent < sent) {
            self.settle_doubtful(events);
        }
        // Untimed ones before a timed one as well.
        while self.typed_text.waiting().any(|echo| echo.is_timed_by(Echo::Screen) && echo.key.sent < sent) {
            let given_up = self.typed_text.give_up();
            self.handle(given_up, events);
        }
        if let Some(changes) = &mut self.change_echoes {
            changes.end_frames_until(&self.screen, sent, events);
            changes.give_up_before(sent, events);
        }
        if let Some(frames) = self.key_frames.as_mut().filter(|_| sent == Stamp::FAR) {
            frames.end(events);
        }
    }
}

impl Event {
    fn key(&self) -> Option<&SentKey> {
        match self {
            Self::Key(KeyEffect::Shown(_), key) => Some(key),
            _ => None,
        }
    }
}
