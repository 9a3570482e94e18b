//! What to simulate, as JSON.

use std::collections::BTreeMap;

use cuesta_distributions::Distribution;
use cuesta_driver::RunSpec;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// A simulation: users at a model of a host.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimulationSpec {
    /// The users, their loads, the times of the steps and the seed, as in a run. Targets, threads and agents mean nothing.
    pub run: RunSpec,
    /// The host.
    pub host: HostSpec,
    /// Each measurement interval is divided into this many batches, from whose means the intervals of the figures come.
    #[serde(default = "twenty")]
    pub batches: u32,
    /// Which percentiles of each series, in percent.
    #[serde(default = "usual_percentiles")]
    pub percentiles: Vec<f64>,
    /// Whether users wait however long it takes, instead of giving up when the tape says.
    #[serde(default)]
    pub patient: bool,
}

/// A host: a request visits its stations in order, once each.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostSpec {
    /// Its stations; none answers at once.
    pub stations: Vec<StationSpec>,
}

/// A station.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StationSpec {
    /// Its name in the figures.
    pub name: String,
    /// The service of a response that a user waits for; none if it takes no time here.
    #[serde(default)]
    pub demand: Option<Demand>,
    /// In place of `demand`, by the name of the transaction (or of the script, for transactions without a name).
    #[serde(default)]
    pub transactions: BTreeMap<String, Demand>,
    /// The service of each key.
    #[serde(default)]
    pub key_demand: Option<Demand>,
    /// How many servers; `null` is as many as there are requests, which makes it a delay.
    #[serde(default = "one_server")]
    pub servers: Option<u32>,
    /// How the servers are shared.
    #[serde(default)]
    pub discipline: Discipline,
    /// The servers' speed, where it depends on the population: the last entry whose population is exceeded counts. Else 1.
    #[serde(default)]
    pub speeds: Vec<Speed>,
}

/// How servers are shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Discipline {
    /// First come, first served.
    #[default]
    Fcfs,
    /// Processor sharing: all requests progress, and share the servers equally.
    Ps,
}

/// A speed that holds above a population.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Speed {
    /// With more than this many.
    pub above: u32,
    /// What is counted.
    #[serde(default)]
    pub of: Population,
    /// How fast a server works: 0.5 makes every service twice as long.
    pub speed: f64,
}

/// What a speed depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Population {
    /// Requests at the station.
    #[default]
    Requests,
    /// Users with an open line.
    Users,
}

/// A distribution of services: text, or a number, which is the mean of an exponential distribution in seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Demand(pub Distribution);

impl<'de> Deserialize<'de> for Demand {
    fn deserialize<D: Deserializer<'de>>(demand: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a demand is a distribution (`exp 5ms`) or a mean in seconds")]
        enum Written {
            Mean(f64),
            Text(String),
        }
        let text = match Written::deserialize(demand)? {
            Written::Text(text) => text,
            Written::Mean(0.0) => "fixed 0s".to_owned(),
            Written::Mean(mean) if mean > 0.0 && mean.is_finite() => format!("exp {}ns", (mean * 1e9).round().max(1.0)),
            Written::Mean(mean) => return Err(D::Error::custom(format!("a demand of {mean} s; expected 0 or more"))),
        };
        let no_file = |_: &str| Err("a model's demand reads no file".into());
        Distribution::parse(&text, &no_file).map(Self).map_err(D::Error::custom)
    }
}

#[allow(clippy::unnecessary_wraps)] // It has the type of the field.
fn one_server() -> Option<u32> {
    Some(1)
}

fn twenty() -> u32 {
    20
}

fn usual_percentiles() -> Vec<f64> {
    vec![50.0, 95.0, 99.0]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(json: &str) -> Result<String, String> {
        serde_json::from_str::<Demand>(json).map(|demand| demand.0.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_demand_is_text_or_a_mean() {
        assert_eq!(demand("0.0047").as_deref(), Ok("exp 4.7ms"));
        assert_eq!(demand("0").as_deref(), Ok("fixed 0s"));
        assert_eq!(demand("\"fixed 3ms\"").as_deref(), Ok("fixed 3ms"));
        assert!(demand("-1").unwrap_err().starts_with("a demand of -1 s; expected 0 or more"));
        assert!(demand("[]").unwrap_err().starts_with("a demand is a distribution"));
        assert!(demand("\"gauss 1s\"").is_err() && demand("\"empirical x\"").is_err());
    }
}
