//! Secrets: typed text that no file may contain. A column of the users' table stands in its place.
//!
//! `entries` decides which entries are secret. A text that is hidden in one entry is hidden in all others, and in the session's
//! command and title. `cover` replaces what the screen showed of it while it was typed, `printed` what it showed later.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::time::Duration;

use crate::cast::{Cast, Event, EventKind};
use crate::cover::{Span, cover_secrets};
use crate::credentials::find_credentials;
use crate::entries::{asks_for_secret, count_keys, find_entries, is_secret, typed_text};
use crate::printed::without_texts;
use crate::strokes::{Stroke, split_into_strokes};

/// Shorter texts occur in other texts by accident.
pub(crate) const LEAST_TEXT: usize = 4;
/// Most characters of the row before an entry that are reported.
const MOST_BEHIND: usize = 40;

/// The input of a session, sorted into hidden and kept entries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Secrets {
    /// Entries that are hidden.
    pub hidden: Vec<Hidden>,
    /// Keys that are kept although the screen did not show them.
    pub commands: Vec<Commands>,
    /// Number of kept entries that the screen showed, and of their keys.
    pub shown: (usize, usize),
    strokes: Vec<Stroke>,
}

/// An entry that is hidden.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hidden {
    /// Where it was typed.
    pub location: InputLocation,
    /// Number of printable keys.
    pub keys: usize,
    /// The column that stands in its place.
    pub column: String,
    text: String,
    /// Its strokes: the first, and the one after the last.
    strokes: (usize, usize),
}

/// Single keys that the program took as commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commands {
    /// Where they were typed.
    pub location: InputLocation,
    pub keys: String,
}

/// Where and when a person typed something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputLocation {
    /// Since the session began.
    pub at: Duration,
    /// The row of the screen, from 1.
    pub row: u16,
    /// The text before it in its row.
    pub behind: String,
}

impl Cast {
    /// A copy without secrets: a marker replaces each. All events while a secret was typed get the instant of the key behind it,
    /// because the rhythm of typing reveals the length of a password and more.
    #[must_use]
    pub fn without_secrets(&self) -> Self {
        Secrets::find(self).hide_in(self)
    }
}

impl Secrets {
    /// Finds the secrets of a session.
    pub fn find(cast: &Cast) -> Self {
        let mut secrets = Self::default();
        let strokes = split_into_strokes(cast).strokes;
        let entries: Vec<(usize, &[Stroke])> =
            find_entries(&strokes).into_iter().map(|place| (place.start, &strokes[place])).collect();
        let mut columns = Columns::new(cast);
        let is_secret =
            |first: usize, entry: &[Stroke]| is_secret(entry, first.checked_sub(1).map(|before| &strokes[before]));
        let secret = |(first, entry): &(usize, &[Stroke])| is_secret(*first, entry).then(|| typed_text(entry));
        let texts: BTreeSet<String> = entries.iter().filter_map(secret).collect();
        let texts: BTreeSet<String> = texts.iter().flat_map(|text| parts(text)).collect();
        let is_known = |text: &str| texts.iter().any(|known| is_long(known) && text.contains(known.as_str()));
        for (first, entry) in entries {
            let text = typed_text(entry);
            if is_secret(first, entry) || is_known(&text) {
                let column = columns.column(&text, asks_for_secret(&entry[0].row));
                let strokes = (first, first + entry.len());
                secrets.hidden.push(Hidden {
                    location: InputLocation::new(&entry[0]),
                    keys: count_keys(entry),
                    column,
                    text,
                    strokes,
                });
            } else {
                secrets.note_kept(entry);
            }
        }
        secrets.strokes = strokes;
        secrets
    }

    fn note_kept(&mut self, entry: &[Stroke]) {
        let typed: Vec<&Stroke> = entry.iter().filter(|stroke| stroke.press.code.is_text()).collect();
        for run in typed.chunk_by(|one, next| one.shown == next.shown) {
            if run[0].shown {
                self.shown.1 += run.len();
            } else {
                let keys = run.iter().map(|stroke| stroke.press.raw.as_str()).collect();
                self.commands.push(Commands { location: InputLocation::new(run[0]), keys });
            }
        }
        self.shown.0 += usize::from(typed.iter().any(|stroke| stroke.shown));
    }

    /// A copy of the session without its secrets.
    pub fn hide_in(&self, cast: &Cast) -> Cast {
        let span = |hidden: &Hidden| Span { events: self.events_of(hidden), keys: self.keys_of(hidden) };
        let covered = cover_secrets(cast, &self.hidden.iter().map(span).collect::<Vec<_>>());
        let mut events: Vec<Vec<Event>> = covered.into_iter().map(|event| vec![event]).collect();
        let texts: BTreeSet<String> = self.hidden.iter().flat_map(|hidden| parts(&hidden.text)).collect();
        without_texts(&mut events, texts.iter().map(String::as_str).filter(|text| is_long(text)));
        self.replace_input(&mut events);
        for (first, last) in self.hidden.iter().map(|hidden| self.events_of(hidden).into_inner()) {
            let last = last.min(events.len() - 1);
            at_one_instant(&mut events[first..=last], cast.events[last].at);
        }
        let mut header = cast.header.clone();
        for text in [&mut header.command, &mut header.title].into_iter().flatten() {
            *text = self.redacted(text);
        }
        Cast { header, events: events.concat(), ..cast.clone() }
    }

    /// Replaces secrets by markers, each in the event in which it begins.
    fn replace_input(&self, events: &mut [Vec<Event>]) {
        // A key may begin in one input and end in the next; both belong to the entry.
        let inputs = |hidden: &Hidden| {
            let (first, end) = hidden.strokes;
            self.strokes[first].press.input..=self.strokes[end - 1].press.ends
        };
        // Input that the line did not echo is removed even if it is not a key, such as the rest of an incomplete reply.
        let is_hidden = |index: &usize| {
            events[*index].iter().any(|event| matches!(event.kind, EventKind::Input { echoes: Some(false), .. }))
        };
        let touched: BTreeSet<usize> =
            self.hidden.iter().flat_map(inputs).chain((0..events.len()).filter(is_hidden)).collect();
        for index in &touched {
            events[*index].retain(|event| !matches!(event.kind, EventKind::Input { .. } | EventKind::Secret(_)));
        }
        for (number, stroke) in self.strokes.iter().enumerate().filter(|(_, key)| touched.contains(&key.press.input)) {
            let place = |hidden: &&Hidden| (hidden.strokes.0..hidden.strokes.1).contains(&number);
            let kind = match self.hidden.iter().find(place) {
                Some(hidden) if hidden.strokes.0 == number => EventKind::Secret(hidden.column.clone()),
                Some(_) => continue,
                None => stroke.event_kind(),
            };
            events[stroke.press.input].push(Event { at: stroke.at(), kind });
        }
    }

    /// The events from the first key of an entry to the key behind it.
    fn events_of(&self, hidden: &Hidden) -> RangeInclusive<usize> {
        let (first, end) = hidden.strokes;
        let last = self.strokes.get(end).map_or(usize::MAX, |stroke| stroke.press.input);
        self.strokes[first].press.input..=last
    }

    /// The characters of an entry as they were typed, before edits.
    fn keys_of(&self, hidden: &Hidden) -> Vec<char> {
        let (first, end) = hidden.strokes;
        self.strokes[first..end].iter().flat_map(|stroke| stroke.press.code.characters()).collect()
    }

    /// A text with columns in place of secrets, also where a shell has quoted them, and without other credentials.
    pub fn redacted(&self, text: &str) -> String {
        let long = self.hidden.iter().filter(|hidden| is_long(&hidden.text));
        let with_columns = long.fold(text.to_owned(), |text, hidden| {
            let quoted = std::iter::successors(Some(hidden.text.clone()), |text| Some(text.replace('\'', "'\"'\"'")));
            quoted
                .take(3)
                .fold(text, |text, hidden_text| text.replace(&hidden_text, &format!("${{{}}}", hidden.column)))
        });
        without_credentials(&with_columns)
    }
}

/// Sets all events of a secret to one instant; `events` begin with the input in which it begins.
fn at_one_instant(events: &mut [Vec<Event>], instant: Duration) {
    let secret = events[0].iter().position(|event| matches!(event.kind, EventKind::Secret(_))).unwrap_or(0);
    for event in events.iter_mut().flatten().skip(secret) {
        event.at = instant;
    }
}

/// A hidden text, and the credentials in it: the host may print these alone.
fn parts(text: &str) -> Vec<String> {
    let values = find_credentials(text).into_iter().map(|range| text[range].to_owned());
    std::iter::once(text.to_owned()).chain(values).collect()
}

/// A command or a comment with an ellipsis in place of each credential.
fn without_credentials(text: &str) -> String {
    let mut kept = String::new();
    let mut end = 0;
    for range in find_credentials(text) {
        if range.start >= end {
            kept.push_str(&text[end..range.start]);
            kept.push('…');
        }
        end = end.max(range.end);
    }
    kept + &text[end..]
}

fn is_long(text: &str) -> bool {
    text.chars().count() >= LEAST_TEXT
}

impl InputLocation {
    fn new(stroke: &Stroke) -> Self {
        let (row, column) = stroke.cursor;
        let behind: String = stroke.row.chars().take(column.into()).collect();
        let behind = behind.trim();
        let cut = behind.char_indices().rev().nth(MOST_BEHIND - 1).map_or(0, |(at, _)| at);
        Self { at: stroke.at(), row: row + 1, behind: behind[cut..].to_owned() }
    }
}

/// The columns of secrets: one for each text.
#[derive(Debug, Default)]
struct Columns {
    taken: BTreeSet<String>,
    known: Vec<(String, String)>,
}

impl Columns {
    /// Columns that the session uses already are taken.
    fn new(cast: &Cast) -> Self {
        let taken = cast.events.iter().filter_map(|event| match &event.kind {
            EventKind::Secret(column) => Some(column.clone()),
            _ => None,
        });
        Self { taken: taken.collect(), ..Self::default() }
    }

    fn column(&mut self, text: &str, is_password: bool) -> String {
        if let Some((_, column)) = self.known.iter().find(|(known, _)| known == text) {
            return column.clone();
        }
        let name = |number: usize| match (is_password, number) {
            (true, 1) => "password".to_owned(),
            (true, number) => format!("password_{number}"),
            (false, number) => format!("secret_{number}"),
        };
        let numbers = 1..=self.taken.len() + 1;
        let column = numbers.map(name).find(|name| !self.taken.contains(name)).unwrap_or_default();
        self.taken.insert(column.clone());
        self.known.push((text.to_owned(), column.clone()));
        column
    }
}

/// Whether this is the name of a secret's column.
pub(crate) fn is_column(name: &str) -> bool {
    let (word, number) = name.split_once('_').unwrap_or((name, "1"));
    ["password", "secret"].contains(&word) && number.parse::<u32>().is_ok_and(|parsed| parsed.to_string() == number)
}
