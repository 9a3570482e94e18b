//! Parses the text of a distribution.

use std::time::Duration;

use crate::DistributionError;
use crate::distribution::{Distribution, Form};
use crate::duration::{self, LONGEST};
use crate::words::{self, Word};

const HINT: &str = "distributions: fixed D, exp MEAN, uniform FROM TO, lognormal MEDIAN SIGMA, \
     loglogistic MEDIAN SHAPE [SHIFT], empirical FILE; each may end in `max D`";

/// Most rows of an empirical distribution's file: they take 80 MB of memory.
const MOST_VALUES: usize = 10_000_000;

type Load<'a> = &'a dyn Fn(&str) -> Result<String, String>;

pub(crate) fn distribution(text: &str, load: Load) -> Result<Distribution, DistributionError> {
    let words = words::split(text);
    let (words, max) = cut_max(&words)?;
    let Some((name, arguments)) = words.split_first() else {
        return Err(DistributionError::new(0, "the distribution is missing", HINT));
    };
    let distribution = Distribution { form: form(name, arguments, load)?, max };
    sound(&distribution.form, name)?;
    Ok(distribution)
}

/// Splits `max D` off the end.
fn cut_max<'a, 'b>(words: &'b [Word<'a>]) -> Result<(&'b [Word<'a>], Option<Duration>), DistributionError> {
    let [rest @ .., key, value] = words else { return Ok((words, None)) };
    if key.text != "max" {
        return Ok((words, None));
    }
    let max = words::span(value)?;
    if max.is_zero() {
        return Err(DistributionError::new(value.at, "`max 0` leaves nothing", "for no time at all write `fixed 0`"));
    }
    Ok((rest, Some(max)))
}

fn form(name: &Word, arguments: &[Word], load: Load) -> Result<Form, DistributionError> {
    let count = |least, most| words::count(name, arguments, least..=most, HINT);
    match name.text {
        "fixed" => count(1, 1).and_then(|()| words::span(&arguments[0])).map(Form::Fixed),
        "exp" => count(1, 1).and_then(|()| words::span(&arguments[0])).map(Form::Exp),
        "uniform" => count(2, 2).and_then(|()| uniform(&arguments[0], &arguments[1])),
        "lognormal" => count(2, 2).and_then(|()| log_normal(&arguments[0], &arguments[1])),
        "loglogistic" => count(2, 3).and_then(|()| log_logistic(arguments)),
        "empirical" => count(1, 1).and_then(|()| empirical(&arguments[0], load)),
        text if text.starts_with(|c: char| c.is_ascii_digit() || c == '.' || c == '-') => {
            count(0, 0).and_then(|()| words::span(name)).map(Form::Fixed)
        }
        _ => Err(DistributionError::new(name.at, format!("`{}` is no distribution", name.shortened()), HINT)),
    }
}

fn uniform(from: &Word, to: &Word) -> Result<Form, DistributionError> {
    let (low, high) = (words::span(from)?, words::span(to)?);
    let width = high.checked_sub(low).ok_or_else(|| {
        let message = format!("`uniform` runs from {} down to {}", from.text, to.text);
        DistributionError::new(to.at, message, "write the shorter duration first")
    })?;
    Ok(Form::Uniform { from: low, width })
}

fn log_normal(median: &Word, sigma: &Word) -> Result<Form, DistributionError> {
    Ok(Form::LogNormal { median: words::span(median)?, sigma: words::number(sigma, "sigma", 0.0, 10.0)? })
}

fn log_logistic(arguments: &[Word]) -> Result<Form, DistributionError> {
    let median = words::span(&arguments[0])?;
    let shape = words::shape(&arguments[1])?;
    let shift = arguments.get(2).map_or(Ok(Duration::ZERO), words::span)?;
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
