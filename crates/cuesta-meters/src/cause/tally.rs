//! How many samples each cause had: what is counted while the sampler runs, before it is scaled to anything.

use std::ops::AddAssign;

use super::classify::Verdict;
use super::kind::Cause;

/// Samples of one subject. Sums of two intervals are those of both.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally {
    /// By cause, in the order of [`Cause::ALL`].
    pub samples: [u64; Cause::COUNT],
    /// Of these, what the dynamic linker's instructions did or asked for: its faults and calls too.
    pub for_linker: [u64; Cause::COUNT],
    /// Of the calls, those taken at the instruction behind the call; by cause likewise.
    pub crossings: [u64; Cause::COUNT],
    /// Of the calls, those of which it is known which they were.
    pub named: u64,
    /// Of the softirqs, those of the network.
    pub network: u64,
    /// CPU time that all samples stand for, nanoseconds.
    pub nanos: u64,
}

impl Tally {
    /// Counts a sample.
    pub(crate) fn count(&mut self, sample: Counted) {
        let Verdict { cause, named, network } = sample.verdict;
        let slot = cause as usize;
        self.samples[slot] += 1;
        self.for_linker[slot] += u64::from(sample.for_linker);
        self.crossings[slot] += u64::from(sample.crossing);
        self.named += u64::from(named && CALLS.contains(&cause));
        self.network += u64::from(network);
        self.nanos += sample.nanos;
    }

    /// Samples of a cause.
    pub fn of(&self, cause: Cause) -> u64 {
        self.samples[cause as usize]
    }

    /// All samples.
    pub fn all(&self) -> u64 {
        self.samples.iter().sum()
    }

    /// All samples of which the CPU was not idle.
    pub fn busy(&self) -> u64 {
        self.all() - self.of(Cause::Idle)
    }

    /// All samples in system calls, of whatever kind.
    pub fn calls(&self) -> u64 {
        CALLS.iter().map(|cause| self.of(*cause)).sum()
    }

    /// Samples at instructions behind calls of whatever kind.
    pub fn all_crossings(&self) -> u64 {
        self.crossings.iter().sum()
    }

    /// Without the interrupts that came while the subject ran.
    pub(crate) fn without_interrupts(mut self) -> Self {
        let (period, before) = (self.period(), self.all());
        for slot in [Cause::Interrupts, Cause::Softirq].map(|cause| cause as usize) {
            (self.samples[slot], self.for_linker[slot], self.crossings[slot]) = (0, 0, 0);
        }
        self.nanos -= ((before - self.all()) as f64 * period) as u64;
        self.network = 0;
        self
    }

    /// CPU time that a sample stands for, nanoseconds; zero without samples.
    pub fn period(&self) -> f64 {
        if self.all() == 0 { 0.0 } else { self.nanos as f64 / self.all() as f64 }
    }
}

/// The causes that are system calls.
const CALLS: [Cause; 3] = [Cause::SystemCalls, Cause::Loading, Cause::Mapping];

impl AddAssign<&Self> for Tally {
    fn add_assign(&mut self, rhs: &Self) {
        let add = |into: &mut [u64; Cause::COUNT], from: &[u64; Cause::COUNT]| {
            into.iter_mut().zip(from).for_each(|(into, from)| *into += from);
        };
        add(&mut self.samples, &rhs.samples);
        add(&mut self.for_linker, &rhs.for_linker);
        add(&mut self.crossings, &rhs.crossings);
        self.named += rhs.named;
        self.network += rhs.network;
        self.nanos += rhs.nanos;
    }
}

/// A sample, as it is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) verdict: Verdict,
    pub(crate) for_linker: bool,
    pub(crate) crossing: bool,
    pub(crate) nanos: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_both() {
        let mut tally = Tally::default();
        let verdict = Verdict { cause: Cause::Mapping, named: true, network: true };
        let sample = Counted { verdict, for_linker: true, crossing: true, nanos: 7 };
        tally.count(sample);
        tally.count(Counted { verdict: Verdict { cause: Cause::Idle, ..verdict }, ..sample });
        let mut twice = tally.clone();
        twice += &tally;
        assert_eq!((twice.all(), twice.busy(), twice.calls(), twice.named, twice.network), (4, 2, 2, 2, 4));
        assert!((twice.period() - 7.0).abs() < 1e-9);
    }

    #[test]
    fn interrupts_can_be_left_out() {
        let mut tally = Tally::default();
        for cause in [Cause::User, Cause::Interrupts, Cause::Softirq, Cause::Softirq] {
            let verdict = Verdict { cause, named: false, network: cause == Cause::Softirq };
            tally.count(Counted { verdict, for_linker: false, crossing: false, nanos: 7 });
        }
        let rest = tally.without_interrupts();
        assert_eq!((rest.of(Cause::User), rest.all(), rest.nanos, rest.network), (1, 1, 7, 0));
    }
}
