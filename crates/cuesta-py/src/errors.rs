//! The exceptions of the module.
#![allow(clippy::needless_pass_by_value)] // `map_err` passes values.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;

create_exception!(cuesta._native, TapeError, PyException, "A tape that does not parse.");
create_exception!(cuesta._native, RunError, PyException, "A run or a host that cannot start, or that failed.");

/// For arguments that cannot be parsed.
pub(crate) fn value(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// For runs, hosts and lines that cannot start, or that fail.
pub(crate) fn run(error: impl ToString) -> PyErr {
    RunError::new_err(error.to_string())
}
