//! A video terminal: its screen, and the queue of what has come and is not drawn yet.
//!
//! Reads are stamped and queued here, and drawn later in pieces, so that drawing for one user does not delay the stamps of
//! another. Keys sent meanwhile are queued between the reads, as if all before them had been drawn. Bounded: reading stops
//! while too much waits to be drawn. Pure.
//!
//! - Here: the queue of reads and keys. `frames`: drawing; `answer`: whether the screen meets a wait condition; `echoes`: keys that
//!   are timed to where the screen shows them, `change`: to the first frame that differs; `key_frames`: the frames that show them;
//!   `keys`: what keys do.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::time::Duration;

use cuesta_lines::Received;
use cuesta_record::Stamp;
use cuesta_screen::block::Refusal;
use cuesta_screen::vt::{ChangedRows, KeyMatch, OwnEchoes, Screen, TypedText, Widths};
use cuesta_tape::{Echo, Program, WaitCondition};
use regex::bytes::Regex;

use answer::{Hold, finder};
use change::ChangeEchoes;
use key_frames::KeyFrames;
use keys::KeyEffect;
pub(super) use keys::find_mismatch;

use super::undrawn::Undrawn;
use super::{Keystroke, RowHashes, Terminal, TypedAt};
use crate::echoes::{AwaitedEcho, OutputEvent, SentKey};
use crate::watch::Picture;

mod answer;
mod change;
mod echoes;
mod frames;
mod key_frames;
mod keys;

/// A video terminal.
#[derive(Debug)]
pub(crate) struct VtTerminal {
    screen: Screen,
    typed_text: TypedText<AwaitedEcho, Stamp>,
    changed_rows: ChangedRows,
    own_echoes: OwnEchoes,
    /// Keys that are timed to changes of the screen, if one of the user's programs asks for that.
    change_echoes: Option<Box<ChangeEchoes>>,
    /// The frames that show keys, if one of the user's programs times keys by what the screen shows.
    key_frames: Option<Box<KeyFrames>>,
    undrawn: Undrawn,
    /// Reads and keys that are not drawn, in order.
    events: VecDeque<Event>,
    /// How many timed keys the screen has not shown.
    unechoed: usize,
    /// The keys that the last frame has decided about. Reused for its memory.
    matches: Vec<KeyMatch<AwaitedEcho, Stamp>>,
    /// Timed keys that were shown and are doubtful.
    doubtful: Vec<(SentKey, Stamp)>,
    /// Something has been drawn since the last key.
    has_output: bool,
    /// The last key sent ended its input, so its response is waited for.
    ends_input: bool,
    /// When the screen first showed anything but echoes after the last key: the beginning of a response.
    first_output: Option<Stamp>,
    /// Since when the screen has met the wait condition.
    matched: Option<Stamp>,
    /// The row that has met it, counted from the first that has scrolled off.
    matched_row: Option<u64>,
    hold: Hold,
    /// Memory size last reported, in bytes.
    reported_memory: usize,
    /// Whether the host can echo.
    can_echo: bool,
    /// When the current frame began, if the host has marked its beginning.
    frame_begun: Option<Stamp>,
    /// A frame is whole once nothing has come for this long.
    quiet: Duration,
    /// Until this instant the last frame may be continued.
    frame_may_go_on_until: Option<Stamp>,
    /// The number of rows that had scrolled off when the wait condition was checked last.
    scrolled_when_judged: u64,
    /// When the last byte came that was drawn.
    last_drawn: Stamp,
    /// The instant by which the last key that edits the row, or moves in it, is drawn.
    edit_drawn_by: Stamp,
}

#[derive(Debug)]
enum Event {
    /// A read, and how many of its characters are drawn.
    Read(Received, usize),
    Key(KeyEffect, SentKey),
}

impl VtTerminal {
    pub(crate) fn new((columns, rows): (u16, u16), widths: Widths, can_echo: bool) -> Self {
        Self {
            screen: Screen::with_widths(columns, rows, widths),
            typed_text: TypedText::default(),
            changed_rows: ChangedRows::default(),
            own_echoes: OwnEchoes::default(),
            change_echoes: None,
            key_frames: None,
            undrawn: Undrawn::default(),
            events: VecDeque::new(),
            unechoed: 0,
            matches: Vec::new(),
            doubtful: Vec::new(),
            has_output: false,
            ends_input: false,
            first_output: None,
            matched: None,
            matched_row: None,
            hold: Hold::default(),
            reported_memory: 0,
            can_echo,
            frame_begun: None,
            quiet: frames::QUIET,
            frame_may_go_on_until: None,
            scrolled_when_judged: 0,
            last_drawn: Stamp::ZERO,
            edit_drawn_by: Stamp::ZERO,
        }
    }

    fn apply(&mut self, effect: KeyEffect, key: SentKey, events: &mut Vec<OutputEvent>) {
        self.has_output = false;
        self.ends_input = key.ends_input;
        (self.first_output, self.matched, self.frame_may_go_on_until) = (None, None, None);
        (self.hold.since, self.hold.vanished) = (None, None);
        if key.begins_input {
            self.own_echoes.begin_input(&self.screen);
            let matches = &mut self.matches;
            self.typed_text.begin_input(|key| matches.push(key));
            self.handle_matches(events);
            self.hold.begin(&mut self.typed_text);
        }
        self.own_echoes.key_sent();
        self.changed_rows.key_sent(key.ends_input);
        match effect {
            KeyEffect::Shown(character) => self.await_key(character, key, events),
            KeyEffect::Return | KeyEffect::Erase | KeyEffect::Other => {
                // Programs that draw the whole screen end no row.
                if effect == KeyEffect::Return {
                    self.hold.end_row(self.own_echoes.is_edited() && !self.screen.is_alternate());
                } else {
                    self.edit_drawn_by = key.sent + self.hold.length();
                }
                let taken_back = self.typed_text.control_key(effect.into());
                self.handle(taken_back.map(KeyMatch::Lost), events);
                self.own_echoes.control_key(effect == KeyEffect::Return, effect == KeyEffect::Erase);
            }
        }
    }

    /// Whether nothing stands in the cursor's row, and the row above is full: a program that wraps text itself has not yet gone on.
    fn is_below_a_full_row(&self) -> bool {
        let ((row, column), (columns, _)) = (self.screen.cursor(), self.screen.size());
        let is_full = |row| self.screen.cell(row, columns - 1).is_some_and(|cell| !cell.is_blank());
        column == 0 && row > 0 && is_full(row - 1) && self.screen.row(row).trim().is_empty()
    }
}

impl Terminal for VtTerminal {
    fn begin_pass(&mut self, program: &Program) {
        if program.times_changes {
            self.change_echoes.get_or_insert_default();
        }
        if program.times_frames {
            self.key_frames.get_or_insert_default();
        }
    }

    fn press<'a>(&mut self, key: Keystroke<'a>) -> Result<Cow<'a, [u8]>, Refusal> {
        Ok(key.vt_bytes(self.screen.modes()))
    }

    /// Character by character. Only a single character is timed.
    fn key_sent(
        &mut self,
        input: Keystroke<'_>,
        text: &[u8],
        key: SentKey,
        echo_map: &[(u8, u8)],
        events: &mut Vec<OutputEvent>,
    ) {
        if let Some(changes) = &mut self.change_echoes {
            changes.key_sent(key, events);
        }
        let typed = std::str::from_utf8(text).unwrap_or_default();
        let is_single = typed.chars().nth(1).is_none();
        let echo = if key.echo == Echo::Screen && is_single { Echo::Screen } else { Echo::Untimed };
        if let Some(frames) = &mut self.key_frames {
            let is_shown = echo == Echo::Screen && !typed.contains(char::is_control);
            frames.key_sent(key, key.echo == Echo::Change || is_shown, events);
        }
        let key = SentKey { echo, ..key };
        let is_sequence = matches!(input, Keystroke::Key(_)) && !is_single;
        if is_sequence || typed.is_empty() || (echo == Echo::Untimed && !self.can_echo) {
            return self.key(KeyEffect::Other, key, events);
        }
        let mut rest = typed.len();
        for (index, character) in typed.char_indices() {
            rest -= character.len_utf8();
            let key = SentKey {
                begins_input: key.begins_input && index == 0,
                ends_input: key.ends_input && rest == 0,
                ..key
            };
            self.key(KeyEffect::new(character, echo_map), key, events);
        }
    }

    fn probe_sent(&mut self, sent: Stamp, events: &mut Vec<OutputEvent>) {
        let key = SentKey { due: sent, sent, echo: Echo::Untimed, begins_input: false, ends_input: false };
        if let Some(changes) = &mut self.change_echoes {
            changes.key_sent(key, events);
        }
    }

    fn probe_ended(&mut self) {
        if let Some(changes) = &mut self.change_echoes {
            changes.forget_keys();
        }
    }

    fn read(&mut self, bytes: &[u8], received: &Received) {
        self.undrawn.push(bytes);
        self.events.push_back(Event::Read(*received, 0));
    }

    fn is_full(&self) -> bool {
        self.undrawn.is_full()
    }

    fn is_drawn(&self) -> bool {
        self.events.is_empty()
    }

    fn draw(&mut self, most: usize, awaited: &[WaitCondition], events: &mut Vec<OutputEvent>) {
        while let Some(&Event::Key(effect, key)) = self.events.front() {
            self.events.pop_front();
            self.apply(effect, key, events);
        }
        let Some(Event::Read(received, from)) = self.events.front_mut() else { return };
        let (received, from) = (*received, *from);
        self.changed_rows.mark_if_due(&self.screen, finder(awaited));
        if from == 0 {
            self.begin_read(&received, awaited, events);
        }
        let to = received.len.min(from + most.max(1));
        let ends = to == received.len;
        if ends {
            self.events.pop_front();
        } else if let Some(Event::Read(_, drawn)) = self.events.front_mut() {
            *drawn = to;
        }
        // What came before a key is no response to it.
        let no_key_follows = !self.events.iter().any(|event| matches!(event, Event::Key(..)));
        let condition = awaited.first().filter(|condition| condition.needs_screen() && no_key_follows);
        self.draw_range(&received, from, to, condition, events);
        if ends {
            self.end_frame(received.at_character(received.len.saturating_sub(1)), false, condition, events);
        } else if let Some(condition) = condition
            && self.scrolls_away()
        {
            self.judge(condition, received.at_character(to - 1), events);
        }
    }

    fn replies(&self) -> &[u8] {
        self.screen.replies()
    }

    fn forget_replies(&mut self, len: usize) {
        self.screen.forget_replies(len);
    }

    fn frame_ends(&self) -> Option<Stamp> {
        let changes = self.change_echoes.as_ref().filter(|_| !self.screen.is_in_frame());
        let change = changes.and_then(|changes| changes.frame_ends());
        change.into_iter().chain(self.key_frames.as_ref().and_then(|frames| frames.frame_ends(self.quiet))).min()
    }

    fn end_frames_until(&mut self, instant: Stamp, events: &mut Vec<OutputEvent>) {
        if let Some(changes) = &mut self.change_echoes {
            changes.end_frames_until(&self.screen, instant, events);
        }
        if let Some(frames) = &mut self.key_frames {
            frames.end_frames_until(instant, self.quiet, events);
        }
    }

    fn check_again(&mut self, condition: &WaitCondition, last: Stamp) -> bool {
        self.matched = None;
        if self.is_drawn() {
            self.check(condition, last);
        }
        self.matched.is_some() && !self.is_match_held()
    }

    fn first_output(&self, at: Stamp) -> Stamp {
        self.first_output.map_or(at, |first| first.min(at))
    }

    fn match_held_until(&self) -> Option<Stamp> {
        self.held_until()
    }

    fn match_held_since(&self) -> Option<Stamp> {
        self.matched.or(self.hold.vanished).filter(|_| self.is_match_held())
    }

    fn accept_match(&mut self) -> Option<Stamp> {
        self.accept_held()
    }

    /// Without blanks at the ends of rows, or with those up to the cursor.
    fn is_on_screen(&self, pattern: &Regex) -> bool {
        let text = self.screen.text();
        pattern.is_match(text.as_bytes()) || {
            let with_blanks = self.screen.text_to_cursor();
            with_blanks != text && pattern.is_match(with_blanks.as_bytes())
        }
    }

    fn row_hashes(&self) -> Option<RowHashes> {
        let is_hidden = self.screen.modes().hidden_cursor;
        let typed_at = if is_hidden {
            TypedAt::Rows(self.typed_text.rows(&self.screen))
        } else {
            TypedAt::Cursor(self.screen.cursor().0)
        };
        Some(RowHashes::new(self.screen.rows(), typed_at, self.screen.scrolled()))
    }

    fn typed_row(&self) -> Option<u64> {
        let mut row = self.screen.cursor().0;
        row -= u16::from(self.is_below_a_full_row());
        while row > 0 && self.screen.is_wrapped(row - 1) {
            row -= 1;
        }
        let draws_all = self.screen.is_alternate() || self.screen.modes().hidden_cursor;
        (!draws_all).then(|| self.screen.scrolled() + u64::from(row))
    }

    fn cursor_row(&self) -> Option<String> {
        let cursor = self.screen.next_cell();
        let (row, before) = (self.screen.row(cursor.0), self.screen.text_before(cursor));
        Some(if before.len() > row.len() { before } else { row })
    }

    fn answer_row(&self) -> Option<String> {
        let row = self.matched.and(self.matched_row).and_then(|row| row.checked_sub(self.screen.scrolled()));
        let row = row.and_then(|row| u16::try_from(row).ok()).filter(|row| *row != self.screen.cursor().0);
        row.map_or_else(|| self.cursor_row(), |row| Some(self.screen.row(row)))
    }

    fn rows(&self) -> Option<Vec<String>> {
        Some(self.screen.rows().collect())
    }

    fn screen(&self) -> Option<&Screen> {
        Some(&self.screen)
    }

    fn picture(&mut self, _: &dyn Fn() -> Vec<u8>) -> Picture {
        Picture::take(&self.screen, true)
    }

    fn memory_change(&mut self) -> (usize, usize) {
        let changes = self.change_echoes.as_ref().map_or(0, |changes| changes.memory());
        let frames = self.key_frames.as_ref().map_or(0, |frames| frames.memory());
        let now = size_of::<Self>() + self.screen.memory() + self.undrawn.memory() + changes + frames;
        (std::mem::replace(&mut self.reported_memory, now), now)
    }
}

#[cfg(test)]
mod tests;
