//! Connects this process's terminal to a line, for Python.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use cuesta_lines::{Login, Target, TerminalSettings};
use cuesta_relay::RelayConfig;
use pyo3::prelude::*;

use crate::cast::Cast;
use crate::errors;

/// A relay between this process's terminal and a line, on its own thread. Dropping it ends it and restores the terminal.
#[pyclass(module = "cuesta._native", frozen)]
pub(crate) struct Relay(cuesta_relay::Relay);

#[pymethods]
impl Relay {
    #[staticmethod]
    #[pyo3(signature = (target, terminal, command, password=None))]
    fn start(target: &str, terminal: &str, command: &str, password: Option<String>) -> PyResult<Self> {
        let settings = TerminalSettings::from_target(target);
        let config = RelayConfig {
            target: target.parse::<Target>().map_err(errors::run)?,
            login: Login { password, ..Login::default() },
            terminal: settings.name.unwrap_or_else(|| terminal.to_owned()),
            charset: settings.charset,
            command: Some(command.to_owned()),
            keyboard: io::stdin().as_fd().try_clone_to_owned().map_err(errors::run)?,
            screen: io::stdout().as_fd().try_clone_to_owned().map_err(errors::run)?,
        };
        cuesta_relay::Relay::start(config).map(Self).map_err(errors::run)
    }

    fn wait(&self, py: Python<'_>, timeout: f64) -> PyResult<bool> {
        let timeout = Duration::try_from_secs_f64(timeout).map_err(errors::value)?;
        Ok(py.detach(|| self.0.wait(timeout)))
    }

    fn stop(&self) {
        self.0.stop();
    }

    fn cast(&self, py: Python<'_>) -> PyResult<Cast> {
        py.detach(|| self.0.finish()).map(Cast).map_err(errors::run)
    }
}
