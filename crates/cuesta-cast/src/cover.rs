//! Replaces by stars the characters that newly appeared on the screen while a secret was typed.
//!
//! A program may show each key for a moment, so characters that change a cell become stars:
//!
//! - from the first key of a secret to the key that ends it, everywhere on the screen;
//! - after that key, up to the end of the row, only from the column where the secret began, and only if the program has shown
//!   anything of the secret. The answer to Enter may stand there too.
//! - elsewhere and later, if the program paints the keys one after another (`painted`).
//!
//! A character that already stood in its cell and is drawn again stays. A star there would tell which characters the secret has.

use std::ops::RangeInclusive;
use std::time::Duration;

use cuesta_screen::vt::{Screen, StreamParser, width};

use crate::cast::{Cast, Event, EventKind};
use crate::echo::line;
use crate::painted::{OutputPosition, find_painted};

/// A secret in a session.
pub(crate) struct Span {
    /// From the input of its first key to the input of the key behind it.
    pub(crate) events: RangeInclusive<usize>,
    /// Its characters as they were typed.
    pub(crate) keys: Vec<char>,
}

/// The events of a session with stars in place of secrets.
pub(crate) fn cover_secrets(cast: &Cast, spans: &[Span]) -> Vec<Event> {
    if spans.is_empty() {
        return cast.events.clone();
    }
    let mut cover = Cover {
        screen: Screen::new(cast.header.columns, cast.header.rows),
        parser: StreamParser::default(),
        painted: find_painted(cast, spans),
        state: SecretState::Outside,
        first: None,
        shows: false,
    };
    cast.events.iter().enumerate().map(|(number, event)| cover.event(number, event, spans)).collect()
}

struct Cover {
    /// The screen, drawn with the stars.
    screen: Screen,
    parser: StreamParser,
    /// Output in which keys of secrets are painted one after another.
    painted: Vec<RangeInclusive<OutputPosition>>,
    state: SecretState,
    /// The first character of the secret.
    first: Option<char>,
    /// Whether the program has shown anything since the first key.
    shows: bool,
}

/// Whether a secret is being typed.
#[derive(Debug, Clone, Copy)]
enum SecretState {
    /// No secret.
    Outside,
    /// A secret that began in this line and column.
    Typing(u64, u16),
    /// The key behind a secret that began in this line and column.
    Ended(u64, u16),
}

impl Cover {
    fn event(&mut self, number: usize, event: &Event, spans: &[Span]) -> Event {
        let at: Duration = event.at;
        let kind = match &event.kind {
            EventKind::Output(text) => EventKind::Output(self.output(number, text)),
            kind => {
                if let EventKind::Resize { columns, rows } = kind {
                    self.screen.resize(*columns, *rows);
                }
                if let EventKind::Input { .. } | EventKind::Secret(_) = kind {
                    self.state = self.next_state(number, spans);
                }
                kind.clone()
            }
        };
        Event { at, kind }
    }

    fn next_state(&mut self, number: usize, spans: &[Span]) -> SecretState {
        let Some(span) = spans.iter().rfind(|span| span.events.contains(&number)) else { return SecretState::Outside };
        let (line, column) = match self.state {
            SecretState::Typing(line, column) if *span.events.start() < number => (line, column),
            _ => {
                (self.first, self.shows) = (span.keys.first().copied(), false);
                (line(&self.screen), self.screen.next_cell().1)
            }
        };
        if number == *span.events.end() { SecretState::Ended(line, column) } else { SecretState::Typing(line, column) }
    }

    fn output(&mut self, event: usize, text: &str) -> String {
        let is_painted = self.painted.iter().any(|part| (part.start().event..=part.end().event).contains(&event));
        if !is_painted && matches!(self.state, SecretState::Outside) {
            self.screen.feed(text.as_bytes());
            self.parser.readable(text);
            return text.to_owned();
        }
        text.chars().enumerate().map(|(character, c)| self.character(OutputPosition { event, character }, c)).collect()
    }

    /// The replacement of a character.
    fn character(&mut self, at: OutputPosition, c: char) -> String {
        let in_string = self.parser.is_in_string() && !c.is_control();
        let readable = self.parser.is_readable(c);
        let written = if readable && c != '\n' && self.is_hidden(at, c) {
            "*".repeat(width(c))
        } else if in_string && matches!(self.state, SecretState::Typing(..)) {
            String::new()
        } else {
            c.to_string()
        };
        if let (true, '\n', SecretState::Ended(..)) = (readable, c, self.state) {
            self.state = SecretState::Outside;
        }
        self.screen.feed(written.as_bytes());
        written
    }

    /// Whether a character may belong to the secret: it changes its cell where and when the secret may appear.
    fn is_hidden(&mut self, at: OutputPosition, c: char) -> bool {
        let (row, column) = self.screen.next_cell();
        if c == ' ' || self.screen.shows((row, column), c) {
            return false;
        }
        let is_painted = self.painted.iter().any(|part| part.contains(&at));
        match self.state {
            SecretState::Typing(..) => self.shows = true,
            SecretState::Ended(first, from) if line(&self.screen) == first && column >= from => {
                self.shows |= self.first == Some(c);
                if !self.shows {
                    self.state = SecretState::Outside;
                }
            }
            SecretState::Ended(..) | SecretState::Outside => return is_painted,
        }
        self.shows || is_painted
    }
}
