//! Both ends at each other in pieces of every size, and each at a peer that does as it likes.

use proptest::prelude::*;

use super::*;
use crate::wire::options::{DO, DONT, SB, SE, WILL, WONT};
use crate::wire::peers::{self, negotiate, received, replies};

/// Records as a data stream.
fn stream(records: &[&[u8]]) -> Vec<u8> {
    let mut stream = Vec::new();
    for record in records {
        stream.extend(doubled(record));
        stream.extend([IAC, EOR]);
    }
    stream
}

/// What an end sends for a data stream.
fn sent(end: &mut Framing, data: &[u8]) -> Vec<u8> {
    peers::sent(end, data, 0, usize::MAX)
}

#[test]
fn both_ends_agree_and_records_pass_in_any_pieces() {
    let records: [&[u8]; 3] = [b"\xf5\xc3text", b"\xf1\xff\xff\xef", b"\xef\xff"];
    let data = stream(&records);
    for extended in [false, true] {
        for size in 1..40 {
            let (mut host, mut terminal) = (Framing::host(), Framing::terminal("IBM-3278-2-E", extended, None));
            assert!(!host.is_agreed() && !terminal.is_agreed());
            negotiate(&mut host, &mut terminal, size);
            assert!(host.is_agreed() && terminal.is_agreed(), "pieces of {size}");
            assert_eq!((host.is_extended(), terminal.is_extended()), (extended, extended));
            assert_eq!(host.device(), Some("IBM-3278-2-E"));
            let there = sent(&mut host, &data);
            assert_eq!(received(&mut terminal, &there, size), data, "pieces of {size}");
            let back = sent(&mut terminal, &data);
            assert_eq!(received(&mut host, &back, size), data, "pieces of {size}");
        }
    }
}

#[test]
fn a_response_is_sent_for_each_record_that_wants_one() {
    let (mut host, mut terminal) = (Framing::host(), Framing::terminal("IBM-3278-2-E", true, None));
    negotiate(&mut host, &mut terminal, 99);
    for (header, response) in [
        ([0, 0, 0, 0, 7], &b""[..]),
        ([0, 0, 2, 0, 8], b"\x02\0\0\0\x08\0\xff\xef"),
        ([0, 0, 2, 1, 0xff], b"\x02\0\0\x01\xff\xff\0\xff\xef"),
    ] {
        let record = stream(&[&[&header[..], b"\xf1\xc3"].concat()]);
        assert_eq!(received(&mut terminal, &record, 2), stream(&[b"\xf1\xc3"]));
        let responded = replies(&mut terminal);
        assert_eq!(responded, response);
        // The host takes no response for a record of data.
        assert_eq!(received(&mut host, &responded, 1), b"");
    }
    let bind_image = stream(&[b"\x03\0\0\0\x09BIND"]);
    assert_eq!(received(&mut terminal, &bind_image, 3), b"");
    assert_eq!(terminal.replies().bytes(), b"");
}

#[test]
fn a_terminal_that_wants_more_functions_gets_those_that_the_host_has() {
    let mut host = Framing::host();
    let device = [&[IAC, SB, TN3270E, 2, 7][..], b"IBM-3278-2-E", &[IAC, SE]].concat();
    received(&mut host, &[&[IAC, WILL, TN3270E][..], &device].concat(), 3);
    replies(&mut host);
    received(&mut host, &[IAC, SB, TN3270E, 3, 7, 0, 2, 4, IAC, SE], 3);
    assert_eq!(replies(&mut host), [IAC, SB, TN3270E, 3, 7, 2, 4, IAC, SE]);
    assert!(!host.is_agreed());
    received(&mut host, &[IAC, SB, TN3270E, 3, 4, 2, 4, IAC, SE], 3);
    assert!(host.is_agreed() && host.is_extended());
}

#[test]
fn a_host_that_rejects_the_device_gets_plain_records() {
    let mut terminal = Framing::terminal("IBM-3278-2-E", true, None);
    let reject = [IAC, SB, TN3270E, 2, 6, 5, 4, IAC, SE];
    received(&mut terminal, &[&[IAC, DO, TN3270E][..], &reject].concat(), 1);
    assert_eq!(replies(&mut terminal), [IAC, WILL, TN3270E, IAC, WONT, TN3270E]);
    let plain = [IAC, DO, END_OF_RECORD, IAC, WILL, END_OF_RECORD, IAC, DO, BINARY, IAC, WILL, BINARY];
    received(&mut terminal, &[&[IAC, DONT, TN3270E][..], &plain].concat(), 1);
    assert!(terminal.is_agreed() && !terminal.is_extended());
}

#[test]
fn a_logical_unit_is_asked_for_with_and_without_tn3270e() {
    for extended in [true, false] {
        for size in [1, 7, 99] {
            let mut host = Framing::host();
            let mut terminal = Framing::terminal("IBM-3278-2-E", extended, Some("LAB07"));
            assert_eq!(terminal.lu_answer(), LuAnswer::Awaited);
            negotiate(&mut host, &mut terminal, size);
            assert!(host.is_agreed() && host.is_extended() == extended);
            assert_eq!((host.device(), host.lu.as_deref()), (Some("IBM-3278-2-E"), Some("LAB07")));
            assert_eq!(terminal.lu_answer(), LuAnswer::Given);
        }
    }
}

#[test]
fn a_refused_logical_unit_does_not_become_any_other() {
    let in_use = [IAC, SB, TN3270E, 2, 6, 5, 1, IAC, SE];
    let mut terminal = Framing::terminal("IBM-3278-2-E", true, Some("LAB07"));
    received(&mut terminal, &[&[IAC, DO, TN3270E][..], &in_use].concat(), 1);
    assert_eq!(terminal.lu_answer(), LuAnswer::Refused(1));
    // It does not go on by RFC 1576.
    assert_eq!(replies(&mut terminal), [IAC, WILL, TN3270E]);
}

#[test]
fn text_before_records_is_dropped_and_attention_passes_to_the_host() {
    const BREAK: u8 = 243;
    let (mut host, mut terminal) = (Framing::host(), Framing::terminal("IBM-3278-2-E", false, None));
    assert_eq!(received(&mut terminal, b"Welcome\r\n", 3), b"");
    negotiate(&mut host, &mut terminal, 5);
    let attention = sent(&mut terminal, &[IAC, BREAK]);
    assert_eq!(received(&mut host, &attention, 1), [IAC, BREAK]);
    assert_eq!(received(&mut terminal, &[IAC, BREAK], 1), b"");
}

proptest! {
    #[test]
    fn any_bytes_in_any_pieces_mean_the_same_and_take_bounded_memory(
        is_host: bool, bytes in proptest::collection::vec(noise(), 0..600), size in 1_usize..50,
    ) {
        let bytes = bytes.concat();
        let end = || if is_host { Framing::host() } else { Framing::terminal("IBM-3278-2-E", true, None) };
        let (mut one, mut other) = (end(), end());
        let data = received(&mut one, &bytes, bytes.len().max(1));
        prop_assert_eq!(received(&mut other, &bytes, size), data);
        prop_assert_eq!(one.replies().bytes(), other.replies().bytes());
        prop_assert!(one.replies().bytes().len() <= 1024);
    }
}

/// Telnet's words, mostly.
fn noise() -> impl Strategy<Value = Vec<u8>> {
    let verb = prop_oneof![Just(WILL), Just(WONT), Just(DO), Just(DONT)];
    let option = prop_oneof![Just(BINARY), Just(TERMINAL_TYPE), Just(END_OF_RECORD), Just(TN3270E), any::<u8>()];
    prop_oneof![
        (verb, option).prop_map(|(verb, option)| vec![IAC, verb, option]),
        proptest::collection::vec(0_u8..9, 0..6)
            .prop_map(|words| { [&[IAC, SB, TN3270E][..], &words, &[IAC, SE]].concat() }),
        any::<u8>().prop_map(|byte| vec![byte]),
        Just(vec![IAC, EOR]),
        Just(vec![IAC]),
    ]
}
