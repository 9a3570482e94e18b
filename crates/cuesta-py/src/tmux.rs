//! TMux for Python.

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use cuesta_tmux::endpoint::{Endpoint, EndpointError, EndpointSpec, status_of_running, stop_running};
use pyo3::prelude::*;
use serde_json::Value;

use crate::errors;

/// An agent of TMux, on a thread of its own; none once it is stopped.
#[pyclass(module = "cuesta._native", frozen)]
pub(crate) struct Tmux(Mutex<Option<Endpoint>>);

impl Tmux {
    fn locked(&self) -> MutexGuard<'_, Option<Endpoint>> {
        self.0.lock().expect("no panic while it is held")
    }

    fn ask(&self, question: impl FnOnce(&Endpoint) -> Result<Value, EndpointError>) -> PyResult<String> {
        let answer = self.locked().as_ref().map(question);
        let answer = answer.ok_or_else(|| errors::run("the agent of TMux is stopped"))?;
        answer.map(|value| value.to_string()).map_err(errors::run)
    }
}

#[pymethods]
impl Tmux {
    #[staticmethod]
    fn start(spec: &str, py: Python<'_>) -> PyResult<Self> {
        let spec: EndpointSpec = serde_json::from_str(spec).map_err(errors::run)?;
        py.detach(|| Endpoint::start(&spec)).map(|endpoint| Self(Some(endpoint).into())).map_err(errors::run)
    }

    fn status(&self) -> PyResult<String> {
        self.ask(Endpoint::status)
    }

    fn reset(&self) -> PyResult<String> {
        self.ask(Endpoint::reset)
    }

    fn wait(&self, timeout: f64, py: Python<'_>) -> PyResult<bool> {
        let timeout = Duration::try_from_secs_f64(timeout).map_err(errors::value)?;
        Ok(py.detach(|| self.locked().as_ref().is_none_or(|endpoint| endpoint.wait(timeout))))
    }

    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        let endpoint = self.locked().take();
        py.detach(|| endpoint.map_or(Ok(()), Endpoint::stop)).map_err(errors::run)
    }
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
