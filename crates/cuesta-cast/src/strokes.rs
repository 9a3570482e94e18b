//! Each key together with what came back before the next one.

use std::time::Duration;

use cuesta_screen::Screen;

use crate::cast::{Cast, What};
use crate::keys::{Keys, Pressed, Typed};
use crate::plain::Plain;

/// A key and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stroke {
    pub(crate) pressed: Pressed,
    /// Whether the line's other end showed it by itself, if that is known.
    pub(crate) echoes: Option<bool>,
    /// What the cursor's row said when it was pressed.
    pub(crate) row: String,
    /// Whether a program drew on the alternate screen then.
    pub(crate) alternate: bool,
    pub(crate) answer: Answer,
}

/// What came between a key and the next.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Answer {
    /// The first and the last of it.
    pub(crate) came: Option<(Duration, Duration)>,
    /// The longest time without anything within it.
    pub(crate) longest_gap: Duration,
    /// What of it could be read, up to a length.
    pub(crate) text: String,
    /// The row of the cursor after each piece that changed it, up to a number.
    pub(crate) rows: Vec<(Duration, Row)>,
}

/// The row that the cursor stands in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Row {
    /// Without blanks at its end.
    pub(crate) text: String,
    /// Whether the cursor stands at its end.
    pub(crate) at_end: bool,
}

/// A session as keys.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Strokes {
    /// What came before the first key.
    pub(crate) greeting: Answer,
    pub(crate) strokes: Vec<Stroke>,
}

/// More of an answer's text is of no use: an echo comes first.
const MOST_TEXT: usize = 16 << 10;
const MOST_ROWS: usize = 256;

/// Reads a session key by key.
pub(crate) fn strokes(cast: &Cast) -> Strokes {
    let screen = Screen::new(cast.header.columns, cast.header.rows);
    let mut reader = Reader { screen, plain: Plain::default(), keys: Keys::default(), found: Strokes::default() };
    for (number, event) in cast.events.iter().enumerate() {
        match &event.what {
            What::Output(text) => reader.output(event.at, text),
            What::Input { text, .. } => {
                let pressed = reader.keys.take(event.at, number, text);
                reader.pressed(cast, pressed);
            }
            What::Secret => {
                let begun = reader.keys.finish();
                reader.pressed(cast, begun);
                let raw = String::new();
                let typed = Pressed { typed: Typed::Secret, at: event.at, input: number, ends: number, raw };
                reader.pressed(cast, vec![typed]);
            }
            What::Resize { columns, rows } => reader.screen.resize(*columns, *rows),
            What::Marker(_) | What::Exit(_) => {}
        }
    }
    let rest = reader.keys.finish();
    reader.pressed(cast, rest);
    reader.found
}

struct Reader {
    screen: Screen,
    plain: Plain,
    keys: Keys,
    found: Strokes,
}

impl Reader {
    fn pressed(&mut self, cast: &Cast, pressed: Vec<Pressed>) {
        for pressed in pressed {
            let row = self.row().text;
            let alternate = self.screen.is_alternate();
            let echoes = echoes(cast, &pressed);
            self.found.strokes.push(Stroke { pressed, echoes, row, alternate, answer: Answer::default() });
        }
    }

    fn output(&mut self, at: Duration, text: &str) {
        self.screen.feed(text.as_bytes());
        let (row, shown) = (self.row(), self.plain.take(text));
        let answer = match self.found.strokes.last_mut() {
            Some(stroke) => &mut stroke.answer,
            None => &mut self.found.greeting,
        };
        answer.take(at, &shown, row);
    }

    fn row(&self) -> Row {
        let (row, column) = self.screen.cursor();
        let text = self.screen.row(row);
        let at_end = text.chars().count() <= usize::from(column);
        Row { text, at_end }
    }
}

/// Whether a key was shown: not if any of the inputs that brought it was not.
fn echoes(cast: &Cast, pressed: &Pressed) -> Option<bool> {
    let said = cast.events[pressed.input..=pressed.ends].iter().filter_map(|event| match event.what {
        What::Input { echoes, .. } => echoes,
        _ => None,
    });
    said.reduce(|one, other| one && other)
}

impl Answer {
    fn take(&mut self, at: Duration, shown: &str, row: Row) {
        let (first, last) = self.came.unwrap_or((at, at));
        self.longest_gap = self.longest_gap.max(at.saturating_sub(last));
        self.came = Some((first, at));
        if self.text.len() < MOST_TEXT {
            self.text.push_str(shown);
        }
        if self.rows.last().is_none_or(|(_, before)| *before != row) {
            if self.rows.len() >= MOST_ROWS {
                self.rows.pop();
            }
            self.rows.push((at, row));
        }
    }

    /// When the last of it came.
    pub(crate) fn end(&self) -> Option<Duration> {
        self.came.map(|(_, last)| last)
    }

    /// The row that was left when all had come.
    pub(crate) fn last_row(&self) -> Option<&Row> {
        self.rows.last().map(|(_, row)| row)
    }
}

impl Stroke {
    pub(crate) fn at(&self) -> Duration {
        self.pressed.at
    }

    /// Whether it ends a row of input: Enter, by either character, or an interrupt.
    pub(crate) fn ends_row(&self) -> bool {
        self.is_enter()
            || matches!(&self.pressed.typed, Typed::Key(cuesta_tape::Key::Chord(bytes)) if matches!(bytes[..], [0x03 | 0x04 | 0x1a]))
    }

    pub(crate) fn is_enter(&self) -> bool {
        match &self.pressed.typed {
            Typed::Key(cuesta_tape::Key::Enter) => true,
            Typed::Key(cuesta_tape::Key::Chord(bytes)) => bytes[..] == [b'\n'],
            _ => false,
        }
    }
}
