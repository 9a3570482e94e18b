//! Telnet's framing alone, without a line.

use cuesta_lines::Enter;
use cuesta_lines::wire::telnet::Framing;
use proptest::prelude::*;

const IAC: u8 = 255;
const DONT: u8 = 254;
const DO: u8 = 253;
const WONT: u8 = 252;
const WILL: u8 = 251;
const SB: u8 = 250;
const SE: u8 = 240;

/// The characters and replies of `end` for `raw`, received in one piece.
fn feed(end: &mut Framing, raw: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let mut raw = raw.to_vec();
    let len = end.receive(&mut raw);
    raw.truncate(len);
    let replies = end.replies().to_vec();
    end.replied(replies.len());
    (raw, replies)
}

/// The same, received in pieces of `size`.
fn feed_in_pieces(end: &mut Framing, raw: &[u8], size: usize) -> (Vec<u8>, Vec<u8>) {
    let fed = raw.chunks(size).map(|piece| feed(end, piece));
    fed.fold((Vec::new(), Vec::new()), |(characters, replies), (more, answers)| {
        ([characters, more].concat(), [replies, answers].concat())
    })
}

fn encode(end: &mut Framing, characters: &[u8], room: usize) -> Vec<u8> {
    encode_by(end, characters, room, usize::MAX)
}

/// The same over a line that accepts at most `step` bytes at once.
fn encode_by(end: &mut Framing, mut characters: &[u8], room: usize, step: usize) -> Vec<u8> {
    let mut room = vec![0; room];
    let mut all = Vec::new();
    while !characters.is_empty() {
        let encoded = end.encode(characters, &mut room);
        let len = encoded.1.len().min(step);
        all.extend_from_slice(&encoded.1[..len]);
        let taken = end.sent(characters, encoded, len);
        assert!(taken > 0, "a call encoded nothing");
        characters = &characters[taken..];
        all.extend_from_slice(end.replies());
        assert!(end.replies().len() < 3, "more is pending than the rest of one character");
        end.replied(end.replies().len());
    }
    all
}

/// Exchanges replies until neither end has any.
fn settle(terminal: &mut Framing, host: &mut Framing) -> usize {
    let mut rounds = 0;
    let mut from_host = feed(host, b"").1;
    while !from_host.is_empty() {
        let (characters, from_terminal) = feed(terminal, &from_host);
        assert_eq!(characters, b"");
        from_host = feed(host, &from_terminal).1;
        rounds += 1;
        assert!(rounds < 10, "the negotiation does not end");
    }
    rounds
}

fn terminal() -> Framing {
    Framing::terminal(80, 24, "xterm-256color", Enter::default())
}

fn pair() -> (Framing, Framing) {
    let (mut terminal, mut host) = (terminal(), Framing::host());
    settle(&mut terminal, &mut host);
    (terminal, host)
}

#[test]
fn enter_is_sent_as_the_target_says() {
    for (enter, sent) in [
        (Enter::CrNul, &b"ls\r\0pwd\r\0\xff\xff"[..]),
        (Enter::CrLf, b"ls\r\npwd\r\n\xff\xff"),
        (Enter::Cr, b"ls\rpwd\r\xff\xff"),
    ] {
        for room in [3, 64] {
            let mut terminal = Framing::terminal(80, 24, "xterm", enter);
            assert_eq!(encode(&mut terminal, b"ls\rpwd\r\xff", room), sent, "{enter:?}");
            // With BINARY agreed, nothing is added.
            feed(&mut terminal, &[IAC, DO, 0]);
            assert_eq!(encode(&mut terminal, b"ls\r", room), b"ls\r", "{enter:?}");
        }
    }
}

#[test]
fn two_ends_negotiate() {
    let (mut terminal, mut host) = (Framing::terminal(255, 24, "XTERM", Enter::default()), Framing::host());
    assert_eq!((host.window(), host.name()), (None, None));
    assert_eq!(settle(&mut terminal, &mut host), 2);
    assert_eq!((host.window(), host.name()), (Some((255, 24)), Some("xterm")));
    assert_eq!((host.dropped(), terminal.dropped()), (0, 0));
}

#[test]
fn ends_of_the_same_role_do_not_loop() {
    settle(&mut Framing::host(), &mut Framing::host());
    settle(&mut terminal(), &mut terminal());
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
fn one_byte_at_a_time_is_the_same_as_all_at_once() {
    for talk in [TELNETD, BUSYBOX] {
        let said = talk.iter().map(|(said, _)| *said).collect::<Vec<_>>().concat();
        let whole = feed(&mut terminal(), &said);
        for size in 1..=said.len() {
            assert_eq!(feed_in_pieces(&mut terminal(), &said, size), whole, "in pieces of {size}");
        }
    }
}

#[test]
fn once_binary_is_agreed_the_terminal_sends_carriage_returns_bare() {
    let mut end = terminal();
    assert_eq!(encode(&mut end, b"a\r", 64), b"a\r\0");
    feed(&mut end, &[IAC, DO, 0]);
    assert_eq!(encode(&mut end, b"a\r\xff", 64), b"a\r\xff\xff");
    feed(&mut end, &[IAC, WILL, 0]);
    assert_eq!(feed(&mut end, b"a\r\0b\r\n").0, b"a\r\0b\r\n");
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
    assert_eq!(encode(&mut terminal, b"ls\r\n", 64), b"ls\r\0\n");
    assert_eq!(encode(&mut host, b"1\r\n2\r3\r", 64), b"1\r\n2\r\x003\r");
    assert_eq!(encode(&mut host, b"\n4\r", 64), b"\n4\r");
    assert_eq!(encode(&mut host, b"5", 64), b"\x005");
}

#[test]
fn output_without_escapes_is_sent_without_a_copy() {
    let host = Framing::host();
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
    let first = encode(&mut host, b"1\r", 64);
    assert!(!host.is_output_whole());
    let reply = feed(&mut host, &[IAC, DO, 6]).1;
    assert!(host.is_output_whole());
    assert_eq!((&first[..], &reply[..]), (&b"1\r"[..], &[0, IAC, WILL, 6][..]));
    let raw = [first, reply, encode(&mut host, b"2", 64)].concat();
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
    assert_eq!(end.receive(&mut flood), 0);
    assert!(end.replies().len() <= 1024);
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

fn either() -> impl Strategy<Value = bool> {
    any::<bool>()
}

proptest! {
    #[test]
    fn a_stream_decodes_the_same_however_it_is_cut(raw in raw(), size in 1_usize..20, is_host in either()) {
        let end = || if is_host { Framing::host() } else { terminal() };
        let (mut one, mut other) = (end(), end());
        prop_assert_eq!(feed(&mut one, &raw), feed_in_pieces(&mut other, &raw, size));
        prop_assert_eq!((one.window(), one.name(), one.dropped()), (other.window(), other.name(), other.dropped()));
    }

    #[test]
    fn encoded_characters_decode_to_the_same(characters in raw(), pieces in 1_usize..20, room in 3_usize..40, step in 1_usize..9,
                                  from_host in either(),                                  binary in either()) {
        let (mut terminal, mut host) = pair();
        if binary {
            let (mut to_host, mut to_terminal) = (vec![IAC, WILL, 0, IAC, DO, 0], vec![IAC, WILL, 0, IAC, DO, 0]);
            host.receive(&mut to_host);
            terminal.receive(&mut to_terminal);
            host.replied(host.replies().len());
            terminal.replied(terminal.replies().len());
        }
        let (from, to) = if from_host { (&mut host, &mut terminal) } else { (&mut terminal, &mut host) };
        let mut sent = Vec::new();
        for piece in characters.chunks(pieces) {
            sent.extend(encode_by(from, piece, room, step));
        }
        prop_assert_eq!(feed_in_pieces(to, &sent, pieces), (characters, vec![]));
    }
}

#[test]
fn a_new_window_size_is_sent_to_a_host_that_asked() {
    let mut terminal = Framing::terminal(80, 24, "xterm", Enter::default());
    terminal.resize(100, 30);
    assert_eq!(terminal.replies(), b"", "sent before the host asked");
    let mut host = Framing::host();
    settle(&mut terminal, &mut host);
    assert_eq!(host.window(), Some((100, 30)));
    terminal.resize(255, 50);
    assert_eq!(terminal.replies(), [IAC, SB, 31, 0, 255, 255, 0, 50, IAC, SE]);
    feed(&mut host, terminal.replies());
    assert_eq!(host.window(), Some((255, 50)));
}
