//! One test for each normative sentence of RFC 1692.
//!
//! | Format (§2, §2.1, §2.2, §4) | test |
//! |---|---|
//! | The length counts the mini-header and the segment, not the padding. | [`a_mini_header_has_the_length_without_padding_and_a_checksum`] |
//! | So it is at least 4. | `vectors::a_length_below_four_ends_the_message_though_its_checksum_is_right` |
//! | The checksum is the exclusive-or of the first three octets. | [`a_mini_header_has_the_length_without_padding_and_a_checksum`] |
//! | A segment is whole, with its transport header and without its IP header. | `vectors::three_segments_are_one_message` |
//! | Segments are padded to 32 bits. | `vectors::three_segments_are_one_message` |
//! | Padding is ignored. | [`padding_is_ignored`] |
//! | The transport is unaware: its checksums remain those of the outer addresses. | [`transport_checksums_are_right_at_the_receiver`] |
//! | The IP header is that of the segments, with protocol 18. | [`the_ip_header_is_that_of_the_segments`] |
//! | Only segments with the same header are combined. | [`only_segments_with_the_same_header_are_combined`] |
//!
//! | Discovery (§2.3, §6) | test |
//! |---|---|
//! | Either direction may use messages, and begin or cease at any time. | [`either_direction_alone_may_use_messages`] |
//! | Messages go to hosts from which a valid one came. | [`messages_go_to_hosts_from_which_one_came`], [`a_message_that_is_not_valid_makes_nobody_able`] |
//! | An ENQ has no data. | `vectors::an_enq_is_a_header_and_nothing_else` |
//! | Its receiver may begin to send messages. | [`an_enq_is_enough_to_begin`] |
//! | A host that sends no messages can answer an ENQ by an ENQ. | [`a_host_with_nothing_to_send_answers_an_enq`] |
//! | The answers must not loop. | [`answers_to_enqs_do_not_loop`] |
//! | ENQs are repeated after 15, 30, 60 … seconds, up to an hour. | [`enqs_are_repeated_ever_more_rarely`] |
//! | Meanwhile data goes as plain IP. | [`probing_holds_nothing_back`] |
//! | The TTL begins anew with every message. | [`every_message_renews_the_ttl`] |
//! | When the TTL is over, the host is taken as unable; the segment that finds this still goes in a message. | [`the_segment_that_finds_the_ttl_over_is_multiplexed`] |
//!
//! | Building and sending (§3.3, §5.1, §5.2, §6) | test |
//! |---|---|
//! | One message is under construction for each host. | [`each_host_has_a_message_of_its_own`] |
//! | The first segment starts a timer; when it expires the message is sent. | [`the_first_segment_starts_the_timer`] |
//! | A full message is sent at once. | [`a_full_message_is_sent_at_once`], [`a_message_is_sent_at_once_if_the_next_segment_does_not_fit`] |
//! | The delay is set by the user, and at most about a tenth of a second. | [`the_delay_is_at_most_a_tenth_of_a_second`] |
//! | One timer serves all hosts. | [`one_timer_serves_all_hosts`] |
//! | The number of segments may be limited. | [`a_message_has_at_most_64_segments`] |
//! | Segments above a size, 700 octets or as set, go as plain IP. | [`large_segments_go_as_plain_ip_if_the_rfc_is_followed`] |
//! | A message is at most as large as the path's MTU. | [`no_message_exceeds_the_mtu`] |
//! | Segments may be chosen by their ports. | [`only_named_ports_are_multiplexed`] |
//! | A segment that would not be multiplexed may be added to a message, which is then sent at once. | [`what_may_not_wait_takes_the_message_along`] |
//! | Packets with options are not multiplexed. | [`packets_with_options_are_not_multiplexed`] |
//! | Packets to groups of hosts and to this one are not multiplexed. | [`only_unicast_is_multiplexed`] |
//! | Messages may say "do not fragment". | `vectors::a_keystroke_takes_28_octets` |
//!
//! | Receiving (§2, §6) | test |
//! |---|---|
//! | Either order is legal: segments are treated as if they had come separately. | [`segments_are_processed_in_order`] |
//! | They are processed in the order of the message. | [`segments_are_processed_in_order`] |
//! | A bad checksum: the rest is ignored. | `vectors::a_bad_checksum_ends_the_message` |
//! | An unknown protocol: that segment is ignored. | `vectors::an_unknown_protocol_loses_one_segment` |
//!
//! Not followed: "if messages of one segment are sent continually, the protocol may be turned off" (§6): the counters say when it
//! should be, and the user turns it off. "The same header" means source, destination and TOS: TTL, identification and flags are
//! not compared but rebuilt.

use std::slice;
use std::time::Duration;

use cuesta_record::Stamp;
use cuesta_tmux::wire::{PeerState, Settings};

use crate::harness::{Host, PEER, US, address, hex, in_message, key, out, packet, tcp};

const DELAY: Duration = Duration::from_millis(20);
const NOTHING: [Vec<u8>; 0] = [];

/// A message of the peer to this host.
fn message(segments: &[&[u8]]) -> Vec<u8> {
    let content: Vec<u8> = segments.iter().flat_map(|segment| in_message(6, segment)).collect();
    packet(PEER, US, 0, 18, &content)
}

/// What the one message has after its IP header, that is sent when this host sends packets and waits.
fn sent(packets: &[Vec<u8>]) -> Vec<u8> {
    let mut host = Host::able(|settings| settings.udp = true);
    for packet in packets {
        assert_eq!(host.send(packet), NOTHING);
    }
    let sent = host.wait(DELAY);
    assert_eq!(sent.len(), 1);
    sent[0][20..].to_vec()
}

#[test]
fn a_mini_header_has_the_length_without_padding_and_a_checksum() {
    for (octets, length) in [(0, 24), (1, 25), (2, 26), (3, 27), (4, 28), (300, 324_u16)] {
        let sent = sent(&[out(6, &tcp(1, 23, |_| (), &vec![0; octets]))]);
        assert_eq!(sent[..2], length.to_be_bytes());
        assert_eq!(sent[3], sent[0] ^ sent[1] ^ sent[2]);
        assert_eq!(sent.len(), usize::from(length).next_multiple_of(4));
    }
}

#[test]
fn padding_is_ignored() {
    let mut datagram = message(&[&key(1), &key(2)]);
    datagram[45..48].copy_from_slice(b"pad");
    let host = Host::able(|_| ()).receive(&datagram).host;
    assert_eq!(host, [packet(PEER, US, 0, 6, &key(1)), packet(PEER, US, 0, 6, &key(2))]);
}

#[test]
fn transport_checksums_are_right_at_the_receiver() {
    let mut sender = Host::able(|_| ());
    sender.send(&out(6, &key(1)));
    let sent = sender.wait(DELAY);
    let mut receiver = Host::able(|settings| settings.peers = vec![address(US)]);
    let [given] = receiver.receive(&sent[0]).host.try_into().unwrap();
    let ip = etherparse::Ipv4Slice::from_slice(&given).unwrap();
    let tcp = etherparse::TcpSlice::from_slice(ip.payload().payload).unwrap();
    assert_eq!(tcp.checksum(), tcp.calc_checksum_ipv4(ip.header().source(), ip.header().destination()).unwrap());
    assert_eq!(ip.header().header_checksum(), ip.header().to_header().calc_header_checksum());
}

#[test]
fn the_ip_header_is_that_of_the_segments() {
    let mut host = Host::able(|_| ());
    host.send(&packet(US, PEER, 0x48, 6, &key(1)));
    let sent = host.wait(DELAY);
    assert_eq!(sent, [packet(US, PEER, 0x48, 18, &in_message(6, &key(1)))]);
}

#[test]
fn only_segments_with_the_same_header_are_combined() {
    let mut host = Host::able(|_| ());
    let classes = [0, 0x10, 0x02];
    for tos in classes {
        assert_eq!(host.send(&packet(US, PEER, tos, 6, &key(1))), NOTHING);
    }
    let expected = classes.map(|tos| packet(US, PEER, tos, 18, &in_message(6, &key(1))));
    assert_eq!(host.wait(DELAY), expected);
}

#[test]
fn segments_are_processed_in_order() {
    let keys: Vec<Vec<u8>> = (1..20).chain((1..20).rev()).map(key).collect();
    let all: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let given = Host::able(|_| ()).receive(&message(&all)).host;
    assert_eq!(given, keys.iter().map(|key| packet(PEER, US, 0, 6, key)).collect::<Vec<_>>());
}

#[test]
fn either_direction_alone_may_use_messages() {
    let mut host = Host::unknown(|_| ());
    let plain = out(6, &key(1));
    assert_eq!(host.send(&plain), slice::from_ref(&plain), "this host sends plain IP");
    assert_eq!(host.receive(&message(&[&key(1)])).host.len(), 1, "and accepts messages");
    assert_eq!(host.send(&plain), NOTHING, "from now on it sends messages");
    host.wait(DELAY);
    let plain_again = host.send(&packet(US, PEER, 0, 1, b"echo"));
    assert_eq!(plain_again.len(), 1, "and other packets plain");
}

#[test]
fn messages_go_to_hosts_from_which_one_came() {
    let mut host = Host::unknown(|settings| settings.peers.push(address("192.0.2.3")));
    host.receive(&message(&[&key(1)]));
    assert_eq!(host.send(&out(6, &key(1))), NOTHING);
    let other = packet(US, "192.0.2.3", 0, 6, &key(1));
    assert_eq!(host.send(&other), [other]);
    assert_eq!(host.multiplexer.counters().plain.peer_unable, 1);
}

#[test]
fn a_message_that_is_not_valid_makes_nobody_able() {
    let mut host = Host::unknown(|_| ());
    let mut bad = message(&[&key(1)]);
    bad[23] ^= 1;
    host.receive(&bad);
    host.receive(&packet(PEER, US, 0, 18, &[0; 3]));
    host.receive(&packet(PEER, US, 0, 18, &[0; 40]));
    assert_eq!(host.send(&out(6, &key(1))).len(), 1);
    assert_eq!(host.multiplexer.peers(host.now)[0].state, PeerState::Unknown);
}

#[test]
fn an_enq_is_enough_to_begin() {
    let mut host = Host::unknown(|_| ());
    host.receive(&packet(PEER, US, 0, 18, b""));
    assert_eq!(host.send(&out(6, &key(1))), NOTHING);
    assert_eq!(host.wait(DELAY).len(), 1);
}

#[test]
fn a_host_with_nothing_to_send_answers_an_enq() {
    let enq = packet(PEER, US, 0, 18, b"");
    let mut host = Host::able(|_| ());
    assert_eq!(host.receive(&enq).network, NOTHING, "its own was just sent");
    host.wait(Duration::from_secs(1));
    assert_eq!(host.receive(&enq).network, [hex("45000014000040004012b6d4c0000201c0000202")]);
    host.wait(Duration::from_secs(14));
    assert_eq!(host.receive(&enq).network, NOTHING, "it was answered 14 s ago");
    host.wait(Duration::from_secs(1));
    assert_eq!(host.receive(&enq).network.len(), 1);
}

#[test]
fn answers_to_enqs_do_not_loop() {
    let mut us = Host::able(|_| ());
    let mut peer = Host::able(|settings| settings.peers = vec![address(US)]);
    us.wait(Duration::from_secs(30));
    peer.wait(Duration::from_secs(30));
    let mut enqs = 1;
    let mut flying = vec![packet(PEER, US, 0, 18, b"")];
    while let Some(enq) = flying.pop() {
        let receiver = if enq[19] == 1 { &mut us } else { &mut peer };
        flying.extend(receiver.receive(&enq).network);
        enqs += flying.len();
        assert!(enqs < 5);
    }
    assert_eq!(enqs, 3, "one is sent, one answers it, and the sender, who was quiet too, answers once");
}

#[test]
fn enqs_are_repeated_ever_more_rarely() {
    let mut host = Host::unknown(|settings| settings.seed = 7);
    let mut last = host.now;
    for seconds in [15, 30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600_u32] {
        let due = host.multiplexer.next_due();
        let interval = due.since(last).as_secs_f64() / f64::from(seconds);
        assert!((0.9..1.1).contains(&interval), "{interval} of {seconds} s");
        host.now = due;
        assert_eq!(host.expire(), [packet(US, PEER, 0, 18, b"")]);
        last = due;
    }
}

#[test]
fn probing_holds_nothing_back() {
    let mut host = Host::unknown(|_| ());
    let plain = out(6, &key(1));
    for _ in 0..3 {
        assert_eq!(host.send(&plain), slice::from_ref(&plain));
        host.wait(Duration::from_secs(20));
    }
}

#[test]
fn every_message_renews_the_ttl() {
    let mut host = Host::able(|_| ());
    for _ in 0..5 {
        host.wait(Duration::from_secs(59));
        host.receive(&message(&[&key(1)]));
    }
    host.wait(Duration::from_secs(59));
    host.send(&out(6, &key(1)));
    assert_eq!(host.multiplexer.counters().changes.expired, 0);
    assert_eq!(host.wait(DELAY).len(), 1);
}

#[test]
fn the_segment_that_finds_the_ttl_over_is_multiplexed() {
    let mut host = Host::able(|_| ());
    host.wait(Duration::from_secs(60));
    assert_eq!(host.send(&out(6, &key(1))), NOTHING);
    assert_eq!(host.wait(DELAY), [out(18, &in_message(6, &key(1)))], "with the usual delay");
    assert_eq!(host.multiplexer.counters().changes.expired, 1);
    let plain = out(6, &key(2));
    assert_eq!(host.send(&plain), slice::from_ref(&plain), "TCP's retransmission goes as plain IP");
    assert_eq!(host.receive(&message(&[&key(1)])).host.len(), 1);
    assert_eq!(host.send(&plain), NOTHING, "its answer makes it able again");
}

#[test]
fn each_host_has_a_message_of_its_own() {
    let peers = [PEER, "192.0.2.3", "192.0.2.4"];
    let mut host = Host::able(|settings| settings.peers = peers.map(address).to_vec());
    for peer in peers {
        host.receive(&packet(peer, US, 0, 18, b""));
    }
    for port in [1, 2] {
        for peer in peers {
            assert_eq!(host.send(&packet(US, peer, 0, 6, &key(port))), NOTHING);
        }
    }
    let both = [in_message(6, &key(1)), in_message(6, &key(2))].concat();
    assert_eq!(host.wait(DELAY), peers.map(|peer| packet(US, peer, 0, 18, &both)));
}

#[test]
fn the_first_segment_starts_the_timer() {
    let mut host = Host::able(|_| ());
    assert_eq!(host.multiplexer.next_due(), Stamp::FAR);
    host.send(&out(6, &key(1)));
    let due = host.now + DELAY;
    assert_eq!(host.multiplexer.next_due(), due);
    host.wait(DELAY / 2);
    host.send(&out(6, &key(2)));
    assert_eq!(host.multiplexer.next_due(), due, "the second one changes nothing");
    assert_eq!(host.wait(Duration::from_nanos(9_999_999)), NOTHING);
    assert_eq!(host.wait(Duration::from_nanos(1)).len(), 1);
    assert_eq!(host.multiplexer.next_due(), Stamp::FAR);
    let held = &host.multiplexer.counters().held;
    assert_eq!((held.sum_ns, held.max_ns), (30_000_000, 20_000_000));
}

#[test]
fn a_full_message_is_sent_at_once() {
    let mut host = Host::able(|settings| settings.mtu = 1499);
    let sent: Vec<Vec<Vec<u8>>> = (0..52).map(|port| host.send(&out(6, &key(port)))).collect();
    assert!(sent[..51].iter().all(Vec::is_empty));
    assert_eq!(sent[51][0].len(), 20 + 52 * 28, "23 octets are left: no other segment of TCP takes so few");
    assert_eq!(host.multiplexer.next_due(), Stamp::FAR);
    assert_eq!(host.multiplexer.counters().sent_because.full, 1);
}

#[test]
fn a_message_is_sent_at_once_if_the_next_segment_does_not_fit() {
    let mut host = Host::able(|_| ());
    let of = |octets| out(6, &tcp(9, 23, |_| (), &vec![0; octets]));
    assert_eq!(host.send(&of(600)), NOTHING);
    host.wait(DELAY / 2);
    assert_eq!(host.send(&of(600)), NOTHING);
    assert_eq!(host.send(&of(209))[0].len(), 20 + 2 * 624, "233 octets, and 232 are left");
    assert_eq!(host.multiplexer.next_due(), host.now + DELAY, "the timer begins anew");
    assert_eq!(host.wait(DELAY)[0].len(), 20 + 236);
}

#[test]
fn the_delay_is_at_most_a_tenth_of_a_second() {
    for (asked, given) in [(0, 0), (5, 5), (100, 100), (101, 100), (60_000, 100)] {
        let mut host = Host::able(|settings| settings.delay = Duration::from_millis(asked));
        host.send(&out(6, &key(1)));
        assert_eq!(host.multiplexer.next_due(), host.now + Duration::from_millis(given));
        let settings = Settings { delay: Duration::from_millis(asked), ..Settings::default() };
        assert_eq!(settings.check().is_ok(), asked == given);
    }
}

#[test]
fn one_timer_serves_all_hosts() {
    let mut host = Host::able(|settings| settings.peers.push(address("192.0.2.3")));
    host.receive(&packet("192.0.2.3", US, 0, 18, b""));
    host.send(&out(6, &key(1)));
    host.wait(DELAY / 2);
    host.send(&packet(US, "192.0.2.3", 0, 6, &key(1)));
    assert_eq!(host.wait(DELAY / 2).len(), 2);
    assert_eq!(host.multiplexer.next_due(), Stamp::FAR);
}

#[test]
fn a_message_has_at_most_64_segments() {
    let mut host = Host::able(|settings| settings.mtu = 9000);
    let sent: Vec<Vec<u8>> = (0..100).flat_map(|port| host.send(&out(6, &key(port)))).collect();
    assert_eq!((sent.len(), sent[0].len()), (1, 20 + 64 * 28));
}

#[test]
fn large_segments_go_as_plain_ip_if_the_rfc_is_followed() {
    for largest in [700, 300] {
        let mut host = Host::able(|settings| (settings.rfc_bypass, settings.max_mpx) = (true, largest));
        let of = |octets| out(6, &tcp(1, 23, |_| (), &vec![0; octets - 20]));
        assert_eq!(host.send(&of(largest)), NOTHING);
        let sent = host.send(&of(largest + 1));
        assert_eq!((sent.len(), sent[0][9], &sent[1]), (2, 18, &of(largest + 1)), "what waits goes before it");
        assert_eq!(host.multiplexer.counters().plain.large, 1);
    }
}

#[test]
fn no_message_exceeds_the_mtu() {
    for mtu in 68..400 {
        let mut host = Host::able(|settings| settings.mtu = mtu);
        let mut sent: Vec<Vec<u8>> =
            (0..50).flat_map(|octets| host.send(&out(6, &tcp(1, 23, |_| (), &vec![0; octets])))).collect();
        sent.extend(host.wait(DELAY));
        let messages: Vec<&Vec<u8>> = sent.iter().filter(|datagram| datagram[9] == 18).collect();
        assert!(messages.iter().all(|datagram| datagram.len() <= mtu), "{mtu}");
        let counters = host.multiplexer.counters();
        assert_eq!(
            (counters.segments.sent + counters.plain.over_mtu, counters.messages.sent),
            (50, messages.len() as u64)
        );
    }
}

#[test]
fn a_segment_that_fills_the_mtu_goes_without_padding() {
    for mtu in 1497..=1500 {
        let mut host = Host::able(|settings| settings.mtu = mtu);
        let segment = tcp(1, 23, |_| (), &vec![7; mtu - 44]);
        let sent = host.send(&out(6, &segment));
        assert_eq!((sent.len(), sent[0].len(), sent[0][9]), (1, mtu, 18));
        let mut receiver = Host::able(|settings| settings.peers = vec![address(US)]);
        assert_eq!(receiver.receive(&sent[0]).host, [out(6, &segment)]);
    }
}

#[test]
fn only_named_ports_are_multiplexed() {
    let mut host = Host::able(|settings| settings.ports = vec![23, 513]);
    for (from, to, multiplexed) in [(1, 23, true), (23, 1, true), (513, 9, true), (20, 21, false), (0, 24, false)] {
        let packet = out(6, &tcp(from, to, |_| (), b"x"));
        assert_eq!(host.send(&packet).is_empty(), multiplexed);
    }
    assert_eq!(host.multiplexer.counters().plain.port, 2);
}

#[test]
fn what_may_not_wait_takes_the_message_along() {
    let changes: [fn(&mut etherparse::TcpHeader); 4] = [
        |header| header.syn = true,
        |header| header.fin = true,
        |header| header.rst = true,
        |header| header.urg = true,
    ];
    for change in changes {
        let mut host = Host::able(|_| ());
        let urgent = tcp(2, 23, change, b"");
        assert_eq!(host.send(&out(6, &key(1))), NOTHING);
        let both = [in_message(6, &key(1)), in_message(6, &urgent)].concat();
        assert_eq!(host.send(&out(6, &urgent)), [out(18, &both)]);
        assert_eq!(host.multiplexer.counters().sent_because.urgent, 1);
    }
}

#[test]
fn packets_with_options_are_not_multiplexed() {
    let mut packet = out(6, &key(1));
    packet[0] = 0x46;
    packet[3] += 4;
    packet.splice(20..20, [1, 1, 1, 0]);
    let mut host = Host::able(|_| ());
    assert_eq!(host.send(&packet), slice::from_ref(&packet));
    assert_eq!(host.multiplexer.counters().plain.options, 1);
}

#[test]
fn only_unicast_is_multiplexed() {
    let mut host = Host::able(|_| ());
    for to in ["127.0.0.1", "224.0.0.1", "255.255.255.255", "0.0.0.0"] {
        let packet = packet(US, to, 0, 6, &key(1));
        assert_eq!(host.send(&packet), slice::from_ref(&packet));
    }
    let (ones, local) = (packet("fe80::1", "ff02::1", 0, 6, &key(1)), packet("fe80::1", "::1", 0, 6, &key(1)));
    assert_eq!((host.send(&ones), host.send(&local)), (vec![ones], vec![local]));
    assert_eq!(host.multiplexer.counters().plain.not_unicast, 6);
}
