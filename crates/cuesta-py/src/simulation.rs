//! Simulations for Python.

use std::collections::BTreeMap;

use cuesta_simulation::SimulationSpec;
use pyo3::prelude::*;

use crate::errors;
use crate::histogram::Histogram;
use crate::tape::Tape;

/// Plays users at a simulated host.
#[pyfunction]
pub(crate) fn simulate(
    py: Python<'_>,
    spec: &str,
    tapes: BTreeMap<String, Py<Tape>>,
) -> PyResult<(String, BTreeMap<String, Histogram>)> {
    let spec: SimulationSpec = serde_json::from_str(spec).map_err(errors::run)?;
    let scripts = tapes.into_iter().map(|(name, tape)| (name, tape.get().tape.script.clone())).collect();
    let simulated = py.detach(|| cuesta_simulation::simulate(spec, &scripts)).map_err(errors::run)?;
    let histograms = simulated.histograms.into_iter().map(|(tag, histogram)| (tag, Histogram::from(histogram)));
    Ok((serde_json::to_string(&simulated.figures).map_err(errors::run)?, histograms.collect()))
}
