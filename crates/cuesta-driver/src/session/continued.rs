//! Output that goes on behind an answer which seemed complete, until the next key is sent. Output after that key counts as well if it
//! moves the visible cursor to another row before a key that prints nothing.
//!
//! On a screen these changes do not count: digits, because a clock may run there; the characters of spinners; and rows that also change
//! while the user types, such as a status bar or a stream. Whether the answer went on is unknown
//!
//! - while the set of rows that change by themselves still grows, or has grown in several inputs, because what is drawn there moves;
//! - if output lasts until the next key, and something changes by itself or the user has not typed for long enough to know that.

use std::collections::BTreeSet;
use std::time::Duration;

use cuesta_record::Stamp;

use crate::terminal::{RowHashes, Terminal};

/// Output within this time belongs to the answer.
const SAME_BURST: Duration = Duration::from_millis(2);
/// If the set of rows that change by themselves has grown in this many inputs, what is drawn there moves.
const LEAST_GROWTHS: u32 = 3;
/// Once the user has typed for this long, all inputs together, the rows that change by themselves are known.
const LEARNING_TIME: Duration = Duration::from_secs(1);
/// Output that lasts for more than this share of the time until the next key may be a spinner or a stream, which never ends.
const LASTING_SHARE: f64 = 0.75;

/// Measures for how long output goes on behind answers.
#[derive(Debug, Default)]
pub(super) struct ContinuedOutput {
    /// When the last character was received.
    last_received: Stamp,
    /// When the last character of an answer came that seemed complete.
    since: Option<Stamp>,
    /// When the last character before the next key was received, and when that key was sent.
    next_key: Option<(Stamp, Stamp)>,
    /// `None` without a screen.
    on_screen: Option<Box<OnScreen>>,
}

/// What is known of a screen.
#[derive(Debug, Default)]
struct OnScreen {
    /// The row by which the answer seemed complete.
    row: Option<String>,
    /// What the screen shows after the answer, and since when.
    row_hashes: Option<RowHashes>,
    changed: Stamp,
    /// When the input began, and what the screen showed then.
    input_began: Option<(Stamp, RowHashes)>,
    /// The row in which the user types, and when that became another one than the row in which the input began.
    typed_row: Option<u64>,
    left_row: Option<Stamp>,
    /// Output has lasted from an answer to the next key and beyond.
    streams: bool,
    /// The time from the first to the last key of inputs, all inputs together.
    typed: Duration,
    /// Rows that have changed while the user typed in others.
    self_changing: BTreeSet<usize>,
    /// In how many inputs that set has grown.
    growths: u32,
    /// It has grown in the last one.
    has_grown: bool,
}

impl ContinuedOutput {
    /// A character was received.
    pub(super) fn note_received(&mut self, at: Stamp) {
        self.last_received = at;
    }

    /// The first key of an input is sent. `typed_row`: where the screen shows it.
    pub(super) fn begin_input(&mut self, at: Stamp, row_hashes: Option<RowHashes>, typed_row: Option<u64>) {
        self.key_sent(at);
        if let Some(row_hashes) = row_hashes {
            let screen = self.on_screen.get_or_insert_default();
            (screen.input_began, screen.typed_row, screen.left_row) = (Some((at, row_hashes)), typed_row, None);
        }
    }

    /// A key is sent, of an input or of a probe: what comes from now on may be drawn for it.
    pub(super) fn key_sent(&mut self, at: Stamp) {
        self.next_key.get_or_insert((self.last_received, at));
    }

    /// A key is sent that may take the cursor to another row.
    pub(super) fn leave_row(&mut self) {
        if let Some(screen) = &mut self.on_screen {
            screen.typed_row = None;
        }
    }

    /// The last key of an input is sent.
    pub(super) fn end_input(&mut self, row_hashes: Option<RowHashes>, at: Stamp) {
        if let (Some(screen), Some(row_hashes)) = (&mut self.on_screen, row_hashes) {
            screen.learn(&row_hashes, at);
        }
    }

    /// An answer was complete at an instant.
    pub(super) fn begin(&mut self, at: Stamp, row: Option<String>, row_hashes: Option<RowHashes>) {
        (self.since, self.next_key) = (Some(at), None);
        if row_hashes.is_some() {
            let screen = self.on_screen.get_or_insert_default();
            (screen.row, screen.row_hashes, screen.changed) = (row, row_hashes, at);
        }
    }

    /// Output from now on does not continue an answer.
    pub(super) fn ignore(&mut self) {
        self.since = None;
    }

    /// Looks at the screen after a piece of output was drawn.
    pub(super) fn look(&mut self, terminal: &dyn Terminal) {
        let at = self.last_received;
        match (self.since, &mut self.on_screen) {
            (Some(_), Some(screen)) if self.next_key.is_none() => screen.look(terminal.row_hashes(), at),
            (Some(_), Some(screen)) if screen.typed_row.is_some() => screen.follow_typed_row(terminal.typed_row(), at),
            _ => {}
        }
    }

    /// For how long output has gone on behind the last answer, if it has, and the row by which the answer seemed complete. Called when the
    /// last key of the next input was sent.
    pub(super) fn take(&mut self) -> Option<(Duration, Option<String>)> {
        let (since, (last_received, next_key)) = (self.since.take()?, self.next_key.take()?);
        let (took, row) = match &mut self.on_screen {
            Some(screen) => screen.take(since, last_received, next_key)?,
            None => (last_received.since(since), None),
        };
        (took > SAME_BURST).then_some((took, row))
    }
}

impl OnScreen {
    fn learn(&mut self, row_hashes: &RowHashes, at: Stamp) {
        let Some((since, input_began)) = self.input_began.take() else { return };
        self.typed += at.since(since);
        let known = self.self_changing.len();
        self.self_changing.extend(row_hashes.changed_beside_typed(&input_began));
        self.has_grown = self.self_changing.len() > known;
        self.growths += u32::from(self.has_grown);
    }

    fn look(&mut self, row_hashes: Option<RowHashes>, at: Stamp) {
        if let (Some(before), Some(row_hashes)) = (&self.row_hashes, &row_hashes)
            && row_hashes.changed_since(before).any(|row| !self.self_changing.contains(&row))
        {
            self.changed = at;
        }
        self.row_hashes = row_hashes;
    }

    fn follow_typed_row(&mut self, row: Option<u64>, at: Stamp) {
        if row.is_some() && row != self.typed_row {
            self.left_row = Some(at);
        }
        self.typed_row = row;
    }

    fn take(&mut self, since: Stamp, last_received: Stamp, next_key: Stamp) -> Option<(Duration, Option<String>)> {
        let took = self.changed.since(since);
        let threshold = next_key.since(since).mul_f64(LASTING_SHARE);
        let lasts = took > threshold;
        let left_row = self.left_row.take();
        // Output that lasts until the next key and goes on after it is a stream.
        self.streams |= last_received.since(since) > threshold && left_row.is_some();
        if let Some(left_row) = left_row.filter(|_| self.self_changing.is_empty() && !self.streams) {
            return Some((left_row.since(since), self.row.take()));
        }
        let draws_by_itself = self.typed < LEARNING_TIME || !self.self_changing.is_empty();
        let may_be_by_itself = draws_by_itself && lasts;
        (!self.has_grown && self.growths < LEAST_GROWTHS && !may_be_by_itself).then(|| (took, self.row.take()))
    }
}
