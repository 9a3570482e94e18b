//! A frame in which only the cursor has moved answers a key if the cursor stays there. If cells change in a later frame, and the cursor is
//! elsewhere, the program has moved it first and then drawn: that frame is the answer. This is waited for until the next key, but not for
//! long.
//!
//! If the next key comes first, what is drawn then may be the answer to either key. At a program that was seen to draw behind a move, when
//! that could be seen last, both are lost. At any other the move counts.

use std::time::Duration;

use cuesta_record::Stamp;

use super::{ChangeEchoes, LULL, OpenFrame};
use crate::echoes::OutputEvent;

/// A cursor that has moved alone must stay for at least this long, unless a key follows.
const LEAST_STAY: Duration = Duration::from_millis(250);

/// A frame in which only the cursor has moved, for which keys have waited.
#[derive(Debug, Clone, Copy)]
pub(super) struct CursorMove {
    since: Stamp,
    pub(super) frame: OpenFrame,
    /// When the last frame ended that has changed cells beside the cursor, which stayed.
    last_beside: Stamp,
    /// It is the answer if the cursor stays until then.
    until: Stamp,
}

impl ChangeEchoes {
    /// The cursor alone has moved, for which keys have waited: that is their answer if it stays.
    pub(super) fn await_stay(&mut self, frame: OpenFrame) {
        let since = frame.moved.unwrap_or(frame.last);
        // Where it has moved twice, the later move counts.
        self.draws_behind_moves |= self.cursor_move.is_some();
        let until = self.cursor_move.map_or(since + self.stay(), |earlier| earlier.until);
        self.cursor_move = Some(CursorMove { since, frame, last_beside: frame.last, until });
    }

    /// For how long the cursor must stay.
    fn stay(&self) -> Duration {
        if self.draws_behind_moves { LULL } else { self.slow_echo().clamp(LEAST_STAY, LULL) }
    }

    /// When a move of the cursor is the answer: it has stayed for long enough, or another key is sent.
    pub(super) fn move_ends(&self) -> Option<Stamp> {
        let CursorMove { frame, until, .. } = self.cursor_move?;
        Some(self.waiting.get(self.waiting_for(frame)).map_or(until, |next| next.sent.min(until)))
    }

    /// Cells have changed in a frame, and the cursor is where it has moved alone: that is no answer.
    pub(super) fn draw_beside(&mut self, frame: OpenFrame) {
        self.cursor_move.iter_mut().for_each(|cursor_move| cursor_move.last_beside = frame.last);
    }

    /// Cells have changed in a frame, and the cursor is elsewhere; or it is hidden, and may be back where it was once it is shown again.
    pub(super) fn draw_elsewhere(&mut self, is_hidden: bool, frame: OpenFrame) {
        match (self.cursor_move.take(), is_hidden) {
            (None, _) => {}
            (Some(_), true) => self.extend_ambiguity(frame.last, Duration::ZERO),
            (Some(_), false) => self.draws_behind_moves = true,
        }
    }

    /// The cursor has stayed for long enough, or until another key was sent.
    pub(super) fn end_stay(&mut self, events: &mut Vec<OutputEvent>) {
        if self.cursor_move.is_some_and(|moved| self.move_ends() == Some(moved.until)) {
            self.draws_behind_moves = false;
        }
        self.accept_move(events);
    }

    /// Counts the move as the answer to the keys that have waited, unless another key came too early.
    pub(super) fn accept_move(&mut self, events: &mut Vec<OutputEvent>) {
        let Some(CursorMove { since, frame, last_beside, .. }) = self.cursor_move.take() else { return };
        let waiting = self.waiting_for(frame);
        if waiting == 0 {
            return;
        }
        if let Some(next) = self.waiting.get(waiting).filter(|_| self.draws_behind_moves) {
            self.extend_ambiguity(next.sent, Duration::ZERO);
        }
        self.show(waiting, since, frame, events);
        (self.last_shown, self.last_change) = (frame.last, last_beside);
        self.answer_time.since_lull = self.answer_time.since_lull.max(last_beside.since(frame.last));
    }

    /// The run ends, or the line: it will not be seen whether a cursor stays that has just moved.
    pub(super) fn end_unseen(&mut self, events: &mut Vec<OutputEvent>) {
        if self.draws_behind_moves
            && let Some(cursor_move) = self.cursor_move.take()
        {
            let waiting = self.waiting_for(cursor_move.frame);
            self.lose(waiting, events);
        }
        self.accept_move(events);
    }
}
