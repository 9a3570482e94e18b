//! Durations of tasks off their CPUs and in run queues, as the programs in the kernel count them (`distributions.h`). Pure.

use crate::Quantiles;

/// Why tasks of the subject left their CPUs, in the order of the kernel side; waits in run queues come last.
pub(super) const OFF_CPU: [&str; 6] = ["page", "loading", "io", "quota", "sleep", "preempted"];

/// Each octave has eight buckets.
const BITS_OF_OCTAVE: u32 = 3;
const BUCKETS: usize = 344;

/// Numbers of durations by bucket, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Histogram {
    sum: u64,
    counts: Vec<u64>,
}

/// One histogram for each reason to leave a CPU, and one for waits in run queues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Histograms {
    pub(super) off_cpu: [Histogram; OFF_CPU.len()],
    pub(super) run_queue: Histogram,
}

impl Histograms {
    /// Reads the kernel's table: the values of all CPUs for one index.
    pub(super) fn read(values: impl Fn(u32) -> Vec<Vec<u8>>) -> Self {
        let all_cpus = |number: usize| Histogram::read(&values(u32::try_from(number).unwrap_or(u32::MAX)));
        Self { off_cpu: std::array::from_fn(all_cpus), run_queue: all_cpus(OFF_CPU.len()) }
    }

    pub(super) fn since(&self, earlier: &Self) -> Self {
        let off_cpu = std::array::from_fn(|kind| self.off_cpu[kind].since(&earlier.off_cpu[kind]));
        Self { off_cpu, run_queue: self.run_queue.since(&earlier.run_queue) }
    }
}

impl Histogram {
    /// The sum over CPUs.
    fn read(cpus: &[Vec<u8>]) -> Self {
        let mut words = vec![0_u64; 1 + BUCKETS];
        for bytes in cpus {
            for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
                *word += u64::from_ne_bytes(*bytes);
            }
        }
        Self { sum: words[0], counts: words.split_off(1) }
    }

    fn since(&self, earlier: &Self) -> Self {
        let counts = self.counts.iter().zip(&earlier.counts).map(|(now, then)| now.saturating_sub(*then));
        Self { sum: self.sum.saturating_sub(earlier.sum), counts: counts.collect() }
    }

    /// None if it is empty.
    pub(super) fn quantiles(&self) -> Option<Quantiles> {
        let count = self.counts.iter().sum();
        (count > 0).then(|| Quantiles {
            count,
            sum: self.sum as f64 * 1e-9,
            p50: self.at(count.div_ceil(2)),
            p90: self.at((count * 9).div_ceil(10)),
            p99: self.at((count * 99).div_ceil(100)),
            max: self.at(count),
        })
    }

    /// The duration of a rank, the shortest first; seconds.
    fn at(&self, rank: u64) -> f64 {
        let mut before = 0;
        let bucket = self.counts.iter().position(|count| {
            before += count;
            before >= rank
        });
        bucket.map_or(0.0, middle) * 1e-9
    }
}

/// The geometric middle of a bucket.
fn middle(bucket: usize) -> f64 {
    let octave = (bucket >> BITS_OF_OCTAVE).saturating_sub(1);
    let from = (bucket - (octave << BITS_OF_OCTAVE)) as u64;
    let [from, to] = [from << octave, (from + 1) << octave].map(|end| end as f64);
    if octave == 0 { from } else { 2.0 * from * to / (from + to) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The bucket that the kernel side chooses.
    fn bucket(ns: u64) -> usize {
        let octave = (ns >> BITS_OF_OCTAVE).checked_ilog2().unwrap_or(0);
        (((octave as usize) << BITS_OF_OCTAVE) + (ns >> octave) as usize).min(BUCKETS - 1)
    }

    fn bytes(values: &[u64]) -> Vec<u8> {
        let mut words = vec![0_u64; 1 + BUCKETS];
        for ns in values {
            words[0] += ns;
            words[1 + bucket(*ns)] += 1;
        }
        words.into_iter().flat_map(u64::to_ne_bytes).collect()
    }

    #[test]
    fn cpus_are_summed_and_an_earlier_reading_is_subtracted() {
        let (first, second): (Vec<u64>, Vec<u64>) = ((0..500).collect(), (500..1000).collect());
        let earlier = Histogram::read(&[bytes(&[7, 1 << 40])]);
        let later = Histogram::read(&[bytes(&[7, 1 << 40]), bytes(&first), bytes(&second)]);
        let times = later.since(&earlier).quantiles().unwrap();
        assert_eq!((times.count, times.sum), (1000, 499_500.0 * 1e-9));
        for (known, read) in [(499.0, times.p50), (899.0, times.p90), (989.0, times.p99), (999.0, times.max)] {
            assert!((read * 1e9 / known - 1.0).abs() <= 0.06, "{read} of {known} ns");
        }
        assert_eq!(later.since(&later).quantiles(), None);
    }

    #[test]
    fn too_long_durations_are_in_the_last_bucket() {
        let times = Histogram::read(&[bytes(&[u64::MAX])]).quantiles().unwrap();
        assert!(times.max > 9.0 * 3600.0);
    }

    proptest! {
        #[test]
        fn a_duration_is_known_within_six_percent(ns in (0_u32..45).prop_flat_map(|bits| 0..1_u64 << bits)) {
            let middle = middle(bucket(ns));
            prop_assert!((middle - ns as f64).abs() <= 0.06 * ns as f64, "{middle} of {ns}");
        }
    }
}
