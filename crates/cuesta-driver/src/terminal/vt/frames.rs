//! Draws reads in frames: between the marks of mode 2026, else up to the end of a read. A program that draws the whole screen may need
//! several reads for a frame, and a shell for its row; an answer there counts once the line has been quiet for a moment.

use std::time::Duration;

use cuesta_lines::Received;
use cuesta_record::Stamp;
use cuesta_tape::WaitCondition;

use super::VtTerminal;
use super::answer::finder;
use crate::echoes::{Echoes, OutputEvent};

/// A program that draws the whole screen has drawn a frame once nothing has come for this long.
pub(super) const QUIET: Duration = Duration::from_millis(2);
/// And on a line with a speed, for the time of this many characters.
const QUIET_CHARACTERS: u32 = 4;
/// A frame whose end the host does not mark is shown after this long.
pub(super) const LONGEST_FRAME: Duration = Duration::from_secs(1);

impl VtTerminal {
    /// A read begins another frame once the line has been quiet for a moment.
    pub(super) fn begin_read(&mut self, received: &Received, awaited: &[WaitCondition], events: &mut Vec<OutputEvent>) {
        let quiet = QUIET.max(received.per_character * QUIET_CHARACTERS);
        self.quiet = quiet;
        if let Some(changes) = self.change_echoes.as_mut().filter(|_| !self.screen.is_in_frame()) {
            changes.begin_read(&self.screen, received.at, quiet, events);
        }
        if let Some(frames) = &mut self.key_frames {
            frames.begin_read(received.at_character(0), quiet, events);
        }
        let last = received.at_character(received.len.saturating_sub(1));
        if received.at_character(0).since(std::mem::replace(&mut self.last_drawn, last)) > quiet {
            self.typed_text.begin_frame(&self.screen);
            if !self.screen.is_in_frame() {
                self.changed_rows.forget_gone(&self.screen, &self.own_echoes, finder(awaited));
            }
        }
    }

    /// Draws a part of a read.
    pub(super) fn draw_range(
        &mut self,
        received: &Received,
        mut from: usize,
        to: usize,
        condition: Option<&WaitCondition>,
        events: &mut Vec<OutputEvent>,
    ) {
        // On a line with a speed the screen is checked after each character, because each has an instant of its own.
        let awaits = condition.is_some() || self.change_echoes.as_ref().is_some_and(|changes| changes.is_waiting());
        let exactly = awaits && !received.per_character.is_zero();
        while from < to {
            let bytes = self.undrawn.next(if exactly { 1 } else { to - from });
            let ends_row = if self.hold.edited_return { bytes.iter().position(|byte| *byte == b'\n') } else { None };
            if let Some(before) = ends_row {
                self.leave_edited_row(received, from, before);
                self.undrawn.forget(before);
                from += before;
                continue;
            }
            let marked = self.screen.marked_frames();
            let drawn = self.typed_text.draw(&mut self.screen, bytes, |index| received.at_character(from + index));
            self.undrawn.forget(drawn);
            self.count_drawn(received, from, drawn, self.screen.marked_frames() > marked);
            from += drawn;
            (self.has_output, self.hold.host_has_spoken) = (true, true);
            let at = received.at_character(from - 1);
            if from < to && !exactly {
                self.end_frame(at, true, condition, events);
            } else if exactly {
                if let Some(condition) = condition {
                    self.check(condition, at);
                }
                if !self.screen.is_in_frame() {
                    self.change_drawn(at, false, events);
                }
            }
        }
    }

    /// Draws the row that the host has edited to its end, which is `before` bytes ahead, and leaves it.
    fn leave_edited_row(&mut self, received: &Received, from: usize, before: usize) {
        let marked = self.screen.marked_frames();
        let bytes = self.undrawn.next(before);
        let mut rest = bytes;
        while !rest.is_empty() {
            let done = bytes.len() - rest.len();
            let drawn =
                self.typed_text.draw(&mut self.screen, rest, |index| received.at_character(from + done + index));
            rest = &rest[drawn..];
        }
        self.count_drawn(received, from, before, self.screen.marked_frames() > marked);
        self.own_echoes.leave_edited_row(&self.screen);
        self.hold.edited_return = false;
        (self.first_output, self.matched, self.hold.since) = (None, None, None);
    }

    /// A frame has ended at an instant: because the host has marked its end, or because nothing more has come.
    pub(super) fn end_frame(
        &mut self,
        at: Stamp,
        is_marked: bool,
        condition: Option<&WaitCondition>,
        events: &mut Vec<OutputEvent>,
    ) {
        if self.screen.is_in_frame() && at < *self.frame_begun.get_or_insert(at) + LONGEST_FRAME {
            return;
        }
        self.frame_begun = None;
        let (matches, is_awaited) = (&mut self.matches, self.unechoed > 0);
        self.typed_text.end_frame(&self.screen, at, |key| matches.push(key));
        self.handle_matches(events);
        if let Some(frames) = &mut self.key_frames {
            let changes = self.change_echoes.as_ref();
            frames.end_piece(is_awaited || changes.is_some_and(|changes| changes.unechoed() > 0), events);
        }
        self.change_drawn(at, is_marked, events);
        if let Some(condition) = condition {
            self.frame_may_go_on_until = (!is_marked && self.may_continue_frame()).then_some(at + self.quiet);
            self.judge(condition, at, events);
        }
    }

    /// Bytes of a read are drawn, from an index on.
    fn count_drawn(&mut self, received: &Received, from: usize, bytes: usize, is_marked: bool) {
        let came = (received.at_character(from), received.at_character((from + bytes).saturating_sub(1)));
        if let Some(frames) = &mut self.key_frames {
            frames.drawn(bytes, came, is_marked);
        }
        if let Some(changes) = &mut self.change_echoes {
            changes.add_bytes(bytes, came.1);
        }
    }

    /// More was drawn that may differ because of a key.
    fn change_drawn(&mut self, at: Stamp, is_whole: bool, events: &mut Vec<OutputEvent>) {
        if let Some(changes) = &mut self.change_echoes {
            changes.drawn(&self.screen, at, is_whole, events);
        }
    }

    /// Checks whether the screen meets the condition, and reports the answer unless it is held.
    pub(super) fn judge(&mut self, condition: &WaitCondition, at: Stamp, events: &mut Vec<OutputEvent>) {
        self.check(condition, at);
        self.scrolled_when_judged = self.screen.scrolled();
        events.extend(self.matched.filter(|_| !self.is_match_held()).map(OutputEvent::Answer));
    }

    /// Whether so much has scrolled since the screen was judged that an answer on it may be gone before the end of the read.
    pub(super) fn scrolls_away(&self) -> bool {
        self.screen.scrolled() >= self.scrolled_when_judged + u64::from(self.screen.size().1 / 2)
    }

    /// Whether a frame may take several reads: a program draws the screen as a whole, or its row, which goes on behind the cursor.
    fn may_continue_frame(&self) -> bool {
        let cursor = self.screen.next_cell();
        let goes_on = || self.screen.row(cursor.0).chars().count() > self.screen.text_before(cursor).chars().count();
        self.screen.is_alternate() || self.screen.modes().hidden_cursor || goes_on()
    }
}
