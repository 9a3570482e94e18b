//! The rest of an answer: output after one that seemed complete, until the next key is sent. Output after that key counts as well if it
//! moves the visible cursor to another row before a key that prints nothing.
//!
//! On a screen these changes are no rest: digits, because a clock may run there; the characters of spinners; and rows that also change
//! while the user types, such as a status bar or a stream. Whether there is a rest is unknown
//!
//! - while the set of rows that change unasked still grows, or has grown in several inputs, because what is drawn there moves;
//! - if output lasts until the next key, and something is drawn unasked or the user has not typed for long enough to know that.

use std::collections::BTreeSet;
use std::time::Duration;

use cuesta_record::Stamp;

use crate::terminal::{Shape, Terminal};

/// What comes within this time belongs to the same answer.
const SAME_MOMENT: Duration = Duration::from_millis(2);
/// What a program draws by itself moves if it has reached new rows in this many inputs.
const MOVES: u32 = 3;
/// Once users have typed for this long, all inputs together, the rows that a program draws by itself are known.
const LONG_ENOUGH: Duration = Duration::from_secs(1);
/// Output that lasts for more than this share of the time until the next key may be a spinner or a stream, which never ends.
const ALMOST: f64 = 0.75;

/// Follows what goes on behind answers.
#[derive(Debug, Default)]
pub(super) struct Rest {
    /// When the last character came.
    heard: Stamp,
    /// When the last character of an answer came that seemed complete.
    since: Option<Stamp>,
    /// When the last character came before the next key, and when that was sent.
    next: Option<(Stamp, Stamp)>,
    /// `None` without a screen.
    on_screen: Option<Box<OnScreen>>,
}

/// What is known of a screen.
#[derive(Debug, Default)]
struct OnScreen {
    /// The row by which the answer seemed complete.
    row: Option<String>,
    /// What the screen shows behind it, and since when.
    shape: Option<Shape>,
    changed: Stamp,
    /// When the input began, and what the screen showed then.
    begun: Option<(Stamp, Shape)>,
    /// The row in which the user types, and since when it is another one than where the input began.
    typed_row: Option<u64>,
    moved: Option<Stamp>,
    /// Output has lasted from an answer to the next key and beyond.
    streams: bool,
    /// How long inputs have taken.
    typed: Duration,
    /// Rows that have changed while the user typed elsewhere: what is drawn there was not asked for.
    unasked: BTreeSet<usize>,
    /// In how many inputs that set has grown.
    grown: u32,
    /// It has grown in the last one.
    grows: bool,
}

impl Rest {
    /// A character came.
    pub(super) fn hear(&mut self, at: Stamp) {
        self.heard = at;
    }

    /// The first key of an input is sent. `typed_row`: where the screen shows it.
    pub(super) fn begin_input(&mut self, at: Stamp, shape: Option<Shape>, typed_row: Option<u64>) {
        self.next = Some((self.heard, at));
        if let Some(shape) = shape {
            let screen = self.on_screen.get_or_insert_default();
            (screen.begun, screen.typed_row, screen.moved) = (Some((at, shape)), typed_row, None);
        }
    }

    /// A key is sent that may take the cursor to another row.
    pub(super) fn leave_row(&mut self) {
        if let Some(screen) = &mut self.on_screen {
            screen.typed_row = None;
        }
    }

    /// The last key of an input is sent.
    pub(super) fn end_input(&mut self, shape: Option<Shape>, at: Stamp) {
        if let (Some(screen), Some(shape)) = (&mut self.on_screen, shape) {
            screen.learn(&shape, at);
        }
    }

    /// An answer was complete at an instant.
    pub(super) fn begin(&mut self, at: Stamp, row: Option<String>, shape: Option<Shape>) {
        (self.since, self.next) = (Some(at), None);
        if shape.is_some() {
            let screen = self.on_screen.get_or_insert_default();
            (screen.row, screen.shape, screen.changed) = (row, shape, at);
        }
    }

    /// Output from now on belongs to no answer.
    pub(super) fn end(&mut self) {
        self.since = None;
    }

    /// All that has come was drawn, or a piece of it.
    pub(super) fn look(&mut self, terminal: &dyn Terminal) {
        let at = self.heard;
        match (self.since, &mut self.on_screen) {
            (Some(_), Some(screen)) if self.next.is_none() => screen.look(terminal.shape(), at),
            (Some(_), Some(screen)) if screen.typed_row.is_some() => screen.look_at_typed(terminal.typed_row(), at),
            _ => {}
        }
    }

    /// For how long output has gone on behind the last answer, if it has, and the row by which it seemed complete. The last key of the next
    /// input was sent.
    pub(super) fn take(&mut self) -> Option<(Duration, Option<String>)> {
        let (since, (heard, next)) = (self.since.take()?, self.next.take()?);
        let (took, row) = match &mut self.on_screen {
            Some(screen) => screen.take(since, heard, next)?,
            None => (heard.since(since), None),
        };
        (took > SAME_MOMENT).then_some((took, row))
    }
}

impl OnScreen {
    fn learn(&mut self, shape: &Shape, at: Stamp) {
        let Some((since, begun)) = self.begun.take() else { return };
        self.typed += at.since(since);
        let known = self.unasked.len();
        self.unasked.extend(shape.changed_beside_typed(&begun));
        self.grows = self.unasked.len() > known;
        self.grown += u32::from(self.grows);
    }

    fn look(&mut self, shape: Option<Shape>, at: Stamp) {
        if let (Some(before), Some(shape)) = (&self.shape, &shape)
            && shape.changed_since(before).any(|row| !self.unasked.contains(&row))
        {
            self.changed = at;
        }
        self.shape = shape;
    }

    fn look_at_typed(&mut self, row: Option<u64>, at: Stamp) {
        if row.is_some() && row != self.typed_row {
            self.moved = Some(at);
        }
        self.typed_row = row;
    }

    fn take(&mut self, since: Stamp, heard: Stamp, next: Stamp) -> Option<(Duration, Option<String>)> {
        let took = self.changed.since(since);
        let almost = next.since(since).mul_f64(ALMOST);
        let lasts = took > almost;
        let moved = self.moved.take();
        // Output that lasts until the next key and goes on after it is a stream.
        self.streams |= heard.since(since) > almost && moved.is_some();
        if let Some(moved) = moved.filter(|_| self.unasked.is_empty() && !self.streams) {
            return Some((moved.since(since), self.row.take()));
        }
        let draws_unasked = self.typed < LONG_ENOUGH || !self.unasked.is_empty();
        let may_be_unasked = draws_unasked && lasts;
        (!self.grows && self.grown < MOVES && !may_be_unasked).then(|| (took, self.row.take()))
    }
}
