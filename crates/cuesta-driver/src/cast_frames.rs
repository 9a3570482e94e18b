//! A cast as screens over time, for whoever plays it and has no terminal: drawn by the screen that users sit at.

use std::collections::BTreeMap;
use std::time::Duration;

use cuesta_cast::{Cast, EventKind};
use cuesta_screen::vt::{Screen, Span};
use serde::Serialize;

use crate::watch::ScreenSpan;

/// What a stretch of a cast shows.
#[derive(Debug, Serialize)]
pub struct CastFrames {
    /// How long the whole cast is.
    seconds: f64,
    /// In order of time. The first is at the begin of the stretch and has every row, each other one the rows that have changed.
    frames: Vec<CastFrame>,
    /// Remarks of the recorder, such as that characters are missing, each with its instant.
    markers: Vec<(f64, String)>,
}

/// The screen at an instant.
#[derive(Debug, Serialize)]
struct CastFrame {
    /// Seconds from the start of the cast.
    at: f64,
    /// The size of the screen.
    size: (u16, u16),
    /// Rows by number, from 0.
    rows: BTreeMap<u16, Vec<ScreenSpan>>,
    /// Row and column of the cursor; null where it is hidden.
    cursor: Option<(u16, u16)>,
}

impl CastFrames {
    /// The screens from `begin` until `end`, with at most one frame in each stretch of the length `every`.
    #[must_use]
    pub fn draw(cast: &Cast, begin: Duration, end: Duration, every: Duration) -> Self {
        let mut drawing = Drawing::new(cast);
        let (mut frames, mut markers) = (Vec::new(), Vec::new());
        // The instant of the last event that no frame shows yet.
        let mut undrawn: Option<Duration> = None;
        for event in cast.events.iter().take_while(|event| event.at < end) {
            if event.at >= begin && frames.is_empty() {
                frames.push(drawing.frame(begin));
            }
            if let Some(last) = undrawn.filter(|last| slot(*last, every) != slot(event.at, every)) {
                frames.push(drawing.frame(last));
                undrawn = None;
            }
            match &event.kind {
                EventKind::Output(text) => drawing.screen.feed(text.as_bytes()),
                EventKind::Resize { columns, rows } => drawing.screen.resize(*columns, *rows),
                EventKind::Marker(text) if event.at >= begin => {
                    markers.push((event.at.as_secs_f64(), text.clone()));
                    continue;
                }
                _ => continue,
            }
            if event.at >= begin {
                undrawn = Some(event.at);
            }
        }
        if frames.is_empty() {
            frames.push(drawing.frame(begin));
        }
        frames.extend(undrawn.map(|last| drawing.frame(last)));
        let seconds = cast.events.last().map_or(0.0, |last| last.at.as_secs_f64());
        Self { seconds, frames, markers }
    }
}

fn slot(at: Duration, every: Duration) -> u128 {
    at.as_nanos() / every.as_nanos().max(1)
}

/// A screen, and what was shown of it last.
struct Drawing {
    screen: Screen,
    shown: Vec<Vec<Span>>,
}

impl Drawing {
    fn new(cast: &Cast) -> Self {
        Self { screen: Screen::new(cast.header.columns, cast.header.rows), shown: Vec::new() }
    }

    /// The rows that have changed since the last frame.
    fn frame(&mut self, at: Duration) -> CastFrame {
        let size = self.screen.size();
        let rows: Vec<Vec<Span>> = (0..size.1).map(|row| self.screen.spans(row)).collect();
        let changed = (0..).zip(&rows).filter(|(number, row)| self.shown.get(usize::from(*number)) != Some(row));
        let changed = changed.map(|(number, row)| (number, row.iter().map(ScreenSpan::from_span).collect())).collect();
        let cursor = (!self.screen.modes().hidden_cursor).then(|| self.screen.cursor());
        self.shown = rows;
        CastFrame { at: at.as_secs_f64(), size, rows: changed, cursor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuesta_cast::{Event, Header};

    fn at(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn cast(output: &[(u64, &str)]) -> Cast {
        let kind = |text: &str| EventKind::Output(text.to_owned());
        let events = output.iter().map(|(ms, text)| Event { at: at(*ms), kind: kind(text) }).collect();
        Cast { header: Header { columns: 10, rows: 3, ..Header::default() }, events, cut: false }
    }

    fn texts(frame: &CastFrame) -> Vec<(u16, String)> {
        frame.rows.iter().map(|(row, spans)| (*row, spans.iter().map(|span| span.text.as_str()).collect())).collect()
    }

    #[test]
    fn a_frame_has_the_rows_that_changed_in_its_stretch() {
        let cast = cast(&[(10, "one\r\n"), (20, "two"), (150, "\x1b[3;1Hthree"), (420, "\x1b[?25l")]);
        let shown = CastFrames::draw(&cast, at(0), at(1000), at(100));
        let at: Vec<f64> = shown.frames.iter().map(|frame| frame.at).collect();
        assert_eq!(at, [0.0, 0.02, 0.15, 0.42]);
        let row = |number, text: &str| (number, text.to_owned());
        assert_eq!(texts(&shown.frames[0]), [row(0, ""), row(1, ""), row(2, "")]);
        assert_eq!(texts(&shown.frames[1]), [row(0, "one"), row(1, "two")]);
        assert_eq!(texts(&shown.frames[2]), [row(2, "three")]);
        assert_eq!((texts(&shown.frames[3]), shown.frames[3].cursor), (vec![], None));
        assert_eq!((shown.seconds, shown.frames[2].cursor), (0.42, Some((2, 5))));
    }

    #[test]
    fn a_later_stretch_begins_with_the_whole_screen() {
        let cast = cast(&[(10, "one"), (20, "\r\ntwo"), (550, "\r\nthree"), (900, "x")]);
        let shown = CastFrames::draw(&cast, at(500), at(900), at(100));
        let row = |number, text: &str| (number, text.to_owned());
        assert_eq!(texts(&shown.frames[0]), [row(0, "one"), row(1, "two"), row(2, "")]);
        assert_eq!(texts(&shown.frames[1]), [row(2, "three")]);
        assert_eq!(shown.frames.len(), 2);
        let beyond = CastFrames::draw(&cast, at(2000), at(3000), at(100));
        assert_eq!(texts(&beyond.frames[0])[2], row(2, "threex"));
        assert_eq!(beyond.frames.len(), 1);
    }

    #[test]
    fn resizing_and_remarks_are_told() {
        let mut cast = cast(&[(10, "one")]);
        cast.events.push(Event { at: at(200), kind: EventKind::Resize { columns: 12, rows: 2 } });
        cast.events.push(Event { at: at(300), kind: EventKind::Marker("session 2".into()) });
        let shown = CastFrames::draw(&cast, at(0), at(1000), at(100));
        assert_eq!(shown.frames.iter().map(|frame| frame.size).collect::<Vec<_>>(), [(10, 3), (10, 3), (12, 2)]);
        assert_eq!(shown.markers, [(0.3, "session 2".to_owned())]);
    }
}
