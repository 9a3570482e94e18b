//! What a run is asked to do: the plan resolved, as JSON, every duration in nanoseconds.

use std::collections::BTreeMap;
use std::time::Duration;

use cuesta_distributions::{Distribution, KeyDistribution};
use cuesta_record::Stamp;
use cuesta_tape::{Overrides, Script};
use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// Scripts by name.
pub type Scripts = BTreeMap<String, Script>;

/// One agent's part of a run.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSpec {
    /// What all random numbers come from.
    pub seed: u64,
    /// Number of this agent, from 0.
    #[serde(default)]
    pub agent: u32,
    /// How many agents share the users: agent k plays those with `user % agents == k`.
    #[serde(default = "one")]
    pub agents: u32,
    /// Threads to drive on.
    #[serde(default = "one")]
    pub threads: u32,
    /// The CPU of each thread in turn.
    #[serde(default)]
    pub cpus: Option<Vec<usize>>,
    /// When to start, on the monotonic clock; at once if not given.
    #[serde(default)]
    pub start_at: Option<Stamp>,
    /// When that is, in ns since 1970.
    #[serde(default)]
    pub started_wall: Option<u64>,
    /// The kernel stamps the line of every n-th user; 0 = of none.
    #[serde(default)]
    pub stamps: u32,
    /// Whether a thread may spin while it has CPU time to spare, so that its stamps are exact.
    #[serde(default)]
    pub spin: bool,
    /// Whether to keep every transaction.
    #[serde(default)]
    pub log_transactions: bool,
    /// The user whose session is written as a cast.
    #[serde(default)]
    pub cast: Option<u32>,
    /// The longest wait for responses after the end, ns.
    pub drain: u64,
    /// Who does what.
    pub groups: Vec<GroupSpec>,
    /// The steps of load, in order.
    pub steps: Vec<StepSpec>,
    /// If steps may be added while the run goes on: the most users that each group may ever have. Then `steps` has one step, whose
    /// measurement interval is announced (see [`Announcement`](crate::Announcement)).
    #[serde(default)]
    pub most_users: Option<Vec<u32>>,
}

/// Users who play the same script against the same target.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupSpec {
    /// Its name.
    pub name: String,
    /// Name of its script.
    pub script: String,
    /// URL of the host.
    pub target: String,
    /// Width of the terminal.
    #[serde(default)]
    pub columns: Option<u16>,
    /// Height of the terminal.
    #[serde(default)]
    pub rows: Option<u16>,
    /// A row of the users' table for each user, in turn.
    #[serde(default)]
    pub data: Vec<BTreeMap<String, String>>,
    /// Its secret columns: no record may show their cells, and no count may reveal how long one is.
    #[serde(default)]
    pub secret: Vec<String>,
    /// Bits per second, in place of the script's; 0 = as fast as the line goes.
    #[serde(default)]
    pub line_speed: Option<u32>,
}

/// One step of load.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepSpec {
    /// From the last user's start to the measurement, ns.
    pub settle: u64,
    /// The measurement interval, ns.
    pub measure: u64,
    /// By group.
    pub groups: Vec<Load>,
}

/// What one group does in one step.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// How many users.
    pub users: u32,
    /// Between the starts of two users, ns.
    pub stagger: u64,
    /// When the next input is due.
    pub load: LoadKind,
    /// A grid of a paced load, ns: each pass is due at a multiple of it on the machine's clock.
    #[serde(default)]
    pub align: Option<u64>,
    /// A distribution in place of the script's think times.
    #[serde(default, deserialize_with = "distribution")]
    pub think: Option<Distribution>,
    /// Keys per second, in place of the script's.
    #[serde(default)]
    pub key_rate: Option<f64>,
    /// The distribution of the gaps between keys, in place of the script's.
    #[serde(default, rename = "key_law", deserialize_with = "key_distribution")]
    pub key_distribution: Option<KeyDistribution>,
}

impl Load {
    /// Whether its inputs are due at the same instants as another's.
    pub(crate) fn is_paced_as(&self, other: &Self) -> bool {
        (self.load, self.align) == (other.load, other.align)
    }

    /// What the load says in place of the script.
    pub(crate) fn overrides(&self) -> Overrides {
        let gap = |rate: f64| Duration::try_from_secs_f64(rate.recip()).unwrap_or(Duration::ZERO);
        Overrides {
            think: self.think.clone(),
            key_gap: self.key_rate.map(gap),
            key_distribution: self.key_distribution,
        }
    }
}

fn distribution<'de, D: Deserializer<'de>>(text: D) -> Result<Option<Distribution>, D::Error> {
    let no_file = |_: &str| Err("a plan's distribution reads no file".into());
    let text = Option::<String>::deserialize(text)?;
    text.map(|text| Distribution::parse(&text, &no_file).map_err(D::Error::custom)).transpose()
}

fn key_distribution<'de, D: Deserializer<'de>>(text: D) -> Result<Option<KeyDistribution>, D::Error> {
    let text = Option::<String>::deserialize(text)?;
    text.map(|text| KeyDistribution::parse(&text).map_err(D::Error::custom)).transpose()
}

/// When the next input is due.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum LoadKind {
    /// After the answer to the one before.
    Closed,
    /// At fixed instants, one pass of the script per cycle: a paced load.
    #[serde(rename = "paced")]
    Cyclic {
        /// The cycle, ns.
        cycle: u64,
    },
    /// At random instants (a Poisson process), whatever the host does.
    Open {
        /// Passes per second, over all users of the group.
        per_s: f64,
        /// What arrives.
        #[serde(default)]
        arrivals: ArrivalKind,
    },
}

/// What arrives in an open load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArrivalKind {
    /// Inputs, on lines that stay open.
    #[default]
    Inputs,
    /// Sessions: each opens a line, plays the whole script and closes it.
    Sessions,
}

fn one() -> u32 {
    1
}

impl RunSpec {
    /// The most users that a group may ever have. Users are numbered group after group by it.
    pub fn most_users(&self, group: usize) -> u32 {
        let of_steps = self.steps.iter().map(|step| step.groups[group].users).max().unwrap_or(0);
        self.most_users.as_ref().map_or(of_steps, |most| most[group])
    }

    /// The number of a group's first user.
    pub fn first_user(&self, group: usize) -> u32 {
        (0..group).map(|before| self.most_users(before)).sum()
    }
}
