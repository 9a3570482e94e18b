//! Tapes for Python.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use cuesta_driver::find_mismatch;
use cuesta_lines::Options;
use cuesta_record::read_text;
use cuesta_tape::{Overrides, Program};
use pyo3::prelude::*;

use crate::errors::TapeError;

/// The most bytes of a file that a tape names.
const LONGEST: u64 = 128 << 20;

/// A tape, parsed.
#[pyclass(module = "cuesta._native", frozen)]
pub(crate) struct Tape {
    pub(crate) tape: cuesta_tape::Tape,
    /// The text of each tape that it sources, by the path as written.
    sources: BTreeMap<String, String>,
}

#[pymethods]
impl Tape {
    #[staticmethod]
    fn parse(text: &str, name: &str, folder: &str) -> PyResult<Self> {
        let sources = RefCell::new(BTreeMap::new());
        let load = |file: &str| {
            let text = read_text(&Path::new(folder).join(file), LONGEST).map_err(|error| error.to_string())?;
            sources.borrow_mut().insert(file.to_owned(), text.clone());
            Ok(text)
        };
        let tape = parse(text, name, &load)?;
        Ok(Self { tape, sources: sources.into_inner() })
    }

    #[staticmethod]
    fn assemble(text: &str, name: &str, sources: BTreeMap<String, String>) -> PyResult<Self> {
        let load = |file: &str| sources.get(file).cloned().ok_or_else(|| "it was not sent".to_owned());
        let tape = parse(text, name, &load)?;
        Ok(Self { tape, sources })
    }

    fn sources(&self) -> BTreeMap<String, String> {
        self.sources.clone()
    }

    fn listing(&self) -> String {
        cuesta_tape::listing(&self.tape)
    }

    fn commands(&self) -> String {
        self.tape.to_json()
    }

    fn outline(&self) -> Vec<(String, Option<f64>)> {
        self.tape.outline()
    }

    fn times_echoes(&self) -> bool {
        self.tape.times_echoes
    }

    fn answers_outside(&self) -> bool {
        self.tape.answers_outside
    }

    fn notes(&self) -> Vec<String> {
        self.tape.notes.iter().map(ToString::to_string).collect()
    }

    fn transactions(&self) -> Vec<String> {
        self.tape.script.transactions.clone()
    }

    fn is_idle(&self) -> bool {
        self.tape.script.is_idle()
    }

    fn columns(&self) -> Vec<String> {
        self.tape.script.columns()
    }

    #[pyo3(signature = (columns=None, rows=None))]
    fn screen_cells(&self, columns: Option<u16>, rows: Option<u16>) -> PyResult<usize> {
        let program = Program::new(&self.tape.script, &Overrides::default());
        let program = program.map_err(|error| TapeError::new_err(error.to_string()))?;
        let (own, usual) = (&self.tape.script.settings, Options::default());
        let size = [columns.or(own.columns).unwrap_or(usual.columns), rows.or(own.rows).unwrap_or(usual.rows)];
        Ok(if program.needs_screen { size.iter().map(|&cells| usize::from(cells)).product() } else { 0 })
    }

    fn misfit(&self, target: &str) -> PyResult<Option<String>> {
        let program = Program::new(&self.tape.script, &Overrides::default());
        program.map(|program| find_mismatch(target, &program)).map_err(|error| TapeError::new_err(error.to_string()))
    }
}

fn parse(text: &str, name: &str, load: &dyn Fn(&str) -> Result<String, String>) -> PyResult<cuesta_tape::Tape> {
    cuesta_tape::parse(text, name, load).map_err(|errors| TapeError::new_err(errors.to_string()))
}
