//! What goes beyond RFC 1692, or differs from it: IPv6, UDP carriage, connections that stay in messages, limits on what is accepted.

use std::slice;
use std::time::Duration;

use cuesta_record::Stamp;
use cuesta_tmux::wire::{Carriage, CommonHeader};

use crate::harness::{Host, PEER, Packets, US, address, in_message, key, out, packet, tcp, udp};

const DELAY: Duration = Duration::from_millis(20);
const NOTHING: [Vec<u8>; 0] = [];
const US6: &str = "2001:db8::1";
const PEER6: &str = "2001:db8::2";
const PORT: u16 = 1692;

fn over_udp(change: impl FnOnce(&mut cuesta_tmux::wire::Settings)) -> Host {
    Host::able(|settings| {
        settings.carriage = Carriage::Udp { port: PORT };
        change(settings);
    })
}

#[test]
fn large_segments_are_added_and_sent_at_once() {
    let mut host = Host::able(|_| ());
    let large = tcp(1, 23, |_| (), &[0; 681]);
    assert_eq!(host.send(&out(6, &tcp(1, 23, |_| (), &[0; 680]))), NOTHING);
    assert_eq!(host.send(&out(6, &key(1))), NOTHING);
    assert_eq!(host.send(&out(6, &large))[0].len(), 20 + 704 + 28 + 708, "nothing overtakes within a connection");
    assert_eq!(host.multiplexer.counters().sent_because.large, 1);
}

#[test]
fn an_urgent_segment_takes_all_messages_to_its_host_along() {
    let mut host = Host::able(|_| ());
    assert_eq!(host.send(&packet(US, PEER, 2, 6, &key(1))), NOTHING);
    let fin = tcp(1, 23, |header| header.fin = true, b"");
    let expected = [packet(US, PEER, 2, 18, &in_message(6, &key(1))), packet(US, PEER, 0, 18, &in_message(6, &fin))];
    assert_eq!(host.send(&out(6, &fin)), expected);
}

#[test]
fn a_delay_of_zero_waits_until_nothing_is_left_to_read() {
    let mut host = Host::able(|settings| settings.delay = Duration::ZERO);
    (1..=3).for_each(|port| assert_eq!(host.send(&out(6, &key(port))), NOTHING));
    assert_eq!(host.drained()[0].len(), 20 + 3 * 28);
    assert_eq!(host.drained(), NOTHING);
    assert_eq!(host.multiplexer.next_due(), Stamp::FAR);
    assert_eq!(host.multiplexer.counters().sent_because.drained, 1);
}

#[test]
fn at_the_end_all_is_sent_and_has_waited_as_long_as_it_has() {
    let mut host = Host::able(|_| ());
    host.send(&out(6, &key(1)));
    host.wait(DELAY / 4);
    let mut sent = Packets::default();
    host.multiplexer.end(host.now, &mut sent);
    assert_eq!(sent.network, [out(18, &in_message(6, &key(1)))]);
    let counters = host.multiplexer.counters();
    assert_eq!((counters.held.max_ns, counters.sent_because.end), (5_000_000, 1));
}

#[test]
fn with_a_delay_being_drained_means_nothing() {
    let mut host = Host::able(|_| ());
    host.send(&out(6, &key(1)));
    assert_eq!(host.drained(), NOTHING);
    assert_eq!(host.wait(DELAY).len(), 1);
}

#[test]
fn ipv6_is_multiplexed_the_same_way() {
    let mut sender = Host::able(|settings| settings.peers.push(address(PEER6)));
    sender.receive(&packet(PEER6, US6, 0, 18, b""));
    assert_eq!(sender.send(&packet(US6, PEER6, 0xb9, 6, &key(1))), NOTHING);
    assert_eq!(sender.send(&packet(US6, PEER6, 0xb9, 6, &key(2))), NOTHING);
    assert_eq!(sender.send(&out(6, &key(3))), NOTHING);
    let both = [in_message(6, &key(1)), in_message(6, &key(2))].concat();
    let v4 = out(18, &in_message(6, &key(3)));
    assert_eq!(sender.wait(DELAY), [packet(US6, PEER6, 0xb9, 18, &both), v4], "no message mixes versions");

    let mut receiver = Host::able(|settings| settings.peers = vec![address(US6)]);
    let header = CommonHeader { source: address(US6), destination: address(PEER6), tos: 0xb9 };
    let mut packets = Packets::default();
    receiver.multiplexer.receive_payload(header, &both, receiver.now, &mut packets);
    assert_eq!(packets.host, [1, 2].map(|port| packet(US6, PEER6, 0xb9, 6, &key(port))));
    assert_eq!(receiver.receive(&packet(US6, PEER6, 0xb9, 18, &both)).host, packets.host);
}

#[test]
fn a_congestion_mark_reaches_every_segment() {
    let mut host = Host::able(|_| ());
    let both = [in_message(6, &key(1)), in_message(6, &key(2))].concat();
    let given = host.receive(&packet(PEER, US, 0b11, 18, &both)).host;
    assert_eq!(given, [1, 2].map(|port| packet(PEER, US, 0b11, 6, &key(port))));
}

#[test]
fn udp_carries_messages_and_enqs() {
    let mut sender = over_udp(|_| ());
    sender.send(&out(6, &key(1)));
    let sent = sender.wait(DELAY);
    assert_eq!(sent, [out(17, &udp(PORT, PORT, &in_message(6, &key(1))))]);
    let mut receiver = over_udp(|settings| settings.peers = vec![address(US)]);
    assert_eq!(receiver.receive(&sent[0]).host, [out(6, &key(1))]);
    let sent = receiver.multiplexer.counters().octets.received;
    assert_eq!(sent, 20 + 8 + 28);

    let mut unknown = Host::unknown(|settings| settings.carriage = Carriage::Udp { port: PORT });
    let enq = unknown.wait(Duration::from_secs(17));
    assert_eq!(enq, [out(17, &udp(PORT, PORT, b""))]);
    receiver.receive(&enq[0]);
    assert_eq!(receiver.multiplexer.counters().enqs.received, 1);
}

#[test]
fn over_udp_a_segment_that_fills_the_mtu_fits() {
    let mut host = over_udp(|_| ());
    let full = |overhead: usize| out(6, &tcp(1, 23, |_| (), &vec![0; 1500 - overhead - 40]));
    let overhead = Carriage::Udp { port: PORT }.overhead();
    assert_eq!(host.send(&full(overhead))[0].len(), 1500);
    assert_eq!(host.send(&full(overhead - 1)), [full(overhead - 1)]);
    assert_eq!(host.multiplexer.counters().plain.over_mtu, 1);
}

#[test]
fn over_udp_messages_do_not_nest_and_do_not_loop() {
    let mut host = over_udp(|settings| settings.udp = true);
    let inner = udp(PORT, PORT, &in_message(6, &key(1)));
    let datagram = packet(PEER, US, 0, 17, &udp(PORT, PORT, &in_message(17, &inner)));
    assert_eq!(host.receive(&datagram).host, NOTHING);
    assert_eq!(host.multiplexer.counters().dropped.nested, 1);
    assert_eq!(host.send(&out(17, &inner)), NOTHING);
    assert_eq!(host.multiplexer.counters().refused.looped, 1);
    assert_eq!(host.send(&out(17, &udp(9, PORT, b"query"))), NOTHING, "other UDP is multiplexed");
    // Where UDP has its length, TCP has the sequence number.
    let tcp = tcp(9, PORT, |header| header.sequence_number = 21 << 16, b"x");
    assert_eq!(host.send(&out(6, &tcp)), NOTHING, "and so is TCP to that port");
    assert_eq!(host.wait(DELAY)[0].len(), 20 + 8 + 20 + 28);
}

#[test]
fn over_udp_messages_come_from_the_port_that_they_go_to() {
    let mut host = over_udp(|_| ());
    let message = in_message(6, &key(1));
    let datagram = |from| packet(PEER, US, 0, 17, &udp(from, PORT, &message));
    let header = CommonHeader { source: address(PEER), destination: address(US), tos: 0 };
    for (from, taken) in [(PORT, 1), (40_000, 0)] {
        assert_eq!(host.receive(&datagram(from)).host.len(), taken);
        let mut packets = Packets::default();
        host.multiplexer.receive_udp(header, from, &message, host.now, &mut packets);
        assert_eq!(packets.host.len(), taken, "as a UDP socket gives it");
    }
    assert_eq!(host.multiplexer.counters().dropped.protocol, 2);
}

#[test]
fn udp_is_multiplexed_only_if_it_is_asked_for() {
    let datagram = out(17, &udp(9, 53, b"query"));
    let mut host = Host::able(|_| ());
    assert_eq!(host.send(&datagram), slice::from_ref(&datagram));
    assert_eq!(host.multiplexer.counters().plain.protocol, 1);
    assert_eq!(Host::able(|settings| settings.udp = true).send(&datagram), NOTHING);
}

#[test]
fn ends_need_not_agree_on_what_is_multiplexed() {
    let mut host = Host::able(|settings| settings.ports = vec![23]);
    let segments = [(6, tcp(9, 513, |_| (), b"x")), (17, udp(9, 53, b"query"))];
    let message: Vec<u8> = segments.iter().flat_map(|(protocol, segment)| in_message(*protocol, segment)).collect();
    let expected = segments.map(|(protocol, segment)| packet(PEER, US, 0, protocol, &segment));
    assert_eq!(host.receive(&packet(PEER, US, 0, 18, &message)).host, expected);
}

#[test]
fn datagrams_from_elsewhere_are_dropped() {
    let mut host = Host::able(|_| ());
    let stranger = packet("198.51.100.7", US, 0, 18, &in_message(6, &key(1)));
    let given = host.receive(&stranger);
    assert_eq!((given.host, given.network), (Vec::new(), Vec::new()));
    host.receive(&packet("198.51.100.7", US, 0, 18, b""));
    assert_eq!(host.receive(&packet(PEER, "255.255.255.255", 0, 18, &in_message(6, &key(1)))).host, NOTHING);
    assert_eq!(host.receive(&packet(PEER, US, 0, 6, &key(1))).host, NOTHING);
    assert_eq!(host.receive(b"").host, NOTHING);
    let mut fragment = packet(PEER, US, 0, 18, &in_message(6, &key(1)));
    fragment[6] = 0x20;
    assert_eq!(host.receive(&fragment).host, NOTHING);
    let dropped = &host.multiplexer.counters().dropped;
    assert_eq!((dropped.stranger, dropped.not_unicast, dropped.protocol), (2, 1, 1));
    assert_eq!((dropped.unreadable, dropped.fragment), (1, 1));
}

#[test]
fn segments_of_other_addresses_of_this_host_are_plain() {
    let mut host = Host::able(|_| ());
    let other = packet("192.0.2.9", PEER, 0, 6, &key(1));
    assert_eq!(host.send(&other), slice::from_ref(&other), "the peer would drop the message as a stranger's");
    assert_eq!(host.multiplexer.counters().plain.other_source, 1);
    assert_eq!(host.send(&out(6, &key(1))), NOTHING);
}

#[test]
fn a_message_opens_few_connections() {
    let mut host = Host::able(|_| ());
    let opening = |port| in_message(6, &tcp(port, 23, |header| header.syn = true, b""));
    let mut message: Vec<u8> = (0..61).flat_map(opening).collect();
    message.extend(in_message(6, &key(1)));
    let given = host.receive(&packet(PEER, US, 0, 18, &message)).host;
    let syns = given.iter().filter(|packet| packet[33] & 2 != 0).count();
    assert_eq!((given.len(), syns), (5, 4), "what follows them is taken");
    assert_eq!(host.multiplexer.counters().dropped.syns, 57);
}

#[test]
fn a_message_draws_at_most_64_answers() {
    let mut host = Host::able(|settings| settings.udp = true);
    let many: Vec<u8> = (0..123).flat_map(|_| in_message(17, &udp(9, 7, b""))).collect();
    let given = host.receive(&packet(PEER, US, 0, 18, &many));
    assert_eq!((given.host.len(), given.network.len()), (64, 0));
    assert_eq!(host.multiplexer.counters().dropped.over_limit, 59);
}

#[test]
fn the_segments_of_our_own_messages_are_all_accepted() {
    for options in [&[][..], &[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]] {
        let mut sender = Host::able(|_| ());
        let mut receiver = Host::able(|settings| settings.peers = vec![address(US)]);
        let segment = |port, data| tcp(port, 23, |header| header.set_options_raw(options).unwrap(), data);
        let packets: Vec<Vec<u8>> =
            (0..200).map(|port| out(6, &segment(port, &b"x"[..usize::from(port) % 2]))).collect();
        let mut sent: Vec<Vec<u8>> = packets.iter().flat_map(|packet| sender.send(packet)).collect();
        sent.extend(sender.wait(DELAY));
        let given: Vec<Vec<u8>> = sent.iter().flat_map(|datagram| receiver.receive(datagram).host).collect();
        assert_eq!(given, packets);
        assert_eq!(receiver.multiplexer.counters().dropped.over_limit, 0);
    }
}

#[test]
fn packets_that_are_not_multiplexed_are_unchanged() {
    let mut host = Host::able(|_| ());
    let mut fragment = out(6, &key(1));
    fragment[6] = 0x20;
    let packets = [
        packet(US, "198.51.100.7", 0, 6, &key(1)),
        packet(US, PEER, 0, 1, b"echo request"),
        packet(US, PEER, 0, 6, b"no TCP"),
        fragment,
        packet("fe80::1", "fe80::2", 0, 58, b"solicitation"),
    ];
    for packet in &packets {
        assert_eq!(host.send(packet), slice::from_ref(packet));
    }
    let plain = &host.multiplexer.counters().plain;
    assert_eq!((plain.not_a_peer, plain.protocol, plain.transport, plain.fragment), (1, 2, 1, 1));
}

#[test]
fn messages_under_construction_are_bounded() {
    let mut host = Host::able(|_| ());
    let sent: Vec<Vec<u8>> = (0..200_u8).flat_map(|tos| host.send(&packet(US, PEER, tos, 6, &key(1)))).collect();
    assert_eq!(sent.len(), 200 - 128, "the oldest are sent");
    assert_eq!(host.multiplexer.peers(host.now)[0].waiting, 128);
    assert_eq!(host.wait(DELAY).len(), 128);
}

#[test]
fn counters_are_reset_and_agree_with_each_other() {
    let mut host = Host::able(|_| ());
    (0..100).for_each(|port| drop(host.send(&out(6, &key(port)))));
    host.wait(DELAY);
    let counters = host.multiplexer.counters().clone();
    let causes = &counters.sent_because;
    assert_eq!((counters.segments.sent, counters.messages.sent), (100, 2));
    assert_eq!((causes.full, causes.timer), (1, 1));
    assert_eq!(counters.held.microseconds.counts().iter().sum::<u64>(), 100);
    assert_eq!(counters.segments_per_message.counts()[6], 2, "52 and 48 are from 32 up to below 64");
    assert_eq!(counters.octets.sent, 2 * 20 + 100 * 28);
    let json = serde_json::to_value(&counters).unwrap();
    assert_eq!(json["sent_because"]["timer"], 1);
    assert_eq!(json["segments_per_message"][6], 2);
    host.multiplexer.reset_counters();
    assert_eq!(*host.multiplexer.counters(), cuesta_tmux::wire::Counters::default());
}
