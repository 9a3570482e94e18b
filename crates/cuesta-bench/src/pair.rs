//! Two drivers on one core at once, each with a host of its own on another core.
//!
//! Other load and the CPU's clock rate affect both alike, so the ratio of their costs is reliable where a cost alone is not.

use std::error::Error;

use crate::job::{Framing, HostJob, Job, Work};
use crate::outcome::Outcome;
use crate::process::Part;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Pairing {
    pub(crate) work: Work,
    pub(crate) framing: Framing,
    /// The protocol of the lines of the limit, which may be another one than that of the tested driver.
    pub(crate) beside: Framing,
    pub(crate) users: u32,
    /// Tests the limit instead of Cuesta. The ratio should then be 1, and its scatter is the noise of the method.
    pub(crate) control: bool,
}

/// The outcomes of two drivers in the same window.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) tested: Outcome,
    pub(crate) limit: Outcome,
}

impl Pair {
    /// Runs a pair. `swapped`: the limit starts first.
    pub(crate) fn run(pairing: Pairing, swapped: bool, cpus: (usize, usize)) -> Result<Self, Box<dyn Error>> {
        Self::run_as(pairing, swapped, cpus, |job| job)
    }

    /// The same with another job: `change` gets the usual one.
    pub(crate) fn run_as(
        pairing: Pairing,
        swapped: bool,
        (drivers, hosts): (usize, usize),
        change: impl FnOnce(Job) -> Job,
    ) -> Result<Self, Box<dyn Error>> {
        let Pairing { work, framing, beside, users, control } = pairing;
        let (_one, one) = Part::hosts(HostJob::small(work, framing, hosts), users)?;
        let (_two, two) = Part::hosts(HostJob::small(work, beside, hosts), users)?;
        // Both windows open at the same instant, so both drivers get the head start that the slower one needs.
        let limit =
            change(Job { stagger: framing.stagger(), ..Job::new(work, beside, users, String::new(), drivers) }).at(two);
        let tested = Job { framing, ..limit.clone() }.at(one);
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

    /// CPU time per operation of the tested driver over that of the limit.
    pub(crate) fn ratio(&self) -> f64 {
        self.tested.cost() / self.limit.cost()
    }
}
