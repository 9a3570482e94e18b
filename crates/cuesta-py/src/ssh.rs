//! Prepares logins over ssh before users start.

use std::collections::BTreeMap;
use std::path::Path;

use cuesta_lines::{Login, Target};
use cuesta_record::clock::{self, Time};
use pyo3::prelude::*;

use crate::errors;

/// For a row of the users' table: the settings of OpenSSH's configuration that Cuesta ignores, and the key files that are still locked by
/// a passphrase.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // Python has no reference to give.
pub(crate) fn ssh_preflight(
    py: Python<'_>,
    target: &str,
    row: BTreeMap<String, String>,
) -> PyResult<(Vec<String>, Vec<String>)> {
    let Target::Ssh(target) = target.parse().map_err(errors::run)? else { return Ok((Vec::new(), Vec::new())) };
    let login = Login::from_row(&row);
    let look = async move { cuesta_lines::preflight(&target, &login).await.map_err(|error| error.to_string()) };
    let preflight = py.detach(|| clock::run(Time::Real, look)).map_err(errors::run)?.map_err(errors::run)?;
    let locked = preflight.locked.iter().map(|file| file.to_string_lossy().into_owned());
    Ok((preflight.unused, locked.collect()))
}

/// For a row of the users' table: the address to which its connection is opened, none if a command connects; and what this machine lacks for
/// the login.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // Python has no reference to give.
pub(crate) fn ssh_login_needs(
    py: Python<'_>,
    target: &str,
    row: BTreeMap<String, String>,
) -> PyResult<(Option<String>, Vec<String>)> {
    let Target::Ssh(target) = target.parse().map_err(errors::run)? else { return Ok((None, Vec::new())) };
    let login = Login::from_row(&row);
    let find = async move { cuesta_lines::find_login_needs(&target, &login).await.map_err(|error| error.to_string()) };
    let needs = py.detach(|| clock::run(Time::Real, find)).map_err(errors::run)?.map_err(errors::run)?;
    Ok((needs.connects_to.map(|address| address.to_string()), needs.lacks))
}

/// Unlocks a key file for the rest of this process; returns whether the passphrase was right.
#[pyfunction]
pub(crate) fn ssh_unlock(py: Python<'_>, file: &str, passphrase: &str) -> PyResult<bool> {
    py.detach(|| cuesta_lines::unlock(Path::new(file), passphrase)).map_err(errors::run)
}
