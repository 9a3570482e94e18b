//! Recordings of asciinema itself, and the tapes made from them.

use std::time::Duration;

use cuesta_cast::{Cast, EventKind, Timing, tape};
use cuesta_tape::{Step, parse};

const V2: &[u8] = include_bytes!("samples/input-v2.cast");
const V3: &[u8] = include_bytes!("samples/input-v3.cast");

fn cast(bytes: &[u8]) -> Cast {
    Cast::read(bytes).expect("a cast")
}

fn made(cast: &Cast, timing: Timing) -> String {
    tape(cast, timing, "recorded").expect("a tape")
}

#[test]
fn versions_2_and_3_of_one_recording_read_alike() {
    let (second, third) = (cast(V2), cast(V3));
    let said = |cast: &Cast| cast.events.iter().map(|event| event.kind.clone()).collect::<Vec<_>>();
    assert_eq!(said(&second), said(&third)[..said(&second).len()]);
    for (one, other) in second.events.iter().zip(&third.events) {
        // Version 3 keeps milliseconds.
        assert!(one.at.abs_diff(other.at) <= Duration::from_millis(1), "{one:?} {other:?}");
    }
    assert_eq!((second.header.columns, second.header.rows), (80, 24));
    assert_eq!(second.header.command, third.header.command);
    assert_eq!(made(&second, Timing::Closed), made(&third, Timing::Closed));
}

#[test]
fn a_session_becomes_a_tape_that_thinks() {
    let tape = made(&cast(V2), Timing::Closed);
    insta::assert_snapshot!(tape);
    let parsed = parse(&tape, "sample.tape", &|_| Err(String::new())).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(parsed.notes, []);
}

#[test]
fn a_session_becomes_a_tape_with_its_own_instants() {
    let tape = made(&cast(V2), Timing::Recorded);
    insta::assert_snapshot!(tape);
    parse(&tape, "sample.tape", &|_| Err(String::new())).unwrap_or_else(|errors| panic!("{errors}"));
}

/// When each key of a tape without waits is due.
fn due(tape: &str) -> Vec<Duration> {
    let parsed = parse(tape, "sample.tape", &|_| Err(String::new())).unwrap_or_else(|errors| panic!("{errors}"));
    let mut plan = Duration::ZERO;
    let mut due = Vec::new();
    for step in parsed.script.steps {
        match step {
            Step::Op(cuesta_tape::Op::Pause(pause)) => plan += pause,
            Step::Keys { keys, gap } => {
                let keys = match keys {
                    cuesta_tape::Keys::Text(pieces) => pieces
                        .iter()
                        .map(|piece| match piece {
                            cuesta_tape::Piece::Literal(text) => text.chars().count(),
                            cuesta_tape::Piece::Column(_) => 1,
                        })
                        .sum(),
                    cuesta_tape::Keys::Press { count, .. } => count as usize,
                    cuesta_tape::Keys::Paste(_) => 1,
                };
                for _ in 0..keys {
                    plan += gap.unwrap_or(Duration::ZERO);
                    due.push(plan);
                }
            }
            _ => {}
        }
    }
    due
}

#[test]
fn recorded_keys_are_due_at_their_recorded_instants() {
    let cast = cast(V2);
    // In this recording every character of input is a key, except an arrow of three characters.
    let pressed = cast.events.iter().filter_map(|event| match &event.kind {
        EventKind::Input { text, .. } => {
            Some(vec![event.at; if text == "\u{1b}[A" { 1 } else { text.chars().count() }])
        }
        _ => None,
    });
    let replies = |at: &Duration| {
        cast.events
            .iter()
            .any(|event| event.at == *at && matches!(&event.kind, EventKind::Input { text, .. } if text.contains('R')))
    };
    let pressed: Vec<Duration> = pressed.flatten().filter(|at| !replies(at)).collect();
    assert_eq!(due(&made(&cast, Timing::Recorded)), pressed);
}
