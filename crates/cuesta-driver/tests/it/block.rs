//! 3270s at the built-in host in virtual time.
#![allow(clippy::float_cmp)] // Counts, and instants of a virtual clock, are exact.
#![allow(clippy::unwrap_used)] // A failed unwrap fails the test.

use crate::harness::{close, play, script, spec};
use cuesta_driver::Run;
use serde_json::{Value, json};

const TAPE: &str = "Set KeyRate 10cps
Wait+Unlock
Forever
  Transaction \"order\"
    Type \"order 42\"
    Enter
    Wait+Unlock
  End
  Transaction \"page\"
    PF8
    Wait+Screen /PF8/
  End
  Think fixed 1s
End
";

fn at_a_form() -> Value {
    json!({"group": {"target": "tn3270://127.0.0.1:1"}})
}

fn host(delay: &str) -> Value {
    json!({"service": {"form": {"reply": 150}}, "delay": delay})
}

#[test]
fn a_response_is_the_time_from_a_key_that_calls_for_the_host_to_the_unlock() {
    let played = play(spec(50, 10.0, 100.0, &at_a_form()), TAPE, &host("300ms"));
    assert_eq!(played.errors(), []);
    // A pass: 10 keys of 100 ms, two responses, and a second of thought.
    close(
        "passes",
        played.histogram("g/order/response").len() as f64,
        50.0 * 100.0 / (0.9 + 0.3 + 0.1 + 0.3 + 1.0),
        0.02,
    );
    for class in ["order", "page"] {
        for q in [0.0, 0.5, 1.0] {
            close("response", played.quantile(&format!("g/{class}/response"), q), 0.3, 0.001);
        }
    }
    assert!(!played.histograms.keys().any(|tag| tag.contains("echo")), "{:?}", played.histograms.keys());
}

#[test]
fn keys_that_the_keyboard_does_not_take_are_counted_and_not_sent() {
    let hasty =
        TAPE.replace("    Wait+Unlock\n  End\n  Transaction", "    Wait+Screen /nothing/\n  End\n  Transaction");
    let hasty = hasty.replace("Set KeyRate 10cps", "Set KeyRate 10cps\nSet WaitTimeout 100ms");
    let played = play(spec(1, 0.0, 10.0, &at_a_form()), &hasty, &host("5s"));
    // The first order is sent at 0.9 s. Its answer unlocks the keyboard at 5.9 s; until then each pass of 9 keys is refused.
    let errors = played.errors();
    let refused = errors.iter().find(|(name, _)| name == "keyboard-locked").map_or(0, |(_, number)| *number);
    assert!((20..=50).contains(&refused), "{errors:?}");
}

#[test]
fn a_tape_that_a_terminal_cannot_play_is_refused_with_the_reason() {
    for (target, tape, part) in [
        ("tn3270://127.0.0.1:1", "Set Echo timed\nType \"x\"\n", "shows keys itself"),
        ("tn3270://127.0.0.1:1", "Ctrl+C\n", "a 3270 has no chords such as Ctrl+C"),
        ("tn3270://127.0.0.1:1", "Enter\nWait+Unlock\nExpect /x/\n", "Expect+Screen"),
        ("telnet://127.0.0.1:1", "PA1\n", "a VT has no key for PA1"),
        ("telnet://127.0.0.1:1", "Enter\nWait+Unlock\n", "never locked"),
    ] {
        let more = json!({"group": {"target": target}});
        let folder = tempfile::tempdir().unwrap();
        let error = Run::start(spec(1, 0.0, 1.0, &more), &script("t", tape), folder.path()).unwrap_err().to_string();
        assert!(error.contains(part), "{tape:?} at {target}: {error}");
    }
}

#[test]
fn no_cast_can_be_made_of_a_3270() {
    let more = json!({"group": {"target": "tn3270://127.0.0.1:1"}, "spec": {"cast": 0}});
    let folder = tempfile::tempdir().unwrap();
    let error = Run::start(spec(1, 0.0, 1.0, &more), &script("t", TAPE), folder.path()).unwrap_err().to_string();
    assert!(error.contains("no cast can be made of user 0, who has a 3270"), "{error}");
}
