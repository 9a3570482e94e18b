//! One seed gives the same keystrokes at the same due times, however many agents share the users.

use crate::harness::{SentKeys, play_logged, spec};
use serde_json::json;

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

fn sent(agents: u32, load: &serde_json::Value) -> SentKeys {
    let mut all = SentKeys::new();
    for agent in 0..agents {
        let more = json!({"spec": {"seed": 99, "agent": agent, "agents": agents}, "load": load});
        let host = json!({"service": {"transaction": {"reply": 30}}, "echo": false, "delay": "40ms"});
        let (_, mine) = play_logged(spec(16, 1.0, 20.0, &more), TAPE, &host);
        assert!(mine.keys().all(|user| user % agents == agent));
        all.extend(mine);
    }
    all
}

#[test]
fn one_two_and_eight_agents_send_the_same_keys() {
    let loads = [
        json!({"load": {"kind": "closed"}}),
        json!({"load": {"kind": "paced", "cycle": 5_000_000_000_u64}}),
        json!({"load": {"kind": "open", "per_s": 3.0}}),
    ];
    for load in loads {
        let alone = sent(1, &load);
        assert!(alone.len() == 16 && alone.values().all(|keys| keys.len() > 10));
        for agents in [2, 8] {
            assert_eq!(sent(agents, &load), alone, "{agents} agents, {load}");
        }
    }
}
