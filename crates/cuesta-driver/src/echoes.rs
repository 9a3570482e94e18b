//! Echoes: which output shows which key. `Set Echo` chooses one of three ways for each key. Each way is a file, and implements [`Echoes`]:
//!
//! - `stream` (`timed`): a character like it comes in the stream. `matcher` looks at one after another.
//! - `terminal/vt/echoes.rs` (`screen`): the screen shows the typed text.
//! - `terminal/vt/change.rs` (`change`): a frame differs.
//!
//! Each gets the keys that were sent and the output, and reports what became of each key as an [`OutputEvent`]. A session asks the
//! stream and the terminal; a terminal answers for the two ways that look at its screen.

use std::time::Duration;

use cuesta_record::{KeyFrame, Stamp};
use cuesta_tape::Echo;

mod matcher;
mod stream;

pub(crate) use stream::StreamEchoes;

/// Keys that wait for their echo. The default methods are those of a terminal that shows no key.
#[allow(unused_variables)] // Default methods ignore their arguments.
pub(crate) trait Echoes {
    /// How many timed keys wait.
    fn unechoed(&self) -> usize {
        0
    }

    /// When the timed key that waits longest was due.
    fn oldest(&self) -> Option<Stamp> {
        None
    }

    /// Gives up all timed keys sent before an instant.
    fn give_up_before(&mut self, sent: Stamp, events: &mut Vec<OutputEvent>) {}
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SentKey {
    pub(crate) due: Stamp,
    pub(crate) sent: Stamp,
    /// How its echo is timed, and counted if it is missing.
    pub(crate) echo: Echo,
    /// Whether it is the first key since the last response.
    pub(crate) begins_input: bool,
    /// Whether the next wait follows it, with no other key between, so that its own echo may be the response.
    pub(crate) ends_input: bool,
}

/// A character of a sent key, whose echo has not come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AwaitedEcho {
    pub(crate) key: SentKey,
    /// What the echo shows.
    pub(crate) character: char,
    /// It is the last character of its key: pasted text is one key of several characters.
    pub(crate) ends_key: bool,
    /// The number of the typed row, on a screen.
    pub(crate) row: u32,
}

impl AwaitedEcho {
    /// Whether the echo is timed in this way, and counted if it is missing.
    pub(crate) fn is_timed_by(&self, echo: Echo) -> bool {
        self.key.echo == echo
    }
}

/// What output has shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputEvent {
    /// A key has been echoed since an instant.
    Shown(SentKey, Stamp),
    /// The frame that shows a key since an instant has ended.
    Framed {
        key: SentKey,
        shown: Stamp,
        frame: KeyFrame,
        /// It is the first key of its frame.
        is_first: bool,
    },
    /// Frames were drawn for a timed key: their number, and their bytes together.
    DrawnFor { frames: u32, bytes: u64 },
    /// A key that is timed in this way will never be echoed.
    Missed(Echo),
    /// The text to which a key belongs cannot be followed, or it cannot be told which frame shows it.
    Lost,
    /// A character came in place of the echo that the map demands.
    Wrong,
    /// Since an instant, keys sent before wait no more.
    Settled(Stamp),
    /// A frame was compared without this many cells, because they change by themselves.
    SetAside(usize),
    /// The wait condition has been met since an instant.
    Answer(Stamp),
}

/// The slowest recent echo of a session; `None` before the first echo.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct SlowestEcho(pub(crate) Option<Duration>);

impl SlowestEcho {
    /// An echo took this long. A slow one fades by a sixteenth with each echo after it.
    pub(crate) fn learn(&mut self, took: Duration) {
        self.0 = Some(took.max(self.0.unwrap_or_default() * 15 / 16));
    }
}
