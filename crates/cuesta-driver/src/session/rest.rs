//! The rest of an answer: what goes on behind one that seemed complete.
//!
//! On a screen, numbers that change are no rest, because a clock may run there; nor is what changes in rows that also change while
//! one types: a spinner, a bar, a stream. While these rows become more, and where they do so again and again because what is drawn
//! there moves, nothing is known of a rest.

use std::collections::BTreeSet;
use std::time::Duration;

use cuesta_record::Stamp;

use crate::terminal::Shape;

/// What comes within this time belongs to the same answer.
const SAME_MOMENT: Duration = Duration::from_millis(2);
/// What is drawn while one types moves, if in so many inputs it was in rows where it was not before.
const MOVES: u32 = 3;

/// Follows what goes on behind answers, and learns what is drawn without being asked.
#[derive(Debug, Default)]
pub(super) struct Rest {
    /// The last answer that seemed complete.
    answer: Option<EndedAnswer>,
    /// What the screen showed when the input began.
    begun: Option<Shape>,
    /// Rows that have changed while the user typed elsewhere.
    unasked: BTreeSet<usize>,
    /// In how many inputs they became more.
    grown: u32,
    /// They did so in the last one.
    grows: bool,
}

#[derive(Debug)]
struct EndedAnswer {
    /// When its last character came.
    at: Stamp,
    /// The cursor's row then; `None` without a screen.
    row: Option<String>,
    /// What the screen shows, and since when; `None` without a screen.
    shape: Option<Shape>,
    changed: Stamp,
}

impl Rest {
    /// The first key of an input is sent.
    pub(super) fn begin_input(&mut self, shape: Option<Shape>) {
        self.begun = shape;
    }

    /// The last key of an input is sent.
    pub(super) fn end_input(&mut self, shape: Option<Shape>) {
        let (Some(begun), Some(shape)) = (self.begun.take(), shape) else { return };
        let known = self.unasked.len();
        self.unasked.extend(shape.changed_beside_cursor(&begun));
        self.grows = self.unasked.len() > known;
        self.grown += u32::from(self.grows);
    }

    /// An answer was complete at an instant.
    pub(super) fn begin(&mut self, at: Stamp, row: Option<String>, shape: Option<Shape>) {
        self.answer = Some(EndedAnswer { at, row, shape, changed: at });
    }

    /// Nothing is an answer's rest any more.
    pub(super) fn end(&mut self) {
        self.answer = None;
    }

    /// Something was drawn, the last of it came at an instant.
    pub(super) fn look(&mut self, shape: impl FnOnce() -> Option<Shape>, at: Stamp) {
        let Some(answer) = &mut self.answer else { return };
        let (Some(before), Some(shape)) = (&answer.shape, shape()) else { return };
        if shape.changed_since(before).any(|row| !self.unasked.contains(&row)) {
            answer.changed = at;
        }
        answer.shape = Some(shape);
    }

    /// For how long output has gone on behind the last answer, if it has, up to `heard` without a screen; and the cursor's row when the
    /// answer seemed complete.
    pub(super) fn take(&mut self, heard: Stamp) -> Option<(Duration, Option<String>)> {
        let EndedAnswer { at, row, shape, changed } =
            self.answer.take().filter(|_| !self.grows && self.grown < MOVES)?;
        let took = shape.map_or(heard, |_| changed).since(at);
        (took > SAME_MOMENT).then_some((took, row))
    }
}
