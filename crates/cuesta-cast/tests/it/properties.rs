//! Properties of any cast: no function panics, its tapes parse, and it reads back as written.

use std::time::Duration;

use cuesta_cast::{Cast, Event, EventKind, Timing, tape};
use proptest::prelude::*;

fn kind() -> impl Strategy<Value = EventKind> {
    let output = "(\\$ |\\r\\n|Password: |\\x1b\\[\\?1049h|\\x1b\\[H|[a-z]{1,5}|é|\\x1b\\]0;t\\x07){0,4}";
    let input = "(\\r|\\x1b|\\x1b\\[A|\\x1bOF|\\x03|\\x7f|[a-z\\$\\{\\}\"'`/]{1,6}|\\x1b\\[200~|x\\ny\\x1b\\[201~|\\x1b\\[1;2R|é){0,4}";
    prop_oneof![
        4 => output.prop_map(EventKind::Output),
        4 => (input, any::<Option<bool>>()).prop_map(|(text, echoes)| EventKind::Input { text, echoes }),
        1 => "(password|password_2|secret_1)".prop_map(EventKind::Secret),
        1 => (1_u16..200, 1_u16..100).prop_map(|(columns, rows)| EventKind::Resize { columns, rows }),
        1 => "[a-z]{0,5}".prop_map(EventKind::Marker),
    ]
}

fn cast() -> impl Strategy<Value = Cast> {
    proptest::collection::vec((0_u64..3_000_000, kind()), 0..30).prop_map(|events| {
        let mut at = Duration::ZERO;
        let event = |(later, kind)| {
            at += Duration::from_micros(later);
            Event { at, kind }
        };
        Cast { events: events.into_iter().map(event).collect(), ..Cast::default() }
    })
}

/// Files of casts do not record whether input was echoed.
fn without_echoes(mut cast: Cast) -> Cast {
    for event in &mut cast.events {
        if let EventKind::Input { echoes, .. } = &mut event.kind {
            *echoes = None;
        }
    }
    cast
}

/// Appends a password entry: the gap in µs after each key, and whether a star is shown for it.
fn with_secret(mut cast: Cast, gaps: &[(u64, bool)]) -> Cast {
    let mut at = cast.events.last().map_or(Duration::ZERO, |last| last.at) + Duration::from_secs(1);
    let mut push = |at, kind| cast.events.push(Event { at, kind });
    let input = |text: &str| EventKind::Input { text: text.into(), echoes: Some(false) };
    push(at, EventKind::Output("\x1b[201~\r\nPassword: ".into()));
    for (gap, star) in gaps {
        push(at, input("x"));
        at += Duration::from_micros(*gap);
        if *star {
            push(at, EventKind::Output("*".into()));
        }
    }
    push(at, input("\r"));
    push(at + Duration::from_secs(2), EventKind::Output("\r\n$ ".into()));
    cast
}

/// How a program shows a key of a secret.
#[derive(Debug, Clone, Copy)]
enum Shows {
    Nothing,
    Star,
    Blank,
    /// The key, until the next one is pressed.
    Last,
    /// The key, in another part of the screen.
    Elsewhere,
    /// The same, with a word before it.
    Named,
}

/// A secret is typed in pieces, each answered `lag` pieces later, and ended by a key.
fn asked(secret: &str, pieces: &[usize], lag: usize, shows: Shows, end: &str) -> Cast {
    let mut kinds = vec![EventKind::Output("\x1b[?1049h\x1b[2J\x1b[5;9HCode: ".into())];
    let mut answers = Vec::new();
    let mut rest = secret;
    for length in pieces.iter().cycle() {
        let (piece, after) = rest.split_at((*length).min(rest.len()));
        rest = after;
        kinds.push(EventKind::Input { text: piece.into(), echoes: None });
        answers.push(piece.chars().map(|c| answer(c, shows)).collect::<String>());
        if answers.len() > lag {
            kinds.push(EventKind::Output(answers.remove(0)));
        }
        if rest.is_empty() {
            break;
        }
    }
    kinds.push(EventKind::Input { text: end.into(), echoes: None });
    kinds.extend(answers.into_iter().map(EventKind::Output));
    kinds.push(EventKind::Output("\r\nok\r\n".into()));
    let event = |(number, kind)| Event { at: Duration::from_millis(100 * number as u64), kind };
    Cast { events: kinds.into_iter().enumerate().map(event).collect(), ..Cast::default() }
}

fn answer(key: char, shows: Shows) -> String {
    match shows {
        Shows::Nothing => String::new(),
        Shows::Star => "*".into(),
        Shows::Blank => " ".into(),
        Shows::Last => format!("\x08*{key}"),
        Shows::Elsewhere => format!("\x1b7\x1b[9;1H{key}\x1b8"),
        Shows::Named => format!("\x1b7\x1b[9;1Hlatest key: {key}\x1b8"),
    }
}

/// Whether a text contains four consecutive characters of a secret, forwards or backwards.
fn leaks(text: &str, secret: &str) -> bool {
    let backwards: String = secret.chars().rev().collect();
    let parts = |secret: &str| (0..=secret.len() - 4).any(|at| text.contains(&secret[at..at + 4]));
    parts(secret) || parts(&backwards)
}

proptest! {
    #[test]
    fn unshown_secrets_are_in_no_file(
        secret in "[A-GI-Z02-6!#%&]{5,20}", // no control characters
        pieces in proptest::collection::vec(1_usize..4, 1..4),
        lag in 0_usize..4,
        shows in prop_oneof![Just(Shows::Nothing), Just(Shows::Star), Just(Shows::Blank), Just(Shows::Last), Just(Shows::Elsewhere), Just(Shows::Named)],
        end in "(\r|\t|\x03|\x04|\x1b)",
    ) {
        prop_assume!(secret.chars().collect::<std::collections::BTreeSet<_>>().len() > 4);
        let cast = asked(&secret, &pieces, lag, shows, &end);
        let kept = cast.without_secrets();
        for input in [true, false] {
            let text: String = kept.events.iter().filter_map(|event| match &event.kind {
                EventKind::Input { text, .. } if input => Some(text.as_str()),
                EventKind::Output(text) if !input => Some(text.as_str()),
                _ => None,
            }).filter(|text| !text.contains("Code")).flat_map(str::chars).filter(|c| secret.contains(*c)).collect();
            prop_assert!(!leaks(&text, &secret), "{text:?} of {kept:?}");
        }
        for timing in [Timing::Closed, Timing::Recorded] {
            prop_assert!(!leaks(&tape(&cast, timing, "").expect("a tape"), &secret));
        }
    }

    #[test]
    fn every_session_makes_tapes_that_parse(cast in cast()) {
        for timing in [Timing::Closed, Timing::Recorded] {
            let Ok(tape) = tape(&cast, timing, "any\nsession") else {
                prop_assert!(!cast.has_input());
                continue;
            };
            let parsed = cuesta_tape::parse(&tape, "any.tape", &|_| Err(String::new()));
            prop_assert!(parsed.is_ok(), "{tape}\n{}", parsed.unwrap_err());
            let columns = parsed.expect("seen").script.columns();
            let ours = |column: &String| column.starts_with("password") || column.starts_with("secret_");
            prop_assert!(columns.iter().all(ours), "{columns:?} in {tape}");
        }
    }

    #[test]
    fn any_cast_reads_back_as_written(cast in cast()) {
        let mut written = Vec::new();
        cast.write(&mut written).expect("writes");
        prop_assert_eq!(Cast::read(&written).expect("reads"), without_echoes(cast));
    }

    #[test]
    fn a_cut_cast_reads_up_to_the_cut(cast in cast(), cut in any::<proptest::sample::Index>()) {
        let mut written = Vec::new();
        cast.write(&mut written).expect("writes");
        let head = written.iter().position(|byte| *byte == b'\n').expect("a header");
        let length = head + cut.index(written.len() - head);
        let read = Cast::read(&written[..length]).expect("reads");
        prop_assert_eq!(&read.events[..], &without_echoes(cast).events[..read.events.len()]);
        let events = written[head..length].split(|byte| *byte == b'\n').count().saturating_sub(2);
        prop_assert!(read.events.len() >= events, "{} of {events}", read.events.len());
        prop_assert_eq!(read.cut, read.was_stopped());
    }

    #[test]
    fn a_known_secret_is_in_no_cast_and_in_no_tape(cast in cast(), secret in "[A-Z]{6,12}", at in 0_usize..30) {
        let mut cast = cast;
        let at = at.min(cast.events.len());
        let when = cast.events.get(at).map_or(Duration::from_secs(100), |event| event.at);
        let typed = secret.chars().map(|c| Event { at: when, kind: EventKind::Input { text: c.into(), echoes: Some(false) } });
        cast.events.splice(at..at, typed.collect::<Vec<_>>());
        let kept = cast.without_secrets();
        let mut written = Vec::new();
        kept.write(&mut written).expect("writes");
        let typed = |cast: &Cast| -> String {
            cast.events.iter().filter_map(|event| match &event.kind {
                EventKind::Input { text, .. } => Some(text.as_str()),
                _ => None,
            }).collect()
        };
        let upper = |text: &str| text.chars().any(|c| c.is_ascii_uppercase() && secret.contains(c));
        let letters = typed(&kept).replace("\x1b[A", "").replace("\x1bOF", "").replace("\x1b[1;2R", "");
        prop_assert!(!upper(&letters), "{letters:?}");
        for timing in [Timing::Closed, Timing::Recorded] {
            prop_assert!(!tape(&cast, timing, "").expect("a tape").contains(&secret));
            prop_assert!(!tape(&kept, timing, "").expect("a tape").contains(&secret));
        }
    }

    #[test]
    fn how_a_secret_was_typed_changes_no_file(cast in cast(), gaps in proptest::collection::vec((0_u64..2_000_000, any::<bool>()), 1..10)) {
        let written = |gaps: &[(u64, bool)]| {
            let cast = with_secret(cast.clone(), gaps);
            let mut all = Vec::new();
            cast.without_secrets().write(&mut all).expect("writes");
            let tapes = [Timing::Closed, Timing::Recorded].map(|timing| tape(&cast, timing, "").expect("a tape"));
            (String::from_utf8(all).expect("UTF-8"), tapes)
        };
        let total: u64 = gaps.iter().map(|(us, _)| us).sum();
        let even: Vec<_> = gaps.iter().enumerate().map(|(key, (_, star))| (if key == 0 { total } else { 0 }, *star)).collect();
        prop_assert_eq!(written(&gaps), written(&even));
    }

    #[test]
    fn no_text_panics(text in "(\\{\"version\":[123]|,\"width\":[0-9]{1,4}|,\"height\":24|,\"term\":\\{\"cols\":8,\"rows\":2\\}|\\}|\\n|\\[|[0-9.e-]{1,5}|, \"[oimrx]\"|, \"[a-z0-9]{0,4}\"|\\]|#|\"stdout\":){0,30}") {
        if let Ok(cast) = Cast::read(text.as_bytes()) {
            let _ = tape(&cast, Timing::Closed, "");
        }
    }
}
