//! Seeded random numbers, with a stream for each user, arrival process or server.

use rand::{Rng, RngExt};
use rand_distr::{Exp1, StandardNormal};
use rand_pcg::Pcg64;

/// One stream of random numbers. The same seed and stream number give the same stream on any machine, thread or node, and
/// streams are independent of each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeededRng {
    numbers: Pcg64,
}

impl SeededRng {
    /// The stream with number `user` in a run seeded by `seed`. Users take the numbers from 0.
    pub fn new(seed: u64, user: u64) -> Self {
        // PCG streams that differ in few bits are correlated, so both numbers are spread over all 256 bits first.
        let a = spread(seed);
        let b = spread(a ^ user);
        let state = u128::from(a) << 64 | u128::from(b);
        let increment = u128::from(spread(b)) << 64 | u128::from(spread(a ^ b));
        Self { numbers: Pcg64::new(state, increment) }
    }

    /// A number in (0, 1). The ends are excluded, so that its logarithm and odds are finite.
    pub fn unit(&mut self) -> f64 {
        (((self.numbers.next_u64() >> 12) as f64) + 0.5) / (1_u64 << 52) as f64
    }

    /// A whole number in `0..n`; 0 when `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        if n == 0 { 0 } else { self.numbers.random_range(0..n) }
    }

    /// Exponential with mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        self.numbers.sample(Exp1)
    }

    /// Normal with mean 0 and variance 1.
    pub(crate) fn normal(&mut self) -> f64 {
        self.numbers.sample(StandardNormal)
    }

    /// Log-logistic with median 1.
    pub(crate) fn log_logistic(&mut self, shape: f64) -> f64 {
        let u = self.unit();
        (u / (1.0 - u)).powf(shape.recip())
    }
}

/// The finalizer of `SplitMix64` (Steele, Lea, Flood 2014): every bit of the input moves every bit of the output.
fn spread(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_gives_the_same_numbers() {
        let mut stream = SeededRng::new(1979, 96);
        let drawn: Vec<u64> = (0..4).map(|_| stream.below(1_000_000)).collect();
        assert_eq!(drawn, [864_188, 442_818, 140_594, 791_588]);
    }

    #[test]
    fn neighbouring_streams_are_uncorrelated() {
        let mean_product: f64 = (0..1000)
            .map(|user| {
                let (mut a, mut b) = (SeededRng::new(7, user), SeededRng::new(7, user + 1));
                (a.unit() - 0.5) * (b.unit() - 0.5)
            })
            .sum::<f64>()
            / 1000.0;
        // The standard error of the mean product of independent uniforms is 1/12/sqrt(1000) = 0.0026.
        assert!(mean_product.abs() < 0.0105, "{mean_product}");
    }

    #[test]
    fn below_zero_is_zero() {
        assert_eq!(SeededRng::new(0, 0).below(0), 0);
    }
}
