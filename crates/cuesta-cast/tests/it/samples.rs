//! Recordings of asciinema itself, and the tapes made from them.

use std::time::Duration;

use cuesta_cast::{Cast, Timing, tape};
use cuesta_tape::parse;

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
    let kinds = |cast: &Cast| cast.events.iter().map(|event| event.kind.clone()).collect::<Vec<_>>();
    assert_eq!(kinds(&second), kinds(&third)[..second.events.len()]);
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
