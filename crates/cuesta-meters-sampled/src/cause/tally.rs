//! Numbers of samples by cause: of a subject, and of all subjects in an interval. They are not scaled yet.

use std::ops::AddAssign;
use std::time::Duration;

use cuesta_record::Stamp;
use serde::{Deserialize, Serialize};

use super::causes::Cause;
use super::classify::SampleClass;

/// Samples of one subject. Tallies of consecutive intervals add up.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SampleTally {
    /// By cause, in the order of [`Cause::ALL`].
    pub samples: [u64; Cause::COUNT],
    /// CPU time that they stand for, in nanoseconds. A sample at half rate stands for twice as much.
    pub times: [u64; Cause::COUNT],
    /// The part of this that the dynamic linker used or asked for, its faults and calls included.
    pub for_linker: [u64; Cause::COUNT],
    /// Samples of calls at the instruction after the call, by cause.
    pub syscall_returns: [u64; Cause::COUNT],
    /// CPU time that these stand for, nanoseconds.
    pub syscall_return_times: [u64; Cause::COUNT],
    /// Samples of calls whose number is known.
    pub named: u64,
    /// CPU time of the softirqs of the network, nanoseconds.
    pub network: u64,
    /// Sum of squares of the time that each busy sample stands for. It gives the effective number of unequal samples.
    pub squares: u128,
    /// CPU time that was sampled at half rate, in nanoseconds.
    pub half_rate: u64,
}

impl SampleTally {
    /// Counts a sample that stands for `nanos` of CPU time.
    pub(crate) fn count(&mut self, class: SampleClass, nanos: u64, half_rate: bool) {
        let SampleClass { cause, named, network, for_linker, syscall_return } = class;
        let slot = cause as usize;
        let time_if = |is_so: bool| if is_so { nanos } else { 0 };
        self.samples[slot] += 1;
        self.times[slot] += nanos;
        self.for_linker[slot] += time_if(for_linker);
        self.syscall_returns[slot] += u64::from(syscall_return);
        self.syscall_return_times[slot] += time_if(syscall_return);
        self.named += u64::from(named && CALLS.contains(&cause));
        self.network += time_if(network);
        self.squares += u128::from(time_if(cause != Cause::Idle)).pow(2);
        self.half_rate += time_if(half_rate);
    }

    pub fn samples_of(&self, cause: Cause) -> u64 {
        self.samples[cause as usize]
    }

    /// All samples.
    pub fn all(&self) -> u64 {
        self.samples.iter().sum()
    }

    /// All samples of busy CPUs.
    pub fn busy(&self) -> u64 {
        self.all() - self.samples_of(Cause::Idle)
    }

    /// CPU time that the busy samples stand for, nanoseconds.
    pub fn busy_time(&self) -> f64 {
        (self.times.iter().sum::<u64>() - self.time_of(Cause::Idle)) as f64
    }

    /// CPU time that the samples of a cause stand for, nanoseconds.
    pub fn time_of(&self, cause: Cause) -> u64 {
        self.times[cause as usize]
    }

    /// The effective number of busy samples: equal ones with the same error (L. Kish, *Survey Sampling*, 1965).
    pub fn effective(&self) -> f64 {
        if self.squares == 0 { 0.0 } else { self.busy_time().powi(2) / self.squares as f64 }
    }

    /// All samples in system calls, of whatever kind.
    pub fn calls(&self) -> u64 {
        CALLS.iter().map(|cause| self.samples_of(*cause)).sum()
    }

    /// Samples at instructions after calls of any kind.
    pub fn all_syscall_returns(&self) -> u64 {
        self.syscall_returns.iter().sum()
    }

    /// The tally without interrupts during the subject's time.
    pub(crate) fn without_interrupts(mut self) -> Self {
        let before = self.busy_time();
        for slot in [Cause::Interrupts, Cause::Softirq].map(|cause| cause as usize) {
            (self.samples[slot], self.times[slot], self.for_linker[slot]) = (0, 0, 0);
        }
        let left = if before > 0.0 { self.busy_time() / before } else { 0.0 };
        self.squares = (self.squares as f64 * left) as u128;
        self.network = 0;
        self
    }

    /// CPU time that a sample stands for on average, nanoseconds; zero without samples.
    pub fn period(&self) -> f64 {
        let all = self.all();
        if all == 0 { 0.0 } else { self.times.iter().sum::<u64>() as f64 / all as f64 }
    }
}

/// The causes that are system calls.
const CALLS: [Cause; 3] = [Cause::SystemCalls, Cause::Loading, Cause::Mapping];

impl AddAssign<&Self> for SampleTally {
    fn add_assign(&mut self, rhs: &Self) {
        let add = |into: &mut [u64; Cause::COUNT], from: &[u64; Cause::COUNT]| {
            into.iter_mut().zip(from).for_each(|(into, from)| *into += from);
        };
        add(&mut self.samples, &rhs.samples);
        add(&mut self.times, &rhs.times);
        add(&mut self.for_linker, &rhs.for_linker);
        add(&mut self.syscall_returns, &rhs.syscall_returns);
        add(&mut self.syscall_return_times, &rhs.syscall_return_times);
        self.named += rhs.named;
        self.network += rhs.network;
        self.squares += rhs.squares;
        self.half_rate += rhs.half_rate;
    }
}

/// The samples since the last window.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SampleWindow {
    pub from: Stamp,
    pub until: Stamp,
    /// One tally for each subject, in the given order.
    pub tallies: Vec<SampleTally>,
    /// How much of the machine is seen.
    pub visibility: Visibility,
    /// Samples and other records that were lost since their ring was full.
    pub lost: u64,
    /// How often the kernel stopped sampling a CPU for the rest of a tick.
    pub throttled: u64,
    /// CPU time of the reader thread.
    pub reader: Duration,
}

impl SampleWindow {
    pub fn add(&mut self, next: &Self) {
        self.until = next.until;
        for (tally, other) in self.tallies.iter_mut().zip(&next.tallies) {
            *tally += other;
        }
        self.lost += next.lost;
        self.throttled += next.throttled;
        self.reader += next.reader;
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    /// Users and the kernel, by cause.
    #[default]
    Whole,
    /// Users and the kernel as a whole, since its symbols are hidden.
    Unsplit,
    /// Users alone: samples in the kernel are dropped.
    UserOnly,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(cause: Cause) -> SampleClass {
        SampleClass { cause, named: false, network: false, for_linker: false, syscall_return: false }
    }

    #[test]
    fn sums_are_those_of_both() {
        let mut tally = SampleTally::default();
        let class =
            SampleClass { cause: Cause::Mapping, named: true, network: true, for_linker: true, syscall_return: true };
        tally.count(class, 7, false);
        tally.count(SampleClass { cause: Cause::Idle, ..class }, 7, false);
        let mut twice = tally.clone();
        twice += &tally;
        assert_eq!((twice.all(), twice.busy(), twice.calls(), twice.named, twice.network), (4, 2, 2, 2, 28));
        assert!((twice.period() - 7.0).abs() < 1e-9);
    }

    #[test]
    fn unequal_samples_have_a_smaller_effective_number() {
        let mut tally = SampleTally::default();
        for nanos in [1, 1, 2] {
            tally.count(class(Cause::User), nanos, nanos > 1);
        }
        assert_eq!((tally.time_of(Cause::User), tally.half_rate), (4, 2));
        assert!((tally.effective() - 16.0 / 6.0).abs() < 1e-9);
    }

    #[test]
    fn interrupts_can_be_left_out() {
        let mut tally = SampleTally::default();
        for cause in [Cause::User, Cause::Interrupts, Cause::Softirq, Cause::Softirq] {
            tally.count(SampleClass { network: cause == Cause::Softirq, ..class(cause) }, 7, false);
        }
        let rest = tally.without_interrupts();
        assert_eq!((rest.samples_of(Cause::User), rest.all(), rest.time_of(Cause::User), rest.network), (1, 1, 7, 0));
    }
}
