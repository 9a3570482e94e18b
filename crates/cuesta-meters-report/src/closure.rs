//! Whether a report closes: whether its parts, each measured by its own clock, add up to the CPUs' time.

use std::collections::BTreeMap;

use super::{Closure, Figure};

/// Largest difference between the sum of separately measured parts and the CPUs' time: percent.
const TOLERANCE: f64 = 2.0;
/// Time to read the clocks of all tasks one after the other, at both ends together: seconds of a CPU.
const SKEW: f64 = 0.03;

impl Closure {
    /// The closure of the CPUs' own account. Tolerance: one percent, or two ticks of `tick` seconds per CPU in a short interval.
    pub fn of_cpus(accounted: Figure, seconds: f64, tick: f64) -> Self {
        let tolerance = f64::max(1.0, 200.0 * tick / seconds);
        Self::judged(accounted, BTreeMap::new(), 0.0, tolerance)
    }

    /// The closure of parts in percent, each measured by its own clock. If parts are missing, the first says why there is no sum.
    pub fn by_clocks(parts: &[(&str, Figure)], interrupts: f64, seconds: f64) -> Self {
        let sum = parts.iter().fold(Figure::plain(0.0), |sum, (_, part)| sum.with(part, |sum, part| sum + part));
        let value = |(name, part): &(&str, Figure)| Some(((*name).to_owned(), *part.value()?));
        let parts = parts.iter().filter_map(value).collect();
        Self::judged(sum, parts, interrupts, TOLERANCE + 100.0 * SKEW / seconds)
    }

    /// The same closure with one more part.
    #[must_use]
    pub fn and(mut self, name: &str, part: &Figure) -> Self {
        self.parts.extend(part.value().map(|value| (name.to_owned(), *value)));
        let accounted = self.accounted.with(part, |accounted, part| accounted + part);
        Self::judged(accounted, self.parts, self.interrupts, self.tolerance)
    }

    fn judged(accounted: Figure, parts: BTreeMap<String, f64>, interrupts: f64, tolerance: f64) -> Self {
        let right = 100.0 - tolerance - interrupts..=100.0 + tolerance;
        let closes = accounted.value().is_some_and(|percent| right.contains(percent));
        Self { accounted, parts, interrupts, tolerance, closes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closure(subject: f64, others: f64, interrupts: f64) -> Closure {
        let parts = [("subject", subject), ("others", others), ("idle", 19.0), ("steal", 0.5)];
        Closure::by_clocks(&parts.map(|(name, part)| (name, Figure::plain(part))), interrupts, 30.0)
    }

    #[test]
    fn separately_measured_parts_close_within_the_tolerance() {
        let good = closure(60.0, 20.0, 0.0);
        assert_eq!((good.closes, good.accounted.value()), (true, Some(&99.5)));
        assert!((good.tolerance - 2.1).abs() < 1e-9);
        assert_eq!(good.parts.len(), 4);
    }

    #[test]
    fn a_planted_error_breaks_it() {
        assert!(!closure(0.9 * 60.0, 20.0, 0.0).closes, "a tenth of the subject's time is missing");
        assert!(!closure(60.0, 1.2 * 20.0, 0.0).closes, "others have a fifth too much");
        assert!(!closure(60.0, 0.0, 1.0).closes, "others are missing");
    }

    #[test]
    fn interrupts_of_idle_cpus_are_in_no_part() {
        assert!(!closure(60.0, 15.0, 0.0).closes);
        assert!(closure(60.0, 15.0, 4.0).closes);
        assert!(!closure(60.0, 24.0, 4.0).closes, "interrupts do not explain an excess");
    }

    #[test]
    fn a_missing_part_has_a_reason_and_does_not_close() {
        let parts = [("subject", Figure::absent("it has ended")), ("others", Figure::plain(1.0))];
        let closure = Closure::by_clocks(&parts, 0.0, 30.0);
        assert_eq!((closure.closes, closure.accounted.why()), (false, Some("it has ended")));
    }
}
