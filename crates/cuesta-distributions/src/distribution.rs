//! A distribution of durations: its samples, its mean with and without truncation, and its text.

use std::f64::consts::PI;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::SeededRng;
use crate::duration::{LONGEST, show};

/// A distribution of durations. [`Distribution::parse`] makes it from text; [`Display`](fmt::Display) writes text that parses to
/// the same distribution.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    pub(crate) form: Form,
    /// Longer draws are cut to this, as TPC-C (clause 5.2.5) lets think times be truncated.
    pub(crate) max: Option<Duration>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Form {
    /// Always the same.
    Fixed(Duration),
    /// Exponential with this mean.
    Exp(Duration),
    /// Evenly between `from` and `from + width`.
    Uniform { from: Duration, width: Duration },
    /// `sigma` is the standard deviation of the logarithm.
    LogNormal { median: Duration, sigma: f64 },
    /// Three parameters: never below `shift`, with the median at `shift + above`.
    LogLogistic { shift: Duration, above: Duration, shape: f64 },
    /// Drawn from the file's rows with replacement; nanoseconds.
    Empirical { file: String, values: Arc<[u64]> },
}

impl Distribution {
    /// Always `duration`, which is cut to a year.
    pub fn fixed(duration: Duration) -> Self {
        Self { form: Form::Fixed(duration.min(LONGEST)), max: None }
    }

    /// One sample, at least 0 and at most `max` or a year.
    pub fn sample(&self, rng: &mut SeededRng) -> Duration {
        let drawn = match &self.form {
            Form::Fixed(duration) => *duration,
            Form::Exp(mean) => seconds(mean.as_secs_f64() * rng.exponential()),
            Form::Uniform { from, width } => *from + width.mul_f64(rng.unit()),
            Form::LogNormal { median, sigma } => seconds(median.as_secs_f64() * (sigma * rng.normal()).exp()),
            Form::LogLogistic { shift, above, shape } => {
                *shift + seconds(above.as_secs_f64() * rng.log_logistic(*shape))
            }
            Form::Empirical { values, .. } => Duration::from_nanos(values[rng.below(values.len() as u64) as usize]),
        };
        drawn.min(self.max.unwrap_or(LONGEST))
    }

    /// The mean after truncation by `max`.
    pub fn mean(&self) -> Duration {
        seconds(match self.max {
            None => self.form.mean(),
            Some(max) => self.form.mean_below(max.as_secs_f64()),
        })
    }
}

/// Seconds as a duration, cut to a year: a heavy tail may draw more than a duration can hold.
pub(crate) fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(LONGEST).min(LONGEST)
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.form {
            Form::Fixed(duration) => write!(f, "fixed {}", show(*duration))?,
            Form::Exp(mean) => write!(f, "exp {}", show(*mean))?,
            Form::Uniform { from, width } => write!(f, "uniform {} {}", show(*from), show(*from + *width))?,
            Form::LogNormal { median, sigma } => write!(f, "lognormal {} {sigma}", show(*median))?,
            Form::LogLogistic { shift, above, shape } => {
                write!(f, "loglogistic {} {shape}", show(*shift + *above))?;
                if !shift.is_zero() {
                    write!(f, " {}", show(*shift))?;
                }
            }
            Form::Empirical { file, .. } => {
                let quote = if file.contains('"') { '\'' } else { '"' };
                write!(f, "empirical {quote}{file}{quote}")?;
            }
        }
        self.max.map_or(Ok(()), |max| write!(f, " max {}", show(max)))
    }
}

impl Form {
    /// In seconds.
    pub(crate) fn mean(&self) -> f64 {
        match self {
            Self::Fixed(duration) | Self::Exp(duration) => duration.as_secs_f64(),
            Self::Uniform { from, width } => from.as_secs_f64() + width.as_secs_f64() / 2.0,
            Self::LogNormal { median, sigma } => median.as_secs_f64() * (sigma * sigma / 2.0).exp(),
            Self::LogLogistic { shift, above, shape } => {
                shift.as_secs_f64() + above.as_secs_f64() * log_logistic_mean(*shape)
            }
            Self::Empirical { values, .. } => average(values, f64::INFINITY),
        }
    }

    /// The mean when longer draws are cut to `max`, in seconds.
    fn mean_below(&self, max: f64) -> f64 {
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
pub(crate) fn log_logistic_mean(shape: f64) -> f64 {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn load(name: &str) -> Result<String, String> {
        match name {
            "gaps.txt" => Ok("# seconds\n1\n\n2s\n300ms\n".to_owned()),
            "zeros" => Ok("0\n0\n".to_owned()),
            "bad" => Ok("1\nhello\n".to_owned()),
            _ => Err("no such file".to_owned()),
        }
    }

    #[test]
    fn a_written_distribution_parses_to_the_same() {
        for text in [
            "fixed 0s",
            "exp 5s",
            "exp 12.5s max 2m5s",
            "uniform 1s 3s",
            "lognormal 240ms 0.5",
            "loglogistic 200ms 3.5",
            "loglogistic 200ms 3.5 60ms max 5s",
            "empirical \"gaps.txt\"",
        ] {
            let distribution = Distribution::parse(text, &load).unwrap();
            assert_eq!(distribution.to_string(), text);
        }
        assert_eq!(Distribution::parse("2s", &load).unwrap(), Distribution::fixed(Duration::from_secs(2)));
        assert_eq!(
            Distribution::parse("  empirical   gaps.txt ", &load).unwrap().to_string(),
            "empirical \"gaps.txt\""
        );
    }

    #[test]
    fn an_invalid_distribution_is_refused_at_its_place() {
        for (text, at) in [
            ("", 0),
            ("   ", 0),
            ("gauss 1s", 0),
            ("exp", 0),
            ("exp 0", 0),
            ("exp -1s", 4),
            ("exp NaN", 4),
            ("exp 5s 6s", 7),
            ("exp 9000h", 4),
            ("uniform 3s 1s", 11),
            ("uniform 0 0", 0),
            ("lognormal 1s 0", 13),
            ("lognormal 1s inf", 13),
            ("lognormal 1h 9", 0),
            ("loglogistic 1s 1", 15),
            ("loglogistic 1s 2 1s", 17),
            ("fixed 1s max 0", 13),
            ("-2s", 0),
            ("empirical nowhere", 10),
            ("empirical bad", 10),
            ("empirical zeros", 0),
        ] {
            let error = Distribution::parse(text, &load).expect_err(text);
            assert_eq!(error.at, at, "{text}: {error}");
        }
        let error = Distribution::parse("empirical bad", &load).unwrap_err();
        assert!(error.to_string().starts_with("bad, row 2: `hello` is not a duration"), "{error}");
    }

    #[test]
    fn truncated_means_are_those_of_theory() {
        for (text, mean) in [
            ("fixed 3s max 2s", 2.0),
            ("exp 1s max 1s", 1.0 - (-1.0_f64).exp()),
            ("uniform 0s 4s max 2s", 1.5),
            ("uniform 3s 4s max 2s", 2.0),
            ("uniform 1s 2s max 5s", 1.5),
            // Far beyond the tail: the closed form, exp(sigma²/2).
            ("lognormal 1s 0.5 max 1h", (0.125_f64).exp()),
            // Half of the samples are cut; the integral of the survival function 1/(1+x²) over 0..1 is π/4.
            ("loglogistic 1s 2 max 1s", std::f64::consts::FRAC_PI_4),
            ("empirical gaps.txt max 1s", 2.3 / 3.0),
        ] {
            let got = Distribution::parse(text, &load).unwrap().mean().as_secs_f64();
            assert!((got - mean).abs() < 1e-4, "{text}: {got} against {mean}");
        }
    }
}
