//! The printed table: one row for each target.

use std::error::Error;
use std::fmt;
use std::io::{self, Write};

/// One figure with its target, and whether it is met.
pub(crate) struct ResultRow {
    name: String,
    measured: String,
    target: String,
    status: TargetStatus,
}

/// Whether a target is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TargetStatus {
    Met,
    Missed,
    /// The control is within its bounds, so the other rows can be judged.
    ControlQuiet,
    /// The control is not: the machine is too busy to judge the other rows.
    ControlNoisy,
    /// A figure without a target.
    NoTarget,
}

impl ResultRow {
    /// The ratio of two equal drivers, whose median and spread should be within `noise` of 1.
    pub(crate) fn control(name: &str, measured: String, ratios: Spread, noise: f64) -> Self {
        let quiet = ratios.largest - ratios.least <= noise && (ratios.median - 1.0).abs() <= noise;
        let status = if quiet { TargetStatus::ControlQuiet } else { TargetStatus::ControlNoisy };
        Self::new(name, measured, &format!("1 within {:.0} %", noise * 1e2), status)
    }

    /// A figure without a target; only errors count as missed.
    pub(crate) fn without_target(name: &str, measured: String, errors: u64) -> Self {
        let status = if errors == 0 { TargetStatus::NoTarget } else { TargetStatus::Missed };
        Self::new(name, with_errors(measured, errors), "no errors", status)
    }

    /// A figure with a target.
    pub(crate) fn with_target(name: &str, measured: String, target: &str, met: bool) -> Self {
        Self::new(name, measured, target, if met { TargetStatus::Met } else { TargetStatus::Missed })
    }

    /// A figure that is at most `most`; without that it is only shown.
    #[cfg(feature = "exact")]
    pub(crate) fn at_most(name: &str, measured: String, figure: f64, most: Option<f64>) -> Self {
        match most {
            Some(most) => Self::with_target(name, measured, &format!("at most {most:.2} x"), figure <= most),
            None => Self::without_target(name, measured, 0),
        }
    }

    fn new(name: &str, measured: String, target: &str, status: TargetStatus) -> Self {
        Self { name: name.to_owned(), measured, target: target.to_owned(), status }
    }

    /// Whether the target is missed.
    pub(crate) fn is_missed(&self) -> bool {
        self.status == TargetStatus::Missed
    }

    pub(crate) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let status = match self.status {
            TargetStatus::Met => "met",
            TargetStatus::Missed => "MISSED",
            TargetStatus::ControlQuiet => "quiet",
            TargetStatus::NoTarget => "",
            TargetStatus::ControlNoisy => "NOISY: the machine is too busy to judge by",
        };
        writeln!(out, "{:<50} {:<60} {:<20} {status}", self.name, self.measured, self.target)?;
        out.flush()
    }
}

/// A measured text, with the number of errors if there were any.
pub(crate) fn with_errors(measured: String, errors: u64) -> String {
    if errors == 0 { measured } else { format!("{measured}, {errors} errors") }
}

/// Several measurements of the same thing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spread {
    least: f64,
    pub(crate) median: f64,
    largest: f64,
}

impl Spread {
    pub(crate) fn new(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let at = |index: usize| values.get(index).copied().unwrap_or(f64::NAN);
        let middle = values.len() / 2;
        let median =
            if values.len() % 2 == 1 { at(middle) } else { f64::midpoint(at(middle.wrapping_sub(1)), at(middle)) };
        Self { least: at(0), median, largest: at(values.len().wrapping_sub(1)) }
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} [{:.2}..{:.2}]", self.median, self.least, self.largest)
    }
}

/// The median of a figure of several measurements.
pub(crate) fn median<T>(measured: &[T], figure: impl Fn(&T) -> f64) -> f64 {
    Spread::new(measured.iter().map(figure)).median
}

/// Does both, `other` first in odd rounds: what changes from minute to minute, such as the machine's other work, falls on both
/// alike.
pub(crate) fn in_turn<T>(
    round: usize,
    one: impl FnOnce() -> Result<T, Box<dyn Error>>,
    other: impl FnOnce() -> Result<T, Box<dyn Error>>,
) -> Result<(T, T), Box<dyn Error>> {
    if round.is_multiple_of(2) {
        return Ok((one()?, other()?));
    }
    let other = other()?;
    Ok((one()?, other))
}
