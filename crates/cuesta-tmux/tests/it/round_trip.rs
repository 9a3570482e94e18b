//! Any packets between two hosts over a network that loses, duplicates and reorders datagrams, and clocks that jump.

use std::time::Duration;

use cuesta_record::Stamp;
use cuesta_tmux::wire::{Carriage, CommonHeader, Multiplexer, Output, Settings};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::harness::{address, packet, tcp, udp};

const FROM: [&str; 2] = ["192.0.2.1", "2001:db8::1"];
const TO: [&str; 2] = ["192.0.2.2", "2001:db8::2"];

/// A packet to send, and what happens after it.
#[derive(Debug, Clone)]
struct Step {
    packet: Vec<u8>,
    wait: Duration,
    /// Nothing more is there to read.
    drained: bool,
    /// The clock jumps by this many milliseconds.
    jump: i64,
}

fn any_packet() -> impl Strategy<Value = Vec<u8>> {
    let segment = (any::<u16>(), any::<u8>(), any::<u32>(), prop_oneof![3 => 0..8_usize, 1 => 0..1600_usize]);
    (0..2_usize, prop_oneof![4 => Just(0_u8), 1 => any::<u8>()], prop::bool::weighted(0.2), segment).prop_map(
        |(version, tos, is_udp, (port, flags, seq, len))| {
            let data: Vec<u8> = (0..len).map(|at| (at as u32 ^ seq) as u8).collect();
            let rarely = |bit: u8| flags & bit != 0 && flags & 0x30 == 0;
            let segment = tcp(
                port,
                23,
                |header| {
                    header.sequence_number = seq;
                    (header.syn, header.fin, header.rst, header.urg) = (rarely(1), rarely(2), rarely(4), rarely(8));
                },
                &data,
            );
            let (protocol, segment) = if is_udp { (17, udp(port, 53, &data)) } else { (6, segment) };
            packet(FROM[version], TO[version], tos, protocol, &segment)
        },
    )
}

fn any_step(jumps: bool) -> impl Strategy<Value = Step> {
    let wait = prop_oneof![3 => Just(0), 3 => 0..1_000_000_u64, 2 => 0..50_000_000_u64];
    let jump = if jumps { prop_oneof![8 => Just(0), 1 => -1_000_000..1_000_000_i64].boxed() } else { Just(0).boxed() };
    (any_packet(), wait, prop::bool::weighted(0.3), jump).prop_map(|(packet, wait, drained, jump)| Step {
        packet,
        wait: Duration::from_nanos(wait),
        drained,
        jump,
    })
}

fn any_settings() -> impl Strategy<Value = Settings> {
    let carriage = prop_oneof![2 => Just(Carriage::Ip), 1 => Just(Carriage::Udp { port: 1692 })];
    let delay = prop_oneof![1 => Just(0), 3 => 0..100_u64];
    (carriage, delay, 68..2000_usize, 0..1500_usize, any::<bool>(), any::<bool>()).prop_map(
        |(carriage, delay, mtu, max_mpx, udp, rfc_bypass)| Settings {
            delay: Duration::from_millis(delay),
            max_mpx,
            mtu,
            carriage,
            udp,
            rfc_bypass,
            peers: TO.map(address).to_vec(),
            local: FROM.map(address).to_vec(),
            ..Settings::default()
        },
    )
}

/// What the network does with a datagram: how often it arrives, and how far back in the order.
type Fate = (usize, Index);

fn any_network() -> impl Strategy<Value = Vec<Fate>> {
    prop::collection::vec((prop_oneof![1 => Just(0_usize), 6 => Just(1), 1 => Just(2)], any::<Index>()), 1..20)
}

/// The sender of every packet, which notes when each went in and out.
struct Sender {
    multiplexer: Multiplexer,
    settings: Settings,
    now: Stamp,
    /// Packets that the multiplexer was given.
    given: Vec<Vec<u8>>,
    /// Packets that it sent.
    sent: Vec<Vec<u8>>,
}

#[derive(Default)]
struct Collected(Vec<Vec<u8>>);

impl Output for Collected {
    fn to_network(&mut self, packet: &[u8]) {
        self.0.push(packet.to_vec());
    }

    fn to_host(&mut self, packet: &[u8]) {
        self.0.push(packet.to_vec());
    }
}

impl Sender {
    /// Its peers are able.
    fn new(settings: Settings) -> Self {
        let now = Stamp::from_nanos(1 << 50);
        let mut sender = Self {
            multiplexer: Multiplexer::new(settings.clone(), now),
            settings,
            now,
            given: Vec::new(),
            sent: Vec::new(),
        };
        sender.hear();
        sender
    }

    fn hear(&mut self) {
        for version in 0..2 {
            let header = CommonHeader { source: address(TO[version]), destination: address(FROM[version]), tos: 0 };
            self.multiplexer.receive_payload(header, &[], self.now, &mut Collected::default());
        }
    }

    fn play_all(&mut self, steps: &[Step]) {
        for step in steps {
            self.play(step);
        }
        self.wait(self.settings.delay);
    }

    fn play(&mut self, step: &Step) {
        self.call(|multiplexer, now, output| multiplexer.send(&step.packet, now, output));
        self.given.push(step.packet.clone());
        if step.drained {
            self.call(Multiplexer::drained);
        }
        self.now = Stamp::from_nanos(self.now.as_nanos().saturating_add_signed(step.jump * 1_000_000));
        if step.jump != 0 {
            self.call(Multiplexer::expire);
        }
        self.hear();
        self.wait(step.wait);
    }

    /// Lets time pass; what is due happens when it is due.
    fn wait(&mut self, time: Duration) {
        let end = self.now + time;
        while self.multiplexer.next_due() <= end {
            self.now = self.multiplexer.next_due().max(self.now);
            self.call(Multiplexer::expire);
        }
        self.now = end;
    }

    fn call(&mut self, act: impl FnOnce(&mut Multiplexer, Stamp, &mut Collected)) {
        let mut output = Collected::default();
        act(&mut self.multiplexer, self.now, &mut output);
        self.sent.append(&mut output.0);
    }

    fn waiting(&self) -> usize {
        self.multiplexer.peers(self.now).iter().map(|peer| peer.waiting).sum()
    }
}

/// Whether a datagram is a message or an ENQ.
fn is_message(datagram: &[u8], carriage: Carriage) -> bool {
    let (protocol, payload) = if datagram[0] >> 4 == 4 { (datagram[9], 20) } else { (datagram[6], 40) };
    match carriage {
        Carriage::Ip => protocol == 18,
        Carriage::Udp { port } => protocol == 17 && datagram[payload + 2..][..2] == port.to_be_bytes(),
    }
}

/// The other host. What is plain IP reaches it unchanged.
fn receiver(settings: &Settings) -> impl FnMut(&[u8]) -> Vec<Vec<u8>> {
    let settings = Settings { peers: FROM.map(address).to_vec(), local: TO.map(address).to_vec(), ..settings.clone() };
    let (carriage, mut multiplexer) = (settings.carriage, Multiplexer::new(settings, Stamp::ZERO));
    move |datagram| {
        let mut given = Collected::default();
        if is_message(datagram, carriage) {
            multiplexer.receive(datagram, Stamp::ZERO, &mut given);
        } else {
            given.0.push(datagram.to_vec());
        }
        given.0
    }
}

fn sorted(mut packets: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    packets.sort();
    packets
}

/// Datagrams after a network.
fn carried(sent: &[Vec<u8>], fates: &[Fate]) -> Vec<Vec<u8>> {
    let mut arrived: Vec<Vec<u8>> = Vec::new();
    for (datagram, (times, place)) in sent.iter().zip(fates.iter().cycle()) {
        for _ in 0..*times {
            let place = arrived.len() - place.index(arrived.len().min(3) + 1);
            arrived.insert(place, datagram.clone());
        }
    }
    arrived
}

proptest! {
    /// Over a network that does its work every packet arrives once, unaltered, and those of one connection in order.
    #[test]
    fn every_packet_arrives_once_and_in_order(settings in any_settings(), steps in prop::collection::vec(any_step(false), 1..60)) {
        let bypass = settings.rfc_bypass;
        let mut sender = Sender::new(settings);
        sender.play_all(&steps);
        let mut receive = receiver(&sender.settings);
        let arrived: Vec<Vec<u8>> = sender.sent.iter().flat_map(|datagram| receive(datagram)).collect();
        prop_assert_eq!(sorted(arrived.clone()), sorted(sender.given.clone()));
        let one_way = |packet: &&Vec<u8>| packet[0] == 0x45 && packet[1] == 0 && packet[9] == 6;
        let in_order = |packets: &[Vec<u8>]| packets.iter().filter(one_way).cloned().collect::<Vec<_>>();
        prop_assert_eq!(in_order(&arrived), in_order(&sender.given), "rfc_bypass: {}", bypass);
    }

    /// Over any network nothing arrives that was not sent, and segments of one message arrive together and in order.
    #[test]
    fn nothing_is_altered_by_a_bad_network(
        settings in any_settings(),
        steps in prop::collection::vec(any_step(false), 1..60),
        fates in any_network(),
    ) {
        let mut sender = Sender::new(settings);
        sender.play_all(&steps);
        let mut receive = receiver(&sender.settings);
        let expected: Vec<Vec<Vec<u8>>> = sender.sent.iter().map(|datagram| receive(datagram)).collect();
        for datagram in carried(&sender.sent, &fates) {
            let given = receive(&datagram);
            prop_assert!(expected.contains(&given));
            prop_assert!(given.iter().all(|packet| sender.given.contains(packet)));
        }
    }

    /// No message is larger than the MTU, and none waits longer than the delay, wherever the clock jumps.
    #[test]
    fn no_message_is_too_large_or_too_late(settings in any_settings(), steps in prop::collection::vec(any_step(true), 1..60)) {
        let mut sender = Sender::new(settings);
        for step in &steps {
            sender.play(step);
            let due = sender.multiplexer.next_due();
            prop_assert!(sender.waiting() == 0 || due <= sender.now + sender.settings.delay);
        }
        sender.wait(sender.settings.delay);
        prop_assert_eq!(sender.waiting(), 0);
        let messages = sender.sent.iter().filter(|datagram| is_message(datagram, sender.settings.carriage));
        for message in messages {
            prop_assert!(message.len() <= sender.settings.mtu);
        }
        let counters = sender.multiplexer.counters();
        prop_assert_eq!(counters.held.microseconds.counts().iter().sum::<u64>(), counters.segments.sent);
        if steps.iter().all(|step| step.jump <= 0) {
            prop_assert!(u128::from(counters.held.max_ns) <= sender.settings.delay.as_nanos());
        }
    }

    /// Any instants, in any order: nothing panics, and what waits is due.
    #[test]
    fn any_instants_will_do(settings in any_settings(), calls in prop::collection::vec((any_packet(), 0..4_u8, any::<u64>()), 1..60)) {
        let delay = settings.delay;
        let mut sender = Sender::new(settings);
        for (packet, kind, nanos) in calls {
            sender.now = Stamp::from_nanos(if kind == 0 { u64::MAX - nanos % 3 } else { nanos });
            sender.call(|multiplexer, now, output| multiplexer.send(&packet, now, output));
            sender.call(Multiplexer::expire);
            sender.hear();
            let due = sender.multiplexer.next_due();
            prop_assert!(sender.waiting() == 0 || due <= sender.now + delay && due != Stamp::FAR);
        }
        sender.now = Stamp::FAR;
        sender.call(Multiplexer::expire);
        prop_assert_eq!(sender.waiting(), 0);
    }
}

#[test]
fn a_clock_that_goes_back_lets_nothing_wait_longer() {
    let settings = Settings { peers: TO.map(address).to_vec(), ..Settings::default() };
    let delay = settings.delay;
    let mut sender = Sender::new(settings);
    sender.call(|multiplexer, now, output| {
        multiplexer.send(&packet(FROM[0], TO[0], 0, 6, &tcp(1, 23, |_| (), b"x")), now, output);
    });
    sender.now = Stamp::from_nanos(5);
    sender.call(Multiplexer::expire);
    assert_eq!(sender.multiplexer.next_due(), sender.now + delay);
    sender.wait(delay);
    assert_eq!((sender.sent.len(), sender.waiting()), (1, 0));
}

#[test]
fn a_clock_that_goes_back_keeps_probing() {
    let mut host = crate::harness::Host::unknown(|_| ());
    host.now = Stamp::from_nanos(0);
    host.expire();
    assert!(host.multiplexer.next_due() <= host.now + Duration::from_secs(30));
    assert_eq!(host.wait(Duration::from_secs(30)).len(), 1);
}
