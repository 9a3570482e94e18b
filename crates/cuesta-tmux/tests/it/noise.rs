//! Many inputs that begin as valid messages and are then damaged: nothing panics, and what is given to the host can be a segment.

use cuesta_record::Stamp;
use cuesta_tmux::wire::{Carriage, CommonHeader, Counters, Multiplexer, Output, Settings};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::harness::{PEER, US, address, in_message, key, packet, tcp, udp};

/// Checks what comes out, and counts it.
#[derive(Default)]
struct Checked {
    carriage: Carriage,
    given: u64,
    sent: u64,
    octets: usize,
}

impl Output for Checked {
    fn to_network(&mut self, packet: &[u8]) {
        assert_eq!(
            packet.len(),
            header(packet) + if self.carriage == Carriage::Ip { 0 } else { 8 },
            "only ENQs are sent"
        );
        self.sent += 1;
    }

    fn to_host(&mut self, packet: &[u8]) {
        let (header, protocol) = (header(packet), if packet[0] >> 4 == 4 { packet[9] } else { packet[6] });
        let (at, before) = if header == 20 { (2, 0) } else { (4, 40) };
        assert_eq!(usize::from(u16::from_be_bytes([packet[at], packet[at + 1]])) + before, packet.len());
        assert!(packet.len() >= header + if protocol == 6 { 20 } else { 8 });
        assert!(protocol == 6 || protocol == 17);
        self.given += 1;
        self.octets += packet.len() - header + 4;
    }
}

/// Octets of the IP header.
fn header(packet: &[u8]) -> usize {
    if packet[0] >> 4 == 4 { 20 } else { 40 }
}

/// Takes what this host sends.
struct Unchecked;

impl Output for Unchecked {
    fn to_network(&mut self, _packet: &[u8]) {}

    fn to_host(&mut self, _packet: &[u8]) {
        panic!("nothing was received");
    }
}

const OVER_UDP: Carriage = Carriage::Udp { port: 1692 };

/// A message of up to five segments, rarely of more than are accepted, and sometimes with something that is none.
fn message(random: &mut Pcg64, parts: &[Vec<u8>]) -> Vec<u8> {
    if random.random_ratio(1, 100) {
        return parts[[0, 2][random.random_range(0..2)]].repeat(80);
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

/// What this host sent, as ICMP quotes it.
fn quoted(carriage: Carriage, versions: [&str; 2], payload: &[u8]) -> Vec<u8> {
    match carriage {
        Carriage::Ip => packet(versions[0], versions[1], 0, 18, payload),
        Carriage::Udp { port } => packet(versions[0], versions[1], 0, 17, &udp(port, port, payload)),
    }
}

/// ICMP that refuses a message, or something near it.
fn icmp(random: &mut Pcg64, carriage: Carriage, versions: [&str; 2], payload: &[u8]) -> Vec<u8> {
    let is_v4 = !versions[0].contains(':');
    let (protocol, kinds) = if is_v4 { (1, [(3, 2), (3, 3), (3, 4)]) } else { (58, [(2, 0), (4, 1), (1, 4)]) };
    let (kind, code) = kinds[random.random_range(0..3)];
    let head = [kind, code, 0, 0, 0, 0, random.random_range(0..6), random.random()];
    packet(versions[1], versions[0], 0, protocol, &[&head, &quoted(carriage, versions, payload)[..]].concat())
}

const V4: [&str; 2] = [US, PEER];
const V6: [&str; 2] = ["2001:db8::1", "2001:db8::2"];

/// Plays `count` inputs to one multiplexer; what it counted.
fn play(count: u64, seed: u64, carriage: Carriage, [us, peer]: [&str; 2]) -> Counters {
    let mut random = Pcg64::seed_from_u64(seed);
    let (peers, local) = (vec![address(peer)], vec![address(us)]);
    let settings = Settings { peers, local, carriage, udp: true, ..Settings::default() };
    let mut multiplexer = Multiplexer::new(settings, Stamp::ZERO);
    let (parts, header) = (parts(), CommonHeader { source: address(peer), destination: address(us), tos: 0 });
    let mut output = Checked { carriage, ..Checked::default() };
    for input in 0..count {
        let now = Stamp::from_nanos(input * 1000);
        let mut octets = message(&mut random, &parts);
        damage(&mut random, &mut octets);
        output.octets = 0;
        match input % 5 {
            0 => {
                octets = quoted(carriage, [peer, us], &octets);
                damage(&mut random, &mut octets);
                multiplexer.receive(&octets, now, &mut output);
            }
            1 => {
                octets = icmp(&mut random, carriage, [us, peer], &octets);
                damage(&mut random, &mut octets);
                multiplexer.receive_icmp(&octets, now);
            }
            2 => {
                octets = packet(us, peer, 0, 6, octets.get(4..).unwrap_or_default());
                damage(&mut random, &mut octets);
                multiplexer.send(&octets, now, &mut Unchecked);
                multiplexer.expire(now, &mut Unchecked);
                continue;
            }
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
    for (carriage, versions) in [(Carriage::Ip, V4), (Carriage::Ip, V6), (OVER_UDP, V4), (OVER_UDP, V6)] {
        let counters = play(100_000, 1692, carriage, versions);
        assert!(counters.segments.received > 20_000, "{counters:?}");
        let dropped = &counters.dropped;
        let often = [dropped.unreadable, dropped.protocol, dropped.stranger, dropped.checksum, dropped.length];
        let rarely = [dropped.nested, dropped.segment_protocol, dropped.transport, dropped.over_limit, dropped.syns];
        assert!(often.iter().all(|count| *count > 100) && rarely.iter().all(|count| *count > 10), "{dropped:?}");
        let (changes, plain) = (&counters.changes, &counters.plain);
        assert!(changes.refused > 1000 && changes.smaller_mtu > 0, "{changes:?}");
        assert!(counters.segments.sent > 100 && plain.peer_unable > 100 && plain.transport > 100, "{counters:?}");
    }
}

/// In release mode it takes a minute: `cargo test --release -p cuesta-tmux --test it -- --ignored noise`.
#[test]
#[ignore = "minutes of noise: scripts/nightly plays it"]
fn a_hundred_million_damaged_messages() {
    std::thread::scope(|scope| {
        let kinds = [(0, Carriage::Ip, V4), (1, OVER_UDP, V6)];
        let seeds =
            kinds.map(|(seed, carriage, versions)| scope.spawn(move || play(50_000_000, seed, carriage, versions)));
        for counters in seeds {
            assert!(counters.join().unwrap().segments.received > 10_000_000);
        }
    });
}
