//! Finds output in which the host showed the keys of a secret one after another, away from the cursor or after its end.
//!
//! A program may paint each key somewhere on the screen: the latest key in one cell, or all of them side by side or one below
//! the other. If keys are typed faster than it reads them, it paints some or all of them only after the key that ends the
//! secret. So the keys are searched in order: each in the same cell as the one before, beside it, or below it.

use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;

use cuesta_screen::vt::{Screen, StreamParser};

use crate::cast::{Cast, EventKind};
use crate::cover::Span;
use crate::echo::{BufferPosition, ENOUGH};
use crate::secrets::LEAST_TEXT;

/// From the cell of a key to the cell of the next one, in lines and columns.
const STEPS: [(u64, u16); 4] = [(0, 0), (0, 1), (0, 2), (1, 0)];
/// Most characters after the end of a secret that are searched.
const MOST: usize = 16 << 10;

/// A character of the session's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct OutputPosition {
    pub(crate) event: usize,
    /// Its index in that event.
    pub(crate) character: usize,
}

/// The output from the first key of a secret to the last one shown, for each time that the host showed them.
pub(crate) fn find_painted(cast: &Cast, spans: &[Span]) -> Vec<RangeInclusive<OutputPosition>> {
    let mut screen = Screen::new(cast.header.columns, cast.header.rows);
    let mut parser = StreamParser::default();
    let mut searches: Vec<Search> = spans.iter().filter_map(Search::new).collect();
    for (event, kind) in cast.events.iter().map(|event| &event.kind).enumerate() {
        match kind {
            EventKind::Output(text) if searches.iter().any(|search| search.is_active(event)) => {
                for (character, c) in text.chars().enumerate() {
                    let (at, cell) =
                        (OutputPosition { event, character }, BufferPosition::new(&screen, screen.next_cell()));
                    let is_readable = parser.is_readable(c);
                    for search in searches.iter_mut().filter(|_| is_readable) {
                        search.look_at(at, c, cell);
                    }
                    screen.feed(c.encode_utf8(&mut [0; 4]).as_bytes());
                }
            }
            EventKind::Output(text) => {
                screen.feed(text.as_bytes());
                parser.readable(text);
            }
            EventKind::Resize { columns, rows } => screen.resize(*columns, *rows),
            _ => {}
        }
    }
    searches.into_iter().flat_map(|search| search.complete).map(|(first, last)| first..=last).collect()
}

/// The search for the keys of one secret.
struct Search {
    /// The events from its first key to the key behind it.
    events: RangeInclusive<usize>,
    /// Without repetitions: a key that is pressed twice in a row may change nothing on the screen.
    keys: Vec<char>,
    /// The run of keys that ends in a cell, for each step.
    runs: HashMap<(BufferPosition, (u64, u16)), Run>,
    /// The first and the last character of each run that is long enough.
    complete: BTreeMap<OutputPosition, OutputPosition>,
    /// How many more characters are searched after the end of the secret.
    patience: usize,
}

/// The first keys of a secret, as the host showed them.
#[derive(Clone, Copy)]
struct Run {
    keys: usize,
    first: OutputPosition,
}

impl Search {
    fn new(span: &Span) -> Option<Self> {
        let mut keys = span.keys.clone();
        keys.dedup();
        let (runs, complete) = (HashMap::new(), BTreeMap::new());
        (keys.len() >= LEAST_TEXT).then(|| Self { events: span.events.clone(), keys, runs, complete, patience: MOST })
    }

    fn is_active(&self, event: usize) -> bool {
        event > *self.events.start() && self.patience > 0
    }

    fn look_at(&mut self, at: OutputPosition, c: char, cell: BufferPosition) {
        if !self.is_active(at.event) {
            return;
        }
        if at.event > *self.events.end() {
            self.patience -= 1;
        }
        for step in STEPS {
            let before = cell.step_back(step).and_then(|before| self.runs.get(&(before, step)));
            let Some(run) = self.longer(before, c, at) else {
                // The cell shows something else now. A blank or a star may hide a key in between.
                if !matches!(c, ' ' | '*') {
                    self.runs.remove(&(cell, step));
                }
                continue;
            };
            self.runs.insert((cell, step), run);
            if run.keys >= self.keys.len().min(ENOUGH) {
                self.complete.insert(run.first, at);
            }
        }
    }

    /// The run that a character continues or begins.
    fn longer(&self, before: Option<&Run>, c: char, at: OutputPosition) -> Option<Run> {
        match before {
            Some(run) if self.keys.get(run.keys) == Some(&c) => Some(Run { keys: run.keys + 1, ..*run }),
            Some(run) if self.keys[run.keys - 1] == c && run.keys < self.keys.len() => Some(*run),
            _ => (self.keys[0] == c).then_some(Run { keys: 1, first: at }),
        }
    }
}
