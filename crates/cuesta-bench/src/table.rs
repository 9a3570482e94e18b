//! The printed table: one row for each target.

use std::io::{self, Write};

use crate::crowd::Crowd;
use crate::delays::DelayCheck;
use crate::job::{Framing, Work};
use crate::pair::{Pair, Pairing};

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
    /// The rows of one pairing.
    pub(crate) fn of_pairs(
        name: &str,
        pairs: &[Pair],
        pairing: Pairing,
        noise: f64,
        cost: f64,
        lateness: f64,
    ) -> Vec<Self> {
        let ratios = Spread::of(pairs.iter().map(Pair::ratio));
        let costs = |of: fn(&Pair) -> f64| Spread::of(pairs.iter().map(of)).median * 1e6;
        let (tested, limit) = (costs(|pair| pair.tested.cost()), costs(|pair| pair.limit.cost()));
        let measured = format!("{ratios} x   ({tested:.1} us beside {limit:.1} us)");
        let errors: u64 = pairs.iter().map(|pair| pair.tested.errors).sum();
        let ratio = if pairing.control {
            let quiet = ratios.largest - ratios.least <= noise && (ratios.median - 1.0).abs() <= noise;
            Self::new(
                name,
                measured,
                "1 within 15 %",
                if quiet { TargetStatus::ControlQuiet } else { TargetStatus::ControlNoisy },
            )
        } else {
            let met = ratios.median <= cost && errors == 0;
            let target = format!("at most {cost:.2} x");
            let measured = if errors == 0 { measured } else { format!("{measured}, {errors} errors") };
            Self::new(name, measured, &target, if met { TargetStatus::Met } else { TargetStatus::Missed })
        };
        let late = (pairing.work == Work::Typists && pairing.framing != Framing::Ssh && !pairing.control)
            .then(|| Self::lateness(pairs, lateness));
        [Some(ratio)].into_iter().chain(late.map(Some)).flatten().collect()
    }

    /// The row of one kind of line compared with the bare loop on tcp: a figure without a target.
    pub(crate) fn of_kind(name: &str, pair: &Pair) -> Self {
        let measured = format!(
            "{:.2} x   ({:.1} us beside {:.1} us), {:.1} KiB a user",
            pair.ratio(),
            pair.tested.cost() * 1e6,
            pair.limit.cost() * 1e6,
            pair.tested.memory / 1024.0
        );
        Self::without_target(&format!("CPU per key, a {name} line beside bare tcp"), measured, pair.tested.errors)
    }

    fn lateness(pairs: &[Pair], most: f64) -> Self {
        let of = |figure: fn(&Pair) -> f64| Spread::of(pairs.iter().map(figure)).median * 1e6;
        let tested = [of(|pair| pair.tested.lateness[0]), of(|pair| pair.tested.lateness[1])];
        let limit = [of(|pair| pair.limit.lateness[0]), of(|pair| pair.limit.lateness[1])];
        let measured = format!(
            "p50 {:.0} us beside {:.0} us, p99 {:.0} us beside {:.0} us",
            tested[0], limit[0], tested[1], limit[1]
        );
        let target = format!("p50 under {:.0} us", most * 1e6);
        let status = if tested[0] < most * 1e6 { TargetStatus::Met } else { TargetStatus::Missed };
        Self::new("  lateness of the same keys", measured, &target, status)
    }

    /// The rows of one crowd.
    pub(crate) fn of_crowd(name: &str, crowd: &Crowd, memory: f64) -> Vec<Self> {
        let doubts = crowd.doubts();
        let lateness = crowd.outcome.lateness.map(|seconds| seconds * 1e6);
        let [cpu, limit] = crowd.cpu().map(|share| share * 1e2);
        let measured = format!(
            "lateness p50 {:.0} us, p99 {:.0} us; driver CPU {cpu:.0} % (a bare loop {limit:.0} %); run wait {:.1} %",
            lateness[0],
            lateness[1],
            crowd.outcome.run_wait * 1e2
        );
        let measured = if doubts.is_empty() { measured } else { format!("{measured}; doubts: {}", doubts.join(", ")) };
        let valid = if doubts.is_empty() { TargetStatus::Met } else { TargetStatus::Missed };
        let size = crowd.outcome.memory;
        let fits = if size <= memory { TargetStatus::Met } else { TargetStatus::Missed };
        vec![
            Self::new(name, measured, "valid", valid),
            Self::new("  memory a user", format!("{size:.0} bytes"), &format!("at most {memory:.0} bytes"), fits),
        ]
    }

    /// The row of one known delay: the part of the driver is held to targets, the rest is only shown.
    pub(crate) fn of_delay(delay: &DelayCheck, [p50, p99]: [f64; 2]) -> Self {
        let (own, excess) = (delay.own(), delay.excess());
        let mut measured = format!(
            "ours p50 {:.0} us, p99 {:.0} us; of p50 {:+.0} us, p99 {:+.0} us in all (a bare sleep {:+.0} us); driver CPU {:.0} %",
            own[0] * 1e6,
            own[1] * 1e6,
            excess[0] * 1e6,
            excess[1] * 1e6,
            delay.sleep_lateness * 1e6,
            delay.cpu() * 1e2
        );
        if delay.errors() > 0 {
            measured = format!("{measured}, {} errors", delay.errors());
        }
        let exact = excess[0] > 0.0 && own[0] > 0.0 && own[0] <= p50 && own[1] <= p99;
        let met = exact && delay.cpu() < 0.5 && delay.errors() == 0;
        let target = format!("{:.0} us, {:.0} us", p50 * 1e6, p99 * 1e6);
        let status = if met { TargetStatus::Met } else { TargetStatus::Missed };
        Self::new(&format!("echo beyond a known delay of {} ms", delay.delay.as_millis()), measured, &target, status)
    }

    /// A figure without a target; only errors count as missed.
    pub(crate) fn without_target(name: &str, measured: String, errors: u64) -> Self {
        let measured = if errors == 0 { measured } else { format!("{measured}, {errors} errors") };
        Self::new(name, measured, "no errors", if errors == 0 { TargetStatus::NoTarget } else { TargetStatus::Missed })
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

/// Several measurements of the same thing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spread {
    least: f64,
    pub(crate) median: f64,
    largest: f64,
}

impl Spread {
    pub(crate) fn of(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let at = |index: usize| values.get(index).copied().unwrap_or(f64::NAN);
        let middle = values.len() / 2;
        let median =
            if values.len() % 2 == 1 { at(middle) } else { f64::midpoint(at(middle.wrapping_sub(1)), at(middle)) };
        Self { least: at(0), median, largest: at(values.len().wrapping_sub(1)) }
    }
}

impl std::fmt::Display for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.2} [{:.2}..{:.2}]", self.median, self.least, self.largest)
    }
}
