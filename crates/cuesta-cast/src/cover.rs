//! What the screen showed while a secret was typed, with stars in the place of what was new.
//!
//! A program may show each key for a moment. So each character that changes a cell becomes a star from the first key of a
//! secret to the key that ends it; behind that, up to the end of the row, only from where the secret began, and if the program
//! shows anything of it at all: the answer to Enter may stand there too. What stood there already and is drawn again stays, else
//! it would tell which characters the secret has.

use std::ops::RangeInclusive;
use std::time::Duration;

use cuesta_screen::Screen;
use unicode_width::UnicodeWidthChar;

use crate::cast::{Cast, Event, What};
use crate::echo::line;
use crate::plain::Plain;

/// A secret in a session.
pub(crate) struct Span {
    /// From the input in which it begins to the one in which the key behind it is.
    pub(crate) events: RangeInclusive<usize>,
    /// Its first character.
    pub(crate) first: Option<char>,
}

/// The events of a session.
pub(crate) fn covered(cast: &Cast, spans: &[Span]) -> Vec<Event> {
    if spans.is_empty() {
        return cast.events.clone();
    }
    let screen = Screen::new(cast.header.columns, cast.header.rows);
    let mut cover = Cover { screen, plain: Plain::default(), typed: Typed::Nothing, first: None, shows: false };
    cast.events.iter().enumerate().map(|(number, event)| cover.event(number, event, spans)).collect()
}

struct Cover {
    screen: Screen,
    plain: Plain,
    typed: Typed,
    /// The first character of the secret.
    first: Option<char>,
    /// Whether the program has shown anything since it was begun.
    shows: bool,
}

/// What is being typed.
#[derive(Debug, Clone, Copy)]
enum Typed {
    /// No secret.
    Nothing,
    /// A secret that began in this line and column.
    Secret(u64, u16),
    /// The key behind it.
    Behind(u64, u16),
}

impl Cover {
    fn event(&mut self, number: usize, event: &Event, spans: &[Span]) -> Event {
        let at: Duration = event.at;
        let what = match &event.what {
            What::Output(text) => What::Output(self.output(text)),
            what => {
                if let What::Resize { columns, rows } = what {
                    self.screen.resize(*columns, *rows);
                }
                if let What::Input { .. } | What::Secret(_) = what {
                    self.typed = self.next(number, spans);
                }
                what.clone()
            }
        };
        Event { at, what }
    }

    fn next(&mut self, number: usize, spans: &[Span]) -> Typed {
        let Some(span) = spans.iter().rfind(|span| span.events.contains(&number)) else { return Typed::Nothing };
        let (line, column) = match self.typed {
            Typed::Secret(line, column) if *span.events.start() < number => (line, column),
            _ => {
                (self.first, self.shows) = (span.first, false);
                (line(&self.screen), self.screen.cursor().1)
            }
        };
        if number == *span.events.end() { Typed::Behind(line, column) } else { Typed::Secret(line, column) }
    }

    fn output(&mut self, text: &str) -> String {
        if let Typed::Nothing = self.typed {
            self.screen.feed(text.as_bytes());
            self.plain.take(text);
            return text.to_owned();
        }
        let mut covered = String::new();
        for c in text.chars() {
            let in_string = self.plain.is_in_string() && !c.is_control();
            let readable = self.plain.shows(c);
            if readable && c != '\n' && self.is_new(c) {
                covered.push_str(&"*".repeat(c.width().unwrap_or(1)));
            } else if !(in_string && matches!(self.typed, Typed::Secret(..))) {
                covered.push(c);
            }
            if let (true, '\n', Typed::Behind(..)) = (readable, c, self.typed) {
                self.typed = Typed::Nothing;
            }
            self.screen.feed(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
        covered
    }

    /// Whether a character changes the cell that it is written into, where and when it may be of the secret.
    fn is_new(&mut self, c: char) -> bool {
        let (row, column) = self.screen.cursor();
        let is_new = c != ' ' && !self.screen.cell(row, column).starts_with(c);
        match self.typed {
            Typed::Secret(..) => self.shows |= is_new,
            Typed::Behind(first, from) if is_new && line(&self.screen) == first && column >= from => {
                self.shows |= self.first == Some(c);
                if !self.shows {
                    self.typed = Typed::Nothing;
                }
                return self.shows;
            }
            Typed::Behind(..) | Typed::Nothing => return false,
        }
        is_new
    }
}
