//! What was counted, by step. Times are in seconds.

use std::collections::BTreeMap;
use std::iter;

use cuesta_record::{DriverCounts, Tally};
use hdrhistogram::Histogram;
use serde::Serialize;

use crate::spec::StationSpec;
use crate::usage::UsageSums;

/// The figures of a simulation.
#[derive(Debug, Serialize)]
pub struct Figures {
    /// By step.
    pub steps: Vec<StepFigures>,
    /// Keys sent, and services at stations, of all steps with their settling.
    pub events: u64,
    /// CPU time that they took, the making of the users included.
    pub cpu: f64,
}

/// The figures of one step's measurement interval.
#[derive(Debug, Serialize)]
pub struct StepFigures {
    /// Its length.
    pub seconds: f64,
    /// Everything that is a sum, as in a run's `series.jsonl`.
    pub counts: DriverCounts,
    /// Transactions a second.
    pub throughput: Estimate,
    /// Mean response since the last key was sent; none without a transaction in each batch.
    pub response: Option<Estimate>,
    /// The durations of each series, `GROUP/SOURCE/SERIES`, and of series of one name together: `SOURCE/SERIES` of all groups,
    /// `SERIES` of all sources.
    pub series: BTreeMap<String, SeriesFigures>,
    /// By station, in the order of the spec.
    pub stations: Vec<StationFigures>,
    /// The batches, in order.
    pub batches: Vec<BatchFigures>,
}

/// A figure with a 90 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// Over the whole measurement interval.
    pub value: f64,
    /// Half the length of the interval around it, from the means of the batches and Student's t; the batches are taken for
    /// independent, so a batch must be long compared with a response.
    pub within: f64,
}

/// A series of durations. The intervals come from the same figures of the batches.
#[derive(Debug, Clone, Serialize)]
pub struct SeriesFigures {
    /// How many durations.
    pub count: u64,
    /// Their mean; none where a batch has no duration.
    pub mean: Option<Estimate>,
    /// `p50`, …; none where a batch has no duration.
    #[serde(flatten)]
    pub percentiles: BTreeMap<String, Option<Estimate>>,
}

/// What a station did.
#[derive(Debug, Clone, Serialize)]
pub struct StationFigures {
    /// Its name.
    pub name: String,
    /// Services that ended.
    pub visits: u64,
    /// Share of its servers at work; none for a delay.
    pub utilization: Option<f64>,
    /// Mean number of servers at work.
    pub busy: f64,
    /// Mean number of requests there, waiting or in service.
    pub queue: f64,
}

/// The figures of one batch.
#[derive(Debug, Clone, Serialize)]
pub struct BatchFigures {
    /// Its length.
    pub seconds: f64,
    /// Transactions completed.
    pub transactions: u64,
    /// Mean response since the last key was sent; none without a transaction.
    pub response: Option<f64>,
    /// The histograms of its series, as in [`StepFigures::series`].
    #[serde(skip)]
    histograms: BTreeMap<String, Histogram<u64>>,
}

impl BatchFigures {
    pub(crate) fn new(seconds: f64, tally: &Tally, tags: &[String]) -> Self {
        let count = tally.counts.transactions;
        Self {
            seconds,
            transactions: count,
            response: (count > 0).then(|| tally.counts.sums.response_from_sent / count as f64),
            histograms: by_name(tally, tags),
        }
    }
}

impl StepFigures {
    /// `tally`: everything that was counted in the batches.
    pub(crate) fn new(
        tally: &Tally,
        batches: Vec<BatchFigures>,
        stations: Vec<StationFigures>,
        tags: &[String],
        percentiles: &[f64],
    ) -> Self {
        let seconds: f64 = batches.iter().map(|batch| batch.seconds).sum();
        let count = tally.counts.transactions as f64;
        let rates = batches.iter().map(|batch| Some(batch.transactions as f64 / batch.seconds));
        let throughput = Estimate::new(count / seconds, rates);
        let responses = batches.iter().map(|batch| batch.response);
        let series = by_name(tally, tags).into_iter().map(|(name, whole)| {
            let estimate = |figure: &dyn Fn(&Histogram<u64>) -> f64| {
                Estimate::new(figure(&whole), batches.iter().map(|batch| batch.histograms.get(&name).map(figure)))
            };
            let percentile = |&p: &f64| (format!("p{p}"), estimate(&|h| h.value_at_quantile(p / 100.0) as f64 / 1e9));
            let percentiles = percentiles.iter().map(percentile).collect();
            let figures = SeriesFigures { count: whole.len(), mean: estimate(&|h| h.mean() / 1e9), percentiles };
            (name, figures)
        });
        let series = series.collect();
        Self {
            seconds,
            counts: tally.counts.clone(),
            throughput: throughput.unwrap_or(Estimate { value: count / seconds, within: f64::INFINITY }),
            response: Estimate::new(tally.counts.sums.response_from_sent / count, responses),
            series,
            stations,
            batches,
        }
    }
}

impl StationFigures {
    pub(crate) fn new(station: &StationSpec, sums: UsageSums, seconds: f64) -> Self {
        Self {
            name: station.name.clone(),
            visits: sums.visits,
            utilization: station.servers.map(|servers| sums.busy / seconds / f64::from(servers)),
            busy: sums.busy / seconds,
            queue: sums.present / seconds,
        }
    }
}

impl Estimate {
    /// A figure, and the same of each batch; `None` if a batch has none.
    fn new(value: f64, batches: impl Iterator<Item = Option<f64>>) -> Option<Self> {
        let batches = batches.collect::<Option<Vec<f64>>>()?;
        let count = batches.len() as f64;
        let mean = batches.iter().sum::<f64>() / count;
        let variance = batches.iter().map(|batch| (batch - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let within = student_t95(count - 1.0) * (variance / count).sqrt();
        within.is_finite().then_some(Self { value, within })
    }
}

/// The 95 % point of Student's t, by the expansion around the normal distribution's (Abramowitz and Stegun 26.7.5). The error is
/// below 0.001 from 9 degrees of freedom on.
fn student_t95(freedom: f64) -> f64 {
    let z: f64 = 1.644_853_627;
    let terms = [
        (z.powi(3) + z) / 4.0,
        (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0,
        (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0,
    ];
    terms.iter().rev().fold(0.0, |sum, term| (sum + term) / freedom) + z
}

/// The histograms of durations of a tally: each by its tag, and those of one name added up.
fn by_name(tally: &Tally, tags: &[String]) -> BTreeMap<String, Histogram<u64>> {
    let mut histograms = BTreeMap::new();
    for (series, histogram) in tally.histograms() {
        let tag = tags[series].as_str();
        if tag.ends_with("/characters") {
            continue;
        }
        let shorter = tag.match_indices('/').map(|(at, _)| &tag[at + 1..]);
        for name in iter::once(tag).chain(shorter) {
            let sum =
                histograms.entry(name.to_owned()).or_insert_with(|| Histogram::new(3).expect("3 digits are permitted"));
            sum.add(histogram).expect("it resizes itself");
        }
    }
    histograms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_students_t_are_those_of_the_tables() {
        for (freedom, point) in [(9.0, 1.833), (19.0, 1.729), (29.0, 1.699), (1e9, 1.645)] {
            let error = student_t95(freedom) - point;
            assert!(error.abs() < 1e-3, "{freedom}: {error}");
        }
    }

    #[test]
    fn an_interval_needs_a_figure_of_each_batch() {
        let estimate = Estimate::new(2.0, [1.0, 2.0, 3.0].map(Some).into_iter()).expect("an interval");
        assert!((0.5..2.0).contains(&estimate.within), "{estimate:?}");
        assert_eq!(Estimate::new(2.0, [Some(1.0), None].into_iter()), None);
    }
}
