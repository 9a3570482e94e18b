//! TMux for Python.

use std::time::Duration;

use cuesta_tmux::endpoint::{Endpoint, EndpointError, EndpointSpec, status_of_running, stop_running};
use pyo3::prelude::*;
use serde_json::Value;

use crate::errors;

/// An agent of TMux, on a thread of its own. Nothing here waits with Python's lock held.
#[pyclass(module = "cuesta._native", frozen)]
pub(crate) struct Tmux(Endpoint);

impl Tmux {
    fn ask(&self, py: Python<'_>, question: fn(&Endpoint) -> Result<Value, EndpointError>) -> PyResult<String> {
        py.detach(|| question(&self.0)).map(|value| value.to_string()).map_err(errors::run)
    }
}

#[pymethods]
impl Tmux {
    #[staticmethod]
    fn start(spec: &str, py: Python<'_>) -> PyResult<Self> {
        let spec: EndpointSpec =
            serde_json::from_str(spec).map_err(|error| not_started(&EndpointError::from(error)))?;
        py.detach(|| Endpoint::start(&spec)).map(Self).map_err(|error| not_started(&error))
    }

    fn status(&self, py: Python<'_>) -> PyResult<String> {
        self.ask(py, Endpoint::status)
    }

    fn reset(&self, py: Python<'_>) -> PyResult<String> {
        self.ask(py, Endpoint::reset)
    }

    fn wait(&self, timeout: f64, py: Python<'_>) -> PyResult<bool> {
        let timeout = Duration::try_from_secs_f64(timeout).map_err(errors::value)?;
        Ok(py.detach(|| self.0.wait(timeout)))
    }

    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.stop()).map_err(errors::run)
    }
}

fn not_started(error: &EndpointError) -> PyErr {
    if error.is_of_settings() { errors::value(error) } else { errors::run(error) }
}

/// What the agent of this network namespace does and has counted.
#[pyfunction]
pub(crate) fn tmux_status(py: Python<'_>) -> PyResult<String> {
    py.detach(status_of_running).map(|value| value.to_string()).map_err(errors::run)
}

/// Ends the agent of this network namespace.
#[pyfunction]
pub(crate) fn tmux_stop(py: Python<'_>) -> PyResult<String> {
    py.detach(stop_running).map(|value| value.to_string()).map_err(errors::run)
}
