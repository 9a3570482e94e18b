//! A frame in which only the cursor has moved answers a key if the cursor rests there. If a later frame changes cells, with the cursor
//! elsewhere, that is the answer: the program has moved the cursor first, and then drawn. This is waited for until the next key, but not
//! for longer than a slow echo takes. Where the next key cuts that short, the keys count once another move was seen to rest; until then they
//! are kept back, and they are lost if the program is seen to draw behind a move.

use std::time::Duration;

use cuesta_record::Stamp;
use cuesta_screen::vt::Screen;

use super::{ChangeEchoes, LULL, OpenFrame};
use crate::echoes::OutputEvent;

/// A cursor that has moved alone must rest for at least this long, unless a key follows.
const LEAST_REST: Duration = Duration::from_millis(250);

/// A frame in which only the cursor has moved, for which keys have waited.
#[derive(Debug, Clone, Copy)]
pub(super) struct CursorMove {
    /// Where to, as a row and a column.
    to: (u16, u16),
    since: Stamp,
    frame: OpenFrame,
    /// When the last frame ended that differs while the cursor rests.
    last: Stamp,
    /// It is the answer if the cursor rests there until then.
    until: Stamp,
}

impl ChangeEchoes {
    /// The cursor alone has moved, for which keys have waited: that is their answer if it rests there.
    pub(super) fn await_rest(&mut self, to: (u16, u16), frame: OpenFrame) {
        let since = frame.moved.map_or(frame.last, |(_, since)| since);
        let rest = self.slow_echo().clamp(LEAST_REST, LULL);
        let earlier = self.cursor_move;
        if earlier.is_some() {
            self.cursor_rests = Some(false);
        }
        let until = earlier.map_or(since + rest, |earlier| earlier.until);
        self.cursor_move = Some(CursorMove { to, since, frame, last: frame.last, until });
    }

    /// When a move of the cursor is the answer: it has rested for long enough, or another key is sent.
    pub(super) fn move_ends(&self) -> Option<Stamp> {
        let CursorMove { frame, until, .. } = self.cursor_move?;
        Some(self.waiting.get(self.waiting_for(frame)).map_or(until, |next| next.sent.min(until)))
    }

    /// A frame differs: whether the cursor has moved before it, and still rests there. If it does not, the frame is the answer.
    pub(super) fn still_rests(&mut self, screen: &Screen, frame: OpenFrame) -> bool {
        let Some(cursor_move) = &mut self.cursor_move else { return false };
        if cursor_move.to == screen.cursor() && !screen.modes().hidden_cursor {
            cursor_move.last = frame.last;
            return true;
        }
        (self.cursor_move, self.cursor_rests) = (None, Some(false));
        self.ambiguous_until = self.ambiguous_until.max(self.unsure_until);
        false
    }

    /// The cursor has rested for long enough, or until another key was sent.
    pub(super) fn end_rest(&mut self, events: &mut Vec<OutputEvent>) {
        if self.cursor_rests.is_none() && self.cursor_move.is_some_and(|moved| self.move_ends() == Some(moved.until)) {
            self.cursor_rests = Some(true);
        }
        self.accept_move(events);
    }

    /// The cursor rests, or another key is sent: then the answer of a program that moves the cursor first may still come.
    pub(super) fn accept_move(&mut self, events: &mut Vec<OutputEvent>) {
        let Some(CursorMove { since, frame, last, until, .. }) = self.cursor_move.take() else { return };
        let waiting = self.waiting_for(frame);
        if waiting == 0 {
            return;
        }
        let next = self.waiting.get(waiting).map(|key| key.sent).filter(|next| *next < until);
        match (next, self.cursor_rests) {
            (Some(next), None) => self.unsure_until = next + self.slow_echo(),
            (Some(next), Some(false)) => self.extend_ambiguity(next, Duration::ZERO),
            _ => {}
        }
        self.show(waiting, since, frame, events);
        (self.last_shown, self.last_change) = (frame.last, last);
        self.answer_time.since_lull = self.answer_time.since_lull.max(last.since(frame.last));
    }
}
