//! A tracer at work, read at instants that reports begin and end with.

use std::collections::BTreeMap;

use cuesta_record::{Stamp, clock};

use super::Depth;
use super::account::Account;
use super::figures::TraceDelta;
use super::histogram::Histograms;
use super::tracer::Tracer;
use crate::{CounterSnapshot, Subject};

/// Readings that are kept for reports that may begin with them.
const MOST_KEPT: usize = 10_000;

/// Traces a subject for as long as it lives.
#[derive(Debug)]
pub struct Trace {
    tracer: Tracer,
    depth: Depth,
    /// By the instants of the snapshots that they belong to.
    snapshots: BTreeMap<Stamp, TraceSnapshot>,
}

/// What the CPUs had done up to an instant.
#[derive(Debug)]
pub(super) struct TraceSnapshot {
    pub(super) at: Stamp,
    pub(super) cpus: BTreeMap<usize, Account>,
    pub(super) histograms: Histograms,
}

impl Trace {
    /// Begins to trace.
    ///
    /// # Errors
    /// Says why it cannot be, and what would allow it.
    pub fn start(subject: &Subject, depth: Depth) -> Result<Self, String> {
        Ok(Self { tracer: Tracer::start(subject, depth)?, depth, snapshots: BTreeMap::new() })
    }

    /// Why there can be none here, as far as that is known without loading one; `of_processes`, not of a whole machine.
    pub fn absence(of_processes: bool) -> Option<String> {
        Tracer::absence(of_processes)
    }

    /// Reads the accounts beside a snapshot of the other meters.
    pub(crate) fn mark(&mut self, snapshot: &CounterSnapshot) {
        let cpus = snapshot.stat.value().into_iter().flat_map(|stat| stat.cpus.keys().copied());
        let at = clock::now();
        let cpus = self.tracer.read(cpus);
        self.snapshots.insert(snapshot.at, TraceSnapshot { at, cpus, histograms: self.tracer.histograms() });
        if self.snapshots.len() > MOST_KEPT {
            self.snapshots.pop_first();
        }
    }

    /// No report will begin with that snapshot.
    pub(crate) fn forget(&mut self, at: Stamp) {
        self.snapshots.remove(&at);
    }

    /// What was traced from a snapshot to the last one; `cpus` are those of the report.
    ///
    /// # Errors
    /// When it was not all traced.
    pub(crate) fn since(&self, from: Stamp, cpus: impl Iterator<Item = usize>) -> Result<TraceDelta, String> {
        let absent = || "the tracer was not there at the beginning of this interval".to_owned();
        let earlier = self.snapshots.get(&from).ok_or_else(absent)?;
        let (_, later) = self.snapshots.last_key_value().ok_or_else(absent)?;
        Ok(TraceDelta::between(earlier, later, &cpus.collect::<Vec<_>>(), self.depth))
    }
}
