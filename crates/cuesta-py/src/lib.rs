//! The only crate that knows Python: the module `cuesta._native`.
//!
//! Text, numbers, bytes and eleven classes cross this boundary, but no callbacks. Each class has its own file. Long work returns
//! a handle that Python polls. The functions only convert and call.
#![allow(missing_docs)] // PyO3's macros generate public items; Python's docstrings are in the stub.

use pyo3::pymodule;

mod cast;
mod errors;
mod follower;
mod histogram;
mod host;
mod meters;
mod orphans;
mod probe;
mod relay;
mod run;
mod schema;
mod simulation;
mod ssh;
mod tape;
mod text;
mod tmux;

#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::cast::Cast;
    #[pymodule_export]
    use crate::errors::{RunError, TapeError};
    #[pymodule_export]
    use crate::follower::Follower;
    #[pymodule_export]
    use crate::histogram::Histogram;
    #[pymodule_export]
    use crate::host::Host;
    #[pymodule_export]
    use crate::meters::{Meters, node_exporter_snapshot, report_between, share_interval, tracer_objects, why_untraced};
    #[pymodule_export]
    use crate::orphans::adopt_orphans;
    #[pymodule_export]
    use crate::probe::probe;
    #[pymodule_export]
    use crate::relay::Relay;
    #[pymodule_export]
    use crate::run::{Run, RunSpec};
    #[pymodule_export]
    use crate::schema::{schema, tag_words};
    #[pymodule_export]
    use crate::simulation::simulate;
    #[pymodule_export]
    use crate::ssh::{ssh_login_needs, ssh_preflight, ssh_unlock};
    #[pymodule_export]
    use crate::tape::Tape;
    #[pymodule_export]
    use crate::text::{
        clock_name, distribution, duration, failures, key_distribution, line_kinds, names_secret, now, show_duration,
        target,
    };
    #[pymodule_export]
    use crate::tmux::{Tmux, tmux_status, tmux_stop};
}
