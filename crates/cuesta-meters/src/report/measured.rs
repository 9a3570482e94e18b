//! What clocks and counters say of an interval: all of a report that takes no sample.

use std::collections::BTreeMap;

use cuesta_record::Stamp;

use super::{Closure, Counts, Cpu, Device, Figure, Idle, Network, Own, TimeRow, Traffic};
use crate::Subject;

/// Made by the plain tier; the traced one makes another of it. Samples share out the CPU time that it has.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) at: Stamp,
    pub(crate) wall: u64,
    pub(crate) seconds: f64,
    pub(crate) subject: Subject,
    pub(crate) cpus: Vec<usize>,
    pub(crate) notes: Vec<String>,
    pub(crate) cpu: Cpu,
    pub(crate) per_cpu: BTreeMap<usize, Cpu>,
    pub(crate) beside: BTreeMap<usize, Cpu>,
    pub(crate) own: Own,
    pub(crate) counts: Counts,
    pub(crate) idle: Idle,
    pub(crate) pressure: BTreeMap<String, Figure>,
    pub(crate) traffic: Traffic,
    pub(crate) devices: BTreeMap<String, Device>,
    pub(crate) closure: Closure,
    pub(crate) cost: Figure,
    /// As far as it is known without samples.
    pub(crate) network: Network,
    /// Rows of `total_time` for a report without causes.
    pub(crate) busy_rows: Vec<TimeRow>,
    /// Rows of `total_time` for steal and idle.
    pub(crate) idle_rows: Vec<TimeRow>,
}

impl Measured {
    /// CPU seconds that there were.
    pub(crate) fn capacity(&self) -> f64 {
        self.seconds * self.cpus.len() as f64
    }

    /// The subject's CPU seconds in the interval of the CPUs. [`Own::seconds`] are those between two looks at its tasks, which
    /// come a little later.
    pub(crate) fn own_seconds(&self) -> Figure {
        self.own.percent.map(|percent| percent / 100.0 * self.capacity())
    }
}
