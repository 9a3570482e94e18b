//! Replaces secrets that the host prints by stars.

use std::collections::VecDeque;

use cuesta_screen::vt::StreamParser;

use crate::cast::{Event, EventKind};

/// Replaces each of these texts in the output by stars, also across events.
pub(crate) fn without_texts<'a>(events: &mut [Vec<Event>], texts: impl IntoIterator<Item = &'a str>) {
    let mut stars = Stars::default();
    texts.into_iter().for_each(|text| stars.hide(text));
    outputs(events).for_each(|text| stars.push(text));
    let mut shown = stars.finish().into_iter();
    outputs(events).for_each(|text| *text = shown.by_ref().take(text.chars().count()).collect());
}

fn outputs(events: &mut [Vec<Event>]) -> impl Iterator<Item = &mut String> {
    events.iter_mut().flatten().filter_map(|event| match &mut event.kind {
        EventKind::Output(text) => Some(text),
        _ => None,
    })
}

/// Replaces texts by stars in characters as they come: those that may belong to a text are held until it is complete or is another.
#[derive(Debug, Default)]
pub(crate) struct Stars {
    texts: Vec<Search>,
    parser: StreamParser,
    held: VecDeque<Held>,
}

/// A text that is searched, and how many of its characters came last (Knuth, Morris and Pratt, 1977).
#[derive(Debug)]
struct Search {
    text: Vec<char>,
    /// For each number of matched characters: how many still match when the next one differs.
    fallback: Vec<usize>,
    matched: usize,
}

#[derive(Debug)]
struct Held {
    shown: char,
    /// It is no part of a control function.
    readable: bool,
}

impl Stars {
    /// From now on this text is hidden too.
    pub(crate) fn hide(&mut self, text: &str) {
        let text: Vec<char> = text.chars().collect();
        if !text.is_empty() && !self.texts.iter().any(|known| known.text == text) {
            self.texts.push(Search::new(text));
        }
    }

    /// Takes output. [`Stars::ready`] has what of it can be shown.
    pub(crate) fn push(&mut self, output: &str) {
        for c in output.chars() {
            let readable = self.parser.is_readable(c);
            self.held.push_back(Held { shown: c, readable });
            if readable {
                let ends = self.texts.iter_mut().filter_map(|text| text.advance(c));
                let longest = ends.max().unwrap_or(0);
                let last = self.held.iter_mut().rev().filter(|held| held.readable && held.shown != ' ');
                last.take(longest).for_each(|held| held.shown = '*');
            }
        }
    }

    /// The characters that can be shown, in order.
    pub(crate) fn ready(&mut self) -> String {
        let doubtful = self.texts.iter().map(|text| text.matched).max().unwrap_or(0);
        // The last `doubtful` readable characters are held back.
        let readable = self.held.iter().enumerate().rev().filter(|(_, held)| held.readable);
        let ready = readable.take(doubtful).last().map_or(self.held.len(), |(first, _)| first);
        self.held.drain(..ready).map(|held| held.shown).collect()
    }

    /// All characters that are still held.
    pub(crate) fn finish(&mut self) -> Vec<char> {
        self.texts.iter_mut().for_each(|text| text.matched = 0);
        self.held.drain(..).map(|held| held.shown).collect()
    }
}

impl Search {
    fn new(text: Vec<char>) -> Self {
        let mut search = Self { fallback: vec![0; text.len() + 1], text, matched: 0 };
        for at in 1..search.text.len() {
            let next = search.text[at];
            search.fallback[at + 1] = search.longest(search.fallback[at], next);
        }
        search
    }

    /// How many characters match after the next one, if `matched` did before it.
    fn longest(&self, mut matched: usize, next: char) -> usize {
        loop {
            if self.text.get(matched) == Some(&next) {
                return matched + 1;
            }
            if matched == 0 {
                return 0;
            }
            matched = self.fallback[matched];
        }
    }

    /// Takes a character; returns the length of the text if it is complete.
    fn advance(&mut self, next: char) -> Option<usize> {
        self.matched = self.longest(self.matched, next);
        if self.matched < self.text.len() {
            return None;
        }
        self.matched = self.fallback[self.matched];
        Some(self.text.len())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_text_is_found_across_events_and_control_functions() {
        let outputs = ["ok hun", "\x1b[1mter\x1b[m2 hu", "nter hunter2hunter2"];
        let event = |text: &&str| vec![Event { at: Duration::ZERO, kind: EventKind::Output((*text).into()) }];
        let mut events: Vec<_> = outputs.iter().map(event).collect();
        without_texts(&mut events, ["hunter2", "other"]);
        let texts: Vec<_> = events.concat().into_iter().map(|event| event.kind).collect();
        let wanted = ["ok ***", "\x1b[1m***\x1b[m* hu", "nter **************"];
        assert_eq!(texts, wanted.map(|text| EventKind::Output(text.into())));
    }

    #[test]
    fn what_may_begin_a_text_waits_for_its_rest() {
        let mut stars = Stars::default();
        stars.hide("hunhunt");
        let mut shown = |text: &str| {
            stars.push(text);
            stars.ready()
        };
        assert_eq!(
            ["ab", "h", "\x1b[1mu", "x", "hun", "hunhunt", " "].map(&mut shown),
            ["ab", "", "", "h\x1b[1mux", "", "hun*******", " "]
        );
        stars.hide("ok");
        stars.push("ok hu");
        assert_eq!((stars.ready(), String::from_iter(stars.finish())), ("** ".into(), "hu".into()));
    }
}
