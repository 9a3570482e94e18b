//! Recorded sessions for Python.

use cuesta_cast::Timing;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::value;

/// A recorded session. It may hold secrets; what it writes and the tapes that it makes do not.
#[pyclass(module = "cuesta._native", frozen)]
pub(crate) struct Cast(pub(crate) cuesta_cast::Cast);

#[pymethods]
impl Cast {
    #[staticmethod]
    fn read(data: &[u8]) -> PyResult<Self> {
        cuesta_cast::Cast::read(data).map(Self).map_err(value)
    }

    fn tape(&self, closed: bool, about: &str) -> PyResult<String> {
        let timing = if closed { Timing::Closed } else { Timing::Recorded };
        cuesta_cast::tape(&self.0, timing, about).map_err(value)
    }

    fn written<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = Vec::new();
        self.0.without_secrets().write(&mut bytes).map_err(value)?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[getter]
    fn has_input(&self) -> bool {
        self.0.has_input()
    }

    #[getter]
    fn was_stopped(&self) -> bool {
        self.0.was_stopped()
    }

    #[getter]
    fn is_cut(&self) -> bool {
        self.0.cut
    }

    #[getter]
    fn seconds(&self) -> f64 {
        self.0.events.last().map_or(0.0, |last| last.at.as_secs_f64())
    }
}
