//! Records a session as a cast in memory, up to a size.

use cuesta_cast::{Cast, Event, EventKind, Header, STOPPED, Utf8Decoder};
use cuesta_record::Stamp;

/// Most bytes of output and of input that are kept.
const MOST_SHOWN: usize = 48 << 20;
const MOST_TYPED: usize = 255 << 10;

/// A cast that is being recorded.
#[derive(Debug)]
pub(crate) struct CastRecorder {
    cast: Cast,
    begun: Stamp,
    shown: Utf8Decoder,
    typed: Utf8Decoder,
    /// Bytes of output and of input so far.
    kept: (usize, usize),
    /// The limit is reached: nothing more is kept.
    full: bool,
}

impl CastRecorder {
    pub(crate) fn new(header: Header, begun: Stamp) -> Self {
        let cast = Cast { header, ..Cast::default() };
        Self { cast, begun, shown: Utf8Decoder::default(), typed: Utf8Decoder::default(), kept: (0, 0), full: false }
    }

    pub(crate) fn output(&mut self, at: Stamp, bytes: &[u8]) {
        self.kept.0 += bytes.len();
        let text = self.shown.take(bytes);
        self.note(at, text, EventKind::Output);
    }

    pub(crate) fn input(&mut self, at: Stamp, bytes: &[u8], echoes: Option<bool>) {
        self.kept.1 += bytes.len();
        let text = self.typed.take(bytes);
        self.note(at, text, |text| EventKind::Input { text, echoes });
    }

    pub(crate) fn resize(&mut self, at: Stamp, (columns, rows): (u16, u16)) {
        self.push(at, EventKind::Resize { columns, rows });
    }

    /// The cast. `by_host`: whether the host closed the line.
    pub(crate) fn finish(mut self, at: Stamp, by_host: bool) -> Cast {
        let rest = self.shown.finish();
        self.note(at, rest, EventKind::Output);
        if !by_host || self.full {
            self.full = false;
            self.push(at, EventKind::Marker(STOPPED.to_owned()));
        }
        self.cast
    }

    fn note(&mut self, at: Stamp, text: String, kind: impl FnOnce(String) -> EventKind) {
        self.full |= self.kept.0 > MOST_SHOWN || self.kept.1 > MOST_TYPED;
        if !text.is_empty() {
            self.push(at, kind(text));
        }
    }

    fn push(&mut self, at: Stamp, kind: EventKind) {
        if !self.full {
            // A received character may be stamped before the last typed one.
            let before = self.cast.events.last().map_or(std::time::Duration::ZERO, |last| last.at);
            self.cast.events.push(Event { at: at.since(self.begun).max(before), kind });
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
    fn output_beyond_the_limit_is_replaced_by_a_marker() {
        let mut recorder = CastRecorder::new(Header::default(), at(0));
        recorder.input(at(1), b"ls\r", None);
        recorder.output(at(2), &vec![b'x'; MOST_SHOWN]);
        recorder.output(at(3), b"y");
        recorder.input(at(4), b"exit\r", None);
        let cast = recorder.finish(at(5), true);
        assert_eq!(cast.events.len(), 3);
        assert!(cast.was_stopped());
    }
}
