//! Feeds a binary synchronous station with any bytes, whole and in pieces: it does and tells the same, and memory is bounded.
#![no_main]

use std::time::Duration;

use cuesta_lines::wire::bisync::{Code, Event, Framing, Profile, Role, Station};
use cuesta_record::Stamp;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, Vec<u8>)| {
    let (kind, size, bytes) = input;
    assert_eq!(fed(kind, &bytes, usize::from(size).max(1)), fed(kind, &bytes, bytes.len().max(1)));
});

/// What a station sends and tells when it gets these bytes, and then nothing more.
fn fed(kind: u8, bytes: &[u8], size: usize) -> (Vec<u8>, Vec<Event>) {
    let role = if kind & 1 == 0 { Role::Primary } else { Role::Secondary };
    let code = if kind & 2 == 0 { Code::Ebcdic } else { Code::Ascii };
    let framing = if kind & 4 == 0 { Framing::Line } else { Framing::Hercules };
    let (block_size, conversational) = if kind & 16 == 0 { (3, false) } else { (7, true) };
    let profile = Profile { block_size, conversational, longest_received: 100, ..Profile::default() };
    let mut station = Station::new(profile, role, code, framing).expect("is consistent");
    let mut now = Stamp::from_nanos(1 << 40);
    if kind & 8 == 0 {
        station.offer(now, b"message", true).expect("is short");
    }
    for piece in bytes.chunks(size) {
        station.receive(now, piece);
    }
    let mut sent = Vec::new();
    for _ in 0..1000 {
        sent.extend_from_slice(station.output());
        station.sent(now, station.output().len());
        let Some(deadline) = station.deadline() else { break };
        now = deadline.max(now + Duration::from_nanos(1));
        station.expire(now);
    }
    assert!(sent.len() <= 32 * bytes.len() + 8192);
    (sent, std::iter::from_fn(|| station.take_event()).collect())
}
