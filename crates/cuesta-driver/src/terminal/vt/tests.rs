use std::slice;
use std::time::Duration;

use cuesta_record::KeyFrame;
use cuesta_tape::Pattern;

use super::*;
use crate::echoes::Echoes;
use crate::terminal::undrawn::{FULL, SPARE};

/// A screen on which the host has drawn.
fn drawn_screen() -> VtTerminal {
    let mut screen = VtTerminal::new((20, 5), Widths::default(), true);
    draws(&mut screen, "\r", 1, None);
    screen
}

fn at(nanos: u64) -> Stamp {
    Stamp::from_nanos(nanos)
}

/// A read at an instant, on a line with a speed if `per_character` is not zero.
fn receives(screen: &mut VtTerminal, text: &str, nanos: u64, per_character: u64) {
    let per_character = Duration::from_nanos(per_character);
    screen.read(text.as_bytes(), &Received { len: text.len(), at: at(nanos), per_character, ..Received::default() });
}

fn key(nanos: u64, timed: bool, ends_input: bool) -> SentKey {
    let echo = if timed { Echo::Screen } else { Echo::Untimed };
    SentKey { due: at(nanos), sent: at(nanos), echo, begins_input: false, ends_input }
}

/// A timed key.
fn types(screen: &mut VtTerminal, character: char, nanos: u64) -> SentKey {
    let key = key(nanos, true, false);
    presses(screen, KeyEffect::Shown(character), key);
    key
}

/// Presses a key, by which no other one is found.
fn presses(screen: &mut VtTerminal, effect: KeyEffect, key: SentKey) {
    let mut events = Vec::new();
    screen.key(effect, key, &mut events);
    assert_eq!(events, []);
}

/// An untimed input, sent at once; the Return is its last key.
fn enters(screen: &mut VtTerminal, text: &str, nanos: u64) {
    for (index, character) in text.chars().enumerate() {
        presses(screen, KeyEffect::Shown(character), SentKey { begins_input: index == 0, ..key(nanos, false, false) });
    }
    presses(screen, KeyEffect::Return, SentKey { begins_input: text.is_empty(), ..key(nanos, false, true) });
}

/// Receives a read and draws it.
fn draws(screen: &mut VtTerminal, text: &str, nanos: u64, condition: Option<&WaitCondition>) -> Vec<OutputEvent> {
    receives(screen, text, nanos, 0);
    drawn(screen, condition)
}

fn drawn(screen: &mut VtTerminal, condition: Option<&WaitCondition>) -> Vec<OutputEvent> {
    let mut events = Vec::new();
    while !screen.is_drawn() {
        screen.draw(4, condition.map_or(&[], slice::from_ref), &mut events);
    }
    events
}

fn prompt() -> WaitCondition {
    WaitCondition::Prompt(Pattern::new(r"\$ $").expect("a pattern"))
}

#[test]
fn a_key_keeps_its_order_among_the_reads() {
    let mut screen = drawn_screen();
    receives(&mut screen, "\r\nold $ ", 10, 0);
    let shown = types(&mut screen, 'l', 20);
    receives(&mut screen, "l", 30, 0);
    assert_eq!((screen.unechoed(), screen.oldest()), (1, Some(at(20))));
    assert_eq!(drawn(&mut screen, None), [OutputEvent::Shown(shown, at(30))]);
    assert_eq!(screen.unechoed(), 0);
}

#[test]
fn output_before_a_key_is_no_answer_to_it() {
    let mut screen = drawn_screen();
    let condition = prompt();
    receives(&mut screen, "$ ", 10, 0);
    enters(&mut screen, "", 20);
    assert_eq!(drawn(&mut screen, Some(&condition)), []);
    assert!(!screen.check_again(&condition, at(20)));
    assert_eq!(draws(&mut screen, "\r\n$ ", 30, Some(&condition)), [OutputEvent::Answer(at(30))]);
    assert!(screen.check_again(&condition, at(30)));
}

#[test]
fn on_a_line_with_a_speed_each_character_has_its_instant() {
    let mut screen = drawn_screen();
    let condition = prompt();
    enters(&mut screen, "", 20);
    // Complete at the fourth character: the bell changes nothing, and a condition that held only for a while does not count.
    receives(&mut screen, "\r\n$ \x07\x07", 100, 10);
    assert_eq!(drawn(&mut screen, Some(&condition)), [OutputEvent::Answer(at(130))]);
    enters(&mut screen, "", 20);
    receives(&mut screen, "\r\n$ gone", 200, 10);
    assert_eq!(drawn(&mut screen, Some(&condition)), []);
}

#[test]
fn reading_stops_while_too_much_output_waits_and_memory_is_freed() {
    let mut screen = drawn_screen();
    let small = screen.memory_change().1;
    receives(&mut screen, &"x".repeat(FULL), 10, 0);
    assert!(screen.is_full());
    assert_eq!(drawn(&mut screen, None), []);
    let (before, after) = screen.memory_change();
    assert!(!screen.is_full() && before == small && after <= small + SPARE, "{small}, {before}, {after}");
}

#[test]
fn keys_that_are_never_shown_are_given_up_after_a_time() {
    let mut screen = drawn_screen();
    types(&mut screen, 'a', 1);
    types(&mut screen, 'b', 5);
    let mut events = Vec::new();
    screen.give_up_before(at(5), &mut events);
    assert_eq!((events.as_slice(), screen.unechoed()), (&[OutputEvent::Missed(Echo::Screen)][..], 1));
    screen.give_up_before(Stamp::FAR, &mut events);
    assert_eq!(events, [OutputEvent::Missed(Echo::Screen); 2]);
}

fn shows(pattern: &str) -> WaitCondition {
    WaitCondition::Screen(Pattern::new(pattern).expect("a pattern"))
}

#[test]
fn an_answer_before_the_echo_is_held_and_keeps_its_instant() {
    let mut screen = drawn_screen();
    let condition = shows("DONE");
    enters(&mut screen, "echo DONE", 20);
    assert_eq!(draws(&mut screen, "\r\nDONE\r\n", 30, Some(&condition)), []);
    assert!(screen.match_held_until().is_some());
    assert_eq!(draws(&mut screen, "echo DONE", 90, Some(&condition)), [OutputEvent::Answer(at(30))]);
}

#[test]
fn a_prompt_before_the_echo_is_no_answer() {
    let mut screen = drawn_screen();
    enters(&mut screen, "ls", 20);
    assert_eq!(draws(&mut screen, "$ ", 30, Some(&prompt())), []);
    assert_eq!(draws(&mut screen, "ls\r\n", 40, Some(&prompt())), []);
    assert_eq!(draws(&mut screen, "$ ", 50, Some(&prompt())), [OutputEvent::Answer(at(50))]);
}

#[test]
fn a_prompt_before_a_row_that_was_typed_ahead_is_no_answer() {
    let mut screen = drawn_screen();
    let condition = prompt();
    draws(&mut screen, "$ ", 10, None);
    enters(&mut screen, "sleep 1", 20);
    presses(&mut screen, KeyEffect::Shown('x'), key(21, false, false));
    presses(&mut screen, KeyEffect::Return, key(21, false, true));
    receives(&mut screen, "sleep 1\r\nx\r\n", 30, 0);
    assert_eq!(draws(&mut screen, "$ ", 1_000, Some(&condition)), []);
    assert_eq!(screen.match_held_until(), Some(at(1_000) + Duration::from_millis(500)));
    receives(&mut screen, "x\r\n", 1_001, 0);
    assert_eq!((drawn(&mut screen, Some(&condition)), screen.match_held_until()), (vec![], None));
    assert_eq!(draws(&mut screen, "$ ", 2_000, Some(&condition)), []);
    assert_eq!(screen.match_held_until(), Some(at(2_000) + Duration::from_millis(500)));
    assert_eq!((screen.accept_match(), screen.match_held_until()), (Some(at(2_000)), None));
}

#[test]
fn the_first_prompt_is_no_answer_to_earlier_input() {
    let mut screen = VtTerminal::new((20, 5), Widths::default(), true);
    enters(&mut screen, "ls", 20);
    receives(&mut screen, "ls\r\n", 21, 0);
    assert_eq!(draws(&mut screen, "$ ", 30, Some(&prompt())), []);
    receives(&mut screen, "ls\r\nfile\r\n$ ", 40, 0);
    assert_eq!((drawn(&mut screen, Some(&prompt())), screen.accept_match()), (vec![], Some(at(40))));
}

#[test]
fn a_missing_echo_is_waited_for_three_times() {
    let mut screen = drawn_screen();
    let condition = shows("42");
    for input in 1..=3 {
        enters(&mut screen, "sum", 20 * input);
        assert_eq!(draws(&mut screen, "\r\n42\r\n", 20 * input + 5, Some(&condition)), []);
        assert_eq!((screen.accept_match(), screen.match_held_until()), (Some(at(20 * input + 5)), None));
    }
    enters(&mut screen, "sum", 80);
    assert_eq!(draws(&mut screen, "\r\n42\r\n", 90, Some(&condition)), [OutputEvent::Answer(at(90))]);
}

#[test]
fn an_input_without_echo_may_be_a_password_at_a_host_that_echoes() {
    let mut screen = drawn_screen();
    enters(&mut screen, "secret", 20);
    assert_eq!(draws(&mut screen, "\r\nwelcome\r\n", 30, Some(&shows("welcome"))), []);
    assert_eq!(screen.accept_match(), Some(at(30)));
    enters(&mut screen, "ls", 40);
    assert_eq!(draws(&mut screen, "$ ", 50, Some(&prompt())), [], "the first prompt is late");
    assert_eq!(draws(&mut screen, "ls\r\n$ ", 60, Some(&prompt())), [OutputEvent::Answer(at(60))]);
}

/// Types Up, which recalls a command from the history, and Return.
fn recalls_command(screen: &mut VtTerminal, nanos: u64) {
    presses(screen, KeyEffect::Other, SentKey { begins_input: true, ..key(nanos, false, false) });
    presses(screen, KeyEffect::Return, key(nanos, false, true));
}

#[test]
fn a_row_that_the_host_edits_is_no_answer() {
    for reads in [&["\r$ echo DONE\r\n"][..], &["\r$ echo", " DONE", "\r\n"], &["\r$ echo a very long DONE\r\n"]] {
        let mut screen = drawn_screen();
        draws(&mut screen, "$ ", 10, None);
        recalls_command(&mut screen, 20);
        for (index, read) in reads.iter().enumerate() {
            assert_eq!(draws(&mut screen, read, 30 + index as u64, Some(&shows("DONE"))), [], "{read:?} of {reads:?}");
        }
        assert!(screen.match_held_until().is_none());
        assert_eq!(
            draws(&mut screen, "DONE\r\n", 60, Some(&shows("DONE"))),
            [OutputEvent::Answer(at(60))],
            "{reads:?}"
        );
        assert_eq!(screen.first_output(at(60)), at(60));
    }
}

#[test]
fn an_edited_row_that_stays_delays_an_answer_only_for_a_while() {
    let mut screen = drawn_screen();
    draws(&mut screen, "$ ", 10, None);
    recalls_command(&mut screen, 20);
    assert_eq!(draws(&mut screen, "\x1b[HDONE", 30, Some(&shows("DONE"))), []);
    assert!(screen.match_held_until().is_some());
    assert_eq!((screen.accept_match(), screen.match_held_until()), (Some(at(30)), None));
}

#[test]
fn the_echo_of_the_last_key_may_be_the_answer_behind_text_like_a_prompt() {
    let mut screen = drawn_screen();
    receives(&mut screen, "$ ", 10, 0);
    for (index, character) in "fox".chars().enumerate() {
        let key = key(20, true, index == 2);
        presses(&mut screen, KeyEffect::Shown(character), SentKey { begins_input: index == 0, ..key });
    }
    receives(&mut screen, "fox", 40, 0);
    let condition = WaitCondition::Line(Pattern::new("x$").expect("a pattern"));
    assert_eq!(drawn(&mut screen, Some(&condition)).last(), Some(&OutputEvent::Answer(at(40))));
}

#[test]
fn an_empty_row_is_new_where_the_cursor_has_come_to_it() {
    let mut screen = drawn_screen();
    draws(&mut screen, "\x1b[H\x1b[2Jtext", 10, None);
    let condition = WaitCondition::Line(Pattern::new("^$").expect("a pattern"));
    presses(&mut screen, KeyEffect::Return, SentKey { begins_input: true, ..key(20, false, true) });
    assert_eq!(draws(&mut screen, "\x1b[2;1H", 30, Some(&condition)), [OutputEvent::Answer(at(30))]);
}

#[test]
fn the_typed_row_goes_on_below_when_a_program_wraps_it() {
    let mut screen = drawn_screen();
    draws(&mut screen, &format!("$ {}", "x".repeat(17)), 10, None);
    let row = screen.typed_row();
    // Fish goes on by a line feed, and only with the next key does the terminal wrap.
    for text in ["6\r\r\n", "\x1b[A\x1b[18Cx67\x1b[A\r\r\n\x1b[C"] {
        draws(&mut screen, text, 20, None);
        assert_eq!(screen.typed_row(), row, "{text:?}");
    }
    // A row that is not full has ended.
    draws(&mut screen, "\r\nanswer\r\n", 30, None);
    assert_eq!(screen.typed_row(), row.map(|row| row + 3));
}

/// The frames of the keys among events, by when their last byte came: whether they are whole, their bytes, and whether they are shared.
fn framed(events: &[OutputEvent]) -> Vec<(u64, bool, Option<u64>, bool)> {
    let framed = |event: &OutputEvent| match event {
        OutputEvent::Framed { frame: KeyFrame { last, is_whole, bytes, keys }, is_first, .. } => {
            Some((last.as_nanos(), *is_whole, is_first.then_some(*bytes), *keys > 1))
        }
        _ => None,
    };
    events.iter().filter_map(framed).collect()
}

/// A screen on which the host has drawn, of a user whose keys are timed by it.
fn framed_screen() -> VtTerminal {
    VtTerminal { key_frames: Some(Box::default()), ..drawn_screen() }
}

const MS: u64 = 1_000_000;

#[test]
fn the_frame_of_a_key_goes_on_until_nothing_has_come_for_a_moment() {
    let mut screen = framed_screen();
    types(&mut screen, 'x', 10 * MS);
    let mut events = draws(&mut screen, "x", 20 * MS, None);
    events.extend(draws(&mut screen, "\x1b7\x1b[3;1Hstatus\x1b8", 21 * MS, None));
    assert_eq!((framed(&events), screen.frame_ends()), (vec![], Some(at(23 * MS))));
    screen.end_frames_until(at(23 * MS), &mut events);
    assert_eq!((framed(&events), screen.frame_ends()), (vec![(21 * MS, true, Some(17), false)], None));
}

#[test]
fn on_a_line_with_a_speed_a_moment_is_four_characters() {
    let mut screen = framed_screen();
    types(&mut screen, 'x', 10 * MS);
    receives(&mut screen, "x\x1b[K", 20 * MS, MS);
    let mut events = drawn(&mut screen, None);
    receives(&mut screen, "\x1b[2C", 27 * MS, MS);
    events.extend(drawn(&mut screen, None));
    assert_eq!((framed(&events), screen.frame_ends()), (vec![], Some(at(34 * MS))));
    screen.give_up_before(Stamp::FAR, &mut events);
    assert_eq!(framed(&events), [(30 * MS, true, Some(8), false)]);
}

#[test]
fn doubled_letters_share_a_frame_once_they_are_certain() {
    for (more, wanted) in
        [("s", vec![(20 * MS, true, Some(3), true), (20 * MS, true, None, true)]), ("\x08 \x08", vec![])]
    {
        let mut screen = framed_screen();
        types(&mut screen, 'l', 10 * MS);
        types(&mut screen, 'l', 10 * MS);
        types(&mut screen, 's', 10 * MS);
        let mut events = draws(&mut screen, "ll\x07", 20 * MS, None);
        screen.end_frames_until(at(22 * MS), &mut events);
        assert_eq!(framed(&events), [], "doubtful");
        events.extend(draws(&mut screen, more, 30 * MS, None));
        let of_first: Vec<_> = framed(&events).into_iter().filter(|(last, ..)| *last == 20 * MS).collect();
        assert_eq!(of_first, wanted, "{more:?}");
    }
}

#[test]
fn of_a_frame_without_end_it_is_known_how_long_it_took_at_least() {
    let mut screen = framed_screen();
    types(&mut screen, 'x', 10 * MS);
    let mut events = draws(&mut screen, "x", 20 * MS, None);
    for ms in 21..1100 {
        events.extend(draws(&mut screen, "\x1b[s\x1b[5;5H.\x1b[u", ms * MS, None));
    }
    let [(last, is_whole, ..)] = framed(&events)[..] else { panic!("{events:?}") };
    assert_eq!((last, is_whole), (1021 * MS, false));
}
