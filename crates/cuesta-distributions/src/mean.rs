//! Means of distributions, with and without truncation, in seconds.

use std::f64::consts::PI;

use crate::distribution::Form;

impl Form {
    pub(crate) fn mean(&self) -> f64 {
        match self {
            Self::Fixed(duration) | Self::Exp(duration) => duration.as_secs_f64(),
            Self::Uniform { from, width } => from.as_secs_f64() + width.as_secs_f64() / 2.0,
            Self::LogNormal { median, sigma } => median.as_secs_f64() * (sigma * sigma / 2.0).exp(),
            Self::LogLogistic { shift, above, shape } => {
                shift.as_secs_f64() + above.as_secs_f64() * log_logistic(*shape)
            }
            Self::Empirical { values, .. } => average(values, f64::INFINITY),
        }
    }

    /// The mean when longer draws are cut to `max`.
    pub(crate) fn mean_below(&self, max: f64) -> f64 {
        match self {
            Self::Fixed(duration) => duration.as_secs_f64().min(max),
            Self::Exp(mean) => mean.as_secs_f64() * -(-max / mean.as_secs_f64()).exp_m1(),
            Self::Uniform { from, width } => uniform_below(from.as_secs_f64(), width.as_secs_f64(), max),
            Self::LogNormal { median, sigma } => {
                let median = median.as_secs_f64();
                integral(|z| (-z * z / 2.0).exp() / (2.0 * PI).sqrt(), |z| (median * (sigma * z).exp()).min(max))
            }
            Self::LogLogistic { shift, above, shape } => {
                let (shift, above) = (shift.as_secs_f64(), above.as_secs_f64());
                integral(|y| 0.25 / (y / 2.0).cosh().powi(2), |y| (shift + above * (y / shape).exp()).min(max))
            }
            Self::Empirical { values, .. } => average(values, max),
        }
    }
}

/// Mean of the log-logistic distribution with median 1: (π/β)/sin(π/β), finite for shapes over 1.
pub(crate) fn log_logistic(shape: f64) -> f64 {
    let b = PI / shape;
    b / b.sin()
}

/// Mean of values in nanoseconds, each cut to `max` seconds.
fn average(values: &[u64], max: f64) -> f64 {
    values.iter().map(|ns| (*ns as f64 / 1e9).min(max)).sum::<f64>() / values.len() as f64
}

fn uniform_below(from: f64, width: f64, max: f64) -> f64 {
    let uncut = (max - from).clamp(0.0, width);
    if uncut <= 0.0 {
        return from.min(max);
    }
    // The mean of samples below `max` is the middle of their range; the others are `max`.
    let share = uncut / width;
    share * (from + uncut / 2.0) + (1.0 - share) * (from + uncut)
}

/// ∫ density·value over the real axis by the trapezoidal rule. Both densities used here (normal, logistic) are below
/// 1e-17 outside ±40, and `value` is bounded.
fn integral(density: impl Fn(f64) -> f64, value: impl Fn(f64) -> f64) -> f64 {
    const STEPS: i32 = 256;
    let step = f64::from(STEPS).recip();
    (-40 * STEPS..=40 * STEPS).map(|i| f64::from(i) * step).map(|x| density(x) * value(x) * step).sum()
}
