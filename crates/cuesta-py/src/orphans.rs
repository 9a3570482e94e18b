use pyo3::prelude::*;
use rustix::process::{getpid, set_child_subreaper};

use crate::errors;

/// Makes this process the parent of processes that its descendants leave behind.
#[pyfunction]
pub(crate) fn adopt_orphans() -> PyResult<()> {
    set_child_subreaper(Some(getpid())).map_err(errors::run)
}
