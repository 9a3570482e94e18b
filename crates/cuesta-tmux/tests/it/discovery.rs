//! What is believed of a peer, and when it is asked.

use std::slice;
use std::time::Duration;

use cuesta_record::Stamp;
use cuesta_tmux::wire::{Carriage, PeerState};
use proptest::prelude::*;

use crate::harness::{Host, PEER, US, address, in_message, key, out, packet, tcp, udp};

const DELAY: Duration = Duration::from_millis(20);
const NOTHING: [Vec<u8>; 0] = [];

fn state(host: &Host) -> PeerState {
    host.multiplexer.peers(host.now)[0].state
}

fn hear(host: &mut Host) {
    host.receive(&packet(PEER, US, 0, 18, &in_message(6, &key(1))));
}

/// An ICMP message of `router` that quotes the start of a packet of this host.
fn icmp(router: &str, kind: u8, code: u8, quoted: &[u8]) -> Vec<u8> {
    let version = if router.contains(':') { (58, "2001:db8::1") } else { (1, US) };
    let message = [&[kind, code, 0, 0, 0, 0, 0, 0], &quoted[..quoted.len().min(28)]].concat();
    packet(router, version.1, 0, version.0, &message)
}

fn refuse(host: &mut Host, message: &[u8]) {
    host.multiplexer.receive_icmp(message, host.now);
}

#[test]
fn protocol_unreachable_makes_a_peer_unable_at_once() {
    let mut host = Host::able(|_| ());
    refuse(&mut host, &icmp(PEER, 3, 2, &packet(US, PEER, 0, 18, b"")));
    assert_eq!(state(&host), PeerState::Refused);
    let plain = out(6, &key(1));
    assert_eq!(host.send(&plain), slice::from_ref(&plain));
    assert_eq!(host.multiplexer.counters().changes.refused, 1);
    assert_eq!(host.wait(Duration::from_secs(17)), [packet(US, PEER, 0, 18, b"")], "it is probed again");
    hear(&mut host);
    assert_eq!(host.send(&plain), NOTHING);
}

#[test]
fn a_router_that_forbids_messages_makes_a_peer_unable() {
    for code in [2, 3, 9, 10, 13] {
        let mut host = Host::able(|_| ());
        refuse(&mut host, &icmp("198.51.100.1", 3, code, &out(18, &in_message(6, &key(1)))));
        assert_eq!(state(&host), PeerState::Refused);
    }
}

#[test]
fn other_icmp_changes_nothing() {
    let message = out(18, b"");
    let others = [
        icmp(PEER, 3, 0, &message),
        icmp(PEER, 3, 1, &message),
        icmp(PEER, 3, 4, &message),
        icmp(PEER, 11, 0, &message),
        icmp(PEER, 3, 2, &out(6, &key(1))),
        icmp(PEER, 3, 3, &out(17, &udp(1, 2, b""))),
        icmp(PEER, 3, 2, &packet(US, "198.51.100.1", 0, 18, b"")),
        packet(PEER, US, 0, 6, &[&[3, 2, 0, 0, 0, 0, 0, 0], &message[..]].concat()),
    ];
    let mut host = Host::able(|_| ());
    for other in others {
        (0..=other.len()).for_each(|len| refuse(&mut host, &other[..len]));
    }
    assert_eq!(state(&host), PeerState::Able);
}

#[test]
fn icmp_of_ipv6_is_read_with_and_without_its_header() {
    let peer = "2001:db8::2";
    for (kind, code, expected) in [(4, 1, PeerState::Refused), (1, 1, PeerState::Refused), (2, 0, PeerState::Able)] {
        for start in [0, 40] {
            let mut host = Host::able(|settings| settings.peers = vec![address(peer)]);
            host.receive(&packet(peer, "2001:db8::1", 0, 18, b""));
            assert_eq!(state(&host), PeerState::Able);
            let mut message = icmp(peer, kind, code, &[]);
            message.extend(packet("2001:db8::1", peer, 0, 18, b""));
            let len = (message.len() - 40) as u16;
            message[4..6].copy_from_slice(&len.to_be_bytes());
            message[44..48].copy_from_slice(&1300_u32.to_be_bytes());
            refuse(&mut host, &message[start..]);
            let mtu = if expected == PeerState::Able { 1300 } else { 1500 };
            assert_eq!((state(&host), host.multiplexer.peers(host.now)[0].mtu), (expected, mtu));
        }
    }
}

/// A router's word that a message was too large: of 1400 octets if `mtu` says so.
fn too_large(mtu: [u8; 2]) -> Vec<u8> {
    let mut message = icmp("198.51.100.1", 3, 4, &out(18, &[0; 1480]));
    message[26..28].copy_from_slice(&mtu);
    message
}

#[test]
fn a_router_that_carries_less_makes_messages_smaller_and_larger_segments_plain() {
    for (mtu, largest) in [(1400, 1400), (0, 1492_u16)] {
        let mut host = Host::able(|_| ());
        host.send(&out(6, &tcp(1, 23, |_| (), &[0; 600])));
        refuse(&mut host, &too_large(u16::to_be_bytes(mtu)));
        let fills = |octets: usize| out(6, &tcp(1, 23, |_| (), &vec![0; usize::from(largest) - 44 + octets]));
        let sent = host.send(&fills(0));
        assert_eq!(sent.iter().map(Vec::len).collect::<Vec<_>>(), [20 + 624, usize::from(largest)]);
        assert_eq!(host.send(&fills(1)), [fills(1)], "TCP must see what happens to it");
        let counters = host.multiplexer.counters();
        assert_eq!((counters.changes.smaller_mtu, counters.plain.over_mtu), (1, 1));
        assert_eq!((state(&host), host.multiplexer.peers(host.now)[0].mtu), (PeerState::Able, largest.into()));
        host.wait(Duration::from_secs(600));
        hear(&mut host);
        assert_eq!(host.send(&fills(1))[0][9], 18, "the path may have changed");
    }
}

#[test]
fn what_this_host_cannot_send_makes_messages_smaller_once() {
    let mut host = Host::able(|_| ());
    (0..3).for_each(|_| host.multiplexer.too_large(address(PEER), 1500, host.now));
    assert_eq!(host.multiplexer.peers(host.now)[0].mtu, 1492);
    host.multiplexer.too_large(address(PEER), 1492, host.now);
    assert_eq!(host.multiplexer.peers(host.now)[0].mtu, 1400);
}

#[test]
fn over_udp_port_unreachable_makes_a_peer_unable() {
    let mut host = Host::able(|settings| settings.carriage = Carriage::Udp { port: 1692 });
    refuse(&mut host, &icmp(PEER, 3, 3, &out(17, &udp(9, 53, b""))));
    assert_eq!(state(&host), PeerState::Able, "that was another program's");
    refuse(&mut host, &icmp(PEER, 3, 3, &out(17, &udp(1692, 1692, b""))));
    assert_eq!(state(&host), PeerState::Refused);
}

/// Sends a keystroke and lets its message go.
fn type_key(host: &mut Host) -> Vec<Vec<u8>> {
    let mut sent = host.send(&out(6, &key(1)));
    sent.extend(host.wait(DELAY));
    sent
}

#[test]
fn messages_without_an_answer_make_a_peer_unable_in_three_seconds() {
    let mut host = Host::able(|_| ());
    for _ in 0..4 {
        assert_eq!(type_key(&mut host)[0][9], 18);
        host.wait(Duration::from_millis(700));
    }
    host.wait(Duration::from_millis(200));
    assert_eq!(type_key(&mut host)[0][9], 6, "3 s after the first");
    assert_eq!((state(&host), host.multiplexer.counters().changes.silent), (PeerState::Silent, 1));
}

/// A host whose peer has just become silent.
fn silent() -> Host {
    let mut host = Host::able(|_| ());
    fall_silent(&mut host);
    host
}

/// Sends messages that nothing answers, until the peer is taken as silent.
fn fall_silent(host: &mut Host) {
    (0..3).for_each(|_| drop(type_key(host)));
    host.wait(Duration::from_secs(4));
    type_key(host);
    assert_eq!(state(host), PeerState::Silent);
}

#[test]
fn only_an_answer_ends_silence() {
    let mut host = silent();
    host.wait(Duration::from_secs(5));
    hear(&mut host);
    assert_eq!(state(&host), PeerState::Silent, "nothing was sent that this could answer");
    while host.wait(Duration::from_secs(1)).is_empty() {}
    hear(&mut host);
    assert_eq!(state(&host), PeerState::Able, "it answers the probe");
}

#[test]
fn a_silent_peer_that_comes_back_is_asked() {
    let mut host = silent();
    assert_eq!(host.receive(&packet(PEER, US, 0, 18, b"")).network, [out(18, b"")]);
    assert_eq!(state(&host), PeerState::Silent, "its ENQ alone may be forged");
    hear(&mut host);
    assert_eq!(state(&host), PeerState::Able, "its message answers our ENQ");
}

#[test]
fn a_refusal_does_not_end_silence() {
    let mut host = silent();
    host.wait(Duration::from_secs(5));
    refuse(&mut host, &icmp(PEER, 3, 2, &out(18, b"")));
    host.receive(&packet(PEER, US, 0, 18, b""));
    assert_eq!(state(&host), PeerState::Silent, "both may be forged");
}

#[test]
fn an_enq_is_no_answer_to_messages() {
    let mut host = Host::able(|_| ());
    for _ in 0..4 {
        type_key(&mut host);
        host.receive(&packet(PEER, US, 0, 18, b""));
        host.wait(Duration::from_secs(1));
    }
    assert_eq!(type_key(&mut host)[0][9], 6);
    assert_eq!(state(&host), PeerState::Silent);
}

#[test]
fn a_peer_that_answers_enqs_alone_is_tried_ever_more_rarely() {
    let mut host = silent();
    let mut waits = Vec::new();
    for _ in 0..4 {
        let begin = host.now;
        host.now = host.multiplexer.next_due();
        assert_eq!(host.expire(), [out(18, b"")]);
        waits.push(host.now.since(begin).as_secs());
        host.receive(&packet(PEER, US, 0, 18, b""));
        assert_eq!(state(&host), PeerState::Able);
        fall_silent(&mut host);
    }
    assert!(waits.windows(2).all(|two| two[1] * 2 > two[0] * 3), "{waits:?}");
}

#[test]
fn acknowledgements_need_no_answer() {
    let mut host = Host::able(|_| ());
    type_key(&mut host);
    hear(&mut host);
    for _ in 0..10 {
        assert_eq!(host.send(&out(6, &tcp(1, 23, |_| (), b""))), NOTHING);
        host.wait(Duration::from_secs(1));
    }
    assert_eq!(host.send(&out(6, &key(1))), NOTHING, "a keystroke after them goes in a message");
    assert_eq!(state(&host), PeerState::Able);
}

#[test]
fn a_peer_whose_ttl_is_over_is_soon_probed() {
    let mut host = Host::unknown(|_| ());
    host.wait(Duration::from_secs(20_000));
    hear(&mut host);
    host.wait(Duration::from_secs(60));
    type_key(&mut host);
    assert_eq!(host.wait(Duration::from_secs(17)), [out(18, b"")], "although it had been probed once an hour");
}

#[test]
fn a_clock_that_jumps_back_delays_no_change() {
    let hour = Duration::from_secs(3600);
    let mut host = Host::able(|_| ());
    (0..3).for_each(|_| drop(type_key(&mut host)));
    host.now = host.now - hour;
    host.expire();
    host.wait(Duration::from_secs(4));
    type_key(&mut host);
    assert_eq!(state(&host), PeerState::Silent, "4 s are over");

    let mut host = Host::able(|_| ());
    host.now = host.now - hour;
    host.expire();
    host.wait(Duration::from_secs(61));
    assert_eq!(state(&host), PeerState::Expired, "the TTL is over");

    let enq = packet(PEER, US, 0, 18, b"");
    host.wait(Duration::from_secs(20));
    assert_eq!(host.receive(&enq).network.len(), 1);
    host.now = host.now - hour;
    host.wait(Duration::from_secs(20));
    host.expire();
    host.wait(Duration::from_secs(20));
    assert_eq!(host.receive(&enq).network.len(), 1, "15 s are over");
}

#[test]
fn a_peer_that_answers_is_not_silent() {
    let mut host = Host::able(|_| ());
    for _ in 0..100 {
        type_key(&mut host);
        hear(&mut host);
        host.wait(Duration::from_secs(10));
    }
    assert_eq!((state(&host), host.multiplexer.counters().messages.sent), (PeerState::Able, 100));
}

#[test]
fn probes_have_the_address_that_the_peer_knows() {
    let mut host = Host::unknown(|settings| settings.local.clear());
    let unspecified = packet("0.0.0.0", PEER, 0, 18, b"");
    assert_eq!(host.wait(Duration::from_secs(17)), [unspecified], "the kernel fills it in");
    hear(&mut host);
    refuse(&mut host, &icmp(PEER, 3, 2, &out(18, b"")));
    assert_eq!(host.wait(Duration::from_secs(33)), [packet(US, PEER, 0, 18, b"")]);
}

#[test]
fn an_able_peer_is_never_probed() {
    let mut host = Host::able(|settings| settings.ttl = Duration::MAX);
    assert_eq!(host.wait(Duration::from_secs(100_000)), NOTHING);
    host.now = Stamp::FAR;
    assert_eq!(host.expire(), NOTHING);
}

#[test]
fn peers_that_cannot_be_are_left_out() {
    let peers = ["192.0.2.9", PEER, "224.0.0.1", PEER, "192.0.2.3"].map(address).to_vec();
    let host = Host::unknown(|settings| (settings.peers, settings.max_host) = (peers, 3));
    let known = host.multiplexer.peers(host.now).into_iter().map(|peer| peer.address);
    assert_eq!(known.collect::<Vec<_>>(), [PEER, "192.0.2.9"].map(address), "the third place is the second's again");
}

#[test]
fn the_status_of_a_peer_is_told() {
    let mut host = Host::able(|settings| settings.peers.push(address("192.0.2.3")));
    host.send(&out(6, &key(1)));
    let [able, unknown] = host.multiplexer.peers(host.now).try_into().unwrap();
    assert_eq!((able.address, able.state, able.waiting, able.probe_in_s), (address(PEER), PeerState::Able, 1, None));
    assert_eq!((able.heard_s, unknown.heard_s, unknown.state), (Some(0.0), None, PeerState::Unknown));
    assert!(unknown.probe_in_s.is_some_and(|seconds| (13.5..=16.5).contains(&seconds)));
    host.wait(Duration::from_secs(60));
    assert_eq!(state(&host), PeerState::Expired, "although nothing was sent since");
    assert_eq!(serde_json::to_value(able).unwrap()["state"], "able");
}

#[test]
fn seeds_give_intervals_of_their_own() {
    let due = |seed| Host::unknown(|settings| settings.seed = seed).multiplexer.next_due();
    assert_eq!(due(1), due(1));
    assert_ne!(due(1), due(2));
}

/// What can happen to one of two hosts.
#[derive(Debug, Clone, Copy)]
enum Event {
    Key,
    Large,
    Refusal,
    Noise,
    /// The oldest datagram on its way to the host arrives.
    Arrival,
    Loss,
}

fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        2 => Just(Event::Key),
        1 => Just(Event::Large),
        1 => Just(Event::Refusal),
        1 => Just(Event::Noise),
        8 => Just(Event::Arrival),
        1 => Just(Event::Loss),
    ]
}

/// Milliseconds, most of them short.
fn any_time() -> impl Strategy<Value = u64> {
    prop_oneof![3 => 0..50_u64, 2 => 0..3000_u64, 1 => 0..200_000_u64]
}

/// Two hosts, what is on its way to each of them, and when they sent ENQs.
struct Pair {
    hosts: [Host; 2],
    flying: [Vec<Vec<u8>>; 2],
    enqs: [Vec<u64>; 2],
}

impl Pair {
    fn new(seed: u64) -> Self {
        let second = Host::new(|settings| {
            (settings.seed, settings.peers, settings.local) = (seed ^ 1, vec![address(US)], vec![address(PEER)]);
        });
        let hosts = [Host::new(|settings| settings.seed = seed), second];
        let mut pair = Self { hosts, flying: [vec![], vec![]], enqs: [vec![], vec![]] };
        pair.wait(Duration::ZERO);
        pair
    }

    fn wait(&mut self, time: Duration) {
        let end = self.hosts[0].now + time;
        while let Some(due) = self.hosts.iter().map(|host| host.multiplexer.next_due()).min().filter(|due| *due <= end)
        {
            for index in 0..2 {
                self.hosts[index].now = due.max(self.hosts[index].now);
                let sent = self.hosts[index].expire();
                self.launch(index, sent);
            }
        }
        self.hosts.iter_mut().for_each(|host| host.now = end);
    }

    fn launch(&mut self, from: usize, sent: Vec<Vec<u8>>) {
        let enqs = sent.iter().filter(|datagram| datagram.len() == 20).count();
        self.enqs[from].extend(vec![self.hosts[from].now.as_nanos(); enqs]);
        self.flying[1 - from].extend(sent.into_iter().filter(|datagram| datagram[9] == 18));
    }

    fn play(&mut self, at: usize, event: Event) {
        let (from, to) = if at == 0 { (US, PEER) } else { (PEER, US) };
        let host = &mut self.hosts[at];
        let sent = match event {
            Event::Key => host.send(&packet(from, to, 0, 6, &key(1))),
            Event::Large => host.send(&packet(from, to, 0, 6, &tcp(1, 23, |_| (), &[0; 900]))),
            Event::Refusal => {
                refuse(
                    host,
                    &packet(to, from, 0, 1, &[&[3, 2, 0, 0, 0, 0, 0, 0], &packet(from, to, 0, 18, b"")[..]].concat()),
                );
                Vec::new()
            }
            Event::Noise => host.receive(&packet(to, from, 0, 18, b"noise")).network,
            Event::Arrival if !self.flying[at].is_empty() => host.receive(&self.flying[at].remove(0)).network,
            Event::Loss if !self.flying[at].is_empty() => {
                self.flying[at].remove(0);
                Vec::new()
            }
            Event::Arrival | Event::Loss => Vec::new(),
        };
        self.launch(at, sent);
    }
}

#[test]
fn both_may_probe_at_once() {
    let mut pair = Pair::new(7);
    assert_eq!(pair.flying.each_ref().map(Vec::len), [1, 1], "neither has heard the other");
    (0..2).for_each(|at| pair.play(at, Event::Arrival));
    assert_eq!(pair.hosts.each_ref().map(state), [PeerState::Able; 2]);
    assert_eq!(pair.flying, [NOTHING; 2], "neither answers: its own probe says it");
}

proptest! {
    /// At most one probe in 13.5 s (15 s less a tenth) and one answer in 15 s, whatever happens; and no datagram is answered by
    /// more than one.
    #[test]
    fn enqs_are_rare(seed: u64, events in prop::collection::vec((0_usize..2, any_event(), any_time()), 1..200)) {
        let mut pair = Pair::new(seed);
        for (at, event, milliseconds) in events {
            pair.play(at, event);
            pair.wait(Duration::from_millis(milliseconds));
        }
        for enqs in pair.enqs {
            for three in enqs.windows(3) {
                prop_assert!(three[2] - three[0] >= 13_500_000_000, "{enqs:?}");
            }
        }
    }
}
