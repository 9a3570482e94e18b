//! Octets that were computed apart from this code, and what is wrong with them in turn.

use std::time::Duration;

use crate::harness::{Host, PEER, Packets, US, hex, key, out, packet, tcp, udp};

const ENQ: &str = "45000014000040004012b6d4c0000201c0000202";

/// The layout of RFC 1692 §4, with a UDP header of 8 octets: the RFC's example draws one of 4, and says 49 for 53.
const THREE: &str = "45000088000040004012b660c0000201c0000202 001d061b
    9c410017000010000000200050182000fb98000068656c6c6f 000000 001c061a
    9c42001700003000000040005018200085ed00006c730d0a 00351124
    9c430202003137b1000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728 000000";

const KEYSTROKE: &str = "45000030000040004012b6b8c0000201c0000202 0019061f
    9c410017000010050000200050182000c7690000 78 000000";

/// Where the mini-headers of [`THREE`] are.
const AT: [usize; 3] = [20, 52, 80];

/// The packets from which [`THREE`] is made.
fn three() -> [Vec<u8>; 3] {
    let numbers = |seq, ack| {
        move |header: &mut etherparse::TcpHeader| {
            (header.sequence_number, header.acknowledgment_number) = (seq, ack);
        }
    };
    let data: Vec<u8> = (0..=0x28).collect();
    [
        out(6, &tcp(40001, 23, numbers(0x1000, 0x2000), b"hello")),
        out(6, &tcp(40002, 23, numbers(0x3000, 0x4000), b"ls\r\n")),
        out(17, &udp(40003, 514, &data)),
    ]
}

/// The peer, to whom the vectors are addressed.
fn receiver() -> Host {
    Host::able(|settings| {
        (settings.peers, settings.local) = (vec![US.parse().unwrap()], vec![PEER.parse().unwrap()]);
    })
}

/// What the peer gives to its host of [`THREE`] after a change.
fn given(change: impl FnOnce(&mut Vec<u8>)) -> (Vec<Vec<u8>>, Host) {
    let mut datagram = hex(THREE);
    change(&mut datagram);
    let total = (datagram.len() as u16).to_be_bytes();
    datagram[2..4].copy_from_slice(&total);
    let mut host = receiver();
    let Packets { host: given, network } = host.receive(&datagram);
    assert_eq!(network, Vec::<Vec<u8>>::new(), "nothing is answered");
    (given, host)
}

#[test]
fn an_enq_is_a_header_and_nothing_else() {
    let mut host = Host::unknown(|_| ());
    assert_eq!(host.wait(Duration::from_secs(17)), [hex(ENQ)]);
}

#[test]
fn three_segments_are_one_message() {
    let mut host = Host::able(|settings| settings.udp = true);
    for packet in three() {
        assert_eq!(host.send(&packet), Vec::<Vec<u8>>::new());
    }
    assert_eq!(host.wait(Duration::from_millis(20)), [hex(THREE)]);
}

#[test]
fn one_message_is_three_segments() {
    assert_eq!(given(|_| ()).0, three());
}

#[test]
fn a_keystroke_takes_28_octets() {
    let mut host = Host::able(|_| ());
    host.send(&out(6, &tcp(40001, 23, |header| header.sequence_number = 0x1005, b"x")));
    assert_eq!(host.wait(Duration::from_millis(20)), [hex(KEYSTROKE)]);
}

#[test]
fn a_bad_checksum_ends_the_message() {
    let (given, host) = given(|datagram| datagram[AT[1] + 3] ^= 1);
    assert_eq!(given, three()[..1]);
    assert_eq!(host.multiplexer.counters().dropped.checksum, 1);
}

#[test]
fn an_unknown_protocol_loses_one_segment() {
    let (given, host) = given(|datagram| datagram[AT[1]..][..4].copy_from_slice(&[0x00, 0x1c, 0xfe, 0xe2]));
    assert_eq!(given, [three()[0].clone(), three()[2].clone()]);
    assert_eq!(host.multiplexer.counters().dropped.segment_protocol, 1);
}

#[test]
fn a_length_below_four_ends_the_message_though_its_checksum_is_right() {
    for length in 0..4 {
        let (given, host) = given(|datagram| datagram[AT[1]..][..4].copy_from_slice(&[0, length, 6, length ^ 6]));
        assert_eq!(given, three()[..1]);
        assert_eq!(host.multiplexer.counters().dropped.length, 1);
    }
    let (given, host) = given(|datagram| datagram[AT[0]..][..4].fill(0));
    assert_eq!(given, Vec::<Vec<u8>>::new());
    assert_eq!(host.multiplexer.counters().dropped.length, 1);
}

#[test]
fn a_length_past_the_end_ends_the_message() {
    for [high, low] in [[0, 57], [0xff, 0xff], [0xff, 0xfd]] {
        let (given, host) =
            given(|datagram| datagram[AT[2]..][..4].copy_from_slice(&[high, low, 0x11, high ^ low ^ 0x11]));
        assert_eq!(given, three()[..2]);
        assert_eq!(host.multiplexer.counters().dropped.length, 1);
    }
    let (given, _) = given(|datagram| {
        datagram.truncate(AT[2] + 52);
    });
    assert_eq!(given, three()[..2], "one octet is missing");
}

#[test]
fn the_last_padding_may_be_missing() {
    for missing in 1..=3 {
        assert_eq!(given(|datagram| datagram.truncate(datagram.len() - missing)).0, three());
    }
}

#[test]
fn one_to_three_octets_may_follow() {
    for trailing in 1..=3 {
        assert_eq!(given(|datagram| datagram.resize(datagram.len() + trailing, 0xff)).0, three());
    }
}

#[test]
fn an_empty_segment_is_no_segment_of_tcp() {
    let (given, host) = given(|datagram| {
        datagram.splice(AT[1]..AT[1], [0x00, 0x04, 0x06, 0x02]);
    });
    assert_eq!(given, three());
    assert_eq!(host.multiplexer.counters().dropped.transport, 1);
}

#[test]
fn messages_do_not_nest() {
    let (given, host) = given(|datagram| datagram[AT[1]..][..4].copy_from_slice(&[0x00, 0x1c, 0x12, 0x1c ^ 0x12]));
    assert_eq!(given, [three()[0].clone(), three()[2].clone()]);
    assert_eq!(host.multiplexer.counters().dropped.nested, 1);
}

#[test]
fn a_data_offset_must_point_into_the_segment() {
    for offset in [0, 4, 7, 15] {
        let (given, host) = given(|datagram| datagram[AT[1] + 4 + 12] = offset << 4);
        assert_eq!(given, [three()[0].clone(), three()[2].clone()]);
        assert_eq!(host.multiplexer.counters().dropped.transport, 1);
    }
}

#[test]
fn the_length_of_udp_must_fit_the_segment() {
    for length in [0, 7, 50] {
        let (given, host) = given(|datagram| datagram[AT[2] + 4 + 5] = length);
        assert_eq!(given, three()[..2]);
        assert_eq!(host.multiplexer.counters().dropped.transport, 1);
    }
}

#[test]
fn a_datagram_with_options_is_refused() {
    let mut datagram = hex(THREE);
    datagram[0] = 0x46;
    datagram.splice(20..20, [1, 1, 1, 0]);
    datagram[3] += 4;
    let mut host = receiver();
    assert_eq!(host.receive(&datagram).host, Vec::<Vec<u8>>::new());
    assert_eq!(host.multiplexer.counters().dropped.options, 1);
}

#[test]
fn an_enq_may_be_padded_by_the_link() {
    let mut padded = hex(ENQ);
    padded.resize(46, 0);
    let mut host = receiver();
    host.receive(&padded);
    assert_eq!(host.multiplexer.counters().enqs.received, 1);
    assert_eq!(host.multiplexer.counters().messages.received, 0);
}

#[test]
fn the_host_itself_may_not_send_messages() {
    let mut host = Host::able(|_| ());
    assert_eq!(host.send(&hex(THREE)), Vec::<Vec<u8>>::new());
    assert_eq!(host.send(&hex(ENQ)), Vec::<Vec<u8>>::new());
    assert_eq!(host.multiplexer.counters().refused.looped, 2);
    assert_eq!(host.send(&packet(US, PEER, 0, 6, &key(1))[..30]), Vec::<Vec<u8>>::new());
    assert_eq!(host.multiplexer.counters().refused.unreadable, 1);
}
