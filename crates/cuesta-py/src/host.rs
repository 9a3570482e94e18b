//! The built-in host for Python.

use std::sync::Mutex;

use pyo3::prelude::*;

use crate::errors;

/// The built-in host under test, on threads of its own.
#[pyclass(module = "cuesta._native", frozen)]
pub(crate) struct Host(Mutex<cuesta_host::Host>);

#[pymethods]
impl Host {
    #[staticmethod]
    fn start(spec: &str) -> PyResult<Self> {
        let spec: cuesta_host::Spec = serde_json::from_str(spec).map_err(errors::run)?;
        cuesta_host::Host::start(&spec).map(|host| Self(host.into())).map_err(errors::run)
    }

    #[getter]
    fn addresses(&self) -> Vec<String> {
        self.0.lock().expect("no panic while it is held").addresses()
    }

    fn meters(&self) -> String {
        self.0.lock().expect("no panic while it is held").meters().to_string()
    }

    fn stop(&self, py: Python<'_>) {
        py.detach(|| self.0.lock().expect("no panic while it is held").stop());
    }
}
