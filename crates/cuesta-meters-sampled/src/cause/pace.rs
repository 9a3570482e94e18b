//! The sampling rate of each CPU: half if it handles many page faults. Pure.
//!
//! On a virtual machine an interrupt goes through the hypervisor. During a page fault that takes twice as long as elsewhere, so
//! the full rate would slow such work by 4 %. Samples at half rate stand for twice the time.

use std::collections::BTreeMap;

/// The part of page faults in a CPU's recent busy samples that switches to half rate. It is low because other tasks on the CPU
/// dilute the faults of one program, which should slow down by 3 % at most.
const DENSE: f64 = 0.2;
/// The part below which the CPU returns to the full rate.
const SPARSE: f64 = 0.1;
/// Fewest busy samples for a decision.
const ENOUGH: f64 = 16.0;
/// The weight of the past in each round with samples.
const KEPT: f64 = 0.75;

/// Recent samples by CPU.
#[derive(Debug, Default)]
pub(crate) struct Pace(BTreeMap<u32, Recent>);

#[derive(Debug, Default)]
struct Recent {
    faults: f64,
    busy: f64,
    sampled: bool,
    half: bool,
}

impl Pace {
    pub(crate) fn count_sample(&mut self, cpu: u32, fault: bool) {
        let recent = self.0.entry(cpu).or_default();
        recent.busy += 1.0;
        recent.faults += f64::from(u8::from(fault));
        recent.sampled = true;
    }

    /// The CPUs whose rate changes now, and whether to half rate.
    pub(crate) fn changes(&mut self) -> Vec<(u32, bool)> {
        let changed = |(cpu, recent): (&u32, &mut Recent)| recent.decide().map(|half| (*cpu, half));
        self.0.iter_mut().filter_map(changed).collect()
    }
}

impl Recent {
    fn decide(&mut self) -> Option<bool> {
        if !std::mem::take(&mut self.sampled) {
            return None;
        }
        let limit = if self.half { SPARSE } else { DENSE };
        let half = self.faults >= limit * self.busy;
        let enough = self.busy >= ENOUGH;
        self.busy *= KEPT;
        self.faults *= KEPT;
        let changes = enough && half != self.half;
        self.half = if changes { half } else { self.half };
        changes.then_some(half)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(pace: &mut Pace, faults: u32, others: u32) -> Vec<(u32, bool)> {
        (0..faults + others).for_each(|number| pace.count_sample(3, number < faults));
        pace.changes()
    }

    #[test]
    fn a_cpu_with_many_faults_is_sampled_at_half_rate_until_it_has_few() {
        let mut pace = Pace::default();
        assert_eq!(round(&mut pace, 10, 90), []);
        assert_eq!((0..4).flat_map(|_| round(&mut pace, 100, 0)).collect::<Vec<_>>(), [(3, true)]);
        // Between the two bounds the rate stays.
        assert_eq!((0..20).flat_map(|_| round(&mut pace, 8, 42)).collect::<Vec<_>>(), []);
        assert_eq!((0..20).flat_map(|_| round(&mut pace, 0, 50)).collect::<Vec<_>>(), [(3, false)]);
    }

    #[test]
    fn few_samples_do_not_change_the_rate_and_a_pause_keeps_it() {
        let mut pace = Pace::default();
        assert_eq!((0..3).flat_map(|_| round(&mut pace, 2, 0)).collect::<Vec<_>>(), []);
        assert_eq!(round(&mut pace, 100, 0), [(3, true)]);
        assert_eq!((0..50).flat_map(|_| pace.changes()).collect::<Vec<_>>(), []);
        assert_eq!(round(&mut pace, 1, 0), []);
    }
}
