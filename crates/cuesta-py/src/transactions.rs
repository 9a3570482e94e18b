//! The log of transactions for Python.

use std::path::Path;

use cuesta_record::LoggedTransaction;
use pyo3::prelude::*;

/// A row of a log: class, user, due, sent, first, done.
type Row = (String, u32, u64, u64, u64, u64);

#[pyfunction]
pub(crate) fn read_transaction_log(path: &str) -> PyResult<Vec<Row>> {
    let rows = cuesta_record::read_transaction_log(Path::new(path))?;
    let row =
        |LoggedTransaction { class, user, stamps: [due, sent, first, done] }| (class, user, due, sent, first, done);
    Ok(rows.into_iter().map(row).collect())
}
