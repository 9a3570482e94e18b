//! Runs for Python.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use cuesta_driver::{Announcement, BarrierRelease};
use cuesta_record::Stamp;
use pyo3::prelude::*;

use crate::errors;
use crate::tape::Tape;

/// What an agent is asked to do.
#[pyclass(module = "cuesta._native", frozen)]
pub(crate) struct RunSpec(cuesta_driver::RunSpec);

#[pymethods]
impl RunSpec {
    #[staticmethod]
    fn parse(text: &str) -> PyResult<Self> {
        serde_json::from_str(text).map(Self).map_err(errors::run)
    }

    fn prepare_ssh(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| cuesta_driver::prepare(&self.0)).map_err(errors::run)
    }
}

/// A run of users on its own threads. Dropping it stops it.
#[pyclass(module = "cuesta._native", frozen)]
pub(crate) struct Run(cuesta_driver::Run);

#[pymethods]
impl Run {
    #[staticmethod]
    fn start(
        spec: &RunSpec,
        start_at: u64,
        started_wall: u64,
        tapes: BTreeMap<String, Py<Tape>>,
        folder: &str,
    ) -> PyResult<Self> {
        let (start_at, started_wall) = (Some(Stamp::from_nanos(start_at)), Some(started_wall));
        let spec = cuesta_driver::RunSpec { start_at, started_wall, ..spec.0.clone() };
        let scripts = tapes.into_iter().map(|(name, tape)| (name, tape.get().tape.script.clone())).collect();
        cuesta_driver::Run::start(spec, &scripts, Path::new(folder)).map(Self).map_err(errors::run)
    }

    fn snapshot(&self) -> PyResult<String> {
        serde_json::to_string(&self.0.snapshot()).map_err(errors::run)
    }

    fn wait(&self, py: Python<'_>, timeout: f64) -> PyResult<bool> {
        let timeout = Duration::try_from_secs_f64(timeout).map_err(errors::value)?;
        py.detach(|| self.0.wait(timeout)).map_err(errors::run)
    }

    /// How many sessions of this process have left something at their hosts that is still to be removed.
    #[staticmethod]
    fn count_removals() -> usize {
        cuesta_lines::count_removals()
    }

    fn shares_barriers(&self) -> bool {
        self.0.shares_barriers()
    }

    fn changed_barriers(&self) -> PyResult<String> {
        serde_json::to_string(&self.0.changed_barriers()).map_err(errors::run)
    }

    fn release(&self, release: &str) -> PyResult<()> {
        let release: BarrierRelease = serde_json::from_str(release).map_err(errors::value)?;
        self.0.release(&release);
        Ok(())
    }

    fn announce(&self, announcement: &str) -> PyResult<()> {
        let announcement: Announcement = serde_json::from_str(announcement).map_err(errors::value)?;
        self.0.announce(announcement).map_err(errors::run)
    }

    fn watch(&self, order: &str) -> PyResult<()> {
        self.0.watch(serde_json::from_str(order).map_err(errors::value)?);
        Ok(())
    }

    fn hold_starts(&self, hold: bool) {
        self.0.hold_starts(hold);
    }

    fn screens(&self) -> PyResult<String> {
        serde_json::to_string(&self.0.screens()).map_err(errors::run)
    }

    fn stop(&self) {
        self.0.stop();
    }
}
