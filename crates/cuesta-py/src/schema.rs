//! What is recorded, declared, for Python.

use cuesta_driver::{BarrierRelease, BarrierStatus};
use cuesta_meters::report::MeterReport;
use cuesta_record::schema::FieldType;
use cuesta_record::{AgentEnd, SeriesRow, Snapshot, TimelineFile, TransactionRow, UserRow};
use pyo3::prelude::*;

use crate::errors;

/// The tables of all records and messages as JSON, each after those that it refers to.
#[pyfunction]
pub(crate) fn schema() -> PyResult<String> {
    let mut tables = Vec::new();
    for add in [
        TimelineFile::tables,
        SeriesRow::tables,
        UserRow::tables,
        TransactionRow::tables,
        AgentEnd::tables,
        Snapshot::tables,
        BarrierStatus::tables,
        BarrierRelease::tables,
        MeterReport::tables,
    ] {
        add(&mut tables);
    }
    serde_json::to_string(&tables).map_err(errors::run)
}
