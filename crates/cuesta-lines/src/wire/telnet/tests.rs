//! Both ends at each other and at what real daemons send.

use proptest::prelude::*;

use super::*;
use crate::wire::options::{DO, DONT, WILL, WONT};
use crate::wire::peers::{negotiate, received, replies, sent};

/// The characters and replies of `end` for `raw`, received in pieces of `size`.
fn feed_in_pieces(end: &mut Framing, raw: &[u8], size: usize) -> (Vec<u8>, Vec<u8>) {
    (received(end, raw, size), replies(end))
}

/// The same, received in one piece.
fn feed(end: &mut Framing, raw: &[u8]) -> (Vec<u8>, Vec<u8>) {
    feed_in_pieces(end, raw, raw.len().max(1))
}

fn encode(end: &mut Framing, characters: &[u8]) -> Vec<u8> {
    sent(end, characters, 64, usize::MAX)
}

fn terminal() -> Framing {
    Framing::terminal(80, 24, "xterm-256color", Enter::default())
}

fn pair() -> (Framing, Framing) {
    let (mut terminal, mut host) = (terminal(), Framing::host());
    negotiate(&mut host, &mut terminal, 99);
    (terminal, host)
}

#[test]
fn enter_is_sent_as_the_target_says() {
    for (enter, bytes) in [
        (Enter::CrNul, &b"ls\r\0pwd\r\0\xff\xff"[..]),
        (Enter::CrLf, b"ls\r\npwd\r\n\xff\xff"),
        (Enter::Cr, b"ls\rpwd\r\xff\xff"),
    ] {
        for room in [3, 64] {
            let mut terminal = Framing::terminal(80, 24, "xterm", enter);
            assert_eq!(sent(&mut terminal, b"ls\rpwd\r\xff", room, usize::MAX), bytes, "{enter:?}");
            // With BINARY agreed, nothing is added.
            feed(&mut terminal, &[IAC, DO, 0]);
            assert_eq!(sent(&mut terminal, b"ls\r\xff", room, usize::MAX), b"ls\r\xff\xff", "{enter:?}");
        }
    }
}

#[test]
fn two_ends_negotiate() {
    let (mut terminal, mut host) = (Framing::terminal(255, 24, "XTERM", Enter::default()), Framing::host());
    assert_eq!((host.window(), host.name()), (None, None));
    assert_eq!(negotiate(&mut host, &mut terminal, 1), 2);
    assert_eq!((host.window(), host.name()), (Some((255, 24)), Some("xterm")));
    assert_eq!((host.dropped(), terminal.dropped()), (0, 0));
}

#[test]
fn ends_of_the_same_role_do_not_loop() {
    negotiate(&mut Framing::host(), &mut Framing::host(), 99);
    negotiate(&mut terminal(), &mut terminal(), 99);
}

/// The negotiation of `inetutils-telnetd` 2.4 and `busybox telnetd` 1.35 (Debian 12), up to the replies after which they start
/// their program. Each pair is one read and its reply.
const TELNETD: &[(&[u8], &[u8])] = &[
    (
        b"\xff\xfb\x25\xff\xfb\x26\xff\xfd\x18\xff\xfd\x20\xff\xfd\x23\xff\xfd\x27\xff\xfd\x24",
        b"\xff\xfe\x25\xff\xfe\x26\xff\xfb\x18\xff\xfc\x20\xff\xfc\x23\xff\xfc\x27\xff\xfc\x24",
    ),
    (b"\xff\xfa\x18\x01\xff\xf0", b"\xff\xfa\x18\x00xterm-256color\xff\xf0"),
    (
        b"\xff\xfb\x03\xff\xfd\x01\xff\xfd\x22\xff\xfd\x1f\xff\xfb\x05\xff\xfd\x21",
        b"\xff\xfd\x03\xff\xfc\x01\xff\xfc\x22\xff\xfb\x1f\xff\xfa\x1f\x00P\x00\x18\xff\xf0\xff\xfe\x05\xff\xfc\x21",
    ),
    (b"\xff\xfb\x01\xff\xfd\x06\xff\xfd\x00", b"\xff\xfd\x01\xff\xfb\x06\xff\xfb\x00"),
    (b"\xff\xfc\x03", b"\xff\xfe\x03"),
    (b"\x1b[?2004hbash-5.2# ", b""),
    (b"date\r\n\x1b[?2004l\r\x00", b""),
];
const BUSYBOX: &[(&[u8], &[u8])] = &[
    (
        b"\xff\xfd\x01\xff\xfd\x1f\xff\xfb\x01\xff\xfb\x03",
        b"\xff\xfc\x01\xff\xfb\x1f\xff\xfa\x1f\x00P\x00\x18\xff\xf0\xff\xfd\x01\xff\xfd\x03",
    ),
    (b"\r\r\nDebian GNU/Linux 12\r\n\r", b""),
    (b"\x1b[?2004hbash-5.2# ", b""),
];

#[test]
fn real_daemons_get_their_expected_answers() {
    for talk in [TELNETD, BUSYBOX] {
        let mut end = terminal();
        for (said, answer) in talk {
            assert_eq!(feed(&mut end, said).1, *answer, "to {}", said.escape_ascii());
        }
    }
}

#[test]
fn ends_of_rows() {
    let (mut terminal, mut host) = pair();
    // Received: CR LF reaches a terminal unchanged; for a host it is one key.
    for (raw, at_terminal, at_host) in [
        (&b"a\r\0b"[..], &b"a\rb"[..], &b"a\rb"[..]),
        (b"a\r\nb", b"a\r\nb", b"a\rb"),
        (b"a\r\0\n", b"a\r\n", b"a\r\n"),
        (b"\r\r\0\0", b"\r\r\0", b"\r\r\0"),
        (b"a\n\0", b"a\n\0", b"a\n\0"),
    ] {
        assert_eq!(feed(&mut terminal, raw).0, at_terminal, "at the terminal, of {}", raw.escape_ascii());
        assert_eq!(feed(&mut host, raw).0, at_host, "at the host, of {}", raw.escape_ascii());
    }
    // Sent: a terminal sends only keys; a host may send a carriage return alone.
    assert_eq!(encode(&mut terminal, b"ls\r\n"), b"ls\r\0\n");
    assert_eq!(encode(&mut host, b"1\r\n2\r3\r"), b"1\r\n2\r\x003\r");
    assert_eq!(encode(&mut host, b"\n4\r"), b"\n4\r");
    assert_eq!(encode(&mut host, b"5"), b"\x005");
}

#[test]
fn output_without_escapes_is_sent_without_a_copy() {
    let mut host = Framing::host();
    let output = b"row one\r\nrow two\r\n";
    let mut room = [0; 8];
    let (taken, raw) = host.encode(output, &mut room);
    assert_eq!((taken, raw.as_ptr()), (output.len(), output.as_ptr()));
}

#[test]
fn queries_are_answered_each_time_and_a_state_only_once() {
    let mut end = terminal();
    assert_eq!(feed(&mut end, &[IAC, DO, 6, IAC, DO, 6]).1, [IAC, WILL, 6, IAC, WILL, 6]);
    assert_eq!(feed(&mut end, &[IAC, WILL, 1, IAC, WILL, 1]).1, [IAC, DO, 1]);
    assert_eq!(feed(&mut end, &[IAC, WONT, 1, IAC, WONT, 1]).1, [IAC, DONT, 1]);
    assert_eq!(feed(&mut end, &[IAC, DO, 39, IAC, DONT, 39, IAC, WONT, 99]).1, [IAC, WONT, 39]);
}

#[test]
fn a_reply_after_a_carriage_return_leaves_it_whole() {
    let (mut terminal, mut host) = pair();
    let first = encode(&mut host, b"1\r");
    assert!(!host.is_output_whole());
    let reply = feed(&mut host, &[IAC, DO, 6]).1;
    assert!(host.is_output_whole());
    assert_eq!((&first[..], &reply[..]), (&b"1\r"[..], &[0, IAC, WILL, 6][..]));
    let raw = [first, reply, encode(&mut host, b"2")].concat();
    assert_eq!(feed(&mut terminal, &raw).0, b"1\r2");
}

#[test]
fn are_you_there_is_harmless() {
    assert_eq!(feed(&mut terminal(), &[b'a', IAC, 246, b'b']), (b"ab".to_vec(), vec![]));
    let mut host = Framing::host();
    feed(&mut host, b"");
    assert_eq!(feed(&mut host, &[b'a', IAC, 246, b'b']), (b"ab".to_vec(), b"\r\n[Yes]\r\n".to_vec()));
}

#[test]
fn subnegotiations_that_are_too_long_or_broken_off_are_dropped_and_counted() {
    let mut host = Framing::host();
    let endless = [&[IAC, SB, 24, 0][..], &vec![b'x'; 100_000], &[IAC, SE, b'a']].concat();
    assert_eq!(feed(&mut host, &endless).0, b"a");
    assert_eq!((host.name(), host.dropped()), (None, 1));
    // The command that interrupts a subnegotiation is still obeyed.
    assert_eq!(feed(&mut host, &[IAC, SB, 31, 0, 80, IAC, DO, 39, b'b']), (b"b".to_vec(), vec![IAC, WONT, 39]));
    assert_eq!((host.window(), host.dropped()), (None, 2));
    // An escaped IAC within a subnegotiation is a data byte.
    assert_eq!(feed(&mut host, &[IAC, SB, 31, 0, IAC, IAC, 0, 24, IAC, SE, b'c']).0, b"c");
    assert_eq!((host.window(), host.dropped()), (Some((255, 24)), 2));
}

#[test]
fn an_invalid_terminal_name_is_ignored() {
    let mut host = Framing::host();
    feed(&mut host, &[&[IAC, SB, 24, 0][..], b"x\x1b]0;\x07", &[IAC, SE]].concat());
    feed(&mut host, &[&[IAC, SB, 31][..], &[0, 0, 0, 24, IAC, SE]].concat());
    assert_eq!((host.name(), host.window()), (None, None));
}

#[test]
fn a_flood_of_questions_does_not_grow_memory() {
    let mut end = terminal();
    let mut flood = [IAC, DO, 39].repeat(100_000);
    let len = flood.len();
    assert_eq!(end.decode(&mut flood, len), 0);
    assert!(end.replies().bytes().len() <= 1024);
    assert!(end.dropped() > 99_000);
    // The framing still works.
    assert_eq!(feed(&mut end, b"a").0, b"a");
}

/// Random bytes, mostly telnet commands and options.
fn raw() -> impl Strategy<Value = Vec<u8>> {
    let meant =
        proptest::sample::select(vec![IAC, IAC, WILL, WONT, DO, DONT, SB, SE, 0, 1, 3, 6, 24, 31, b'\r', b'\n']);
    proptest::collection::vec(prop_oneof![3 => meant, 1 => any::<u8>()], 1..300)
}

proptest! {
    #[test]
    fn a_stream_decodes_the_same_however_it_is_cut(raw in raw(), size in 1_usize..20, is_host: bool) {
        let end = || if is_host { Framing::host() } else { terminal() };
        let (mut one, mut other) = (end(), end());
        prop_assert_eq!(feed(&mut one, &raw), feed_in_pieces(&mut other, &raw, size));
        prop_assert_eq!((one.window(), one.name(), one.dropped()), (other.window(), other.name(), other.dropped()));
    }

    #[test]
    fn encoded_characters_decode_to_the_same(
        characters in raw(), pieces in 1_usize..20, room in 3_usize..40, step in 1_usize..9, from_host: bool, binary: bool,
    ) {
        let (mut terminal, mut host) = pair();
        for end in [&mut host, &mut terminal].into_iter().filter(|_| binary) {
            feed(end, &[IAC, WILL, 0, IAC, DO, 0]);
        }
        let (from, to) = if from_host { (&mut host, &mut terminal) } else { (&mut terminal, &mut host) };
        let bytes: Vec<u8> = characters.chunks(pieces).flat_map(|piece| sent(from, piece, room, step)).collect();
        prop_assert_eq!(feed_in_pieces(to, &bytes, pieces), (characters, vec![]));
    }
}

#[test]
fn a_new_window_size_is_sent_to_a_host_that_asked() {
    let mut terminal = Framing::terminal(80, 24, "xterm", Enter::default());
    terminal.resize(100, 30);
    assert_eq!(replies(&mut terminal), b"", "sent before the host asked");
    let mut host = Framing::host();
    negotiate(&mut host, &mut terminal, 99);
    assert_eq!(host.window(), Some((100, 30)));
    terminal.resize(255, 50);
    let size = replies(&mut terminal);
    assert_eq!(size, [IAC, SB, 31, 0, 255, 255, 0, 50, IAC, SE]);
    feed(&mut host, &size);
    assert_eq!(host.window(), Some((255, 50)));
}
