//! Opens one line before a run, to report errors early.

use std::collections::BTreeMap;

use cuesta_lines::{Login, Options, Target};
use cuesta_record::clock::{self, Time};
use pyo3::prelude::*;

use crate::errors;

/// Opens a line as the user of a row of the users' table would, and closes it. Raises `RunError` with the reason and a remedy if it
/// cannot be opened.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // Python has no reference to give.
pub(crate) fn probe(py: Python<'_>, target: &str, row: BTreeMap<String, String>) -> PyResult<()> {
    let options = Options { login: Login::from_row(&row), ..Options::for_target(target) };
    let target: Target = target.parse().map_err(errors::run)?;
    py.detach(move || {
        let probe = async move { cuesta_lines::probe(&target, &options).await.map_err(|error| error.to_string()) };
        let probed = clock::run(Time::Real, probe);
        cuesta_lines::wait_for_removals();
        probed
    })
    .map_err(errors::run)?
    .map_err(errors::run)
}
