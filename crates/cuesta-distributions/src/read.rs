//! Reads distributions: their text is cut into words and numbers, each with its place for error messages.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::distribution::{Distribution, Form};
use crate::duration::{self, LONGEST};

/// An invalid distribution: the place in its text, the problem and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}; {hint}")]
pub struct DistributionError {
    /// Byte offset in the text that was parsed.
    pub at: usize,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub hint: String,
}

impl DistributionError {
    pub(crate) fn new(at: usize, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { at, message: message.into(), hint: hint.into() }
    }
}

const HINT: &str = "distributions: fixed D, exp MEAN, uniform FROM TO, lognormal MEDIAN SIGMA, \
     loglogistic MEDIAN SHAPE [SHIFT], empirical FILE; each may end in `max D`";

/// Most rows of an empirical distribution's file: they take 80 MB of memory.
const MOST_VALUES: usize = 10_000_000;

type Load<'a> = &'a dyn Fn(&str) -> Result<String, String>;

impl Distribution {
    /// Reads a distribution, for example `exp 5s max 50s`. `load` returns the text of an empirical distribution's file, or why it
    /// cannot be read.
    pub fn parse(text: &str, load: &dyn Fn(&str) -> Result<String, String>) -> Result<Self, DistributionError> {
        let words = split(text);
        let (words, max) = cut_max(&words)?;
        let Some((name, arguments)) = words.split_first() else {
            return Err(DistributionError::new(0, "the distribution is missing", HINT));
        };
        let form = form(name, arguments, load)?;
        sound(&form, name)?;
        Ok(Self { form, max })
    }
}

/// Splits `max D` off the end.
fn cut_max<'a, 'b>(words: &'b [Word<'a>]) -> Result<(&'b [Word<'a>], Option<Duration>), DistributionError> {
    let [rest @ .., key, value] = words else { return Ok((words, None)) };
    if key.text != "max" {
        return Ok((words, None));
    }
    let max = span(value)?;
    if max.is_zero() {
        return Err(DistributionError::new(value.at, "`max 0` leaves nothing", "for no time at all write `fixed 0`"));
    }
    Ok((rest, Some(max)))
}

fn form(name: &Word, arguments: &[Word], load: Load) -> Result<Form, DistributionError> {
    let takes = |least, most| count(name, arguments, least..=most, HINT);
    match name.text {
        "fixed" => takes(1, 1).and_then(|()| span(&arguments[0])).map(Form::Fixed),
        "exp" => takes(1, 1).and_then(|()| span(&arguments[0])).map(Form::Exp),
        "uniform" => takes(2, 2).and_then(|()| uniform(&arguments[0], &arguments[1])),
        "lognormal" => takes(2, 2).and_then(|()| log_normal(&arguments[0], &arguments[1])),
        "loglogistic" => takes(2, 3).and_then(|()| log_logistic(arguments)),
        "empirical" => takes(1, 1).and_then(|()| empirical(&arguments[0], load)),
        text if text.starts_with(|c: char| c.is_ascii_digit() || c == '.' || c == '-') => {
            takes(0, 0).and_then(|()| span(name)).map(Form::Fixed)
        }
        _ => Err(DistributionError::new(name.at, format!("`{}` is no distribution", name.shortened()), HINT)),
    }
}

fn uniform(from: &Word, to: &Word) -> Result<Form, DistributionError> {
    let (low, high) = (span(from)?, span(to)?);
    let width = high.checked_sub(low).ok_or_else(|| {
        let message = format!("`uniform` runs from {} down to {}", from.text, to.text);
        DistributionError::new(to.at, message, "write the shorter duration first")
    })?;
    Ok(Form::Uniform { from: low, width })
}

fn log_normal(median: &Word, sigma: &Word) -> Result<Form, DistributionError> {
    Ok(Form::LogNormal { median: span(median)?, sigma: number(sigma, "sigma", 0.0, 10.0)? })
}

fn log_logistic(arguments: &[Word]) -> Result<Form, DistributionError> {
    let median = span(&arguments[0])?;
    let shape = shape(&arguments[1])?;
    let shift = arguments.get(2).map_or(Ok(Duration::ZERO), span)?;
    match median.checked_sub(shift) {
        Some(above) if !above.is_zero() => Ok(Form::LogLogistic { shift, above, shape }),
        _ => {
            let at = arguments.get(2).unwrap_or(&arguments[0]).at;
            Err(DistributionError::new(at, "the median is not over the shift", "the shift is the least value of all"))
        }
    }
}

fn empirical(file: &Word, load: Load) -> Result<Form, DistributionError> {
    let hint = "the file holds one duration a row; rows that begin with # are comments";
    let fail = |message: String| DistributionError::new(file.at, message, hint);
    let text = load(file.text).map_err(|why| fail(format!("cannot read `{}`: {why}", file.text)))?;
    let mut values = Vec::new();
    for (row, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let value = duration::parse(line).map_err(|e| fail(format!("{}, row {}: {e}", file.text, row + 1)))?;
        values.push(value.as_nanos() as u64);
        if values.len() > MOST_VALUES {
            return Err(fail(format!("`{}` has over {MOST_VALUES} rows", file.text)));
        }
    }
    if values.is_empty() {
        return Err(fail(format!("`{}` holds no duration", file.text)));
    }
    Ok(Form::Empirical { file: file.text.to_owned(), values: values.into() })
}

/// Refuses a mean of 0 or over a year, which would make a run meaningless without an error.
fn sound(form: &Form, name: &Word) -> Result<(), DistributionError> {
    let mean = form.mean();
    if mean <= 0.0 && !matches!(form, Form::Fixed(_)) {
        return Err(DistributionError::new(
            name.at,
            "the mean of this distribution is 0",
            "for no time at all write `fixed 0`",
        ));
    }
    if mean > LONGEST.as_secs_f64() {
        return Err(DistributionError::new(
            name.at,
            "the mean of this distribution is over a year",
            "lower its spread or its median",
        ));
    }
    Ok(())
}

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
fn span(word: &Word) -> Result<Duration, DistributionError> {
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
