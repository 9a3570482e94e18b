//! Two drivers on one core at once, each with a host of its own on another core.
//!
//! Whatever else the machine does, and whatever the clock of its CPUs, it does to both. So a ratio of what an operation
//! costs stands where a cost alone would not.

use std::error::Error;

use crate::job::{Framing, HostJob, Job, Work};
use crate::outcome::Outcome;
use crate::process::Part;

/// What is compared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pairing {
    pub(crate) work: Work,
    pub(crate) framing: Framing,
    /// What is on the limit's line.
    pub(crate) beside: Framing,
    pub(crate) users: u32,
    /// The limit against itself: what the method cannot tell apart.
    pub(crate) control: bool,
}

/// What a pair of drivers said of the same window.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) tested: Outcome,
    pub(crate) limit: Outcome,
}

impl Pair {
    /// Runs one. `swapped`: the limit starts first.
    pub(crate) fn run(
        pairing: Pairing,
        swapped: bool,
        (drivers, hosts): (usize, usize),
    ) -> Result<Self, Box<dyn Error>> {
        let Pairing { work, framing, beside, users, control } = pairing;
        let (_one, one) = Part::host(HostJob::small(work, framing, hosts))?;
        let (_two, two) = Part::host(HostJob::small(work, beside, hosts))?;
        // Both open their windows at the same instant, so both take the time that the slower one needs.
        let limit = Job { stagger: framing.stagger(), ..Job::new(work, beside, users, two, drivers) };
        let tested = Job { framing, address: one, ..limit.clone() };
        let start_tested =
            || if control { Part::bare(&Job { framing: beside, ..tested.clone() }) } else { Part::driver(&tested) };
        let (mut tested, mut limit) = if swapped {
            let limit = Part::bare(&limit)?;
            (start_tested()?, limit)
        } else {
            (start_tested()?, Part::bare(&limit)?)
        };
        Ok(Self { tested: tested.outcome()?, limit: limit.outcome()? })
    }

    /// CPU time of an operation, the tested driver's over the limit's.
    pub(crate) fn ratio(&self) -> f64 {
        self.tested.cost() / self.limit.cost()
    }
}
