//! Many inputs that begin as valid messages and are then damaged: nothing panics, and what is given to the host can be a segment.

use cuesta_record::Stamp;
use cuesta_tmux::wire::{CommonHeader, Counters, Multiplexer, Output, Settings};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::harness::{PEER, US, address, in_message, key, packet, tcp, udp};

/// Checks what comes out, and counts it.
#[derive(Default)]
struct Checked {
    given: u64,
    sent: u64,
    octets: usize,
}

impl Output for Checked {
    fn to_network(&mut self, packet: &[u8]) {
        assert_eq!(packet.len(), 20, "only ENQs are sent");
        self.sent += 1;
    }

    fn to_host(&mut self, packet: &[u8]) {
        assert_eq!(usize::from(u16::from_be_bytes([packet[2], packet[3]])), packet.len());
        assert!(packet.len() >= 20 + if packet[9] == 6 { 20 } else { 8 });
        assert!(packet[9] == 6 || packet[9] == 17);
        self.given += 1;
        self.octets += packet.len() - 20 + 4;
    }
}

/// A message of up to five segments, rarely of more than are accepted, and sometimes with something that is none.
fn message(random: &mut Pcg64, parts: &[Vec<u8>]) -> Vec<u8> {
    if random.random_ratio(1, 100) {
        return parts[0].repeat(80);
    }
    let count = random.random_range(0..=5);
    (0..count).flat_map(|_| parts[random.random_range(0..parts.len())].clone()).collect()
}

fn parts() -> Vec<Vec<u8>> {
    vec![
        in_message(6, &key(1)),
        in_message(6, &tcp(2, 23, |_| (), b"")),
        in_message(6, &tcp(3, 23, |header| header.syn = true, &[7; 33])),
        in_message(17, &udp(4, 53, b"query")),
        in_message(18, &key(5)),
        in_message(254, &key(6)),
        in_message(6, b""),
        vec![0; 4],
        vec![0xff; 3],
    ]
}

/// Flips, inserts, cuts or repeats a few octets.
fn damage(random: &mut Pcg64, octets: &mut Vec<u8>) {
    for _ in 0..random.random_range(0..4) {
        let at = random.random_range(0..=octets.len());
        match random.random_range(0..5) {
            0 => octets.truncate(at),
            1 => octets.insert(at, random.random()),
            2 if octets.len() < 4000 => octets.extend_from_within(at..),
            3 => drop(octets.drain(at..octets.len().min(at + 5))),
            _ if at < octets.len() => octets[at] ^= 1 << random.random_range(0..8),
            _ => (),
        }
    }
}

/// Plays `count` inputs to one multiplexer; what it counted.
fn play(count: u64, seed: u64) -> Counters {
    let mut random = Pcg64::seed_from_u64(seed);
    let settings = Settings { peers: vec![address(PEER)], udp: true, ..Settings::default() };
    let mut multiplexer = Multiplexer::new(settings, Stamp::ZERO);
    let (parts, header) = (parts(), CommonHeader { source: address(PEER), destination: address(US), tos: 0 });
    let mut output = Checked::default();
    for input in 0..count {
        let now = Stamp::from_nanos(input * 1000);
        let mut octets = message(&mut random, &parts);
        damage(&mut random, &mut octets);
        output.octets = 0;
        match input % 4 {
            0 => {
                octets = packet(PEER, US, 0, 18, &octets);
                damage(&mut random, &mut octets);
                multiplexer.receive(&octets, now, &mut output);
            }
            1 if input % 8 == 1 => multiplexer.receive_icmp(&octets, now),
            _ => multiplexer.receive_payload(header, &octets, now, &mut output),
        }
        assert!(output.octets <= octets.len(), "more came out than went in");
    }
    assert_eq!(output.given, multiplexer.counters().segments.received);
    assert!(output.sent <= 1 + count / 15_000_000, "one answer to ENQs in 15 s");
    multiplexer.counters().clone()
}

#[test]
fn damaged_messages_are_dropped_and_counted() {
    let counters = play(100_000, 1692);
    assert!(counters.segments.received > 30_000, "{counters:?}");
    let dropped = counters.dropped;
    let often = [dropped.unreadable, dropped.protocol, dropped.stranger, dropped.checksum, dropped.length];
    let rarely = [dropped.nested, dropped.segment_protocol, dropped.transport, dropped.over_limit, dropped.fragment];
    assert!(often.iter().all(|count| *count > 100) && rarely.iter().all(|count| *count > 10), "{dropped:?}");
}

/// In release mode it takes a minute: `cargo test --release -p cuesta-tmux --test it -- --ignored noise`.
#[test]
#[ignore = "minutes of noise: scripts/nightly plays it"]
fn a_hundred_million_damaged_messages() {
    std::thread::scope(|scope| {
        let seeds: Vec<_> = (0..2).map(|seed| scope.spawn(move || play(50_000_000, seed))).collect();
        for counters in seeds {
            assert!(counters.join().unwrap().segments.received > 15_000_000);
        }
    });
}
