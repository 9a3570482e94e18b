//! The shape of the gaps between keys. A shape has mean one; it is multiplied by the mean key gap, which is set elsewhere.

use std::fmt;
use std::time::Duration;

use crate::SeededRng;
use crate::distribution::{log_logistic_mean, seconds};
use crate::read::{DistributionError, count, number, shape, split};

/// How gaps between keys vary about their mean. A gap is the time from one key to the next. Rollover is not emulated, because a
/// terminal line carries keys one after another.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum KeyDistribution {
    /// Equal gaps, as in VHS.
    #[default]
    Fixed,
    /// Exponential gaps.
    Exp,
    /// Log-normal gaps; `sigma` is the standard deviation of their logarithm.
    LogNormal {
        /// Over 0, at most 3.
        sigma: f64,
    },
    /// Log-logistic gaps.
    LogLogistic {
        /// Over 1 (otherwise there is no mean), at most 1000. A larger shape varies less.
        shape: f64,
    },
    /// Human typing: three-parameter log-logistic, the form that fits free-text typing best (González et al., "On the
    /// shape of timings distributions in free-text keystroke dynamics profiles", Heliyon 2021). No gap is shorter
    /// than a quarter of the mean; the coefficient of variation is 0.47.
    Human,
}

/// The shortest human gap, as a share of the mean: two keys are never sent at once.
const HUMAN_FLOOR: f64 = 0.25;
/// Shape of the log-logistic distribution above that floor.
const HUMAN_SHAPE: f64 = 3.5;

const HINT: &str = "key distributions: fixed, exp, lognormal SIGMA, loglogistic SHAPE, human";

impl KeyDistribution {
    /// Reads `fixed`, `exp`, `lognormal 0.5`, `loglogistic 3.5` or `human`.
    pub fn parse(text: &str) -> Result<Self, DistributionError> {
        let words = split(text);
        let Some((name, arguments)) = words.split_first() else {
            return Err(DistributionError::new(0, "the key distribution is missing", HINT));
        };
        let take = |wanted| count(name, arguments, wanted..=wanted, HINT);
        match name.text {
            "fixed" => take(0).map(|()| Self::Fixed),
            "exp" => take(0).map(|()| Self::Exp),
            "human" => take(0).map(|()| Self::Human),
            "lognormal" => {
                take(1)?;
                Ok(Self::LogNormal { sigma: number(&arguments[0], "sigma", 0.0, 3.0)? })
            }
            "loglogistic" => {
                take(1)?;
                Ok(Self::LogLogistic { shape: shape(&arguments[0])? })
            }
            _ => Err(DistributionError::new(name.at, format!("`{}` is no key distribution", name.shortened()), HINT)),
        }
    }

    /// A factor with mean 1, never negative.
    pub fn factor(&self, rng: &mut SeededRng) -> f64 {
        match *self {
            Self::Fixed => 1.0,
            Self::Exp => rng.exponential(),
            Self::LogNormal { sigma } => (sigma * rng.normal() - sigma * sigma / 2.0).exp(),
            Self::LogLogistic { shape } => unit_log_logistic(shape, rng),
            Self::Human => HUMAN_FLOOR + (1.0 - HUMAN_FLOOR) * unit_log_logistic(HUMAN_SHAPE, rng),
        }
    }

    /// A gap after a key, for gaps with this mean; at most a year.
    pub fn gap(&self, mean: Duration, rng: &mut SeededRng) -> Duration {
        seconds(mean.as_secs_f64() * self.factor(rng))
    }
}

/// A log-logistic sample with mean 1.
fn unit_log_logistic(shape: f64, rng: &mut SeededRng) -> f64 {
    rng.log_logistic(shape) / log_logistic_mean(shape)
}

impl fmt::Display for KeyDistribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed => f.write_str("fixed"),
            Self::Exp => f.write_str("exp"),
            Self::LogNormal { sigma } => write!(f, "lognormal {sigma}"),
            Self::LogLogistic { shape } => write!(f, "loglogistic {shape}"),
            Self::Human => f.write_str("human"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_distribution_parses_to_the_same() {
        for text in ["fixed", "exp", "lognormal 0.5", "loglogistic 3.5", "human"] {
            assert_eq!(KeyDistribution::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn an_invalid_distribution_is_refused_at_its_place() {
        for (text, at) in [("", 0), ("humane", 0), ("human 2", 6), ("lognormal", 0), ("loglogistic 1", 12)] {
            assert_eq!(KeyDistribution::parse(text).expect_err(text).at, at, "{text}");
        }
    }

    #[test]
    fn human_keys_never_overlap() {
        let mut rng = SeededRng::new(1, 1);
        let least = (0..100_000).map(|_| KeyDistribution::Human.factor(&mut rng)).fold(f64::MAX, f64::min);
        assert!((HUMAN_FLOOR..HUMAN_FLOOR + 0.05).contains(&least), "{least}");
    }

    #[test]
    fn human_gaps_have_the_documented_variation() {
        let mut rng = SeededRng::new(1, 2);
        let factors: Vec<f64> = (0..400_000).map(|_| KeyDistribution::Human.factor(&mut rng)).collect();
        let mean = factors.iter().sum::<f64>() / factors.len() as f64;
        let variance = factors.iter().map(|f| (f - mean).powi(2)).sum::<f64>() / factors.len() as f64;
        assert!((variance.sqrt() / mean - 0.47).abs() < 0.03, "{}", variance.sqrt() / mean);
    }
}
