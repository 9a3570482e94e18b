//! Recorded sessions for Python.

use std::time::Duration;

use cuesta_cast::{InputLocation, Secrets, Timing, tape, tape_with_secrets};
use cuesta_driver::CastFrames;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;

use crate::errors::value;

/// A recorded session. It may hold secrets; the casts that it writes and the tapes that it makes do not, unless `keep_all`.
#[pyclass(module = "cuesta._native", frozen)]
pub(crate) struct Cast(pub(crate) cuesta_cast::Cast);

#[pymethods]
impl Cast {
    #[staticmethod]
    fn read(data: &[u8]) -> PyResult<Self> {
        cuesta_cast::Cast::read(data).map(Self).map_err(value)
    }

    #[pyo3(signature = (closed, about, keep_all=false))]
    fn tape(&self, closed: bool, about: &str, keep_all: bool) -> PyResult<String> {
        let timing = if closed { Timing::Closed } else { Timing::Recorded };
        let make = if keep_all { tape_with_secrets } else { tape };
        make(&self.0, timing, about).map_err(value)
    }

    #[pyo3(signature = (keep_all=false))]
    fn written<'py>(&self, py: Python<'py>, keep_all: bool) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = Vec::new();
        let kept = if keep_all { None } else { Some(self.0.without_secrets()) };
        kept.as_ref().unwrap_or(&self.0).write(&mut bytes).map_err(value)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn secrets(&self) -> String {
        let secrets = Secrets::find(&self.0);
        let location =
            |typed: &InputLocation| json!({"at": typed.at.as_secs_f64(), "row": typed.row, "behind": typed.behind});
        let hidden = secrets
            .hidden
            .iter()
            .map(|hidden| json!({"place": location(&hidden.location), "keys": hidden.keys, "column": hidden.column}));
        let commands =
            secrets.commands.iter().map(|kept| json!({"place": location(&kept.location), "keys": kept.keys}));
        let (entries, keys) = secrets.shown;
        json!({
            "hidden": hidden.collect::<Vec<_>>(),
            "commands": commands.collect::<Vec<_>>(),
            "shown": {"entries": entries, "keys": keys},
        })
        .to_string()
    }

    fn redacted(&self, text: &str) -> String {
        Secrets::find(&self.0).redacted(text)
    }

    fn frames(&self, py: Python<'_>, begin: f64, end: f64, every: f64) -> PyResult<String> {
        let [begin, end, every] =
            [begin, end, every].map(|seconds| Duration::try_from_secs_f64(seconds).map_err(value));
        let (begin, end, every) = (begin?, end?, every?);
        py.detach(|| serde_json::to_string(&CastFrames::draw(&self.0, begin, end, every))).map_err(value)
    }

    #[getter]
    fn has_input(&self) -> bool {
        self.0.has_input()
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
