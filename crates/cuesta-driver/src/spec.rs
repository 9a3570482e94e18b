//! What a run is asked to do: the plan resolved, as JSON, every duration in nanoseconds.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use cuesta_distributions::{Distribution, KeyDistribution};
use cuesta_record::schema::{FieldType, Table};
use cuesta_record::{Stamp, plain_types, record};
use cuesta_tape::{Overrides, Script};
use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// Scripts by name.
pub type Scripts = BTreeMap<String, Script>;

record! {
    /// One agent's part of a run: a plan's segment, resolved.
    RunSpec: Read {
        /// what all random numbers come from
        seed: u64 = Unitless;
        /// number of this agent, from 0
        #[serde(default)]
        agent: u32 = Unitless | 0;
        /// how many agents the run has; a group's users are divided among those that play it
        #[serde(default = "one")]
        agents: u32 = Number | 1;
        /// threads to drive on
        #[serde(default = "one")]
        threads: u32 = Number | 1;
        /// the CPU of each thread in turn; null: any
        cpus: Option<Vec<usize>> = Unitless | none;
        /// when to start, on the agent's clock; null: at once
        start_at: Option<Stamp> = Nanoseconds | none;
        /// when that is, since 1970
        started_wall: Option<u64> = Nanoseconds | none;
        /// the kernel stamps the line of every n-th user; 0: of none
        #[serde(default)]
        stamps: u32 = Unitless | 0;
        /// whether a thread may spin while it has CPU time to spare, so that its stamps are exact
        #[serde(default)]
        spin: bool = Unitless | false;
        /// whether driving threads get a CPU before other programs, because a neighbour competes with them (`beside`)
        #[serde(default)]
        priority: bool = Unitless | false;
        /// whether to keep every transaction
        #[serde(default)]
        log_transactions: bool = Unitless | false;
        /// whether to keep every key that was echoed
        #[serde(default)]
        log_keys: bool = Unitless | false;
        /// the user whose session is written as a cast
        cast: Option<u32> = Unitless | none;
        /// the longest wait for responses after the end
        drain: u64 = Nanoseconds;
        /// who does what
        groups: Vec<GroupSpec> = Unitless;
        /// the steps of load, in order
        steps: Vec<StepSpec> = Unitless;
        /// if steps may be added while the run goes on: the most users that each group may ever have; then `steps` has one step, whose
        /// measurement interval is announced unless it `may_be_cut`
        most_users: Option<Vec<u32>> = Number | none;
        /// whether the step of such a run has its planned times, and may be cut, so that another one follows
        #[serde(default)]
        may_be_cut: bool = Unitless | false;
    }
}

record! {
    /// Users who play the same script against the same target.
    GroupSpec: Read {
        /// its name
        name: String = Unitless;
        /// name of its script
        script: String = Unitless;
        /// URL of the host
        target: String = Unitless;
        /// width of the terminal
        columns: Option<u16> = Number | none;
        /// height of the terminal
        rows: Option<u16> = Number | none;
        /// a row of the users' table for each user, in turn
        #[serde(default)]
        data: Vec<BTreeMap<String, String>> = Unitless | [];
        /// its secret columns: no record may show their cells, and no count may reveal how long one is
        #[serde(default)]
        secret: Vec<String> = Unitless | [];
        /// bits per second, in place of the script's; 0: as fast as the line goes
        line_speed: Option<u32> = Number | none;
        /// the first agent that plays it
        #[serde(default)]
        first_agent: u32 = Unitless | 0;
        /// how many agents from that one on play it; null: all of the run
        agents: Option<u32> = Number | none;
        /// the line of every n-th of its users is a probe line, whose keys are followed through the host; 0: of none
        #[serde(default)]
        path: u32 = Unitless | 0;
    }
}

record! {
    /// One step of load.
    StepSpec: Read {
        /// from the last user's start to the measurement
        settle: u64 = Nanoseconds;
        /// the measurement interval
        measure: u64 = Nanoseconds;
        /// by group
        groups: Vec<Load> = Unitless;
    }
}

record! {
    /// What one group does in one step.
    Load: Read {
        /// how many users
        users: u32 = Number;
        /// between the starts of two users
        stagger: u64 = Nanoseconds;
        /// when the next input is due
        load: LoadKind = Unitless;
        /// the grid of a paced load: each pass is due at a multiple of it on the machine's clock
        align: Option<u64> = Nanoseconds | none;
        /// a distribution in place of the script's think times
        #[serde(default, deserialize_with = "distribution")]
        think: Option<Distribution> as "str | None" = Unitless | none;
        /// keys per second, in place of the script's
        key_rate: Option<f64> = Number | none;
        /// the distribution of the gaps between keys, in place of the script's
        #[serde(default, deserialize_with = "key_distribution")]
        key_law: Option<KeyDistribution> as "str | None" = Unitless | none;
    }
}

impl Load {
    /// Whether its inputs are due at the same instants as another's.
    pub(crate) fn is_paced_as(&self, other: &Self) -> bool {
        (self.load, self.align) == (other.load, other.align)
    }

    /// What the load says in place of the script.
    pub(crate) fn overrides(&self) -> Overrides {
        let gap = |rate: f64| Duration::try_from_secs_f64(rate.recip()).unwrap_or(Duration::ZERO);
        Overrides { think: self.think.clone(), key_gap: self.key_rate.map(gap), key_distribution: self.key_law }
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
#[serde(try_from = "LoadSpec")]
pub enum LoadKind {
    /// After the answer to the one before.
    Closed,
    /// At fixed instants, one pass of the script per cycle: a paced load.
    Cyclic {
        /// The cycle, ns.
        cycle: u64,
    },
    /// At random instants (a Poisson process), whatever the host does.
    Open {
        /// Passes per second, over all users of the group.
        per_s: f64,
        /// What arrives.
        arrivals: ArrivalKind,
    },
}

record! {
    /// When the next input of a group is due.
    LoadSpec: Read {
        /// `closed`: after the answer to the one before; `paced`: one pass of the script per cycle; `open`: at random instants
        kind: String = Unitless;
        /// the cycle of a paced load
        cycle: Option<u64> = Nanoseconds | none;
        /// passes of an open load per second, over all users of the group
        per_s: Option<f64> = Number | none;
        /// what arrives in an open load: `inputs`, on lines that stay open, or `sessions`
        arrivals: Option<ArrivalKind> = Unitless | none;
    }
}

impl TryFrom<LoadSpec> for LoadKind {
    type Error = &'static str;

    fn try_from(spec: LoadSpec) -> Result<Self, Self::Error> {
        match (&*spec.kind, spec.cycle, spec.per_s) {
            ("closed", None, None) => Ok(Self::Closed),
            ("paced", Some(cycle), None) => Ok(Self::Cyclic { cycle }),
            ("open", None, Some(per_s)) => Ok(Self::Open { per_s, arrivals: spec.arrivals.unwrap_or_default() }),
            _ => Err("a load is `closed`, `paced` with its `cycle`, or `open` with its `per_s`"),
        }
    }
}

impl FieldType for LoadKind {
    fn name() -> String {
        LoadSpec::name()
    }

    fn tables(into: &mut Vec<Table>) {
        LoadSpec::tables(into);
    }
}

plain_types!(ArrivalKind = "str");

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

    /// Whether the line of a group's user is a probe line.
    pub(crate) fn follows(&self, group: usize, user: u32) -> bool {
        let path = self.groups[group].path;
        path > 0 && user.is_multiple_of(path)
    }

    /// The agents that play a group.
    pub(crate) fn agents_of(&self, group: usize) -> Range<u32> {
        let GroupSpec { first_agent, agents, .. } = self.groups[group];
        first_agent..first_agent.saturating_add(agents.unwrap_or(self.agents))
    }

    /// Who plays each user of a group.
    pub(crate) fn players(&self, group: usize) -> Players {
        let agents = self.agents_of(group);
        let of_same_agents = (0..group).filter(|before| self.agents_of(*before) == agents);
        let first_turn = of_same_agents.map(|before| self.most_users(before)).sum();
        Players { agents, threads: self.threads, first_turn }
    }
}

/// Who plays the users of a group. Each next user is on the next agent, and each next one of an agent on its next thread;
/// groups that the same agents play are counted through.
#[derive(Debug)]
pub(crate) struct Players {
    agents: Range<u32>,
    threads: u32,
    /// Users of the groups before that the same agents play.
    first_turn: u32,
}

impl Players {
    /// The agent that plays the user of this rank, and its thread.
    pub(crate) fn agent_and_thread(&self, rank: u32) -> (u32, u32) {
        let (turn, agents) = (self.first_turn + rank, self.agents.len() as u32);
        (self.agents.start + turn % agents, turn / agents % self.threads)
    }
}
