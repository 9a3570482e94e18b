//! Splits a distribution's text into words and numbers, each with its place for error messages.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::{DistributionError, duration};

/// A word of a distribution's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    /// Without its quotes.
    pub(crate) text: &'a str,
    /// Byte offset in the text.
    pub(crate) at: usize,
}

impl Word<'_> {
    /// Short enough for a message.
    pub(crate) fn shortened(&self) -> String {
        self.text.chars().take(40).collect()
    }
}

/// Splits at blanks; a word in `"…"` or `'…'` may hold blanks (names of files).
pub(crate) fn split(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(|c: char| !c.is_whitespace()).map(|n| at + n) {
        let quote = text[start..].chars().next().filter(|c| matches!(c, '"' | '\''));
        let open = usize::from(quote.is_some());
        let inner = &text[start + open..];
        let length = inner.find(|c: char| quote.map_or(c.is_whitespace(), |q| c == q)).unwrap_or(inner.len());
        words.push(Word { text: &inner[..length], at: start });
        at = (start + length + 2 * open).min(text.len());
    }
    words
}

/// Checks the number of arguments.
pub(crate) fn count(
    name: &Word,
    arguments: &[Word],
    takes: RangeInclusive<usize>,
    hint: &str,
) -> Result<(), DistributionError> {
    if let Some(extra) = arguments.get(*takes.end()) {
        let message = format!("`{}` is too much after `{}`", extra.shortened(), name.shortened());
        return Err(DistributionError::new(extra.at, message, hint));
    }
    if arguments.len() < *takes.start() {
        let last = arguments.last().unwrap_or(name);
        let message = format!("`{}` needs {} value(s), got {}", name.text, takes.start(), arguments.len());
        return Err(DistributionError::new(last.at, message, hint));
    }
    Ok(())
}

/// A duration from 0 to a year.
pub(crate) fn span(word: &Word) -> Result<Duration, DistributionError> {
    duration::parse(word.text)
        .map_err(|error| DistributionError::new(word.at, error.to_string(), "durations run from 0 to 8760h"))
}

/// A number over `above` and at most `most`.
pub(crate) fn number(word: &Word, name: &str, above: f64, most: f64) -> Result<f64, DistributionError> {
    // Rust also parses "inf", "NaN" and "1e9", which are mistakes here.
    let plain = word.text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    match word.text.parse::<f64>() {
        Ok(value) if plain && value > above && value <= most => Ok(value),
        _ => {
            let message = format!("`{}` cannot be the {name}", word.shortened());
            Err(DistributionError::new(
                word.at,
                message,
                format!("the {name} is a number over {above}, at most {most}"),
            ))
        }
    }
}

/// The shape of a log-logistic distribution. At 1 and below it has no mean.
pub(crate) fn shape(word: &Word) -> Result<f64, DistributionError> {
    number(word, "shape", 1.0, 1000.0)
}
