//! Tapes for Python.

use std::path::Path;

use cuesta_driver::misfit;
use cuesta_record::read_text;
use cuesta_tape::{Overrides, Program};
use pyo3::prelude::*;

use crate::errors::TapeError;

/// The most bytes of a file that a tape names.
const LONGEST: u64 = 128 << 20;

/// A tape, parsed.
#[pyclass(module = "cuesta._native", frozen)]
pub(crate) struct Tape(pub(crate) cuesta_tape::Tape);

#[pymethods]
impl Tape {
    #[staticmethod]
    fn parse(text: &str, name: &str, folder: &str) -> PyResult<Self> {
        let load = |file: &str| read_text(&Path::new(folder).join(file), LONGEST).map_err(|error| error.to_string());
        cuesta_tape::parse(text, name, &load).map(Self).map_err(|errors| TapeError::new_err(errors.to_string()))
    }

    fn listing(&self) -> String {
        cuesta_tape::listing(&self.0)
    }

    fn commands(&self) -> String {
        self.0.to_json()
    }

    fn outline(&self) -> Vec<(String, Option<f64>)> {
        self.0.outline()
    }

    fn times_echoes(&self) -> bool {
        self.0.times_echoes
    }

    fn notes(&self) -> Vec<String> {
        self.0.notes.iter().map(ToString::to_string).collect()
    }

    fn transactions(&self) -> Vec<String> {
        self.0.script.transactions.clone()
    }

    fn is_idle(&self) -> bool {
        self.0.script.is_idle()
    }

    fn columns(&self) -> Vec<String> {
        self.0.script.columns()
    }

    fn misfit(&self, target: &str) -> PyResult<Option<String>> {
        let program = Program::new(&self.0.script, &Overrides::default());
        program.map(|program| misfit(target, &program)).map_err(|error| TapeError::new_err(error.to_string()))
    }
}
