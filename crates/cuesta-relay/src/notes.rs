//! What is kept of a session: a cast, in memory, up to a size.

use cuesta_cast::{Cast, Characters, Event, Header, STOPPED, What};
use cuesta_record::Stamp;

/// So much of what was shown, and so much of what was typed, is kept.
const MOST_SHOWN: usize = 48 << 20;
const MOST_TYPED: usize = 255 << 10;

/// A cast in the making.
#[derive(Debug)]
pub(crate) struct Notes {
    cast: Cast,
    begun: Stamp,
    shown: Characters,
    typed: Characters,
    /// Bytes kept so far.
    kept: (usize, usize),
    /// It is full: what follows is not kept.
    full: bool,
}

impl Notes {
    pub(crate) fn new(header: Header, begun: Stamp) -> Self {
        let cast = Cast { header, ..Cast::default() };
        Self { cast, begun, shown: Characters::default(), typed: Characters::default(), kept: (0, 0), full: false }
    }

    pub(crate) fn output(&mut self, at: Stamp, bytes: &[u8]) {
        self.kept.0 += bytes.len();
        let text = self.shown.take(bytes);
        self.note(at, text, What::Output);
    }

    pub(crate) fn input(&mut self, at: Stamp, bytes: &[u8], echoes: Option<bool>) {
        self.kept.1 += bytes.len();
        let text = self.typed.take(bytes);
        self.note(at, text, |text| What::Input { text, echoes });
    }

    pub(crate) fn resize(&mut self, at: Stamp, (columns, rows): (u16, u16)) {
        self.push(at, What::Resize { columns, rows });
    }

    /// All of it. `by_host`: whether the host closed the line.
    pub(crate) fn finish(mut self, at: Stamp, by_host: bool) -> Cast {
        let rest = self.shown.finish();
        self.note(at, rest, What::Output);
        if !by_host || self.full {
            self.full = false;
            self.push(at, What::Marker(STOPPED.to_owned()));
        }
        self.cast
    }

    fn note(&mut self, at: Stamp, text: String, what: impl FnOnce(String) -> What) {
        self.full |= self.kept.0 > MOST_SHOWN || self.kept.1 > MOST_TYPED;
        if !text.is_empty() {
            self.push(at, what(text));
        }
    }

    fn push(&mut self, at: Stamp, what: What) {
        if !self.full {
            // A character may be stamped before the one that was typed last.
            let before = self.cast.events.last().map_or(std::time::Duration::ZERO, |last| last.at);
            self.cast.events.push(Event { at: at.since(self.begun).max(before), what });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Stamp {
        Stamp::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn what_is_too_much_is_not_kept_and_the_end_says_so() {
        let mut notes = Notes::new(Header::default(), at(0));
        notes.input(at(1), b"ls\r", None);
        notes.output(at(2), &vec![b'x'; MOST_SHOWN]);
        notes.output(at(3), b"y");
        notes.input(at(4), b"exit\r", None);
        let cast = notes.finish(at(5), true);
        assert_eq!(cast.events.len(), 3);
        assert!(cast.was_stopped());
    }
}
