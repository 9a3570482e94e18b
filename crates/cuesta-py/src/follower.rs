//! The path of keys through this host, for Python.

use std::net::IpAddr;
use std::sync::Mutex;

use cuesta_meters::path::{FollowSpec, Follower as Running};
use pyo3::prelude::*;

use crate::errors;

/// Programs in the kernel that follow keys until it is dropped.
#[pyclass(module = "cuesta._native", frozen)]
pub(crate) struct Follower(Mutex<Running>);

#[pymethods]
impl Follower {
    #[staticmethod]
    #[pyo3(signature = (*, terminals, from_address = None))]
    fn start(py: Python<'_>, terminals: bool, from_address: Option<IpAddr>) -> PyResult<Self> {
        let spec = FollowSpec { terminals, from: from_address, controls: true };
        py.detach(|| Running::start(spec)).map(|running| Self(running.into())).map_err(errors::run)
    }

    fn read_rows(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.0.lock().expect("no panic while it is held").read_rows()).map_err(errors::run)
    }
}
