//! One seed gives the same keystrokes at the same due times, however agents share the users and groups.

use std::collections::BTreeMap;

use cuesta_driver::RunSpec;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2Serializer};
use serde_json::{Value, json};

use crate::harness::{RunRecords, SentKeys, play_logged, spec};

const TAPE: &str = r#"
Set KeyRate 6cps
Set KeyLaw human
Type "some text"
Enter
Wait+Bytes 30
Think lognormal 800ms 0.6
Type "more"
Enter
Wait+Bytes 30
"#;
const TOGETHER: &str = "Set KeyRate 6cps\nType \"some text\"\nEnter\nWait+Bytes 30\nThink exp 2s\nBarrier \"all\"\n";
/// In ns.
const HOUR: u64 = 3_600_000_000_000;
/// Users of the group `g`; those of the group `probe` follow.
const USERS: u32 = 16;

/// How many agents there are, and which of them play `probe`; the others play `g`, and all do if none does.
#[derive(Debug, Clone, Copy)]
struct Sharing {
    agents: u32,
    probes: u32,
}

impl Sharing {
    fn is_played_by(self, user: u32, agent: u32) -> bool {
        let load = self.agents - self.probes;
        match (user < USERS, self.probes) {
            (false, 0) => user % self.agents == agent,
            (false, probes) => load + (user - USERS) % probes == agent,
            (true, _) => user % load == agent,
        }
    }

    fn spec(self, agent: u32, load: &Value) -> RunSpec {
        let more = json!({"spec": {"seed": 99, "agent": agent, "agents": self.agents}, "load": load});
        let mut spec = spec(USERS, 1.0, 20.0, &more);
        spec.groups.push(spec.groups[0].clone());
        spec.groups[1].name = "probe".into();
        let mut probe = spec.steps[0].groups[0].clone();
        probe.users = 4;
        spec.steps[0].groups.push(probe);
        if self.probes > 0 {
            let load = self.agents - self.probes;
            spec.groups[0].agents = Some(load);
            (spec.groups[1].first_agent, spec.groups[1].agents) = (load, Some(self.probes));
        }
        spec
    }

    /// The records of each agent, and the keys of all.
    fn play(self, load: &Value, tape: &str) -> (Vec<RunRecords>, SentKeys) {
        let host = json!({"service": {"transaction": {"reply": 30}}, "echo": false, "delay": "40ms"});
        let mut all = SentKeys::new();
        let agents = 0..self.agents;
        let records = agents.map(|agent| {
            let (records, mine) = play_logged(self.spec(agent, load), tape, &host);
            assert!(mine.keys().all(|user| self.is_played_by(*user, agent)), "{self:?}: {:?}", mine.keys());
            all.extend(mine);
            records
        });
        (records.collect(), all)
    }
}

/// The histograms of all agents as bytes, by tag.
fn merge<'a>(agents: impl Iterator<Item = &'a RunRecords>) -> BTreeMap<String, Vec<u8>> {
    let mut merged = BTreeMap::<String, Histogram<u64>>::new();
    for (tag, histogram) in agents.flat_map(|records| &records.histograms) {
        // Of one size, whatever it is to hold: the bytes tell how large a histogram may become.
        let new = || Histogram::new_with_bounds(1, HOUR, 3).expect("three digits");
        merged.entry(tag.clone()).or_insert_with(new).add(histogram).expect("they fit");
    }
    let bytes = |histogram: &Histogram<u64>| {
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(histogram, &mut bytes).expect("it fits");
        bytes
    };
    merged.iter().map(|(tag, histogram)| (tag.clone(), bytes(histogram))).collect()
}

#[test]
fn any_sharing_among_agents_sends_the_same_keys_and_merges_to_the_same_histograms() {
    let loads = [
        json!({"load": {"kind": "closed"}}),
        json!({"load": {"kind": "paced", "cycle": 5_000_000_000_u64}}),
        json!({"load": {"kind": "open", "per_s": 3.0}}),
    ];
    let sharings = [(2, 0), (3, 0), (8, 0), (2, 1), (3, 1), (8, 2)];
    for load in loads {
        let (alone, keys) = Sharing { agents: 1, probes: 0 }.play(&load, TAPE);
        let histograms = merge(alone.iter());
        assert!(keys.len() == 20 && keys.values().all(|keys| keys.len() > 10));
        assert!(histograms.contains_key("probe/t/response") && histograms.contains_key("g/t/response"));
        for (agents, probes) in sharings {
            let sharing = Sharing { agents, probes };
            let (records, shared) = sharing.play(&load, TAPE);
            assert_eq!(shared, keys, "{sharing:?}, {load}");
            assert!(merge(records.iter()) == histograms, "{sharing:?}, {load}");
            assert!(merge(records.iter().rev()) == histograms, "{sharing:?}, {load}");
        }
    }
}

#[test]
fn a_barrier_needs_no_engine_if_one_agent_plays_its_group() {
    let load = json!({"load": {"kind": "closed"}});
    let (_, alone) = Sharing { agents: 1, probes: 0 }.play(&load, TOGETHER);
    let (_, apart) = Sharing { agents: 2, probes: 1 }.play(&load, TOGETHER);
    assert!(alone.values().all(|keys| keys.len() > 20));
    assert_eq!(apart, alone);
}
