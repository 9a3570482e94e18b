//! Strokes: each key with the output before the next one.

use std::time::Duration;

use cuesta_screen::vt::Screen;

use crate::cast::{Cast, EventKind};
use crate::echo::Echo;
use crate::key_code::KeyCode;
use crate::keys::{KeyPress, Keys};
use crate::reaction::{Reaction, ScreenState};

/// A key and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stroke {
    pub(crate) press: KeyPress,
    /// Whether the line's other end echoed it, if that is known.
    pub(crate) echoes: Option<bool>,
    /// The text of the cursor's row when it was pressed.
    pub(crate) row: String,
    /// Where the cursor was when it was pressed: row and column.
    pub(crate) cursor: (u16, u16),
    /// Whether a program drew on the alternate screen then.
    pub(crate) alternate: bool,
    /// Whether the screen showed each of its characters where the cursor was. True for a key that types no character.
    pub(crate) shown: bool,
    /// The change of the screen up to the next key. Known for characters only.
    pub(crate) reaction: Reaction,
    pub(crate) answer: Answer,
}

/// The output between a key and the next.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Answer {
    /// When its first and its last output event came; `None` if there was no output.
    pub(crate) came: Option<(Duration, Duration)>,
    /// The longest time between two of its output events.
    pub(crate) longest_gap: Duration,
    /// Its readable text, up to [`MOST_TEXT`] bytes.
    pub(crate) text: String,
    /// The cursor's row after each output that changed it, up to [`MOST_ROWS`].
    pub(crate) rows: Vec<(Duration, CursorRow)>,
}

/// The row that the cursor stands in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct CursorRow {
    /// Without blanks at its end.
    pub(crate) text: String,
    /// Whether the cursor stands at its end.
    pub(crate) at_end: bool,
}

/// A session as keys.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Strokes {
    /// The output before the first key.
    pub(crate) greeting: Answer,
    pub(crate) strokes: Vec<Stroke>,
}

/// Most text of an answer that is kept, in bytes; the echo is at its beginning.
const MOST_TEXT: usize = 16 << 10;
const MOST_ROWS: usize = 256;

pub(crate) fn split_into_strokes(cast: &Cast) -> Strokes {
    let screen = Screen::new(cast.header.columns, cast.header.rows);
    let (echo, keys, session) = (Echo::default(), Keys::default(), Strokes::default());
    let mut reader = Reader { screen, echo, keys, session, before: None };
    for (number, event) in cast.events.iter().enumerate() {
        match &event.kind {
            EventKind::Output(text) => reader.output(event.at, text),
            EventKind::Input { text, echoes } => {
                if *echoes == Some(false) {
                    // Otherwise the first key of a secret might be taken for Alt and that key.
                    let escape = reader.keys.end_escape();
                    reader.add(cast, escape);
                }
                reader.before_input();
                let presses = reader.keys.take(event.at, number, text);
                reader.add(cast, presses);
            }
            EventKind::Secret(column) => {
                let begun = reader.keys.finish();
                reader.add(cast, begun);
                let (code, raw) = (KeyCode::Secret(column.clone()), String::new());
                let press = KeyPress { code, at: event.at, input: number, ends: number, raw };
                reader.add(cast, vec![press]);
            }
            EventKind::Resize { columns, rows } => reader.screen.resize(*columns, *rows),
            EventKind::Marker(_) | EventKind::Exit(_) => {}
        }
    }
    let rest = reader.keys.finish();
    reader.add(cast, rest);
    reader.finish()
}

struct Reader {
    screen: Screen,
    echo: Echo,
    keys: Keys,
    session: Strokes,
    /// The screen when the last character was typed, if that was the last key.
    before: Option<ScreenState>,
}

impl Reader {
    fn add(&mut self, cast: &Cast, presses: Vec<KeyPress>) {
        for press in presses {
            let number = (self.session.strokes.len(), press.input);
            match &press.code {
                KeyCode::Char(c) => self.echo.type_text(&self.screen, number, [*c].into_iter()),
                KeyCode::Paste(text) => self.echo.type_text(&self.screen, number, text.chars()),
                KeyCode::Key(key) => self.echo.press_key(press.input, *key == cuesta_tape::Key::Enter),
                KeyCode::Secret(_) => self.echo.press_key(press.input, false),
            }
            self.before = press.code.is_text().then(|| ScreenState::capture(&self.screen));
            self.session.strokes.push(Stroke {
                echoes: echoes(cast, &press),
                press,
                row: self.row().text,
                cursor: self.screen.next_cell(),
                alternate: self.screen.is_alternate(),
                shown: true,
                reaction: Reaction::None,
                answer: Answer::default(),
            });
        }
    }

    /// Called before more input: the effect of the last key is known now. A lone escape is recognised only later, after its effect.
    fn before_input(&mut self) {
        if !self.keys.is_pending() {
            self.echo.look_again(&self.screen);
            self.react();
        }
    }

    fn react(&mut self) {
        if let (Some(before), Some(stroke)) = (self.before.take(), self.session.strokes.last_mut()) {
            stroke.reaction = before.reaction(&ScreenState::capture(&self.screen));
        }
    }

    fn finish(mut self) -> Strokes {
        self.react();
        for stroke in self.echo.unshown() {
            self.session.strokes[stroke].shown = false;
        }
        self.session
    }

    fn output(&mut self, at: Duration, text: &str) {
        let shown = self.echo.feed(&mut self.screen, text);
        let row = self.row();
        let answer = match self.session.strokes.last_mut() {
            Some(stroke) => &mut stroke.answer,
            None => &mut self.session.greeting,
        };
        answer.add(at, &shown, row);
    }

    fn row(&self) -> CursorRow {
        let (row, column) = self.screen.next_cell();
        let text = self.screen.row(row);
        let at_end = text.chars().count() <= usize::from(column);
        CursorRow { text, at_end }
    }
}

/// Whether a key was echoed: only if all inputs that contain it were.
fn echoes(cast: &Cast, press: &KeyPress) -> Option<bool> {
    let echoes = cast.events[press.input..=press.ends].iter().filter_map(|event| match event.kind {
        EventKind::Input { echoes, .. } => echoes,
        _ => None,
    });
    echoes.reduce(|one, other| one && other)
}

impl Answer {
    fn add(&mut self, at: Duration, shown: &str, row: CursorRow) {
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

    /// The instant of its last output.
    pub(crate) fn end(&self) -> Option<Duration> {
        self.came.map(|(_, last)| last)
    }

    /// The cursor's row after all of it.
    pub(crate) fn last_row(&self) -> Option<&CursorRow> {
        self.rows.last().map(|(_, row)| row)
    }
}

impl Stroke {
    /// The event for this stroke alone.
    pub(crate) fn event_kind(&self) -> EventKind {
        match &self.press.code {
            KeyCode::Secret(column) => EventKind::Secret(column.clone()),
            _ => EventKind::Input { text: self.press.raw.clone(), echoes: self.echoes },
        }
    }

    pub(crate) fn at(&self) -> Duration {
        self.press.at
    }

    /// Whether it ends a row of input: Enter, by either character, or an interrupt.
    pub(crate) fn ends_row(&self) -> bool {
        self.is_enter()
            || matches!(&self.press.code, KeyCode::Key(cuesta_tape::Key::Bytes(bytes)) if matches!(bytes[..], [0x03 | 0x04 | 0x1a]))
    }

    pub(crate) fn is_enter(&self) -> bool {
        match &self.press.code {
            KeyCode::Key(cuesta_tape::Key::Enter) => true,
            KeyCode::Key(cuesta_tape::Key::Bytes(bytes)) => bytes[..] == [b'\n'],
            _ => false,
        }
    }
}
