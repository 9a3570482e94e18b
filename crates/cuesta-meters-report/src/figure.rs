//! A figure, or why there is none.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Which kind of meter a figure comes from: CPU clocks and counters say how much, samples say of what kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// World-readable files of the kernel.
    Plain,
    /// Samples of `perf_event`, scaled by exact CPU time.
    Sampled,
    /// Traced in the kernel (eBPF). In JSON and as a flag it is `exact`.
    #[serde(rename = "exact")]
    Traced,
}

impl Tier {
    /// As JSON has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Sampled => "sampled",
            Self::Traced => "exact",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A figure with its tier, or the reason why there is none. Absent is not zero.
///
/// In JSON: `{"value": …, "tier": "plain"}` or `{"why": "…"}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, try_from = "FigureJson<T>")]
pub enum Figure<T = f64> {
    Metered {
        /// In the unit of its field.
        value: T,
        /// By which kind of meter.
        tier: Tier,
    },
    /// It was not.
    Absent {
        /// Why not, and what would allow it.
        why: String,
    },
}

/// A figure as JSON has it: serde cannot read tables with numbers for keys through an untagged enum.
#[derive(Deserialize)]
struct FigureJson<T> {
    value: Option<T>,
    tier: Option<Tier>,
    why: Option<String>,
}

impl<T> TryFrom<FigureJson<T>> for Figure<T> {
    type Error = &'static str;

    fn try_from(json: FigureJson<T>) -> Result<Self, Self::Error> {
        match json {
            FigureJson { value: Some(value), tier: Some(tier), why: None } => Ok(Self::Metered { value, tier }),
            FigureJson { value: None, tier: None, why: Some(why) } => Ok(Self::Absent { why }),
            _ => Err("expected a value and its tier, or why there is none"),
        }
    }
}

impl<T> Figure<T> {
    /// A figure from world-readable files.
    pub fn plain(value: T) -> Self {
        Self::Metered { value, tier: Tier::Plain }
    }

    /// A figure from samples.
    pub fn sampled(value: T) -> Self {
        Self::Metered { value, tier: Tier::Sampled }
    }

    /// A figure that was traced.
    pub fn traced(value: T) -> Self {
        Self::Metered { value, tier: Tier::Traced }
    }

    /// No figure.
    pub fn absent(why: impl Into<String>) -> Self {
        Self::Absent { why: why.into() }
    }

    /// The value, if there is one.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Metered { value, .. } => Some(value),
            Self::Absent { .. } => None,
        }
    }

    /// Why there is none.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Metered { .. } => None,
            Self::Absent { why } => Some(why),
        }
    }

    /// A figure made from this one, of the same tier.
    pub fn map<U>(&self, make: impl FnOnce(&T) -> U) -> Figure<U> {
        match self {
            Self::Metered { value, tier } => Figure::Metered { value: make(value), tier: *tier },
            Self::Absent { why } => Figure::Absent { why: why.clone() },
        }
    }

    /// A figure made from this one, or the reason why it is absent.
    pub fn and_then<U>(&self, make: impl FnOnce(&T) -> Figure<U>) -> Figure<U> {
        match self {
            Self::Metered { value, .. } => make(value),
            Self::Absent { why } => Figure::Absent { why: why.clone() },
        }
    }

    /// A figure made from two, absent if either is. It is sampled if either is sampled.
    pub fn with<U, V>(&self, other: &Figure<U>, make: impl FnOnce(&T, &U) -> V) -> Figure<V> {
        match (self, other) {
            (Self::Metered { value: a, tier }, Figure::Metered { value: b, tier: other }) => {
                let sampled = [*tier, *other].contains(&Tier::Sampled);
                Figure::Metered { value: make(a, b), tier: if sampled { Tier::Sampled } else { *tier.max(other) } }
            }
            (Self::Absent { why }, _) | (_, Figure::Absent { why }) => Figure::Absent { why: why.clone() },
        }
    }
}

impl Figure<f64> {
    /// `value` ÷ `base`; absent, with the reason `why`, if `base` is zero.
    pub fn quotient(value: f64, base: f64, why: &str) -> Self {
        if base > 0.0 { Self::plain(value / base) } else { Self::absent(why) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_distinguishes_absent_from_zero() {
        let zero = serde_json::to_string(&Figure::plain(0.0)).unwrap();
        let none = serde_json::to_string(&Figure::<f64>::absent("not readable")).unwrap();
        assert_eq!((&*zero, &*none), (r#"{"value":0.0,"tier":"plain"}"#, r#"{"why":"not readable"}"#));
        for (text, figure) in [(&zero, Figure::plain(0.0)), (&none, Figure::absent("not readable"))] {
            assert_eq!(serde_json::from_str::<Figure>(text).unwrap(), figure);
        }
    }

    #[test]
    fn a_figure_derived_from_a_sampled_one_is_sampled() {
        let (plain, sampled) = (Figure::plain(6.0), Figure::sampled(2.0));
        assert_eq!(plain.with(&sampled, |a, b| a * b), Figure::sampled(12.0));
        assert_eq!(plain.with(&plain, |a, b| a + b), Figure::plain(12.0));
        assert_eq!(plain.with(&Figure::<f64>::absent("no"), |a, b| a + b).why(), Some("no"));
        assert_eq!(Figure::quotient(1.0, 0.0, "nothing happened").why(), Some("nothing happened"));
    }
}
