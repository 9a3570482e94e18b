//! A tracer at work, read at instants that sheets begin and end with.

use std::collections::BTreeMap;

use cuesta_record::{Stamp, clock};

use super::account::Account;
use super::figures::Traced;
use super::tracer::Tracer;
use super::{Depth, untraced};
use crate::{Reading, Sheet, Subject};

/// Readings that are kept for sheets that may begin with them.
const MOST_KEPT: usize = 10_000;

/// Traces a subject for as long as it lives.
#[derive(Debug)]
pub struct Trace {
    tracer: Tracer,
    depth: Depth,
    /// By the instants of the readings that they belong to.
    snapshots: BTreeMap<Stamp, Snapshot>,
}

/// What the CPUs had done up to an instant.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) at: Stamp,
    pub(super) cpus: BTreeMap<usize, Account>,
}

impl Trace {
    /// Begins to trace.
    ///
    /// # Errors
    /// Says why it cannot be, and what would allow it.
    pub fn start(subject: &Subject, depth: Depth) -> Result<Self, String> {
        Ok(Self { tracer: Tracer::start(subject, depth)?, depth, snapshots: BTreeMap::new() })
    }

    /// Reads the accounts beside a reading of the other meters.
    pub(crate) fn mark(&mut self, reading: &Reading) {
        let cpus = reading.stat.value().into_iter().flat_map(|stat| stat.cpus.keys().copied());
        let at = clock::now();
        let cpus = self.tracer.read(cpus);
        self.snapshots.insert(reading.at, Snapshot { at, cpus });
        if self.snapshots.len() > MOST_KEPT {
            self.snapshots.pop_first();
        }
    }

    /// No sheet will begin with that reading.
    pub(crate) fn forget(&mut self, at: Stamp) {
        self.snapshots.remove(&at);
    }

    /// Puts what was traced since a reading into a sheet that ends with the last one: all but its causes.
    pub(crate) fn totals(&self, from: Stamp, sheet: &mut Sheet) {
        match self.since(from, sheet) {
            Some(traced) => traced.put(sheet),
            None => untraced(sheet, "the tracer was not there at the beginning of this interval"),
        }
    }

    /// The same for its causes, where they have been sampled or not.
    pub(crate) fn causes(&self, from: Stamp, sheet: &mut Sheet) {
        if let Some(traced) = self.since(from, sheet) {
            traced.put_causes(sheet);
        }
    }

    fn since(&self, from: Stamp, sheet: &Sheet) -> Option<Traced> {
        let earlier = self.snapshots.get(&from)?;
        let (_, later) = self.snapshots.last_key_value()?;
        Some(Traced::between(earlier, later, sheet, self.depth))
    }
}
