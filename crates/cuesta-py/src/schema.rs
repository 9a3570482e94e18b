//! What is recorded, declared, for Python.

use cuesta_driver::{AgentMessage, EngineMessage};
use cuesta_host::HostSeriesRow;
use cuesta_meters::report::MeterReport;
use cuesta_record::schema::FieldType;
use cuesta_record::{
    AgentEnd, AgentNote, FollowedRow, KernelThreadsRow, KeyRow, LinkageRow, MarkRow, MeterRecord, NeighbourRow,
    PathRecord, RunnableRow, SeriesRow, TimelineFile, TransactionRow, UserRow, WatcherRow, WireRow,
};
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
        KeyRow::tables,
        FollowedRow::tables,
        AgentEnd::tables,
        AgentNote::tables,
        WireRow::tables,
        NeighbourRow::tables,
        HostSeriesRow::tables,
        MeterRecord::tables,
        PathRecord::tables,
        LinkageRow::tables,
        RunnableRow::tables,
        KernelThreadsRow::tables,
        MarkRow::tables,
        WatcherRow::tables,
        EngineMessage::tables,
        AgentMessage::tables,
        MeterReport::tables,
    ] {
        add(&mut tables);
    }
    serde_json::to_string(&tables).map_err(errors::run)
}

/// The words of which tags of durations are made.
#[pyfunction]
pub(crate) fn tag_words() -> (Vec<(&'static str, &'static str)>, Vec<&'static str>) {
    let (sources, wait_ends) = cuesta_record::tag_words();
    (sources.into(), wait_ends.into())
}
