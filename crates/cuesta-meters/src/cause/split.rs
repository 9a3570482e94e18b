//! CPU time by cause, interval after interval: sampler, constants and exact clocks together.

use std::collections::BTreeMap;

use super::calibrate::{Constants, calibrate};
use super::causes::{Causes, Exact};
use super::sampler::{Cut, NotSampled, Options, Sampler};
use crate::profile::Profile;
use crate::{ByCause, Figure, Subject};

/// Splits the CPU time of one subject for as long as it lives.
#[derive(Debug)]
pub struct Split {
    sampler: Sampler,
    constants: Option<Constants>,
    /// What was not had, and how to allow it.
    limits: Vec<String>,
}

/// What came of an interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Parts {
    /// Shares and what there is to say of them.
    pub causes: Causes,
    /// The same, for a sheet.
    pub sheet: ByCause,
    /// Stacks, if they were wanted.
    pub profile: Option<Profile>,
}

impl Split {
    /// Measures the constants, which takes half a second of one CPU, and begins to sample.
    ///
    /// # Errors
    /// When nothing may be sampled. What may be sampled only in part is said by [`Split::limits`].
    pub fn start(subject: &Subject, options: Options) -> Result<Self, NotSampled> {
        let constants = calibrate();
        let sampler = Sampler::start(std::slice::from_ref(subject), options)?;
        let mut limits = sampler.limits().to_vec();
        if let Err(why) = &constants {
            limits.push(format!("what page faults and system calls hide is not put right: {why}"));
        }
        Ok(Self { sampler, constants: constants.ok(), limits })
    }

    /// What was not had, and how to allow it; empty if nothing.
    pub fn limits(&self) -> &[String] {
        &self.limits
    }

    /// The constants, if they could be measured.
    pub fn constants(&self) -> Option<&Constants> {
        self.constants.as_ref()
    }

    /// Ends an interval, at the instant at which the exact clocks are read. None if the sampler's thread has died.
    pub fn cut(&self) -> Option<Cut> {
        self.sampler.cut()
    }

    /// What came of an interval. `counts`: how many of a cause there were, by its name, where that is counted.
    pub fn parts(&self, cut: Cut, exact: Exact, counts: &BTreeMap<&str, Figure>) -> Option<Parts> {
        let causes = Causes::new(cut.tallies.first()?, &cut, exact, self.constants.as_ref());
        let mut sheet = causes.sheet(exact, counts);
        for (number, limit) in self.limits.iter().enumerate() {
            sheet.about.insert(format!("missing_{}", number + 1), Figure::unmetered(limit.clone()));
        }
        Some(Parts { causes, sheet, profile: cut.profile })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_follow_each_other_and_their_shares_are_a_whole() {
        let subject = Subject::Process(std::process::id());
        let split = Split::start(&subject, Options::default()).expect("this test needs to be allowed to sample");
        let first = split.cut().expect("it lives");
        let mut sum = 0_u64;
        // Until enough was sampled, however long that takes on a busy machine.
        let mut busy = 0;
        let mut last = first.until;
        while busy < 50 {
            (0..5_000_000_u64).for_each(|n| sum = std::hint::black_box(sum ^ n));
            let cut = split.cut().expect("it lives");
            assert_eq!(cut.from, last);
            last = cut.until;
            let samples = cut.tallies[0].busy();
            let exact = Exact { cpu: 0.01, faults: Some(0), capacity: 0.1 };
            let parts = split.parts(cut, exact, &BTreeMap::new()).expect("one subject");
            let whole: f64 = parts.causes.by_cause.values().map(|share| share.percent).sum();
            assert!(samples == 0 || (whole - 100.0).abs() < 1e-6, "{whole}");
            busy += samples;
        }
    }
}
