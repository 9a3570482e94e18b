//! One seed gives the same keystrokes at the same due times, however many agents share the users.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::harness::{play_over, spec};
use cuesta_lines::{Direction, Tap};
use serde_json::json;

/// The keys of each user with their instants in ns.
type Sent = BTreeMap<u32, Vec<(u64, Vec<u8>)>>;

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

fn sent(agents: u32, load: &serde_json::Value) -> Sent {
    let mut all = Sent::new();
    for agent in 0..agents {
        let sent = Rc::new(RefCell::new(Sent::new()));
        let seen = Rc::clone(&sent);
        let more = json!({"spec": {"seed": 99, "agent": agent, "agents": agents}, "load": load});
        let host = json!({"service": {"transaction": {"reply": 30}}, "echo": false, "delay": "40ms"});
        play_over(spec(16, 1.0, 20.0, &more), TAPE, &host, move |line, user| {
            let seen = Rc::clone(&seen);
            Box::new(Tap::new(line, move |passed| {
                if passed.direction == Direction::Sent {
                    let key = (passed.at.as_nanos(), passed.bytes.to_vec());
                    seen.borrow_mut().entry(user).or_default().push(key);
                }
            }))
        });
        let mine = sent.take();
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
