//! Meters of a Linux host for Python.

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard};

use cuesta_meters::sampled::cause::{SamplerOptions, interval};
use cuesta_meters::sampled::profile::Profile;
use cuesta_meters::traced::{self, Depth, Trace};
use cuesta_meters::{CounterSnapshot, Delta, Meter, MeterSpec, NoMeter};
use pyo3::prelude::*;

use crate::errors;

/// The 95 % interval of a share (0 to 1) that was found in `samples` samples.
#[pyfunction]
pub(crate) fn share_interval(share: f64, samples: f64) -> (f64, f64) {
    let [lower, upper] = interval(share, samples);
    (lower, upper)
}

/// A metered subject. The caller takes the readings; nothing is read in the background.
#[pyclass(module = "cuesta._native", frozen)]
pub(crate) struct Meters(Mutex<Meter>);

impl Meters {
    fn locked(&self) -> MutexGuard<'_, Meter> {
        self.0.lock().expect("no panic while it is held")
    }
}

fn depth(text: &str) -> PyResult<Depth> {
    match text {
        "light" => Ok(Depth::Light),
        "full" => Ok(Depth::Full),
        _ => Err(errors::value(format!("no depth of tracing: {text:?}: expected `light` or `full`"))),
    }
}

#[pymethods]
impl Meters {
    #[staticmethod]
    #[pyo3(signature = (spec, *, causes = false, stacks = false, traced = None))]
    fn start(py: Python<'_>, spec: &str, causes: bool, stacks: bool, traced: Option<&str>) -> PyResult<Self> {
        let spec: MeterSpec = serde_json::from_str(spec).map_err(errors::value)?;
        let options = SamplerOptions { profile: stacks, ..SamplerOptions::default() };
        let depth = traced.map(depth).transpose()?;
        let start = || {
            let meter = Meter::start(spec)?;
            let meter = match depth {
                Some(depth) => meter.with_tracer(depth),
                None => meter,
            };
            Ok(if causes || stacks { meter.with_sampler(options) } else { meter })
        };
        py.detach(start).map(|meter| Self(meter.into())).map_err(|error: NoMeter| errors::run(error))
    }

    fn profile(&self, py: Python<'_>, fraction: f64, title: &str) -> PyResult<String> {
        let stacks = py.detach(|| self.locked().take_profile().map(Profile::named)).map_err(errors::run)?;
        let (listing, folded, flame) = (stacks.listing(fraction), stacks.folded(), stacks.flame(title));
        Ok(serde_json::json!({"listing": listing, "folded": folded, "flame": flame}).to_string())
    }

    fn snapshot(&self, py: Python<'_>) -> PyResult<String> {
        let snapshot = py.detach(|| self.locked().snapshot());
        serde_json::to_string(&snapshot).map_err(errors::run)
    }

    #[pyo3(signature = (since = None))]
    fn report(&self, py: Python<'_>, since: Option<&str>) -> PyResult<String> {
        let since: Option<CounterSnapshot> = since.map(serde_json::from_str).transpose().map_err(errors::value)?;
        let report = py.detach(|| match &since {
            Some(earlier) => self.locked().report_since(earlier),
            None => self.locked().report(),
        });
        serde_json::to_string(&report.map_err(errors::run)?).map_err(errors::run)
    }
}

/// Why the kernel cannot be traced here; `None` if it probably can. It does not try.
#[pyfunction]
#[pyo3(signature = (*, of_processes = true))]
pub(crate) fn why_untraced(of_processes: bool) -> Option<String> {
    Trace::absence(of_processes)
}

/// The object files of the kernel's tracers, one behind the other; `None` if they were not built in.
#[pyfunction]
pub(crate) fn tracer_objects() -> Option<Cow<'static, [u8]>> {
    traced::objects().map(|objects| objects.concat().into())
}

/// The snapshot in the text of a `node_exporter`, as JSON.
#[pyfunction]
pub(crate) fn node_exporter_snapshot(text: &str) -> PyResult<String> {
    let snapshot = CounterSnapshot::of_node_exporter(text).map_err(errors::value)?;
    serde_json::to_string(&snapshot).map_err(errors::run)
}

/// The report between two snapshots; all as JSON.
#[pyfunction]
pub(crate) fn report_between(earlier: &str, later: &str) -> PyResult<String> {
    let earlier: CounterSnapshot = serde_json::from_str(earlier).map_err(errors::value)?;
    let later: CounterSnapshot = serde_json::from_str(later).map_err(errors::value)?;
    let report = Delta::compare(&earlier, &later).map_err(errors::run)?.report();
    serde_json::to_string(&report).map_err(errors::run)
}
