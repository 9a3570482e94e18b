use super::early::UNCONFIRMED;
use super::*;

fn stamp(number: usize) -> Stamp {
    Stamp::from_nanos(number as u64)
}

/// A key that was sent at an instant.
fn sent(number: usize) -> SentKey {
    let at = stamp(number);
    SentKey { due: at, sent: at, echo: Echo::Timed, begins_input: false, ends_input: false }
}

/// Keys sent at 0, 1, 2, … ns.
fn typed(keys: &[&str], map: &[(u8, u8)]) -> EchoMatcher {
    let mut echoes = EchoMatcher::default();
    for (n, key) in keys.iter().enumerate() {
        echoes.await_key(key.as_bytes(), map, sent(n));
    }
    echoes
}

fn number(echo: &AwaitedEcho) -> char {
    char::from_digit(echo.key.sent.as_nanos() as u32, 10).unwrap_or('?')
}

/// The result for each byte. The first byte arrives at 10 ns, when ten keys may have been sent, and then one each ns.
fn receive(echoes: &mut EchoMatcher, text: impl AsRef<[u8]>, strict: bool) -> String {
    let mut told = String::new();
    for (index, byte) in text.as_ref().iter().enumerate() {
        match echoes.take(*byte, strict, || stamp(10 + index)) {
            EchoMatch::Echo(key) => told.push(number(&key)),
            EchoMatch::Consumed => told.push('_'),
            EchoMatch::Wrong => told.push('!'),
            EchoMatch::Other => told.push('.'),
            EchoMatch::Lost => told.extend(["(", &echoes.take_lost().to_string(), "lost)"]),
            EchoMatch::Resolved => told += &resolved(echoes, stamp(10 + index)),
        }
    }
    told
}

/// `-` and each key that was given up, and the later keys that were echoed, each with its instant.
fn resolved(echoes: &mut EchoMatcher, now: Stamp) -> String {
    let Some(resolution) = echoes.resolve_unconfirmed(now) else { return String::new() };
    let told = resolution.echoes.iter().map(|(key, at)| format!("{}@{}", number(key), at.as_nanos()));
    format!("({}{})", "-".repeat(resolution.never_echoed), told.collect::<Vec<_>>().join(" "))
}

#[test]
fn echoes_are_found_among_other_output() {
    let mut echoes = typed(&["a", "b", "\r"], &[]);
    assert_eq!(receive(&mut echoes, "news! \x1b[mab\r\n15", false), ".........012_..");
}

#[test]
fn a_map_is_strict() {
    let mut echoes = typed(&["a", "a", "a"], &[(b'a', b'0')]);
    assert_eq!(receive(&mut echoes, "0a0", true), "0!2");
    assert!(!echoes.expects_echo());
}

#[test]
fn a_password_is_given_up_with_its_return_after_the_end_of_row() {
    let mut echoes = typed(&["p", "w", "\r"], &[]);
    assert_eq!(receive(&mut echoes, "\r\npw", false), "....");
    assert_eq!(resolved(&mut echoes, stamp(12)), "");
    assert_eq!(echoes.unconfirmed_until(), Some(stamp(13) + UNCONFIRMED));
    assert_eq!(receive(&mut echoes, "$ ", false), "..");
    assert_eq!(echoes.unconfirmed_until(), Some(stamp(11) + UNCONFIRMED));
    assert_eq!(resolved(&mut echoes, stamp(11) + UNCONFIRMED), "(---)");
}

#[test]
fn a_row_that_is_not_echoed_in_one_piece_is_lost() {
    // It is drawn anew, other text comes, a suggestion stands behind it, or letters come twice.
    for (text, told) in [
        ("\r$ a\r$ ab", "...0.(3lost)..."),
        ("aisle", "0(3lost)..."),
        ("abc\x1b[2D", "012...."),
        ("ab\x1b[1D", "01...(2lost)"),
        ("\x1b[2;5Hthe cab", ".....(4lost)......."),
        ("aabb", "0(3lost).."),
        ("a\x08ab", "0(3lost).."),
    ] {
        let mut echoes = typed(&["a", "b", "c", "\r"], &[]);
        assert_eq!(receive(&mut echoes, text, false), told, "{text:?}");
    }
    // The keys of the row that follow are lost too, and the next row is not.
    let mut echoes = typed(&["a", "b"], &[]);
    assert_eq!(receive(&mut echoes, "ax", false), "0(1lost)");
    echoes.await_key(b"c", &[], sent(7));
    assert_eq!((echoes.take_lost(), echoes.unechoed()), (1, 0));
    echoes.await_key(b"\r", &[], sent(8));
    assert_eq!(echoes.take_lost(), 1);
    echoes.await_key(b"d", &[], sent(9));
    assert_eq!(receive(&mut echoes, "bc\r\nd", false), "....9");
    // readline wraps a row with a blank and CR.
    assert_eq!(receive(&mut typed(&["a", "b"], &[]), "a \rb", false), "0..1");
}

#[test]
fn a_row_that_is_redrawn_before_its_echo_does_not_end() {
    let mut echoes = typed(&["a", "b", "c", "\r"], &[]);
    assert_eq!(receive(&mut echoes, "\r$ abc\r\n", false), "...0123_");
    assert!(!echoes.expects_echo());
}

#[test]
fn a_key_sent_after_the_answer_to_a_password_is_certain() {
    let mut echoes = typed(&["p", "w", "\r"], &[]);
    assert_eq!(receive(&mut echoes, "\r\nlist>", false), ".......");
    echoes.await_key(b"l", &[], sent(30));
    assert_eq!(receive(&mut echoes, "l", false), "(---?@10)");
}

#[test]
fn a_password_is_given_up_by_later_echoed_keys() {
    let mut echoes = typed(&["l", "s", "p", "\r"], &[]);
    assert_eq!(receive(&mut echoes, "\r\nwelcome ls\r\n$ ", false), ".".repeat(16));
    // The command begins like the password.
    for (index, key, told) in [(30, "l", "."), (40, "s", "(----?@10 ?@10)")] {
        echoes.await_key(key.as_bytes(), &[], sent(index));
        assert_eq!(receive(&mut echoes, key, false), told);
    }
}

#[test]
fn an_answer_before_the_echo_is_no_echo() {
    let mut echoes = typed(&["e", "c", "h", "o", " ", "D", "O", "N", "E", "\r"], &[]);
    assert_eq!(receive(&mut echoes, "\r\nDONE\r\n", false), ".".repeat(8));
    assert_eq!(receive(&mut echoes, "echo DONE\r\n$ ", false), "...(0@10 1@11 2@12 3@13)456789_..");
    let mut echoes = typed(&["l", "s", "\r"], &[]);
    assert_eq!(receive(&mut echoes, "\r\nfalse\r\nls\r\n", false), "...........(0@19 1@20 2@21)_");
}

#[test]
fn a_return_may_be_echoed_after_an_unechoed_key() {
    let mut echoes = typed(&["x", "l", "\r"], &[]);
    assert_eq!(receive(&mut echoes, "l\r\n", false), ".._");
    assert_eq!(resolved(&mut echoes, stamp(11) + UNCONFIRMED), "(-1@10 2@11)");
}

#[test]
fn control_keys_are_not_awaited_and_old_keys_are_given_up() {
    let mut echoes = typed(&["\x1b[A", "\x03", "a", "b"], &[]);
    assert_eq!(echoes.unechoed(), 2);
    assert_eq!(echoes.give_up_before(Stamp::from_nanos(3)), 1);
    assert_eq!(echoes.unechoed(), 1);
    assert_eq!(receive(&mut echoes, "b", false), "3");
}

#[test]
fn control_functions_show_no_key() {
    let mut echoes = typed(&["m", "K", "0", "B"], &[]);
    assert_eq!(receive(&mut echoes, "\x1b[?25l\x1b[1;32m\x1b[K\x1b]0;mK0B\x07\x1b(B", false), ".".repeat(28));
    assert_eq!(receive(&mut echoes, "m\x1b[mK\x1b[0m0\x1b(BB", false), "0...1....2...3");
}

#[test]
fn a_key_is_its_whole_character() {
    let mut echoes = typed(&["é"], &[]);
    assert_eq!(receive(&mut echoes, "è\u{a9}", false), "_...");
    // Cut in two reads.
    assert_eq!(receive(&mut echoes, [0xc3], false) + &receive(&mut echoes, [0xa9], false), "_0");
}

#[test]
fn an_unechoed_key_is_given_up_by_later_echoes() {
    // The second key after it is sent when the first one has been echoed.
    let mut echoes = typed(&["x", "l"], &[]);
    assert_eq!(receive(&mut echoes, "\x1b[ml", false), "....");
    echoes.await_key(b"s", &[], sent(20));
    assert_eq!(receive(&mut echoes, "\x1b[ms", false), "...(-1@13 ?@13)");
    assert_eq!(echoes.unechoed(), 0);
    // All keys are typed ahead: echoes of four keys in order decide, fewer are held.
    let mut echoes = typed(&["x", "e", "c", "h", "o"], &[]);
    assert_eq!(receive(&mut echoes, "ech", false), "...");
    assert_eq!(receive(&mut echoes, "o", false), "(-1@10 2@11 3@12 4@10)");
}

#[test]
fn other_output_gives_up_no_key() {
    // The text contains the keys in order, but not side by side.
    let mut echoes = typed(&["e", "c", "h", "o"], &[]);
    assert_eq!(receive(&mut echoes, "cat has no", false), ".".repeat(10));
    assert_eq!(receive(&mut echoes, "echo", false), "0123");
    // The expected echo arrives later.
    let mut echoes = typed(&["e", "c", "h"], &[]);
    assert_eq!(receive(&mut echoes, "c", false) + &receive(&mut echoes, "ech", false), ".012");
}

#[test]
fn untimed_keys_are_not_counted() {
    let mut echoes = typed(&["u"], &[]);
    for key in ["p", "w"] {
        echoes.await_key(key.as_bytes(), &[], SentKey { echo: Echo::Untimed, ..sent(1) });
    }
    echoes.await_key(b"\r", &[], sent(2));
    assert_eq!(echoes.unechoed(), 2);
    assert_eq!(receive(&mut echoes, "u\r\n", false), "0..");
    assert_eq!(resolved(&mut echoes, stamp(12) + UNCONFIRMED), "()");
    assert_eq!(echoes.unechoed(), 0);
}
