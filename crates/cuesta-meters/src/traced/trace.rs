//! A running tracer, read when reports begin and end.

use std::collections::BTreeMap;

use cuesta_record::{Stamp, clock};

use super::Depth;
use super::account::Account;
use super::figures::TraceDelta;
use super::histogram::Histograms;
use super::tracer::Tracer;
use crate::{CounterSnapshot, Subject};

/// Most readings that are kept, each a possible start of a report.
const MOST_KEPT: usize = 10_000;

/// Traces a subject until it is dropped.
#[derive(Debug)]
pub struct Trace {
    tracer: Tracer,
    depth: Depth,
    /// Readings by the instants of their snapshots.
    snapshots: BTreeMap<Stamp, TraceSnapshot>,
}

/// The accounts of all CPUs at an instant.
#[derive(Debug)]
pub(super) struct TraceSnapshot {
    pub(super) at: Stamp,
    pub(super) cpus: BTreeMap<usize, Account>,
    pub(super) histograms: Histograms,
}

impl Trace {
    /// Starts to trace.
    ///
    /// # Errors
    /// The reason, and the remedy.
    pub fn start(subject: &Subject, depth: Depth) -> Result<Self, String> {
        Ok(Self { tracer: Tracer::start(subject, depth)?, depth, snapshots: BTreeMap::new() })
    }

    /// Why no tracer can run here, if that is known without loading one. `of_processes`: for processes, not a whole machine.
    pub fn absence(of_processes: bool) -> Option<String> {
        Tracer::absence(of_processes)
    }

    /// Reads the accounts next to a snapshot of the other meters.
    pub(crate) fn read(&mut self, snapshot: &CounterSnapshot) {
        let at = clock::now();
        let cpus = self.tracer.read(snapshot.cpus());
        self.snapshots.insert(snapshot.at, TraceSnapshot { at, cpus, histograms: self.tracer.histograms() });
        if self.snapshots.len() > MOST_KEPT {
            self.snapshots.pop_first();
        }
    }

    /// Forgets a reading: no report will begin with its snapshot.
    pub(crate) fn forget(&mut self, at: Stamp) {
        self.snapshots.remove(&at);
    }

    /// Traced counts from a snapshot to the last one; `cpus` are those of the report.
    ///
    /// # Errors
    /// If a part of the interval was not traced.
    pub(crate) fn since(&self, from: Stamp, cpus: impl Iterator<Item = usize>) -> Result<TraceDelta, String> {
        let absent = || "the tracer was not there at the beginning of this interval".to_owned();
        let earlier = self.snapshots.get(&from).ok_or_else(absent)?;
        let (_, later) = self.snapshots.last_key_value().ok_or_else(absent)?;
        Ok(TraceDelta::compare(earlier, later, &cpus.collect::<Vec<_>>(), self.depth))
    }
}
