//! The built-in host for Python.

use std::sync::{Mutex, MutexGuard};

use pyo3::prelude::*;

use crate::errors;

/// The built-in host under test, on threads of its own; none once it is stopped.
#[pyclass(module = "cuesta._native", frozen)]
pub(crate) struct Host(Mutex<Option<cuesta_host::Host>>);

impl Host {
    fn locked(&self) -> MutexGuard<'_, Option<cuesta_host::Host>> {
        self.0.lock().expect("no panic while it is held")
    }
}

#[pymethods]
impl Host {
    #[staticmethod]
    fn start(spec: &str) -> PyResult<Self> {
        let spec: cuesta_host::Spec = serde_json::from_str(spec).map_err(errors::run)?;
        cuesta_host::Host::start(&spec).map(|host| Self(Some(host).into())).map_err(errors::run)
    }

    #[getter]
    fn addresses(&self) -> Vec<String> {
        self.locked().as_ref().map(cuesta_host::Host::addresses).unwrap_or_default()
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        self.locked().as_ref().map(|host| host.notes().to_vec()).unwrap_or_default()
    }

    fn meters(&self) -> PyResult<String> {
        let meters = self.locked().as_ref().map(|host| host.meters().to_string());
        meters.ok_or_else(|| errors::run("the host is stopped"))
    }

    fn end_row(&self) -> PyResult<()> {
        self.locked().as_ref().map_or(Ok(()), cuesta_host::Host::end_row).map_err(errors::run)
    }

    fn stop(&self, py: Python<'_>) {
        let host = self.locked().take();
        py.detach(|| drop(host));
    }
}
