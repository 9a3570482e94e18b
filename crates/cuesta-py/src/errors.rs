//! What can go wrong, as Python sees it.
#![allow(clippy::needless_pass_by_value)] // As `map_err` gives it.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;

create_exception!(cuesta._native, TapeError, PyException, "A tape that does not parse.");
create_exception!(cuesta._native, RunError, PyException, "A run or a host that cannot start, or that failed.");

/// A value that cannot be read.
pub(crate) fn value(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A run or a host that cannot be.
pub(crate) fn run(error: impl ToString) -> PyErr {
    RunError::new_err(error.to_string())
}
