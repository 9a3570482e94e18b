//! Parses and formats small texts with the same code as tapes and specs.

use std::collections::BTreeMap;
use std::time::Duration;

use cuesta_lines::{KINDS, canonical};
use cuesta_record::{Failure, clock};
use pyo3::prelude::*;

use crate::errors::value;

/// A distribution of durations in its canonical spelling.
#[pyfunction]
pub(crate) fn distribution(text: &str) -> PyResult<String> {
    let no_file = |_: &str| Err("give a file only in a tape".to_owned());
    Ok(cuesta_distributions::Distribution::parse(text, &no_file).map_err(value)?.to_string())
}

/// A distribution of the gaps between keys in its canonical spelling.
#[pyfunction]
pub(crate) fn key_distribution(text: &str) -> PyResult<String> {
    Ok(cuesta_distributions::KeyDistribution::parse(text).map_err(value)?.to_string())
}

/// Parses a duration into nanoseconds.
#[pyfunction]
pub(crate) fn duration(text: &str) -> PyResult<u64> {
    let duration = cuesta_distributions::duration::parse(text).map_err(value)?;
    u64::try_from(duration.as_nanos()).map_err(value)
}

/// Formats nanoseconds as `duration` parses them.
#[pyfunction]
pub(crate) fn show_duration(ns: u64) -> String {
    cuesta_distributions::duration::show(Duration::from_nanos(ns))
}

/// The table of kinds of lines, as JSON.
#[pyfunction]
pub(crate) fn line_kinds() -> PyResult<String> {
    serde_json::to_string(&KINDS).map_err(value)
}

/// The names of the failures that are counted, and what happened in each.
#[pyfunction]
pub(crate) fn failures() -> BTreeMap<&'static str, &'static str> {
    Failure::ALL.iter().map(|failure| (failure.name(), failure.happened())).collect()
}

/// Whether something of this name is a secret.
#[pyfunction]
pub(crate) fn names_secret(name: &str) -> bool {
    cuesta_cast::names_secret(name)
}

/// A target's URL in its canonical spelling.
#[pyfunction]
pub(crate) fn target(text: &str) -> PyResult<String> {
    canonical(text).map_err(value)
}

/// The monotonic clock in nanoseconds; processes share it if its name is the same.
#[pyfunction]
pub(crate) fn now() -> u64 {
    clock::now().as_nanos()
}

#[pyfunction]
pub(crate) fn clock_name() -> Option<String> {
    clock::name()
}
