use std::time::Duration;

use cuesta_tape::Pattern;

use super::*;

/// A screen on which the host has drawn.
fn view() -> PendingScreen {
    let mut view = PendingScreen::new((20, 5));
    comes(&mut view, "\r", 1, 0);
    drawn(&mut view, None);
    view
}

fn at(nanos: u64) -> Stamp {
    Stamp::from_nanos(nanos)
}

/// A read at an instant, on a line with a speed if `per_character` is not zero.
fn comes(view: &mut PendingScreen, text: &str, nanos: u64, per_character: u64) {
    let per_character = Duration::from_nanos(per_character);
    view.read(text.as_bytes(), &Received { len: text.len(), at: at(nanos), per_character, ..Received::default() });
}

fn key(nanos: u64, timed: bool, answers: bool) -> ScreenKey {
    ScreenKey { due: at(nanos), sent: at(nanos), timed, answers }
}

/// A timed key.
fn types(view: &mut PendingScreen, character: char, nanos: u64) -> ScreenKey {
    let key = key(nanos, true, false);
    view.sent(KeyEffect::Shown(character), SentKey { key, first: false });
    key
}

/// An input that is not timed, all at once; the Return is the last key.
fn enters(view: &mut PendingScreen, text: &str, nanos: u64) {
    for (index, character) in text.chars().enumerate() {
        view.sent(KeyEffect::Shown(character), SentKey { key: key(nanos, false, false), first: index == 0 });
    }
    view.sent(KeyEffect::Return, SentKey { key: key(nanos, false, true), first: text.is_empty() });
}

fn drawn(view: &mut PendingScreen, condition: Option<&WaitCondition>) -> Vec<ScreenEvent> {
    let mut events = Vec::new();
    while !view.is_drawn() {
        view.draw(4, condition, &mut events);
    }
    events
}

fn prompt() -> WaitCondition {
    WaitCondition::Prompt(Pattern::new(r"\$ $").expect("a pattern"))
}

#[test]
fn a_key_takes_its_place_between_the_reads() {
    let mut view = view();
    comes(&mut view, "\r\nold $ ", 10, 0);
    let shown = types(&mut view, 'l', 20);
    comes(&mut view, "l", 30, 0);
    assert_eq!((view.pending(), view.oldest()), (1, Some(at(20))));
    assert_eq!(drawn(&mut view, None), [ScreenEvent::Key(shown, at(30))]);
    assert_eq!(view.pending(), 0);
}

#[test]
fn what_came_before_a_key_is_no_answer_to_it() {
    let mut view = view();
    let condition = prompt();
    comes(&mut view, "$ ", 10, 0);
    enters(&mut view, "", 20);
    assert_eq!(drawn(&mut view, Some(&condition)), []);
    assert!(!view.look_again(&condition, at(20)));
    comes(&mut view, "\r\n$ ", 30, 0);
    assert_eq!(drawn(&mut view, Some(&condition)), [ScreenEvent::Answer(at(30))]);
    assert!(view.look_again(&condition, at(30)));
}

#[test]
fn on_a_line_with_a_speed_each_character_has_its_instant() {
    let mut view = view();
    let condition = prompt();
    enters(&mut view, "", 20);
    // At the fourth character; the bell changes nothing, and what held only for a while does not count.
    comes(&mut view, "\r\n$ \x07\x07", 100, 10);
    assert_eq!(drawn(&mut view, Some(&condition)), [ScreenEvent::Answer(at(130))]);
    enters(&mut view, "", 20);
    comes(&mut view, "\r\n$ gone", 200, 10);
    assert_eq!(drawn(&mut view, Some(&condition)), []);
}

#[test]
fn reading_stops_while_too_much_waits_and_memory_comes_back() {
    let mut view = view();
    let small = view.grown().1;
    comes(&mut view, &"x".repeat(FULL), 10, 0);
    assert!(view.is_full());
    assert_eq!(drawn(&mut view, None), []);
    let (before, after) = view.grown();
    assert!(!view.is_full() && before == small && after <= small + KEPT, "{small}, {before}, {after}");
}

#[test]
fn keys_never_shown_are_given_up_by_when_they_went() {
    let mut view = view();
    types(&mut view, 'a', 1);
    types(&mut view, 'b', 5);
    assert_eq!((view.give_up_before(at(5)), view.pending()), (1, 1));
    assert_eq!(view.give_up_before(Stamp::FAR), 1);
}

fn screen(pattern: &str) -> WaitCondition {
    WaitCondition::Screen(Pattern::new(pattern).expect("a pattern"))
}

#[test]
fn a_late_echo_is_no_answer_and_the_answer_is() {
    for condition in [screen("DONE"), WaitCondition::Line(Pattern::new("DONE").expect("a pattern"))] {
        let mut view = view();
        comes(&mut view, "$ ", 10, 0);
        drawn(&mut view, None);
        enters(&mut view, "echo DONE", 20);
        for (read, instant) in [("echo D", 30), ("ONE", 40), ("\r\n", 50)] {
            comes(&mut view, read, instant, 0);
            assert_eq!(drawn(&mut view, Some(&condition)), [], "{condition:?} {read}");
        }
        comes(&mut view, "DONE", 60, 0);
        assert_eq!(drawn(&mut view, Some(&condition)), [ScreenEvent::Answer(at(60))], "{condition:?}");
    }
}

#[test]
fn an_answer_before_the_echo_is_held_and_keeps_its_instant() {
    let mut view = view();
    let condition = screen("DONE");
    enters(&mut view, "echo DONE", 20);
    comes(&mut view, "\r\nDONE\r\n", 30, 0);
    assert_eq!(drawn(&mut view, Some(&condition)), []);
    assert!(view.held_until().is_some());
    comes(&mut view, "echo DONE", 90, 0);
    assert_eq!(drawn(&mut view, Some(&condition)), [ScreenEvent::Answer(at(30))]);
}

#[test]
fn a_prompt_before_the_echo_is_no_answer() {
    let mut view = view();
    enters(&mut view, "ls", 20);
    comes(&mut view, "$ ", 30, 0);
    assert_eq!(drawn(&mut view, Some(&prompt())), []);
    comes(&mut view, "ls\r\n", 40, 0);
    assert_eq!(drawn(&mut view, Some(&prompt())), []);
    comes(&mut view, "$ ", 50, 0);
    assert_eq!(drawn(&mut view, Some(&prompt())), [ScreenEvent::Answer(at(50))]);
}

#[test]
fn a_prompt_before_a_row_that_was_typed_ahead_is_no_answer() {
    let mut view = view();
    let condition = prompt();
    comes(&mut view, "$ ", 10, 0);
    drawn(&mut view, None);
    enters(&mut view, "sleep 1", 20);
    view.sent(KeyEffect::Shown('x'), SentKey { key: key(21, false, false), first: false });
    view.sent(KeyEffect::Return, SentKey { key: key(21, false, true), first: false });
    comes(&mut view, "sleep 1\r\nx\r\n", 30, 0);
    comes(&mut view, "$ ", 1_000, 0);
    assert_eq!(drawn(&mut view, Some(&condition)), []);
    assert_eq!(view.held_until(), Some(at(1_000) + Duration::from_millis(500)));
    comes(&mut view, "x\r\n", 1_001, 0);
    assert_eq!((drawn(&mut view, Some(&condition)), view.held_until()), (vec![], None));
    comes(&mut view, "$ ", 2_000, 0);
    assert_eq!(drawn(&mut view, Some(&condition)), []);
    assert_eq!(view.held_until(), Some(at(2_000) + Duration::from_millis(500)));
    assert_eq!((view.release(), view.held_until()), (Some(at(2_000)), None));
}

#[test]
fn the_first_prompt_is_no_answer_to_what_was_typed_before_it() {
    let mut view = PendingScreen::new((20, 5));
    enters(&mut view, "ls", 20);
    comes(&mut view, "ls\r\n", 21, 0);
    comes(&mut view, "$ ", 30, 0);
    assert_eq!(drawn(&mut view, Some(&prompt())), []);
    comes(&mut view, "ls\r\nfile\r\n$ ", 40, 0);
    assert_eq!((drawn(&mut view, Some(&prompt())), view.release()), (vec![], Some(at(40))));
}

#[test]
fn a_host_that_does_not_echo_is_waited_for_three_times() {
    let mut view = view();
    let condition = screen("42");
    for input in 1..=3 {
        enters(&mut view, "sum", 20 * input);
        comes(&mut view, "\r\n42\r\n", 20 * input + 5, 0);
        assert_eq!(drawn(&mut view, Some(&condition)), []);
        assert_eq!((view.release(), view.held_until()), (Some(at(20 * input + 5)), None));
    }
    enters(&mut view, "sum", 80);
    comes(&mut view, "\r\n42\r\n", 90, 0);
    assert_eq!(drawn(&mut view, Some(&condition)), [ScreenEvent::Answer(at(90))]);
}

#[test]
fn a_password_says_nothing_of_whether_the_host_echoes() {
    let mut view = view();
    enters(&mut view, "secret", 20);
    comes(&mut view, "\r\nwelcome\r\n", 30, 0);
    assert_eq!(drawn(&mut view, Some(&screen("welcome"))), []);
    assert_eq!(view.release(), Some(at(30)));
    enters(&mut view, "ls", 40);
    comes(&mut view, "$ ", 50, 0);
    assert_eq!(drawn(&mut view, Some(&prompt())), [], "the first prompt is late");
    comes(&mut view, "ls\r\n$ ", 60, 0);
    assert_eq!(drawn(&mut view, Some(&prompt())), [ScreenEvent::Answer(at(60))]);
}

/// Up, which fetches a command from the history, and Return.
fn fetches(view: &mut PendingScreen, nanos: u64) {
    view.sent(KeyEffect::Other, SentKey { key: key(nanos, false, false), first: true });
    view.sent(KeyEffect::Return, SentKey { key: key(nanos, false, true), first: false });
}

#[test]
fn what_the_host_edits_itself_is_no_answer() {
    for reads in [&["\r$ echo DONE\r\n"][..], &["\r$ echo", " DONE", "\r\n"], &["\r$ echo a very long DONE\r\n"]] {
        let mut view = view();
        comes(&mut view, "$ ", 10, 0);
        drawn(&mut view, None);
        fetches(&mut view, 20);
        for (index, read) in reads.iter().enumerate() {
            comes(&mut view, read, 30 + index as u64, 0);
            assert_eq!(drawn(&mut view, Some(&screen("DONE"))), [], "{read:?} of {reads:?}");
        }
        assert!(view.held_until().is_none());
        comes(&mut view, "DONE\r\n", 60, 0);
        assert_eq!(drawn(&mut view, Some(&screen("DONE"))), [ScreenEvent::Answer(at(60))], "{reads:?}");
        assert_eq!(view.began(at(60)), at(60));
    }
}

#[test]
fn a_row_that_is_never_left_holds_no_answer_for_ever() {
    let mut view = view();
    comes(&mut view, "$ ", 10, 0);
    drawn(&mut view, None);
    fetches(&mut view, 20);
    comes(&mut view, "\x1b[HDONE", 30, 0);
    assert_eq!(drawn(&mut view, Some(&screen("DONE"))), []);
    assert!(view.held_until().is_some());
    assert_eq!((view.release(), view.held_until()), (Some(at(30)), None));
}

#[test]
fn the_last_key_may_be_its_own_answer() {
    let mut view = view();
    let condition = screen("hello");
    for (index, character) in "hello".chars().enumerate() {
        let key = key(20, false, index == 4);
        view.sent(KeyEffect::Shown(character), SentKey { key, first: index == 0 });
    }
    comes(&mut view, "hell", 30, 0);
    assert_eq!(drawn(&mut view, Some(&screen("hell"))), []);
    comes(&mut view, "o", 40, 0);
    assert_eq!(drawn(&mut view, Some(&condition)), [ScreenEvent::Answer(at(40))]);
}

#[test]
fn the_last_key_may_be_its_own_answer_behind_what_looks_like_a_prompt() {
    let mut view = view();
    comes(&mut view, "$ ", 10, 0);
    for (index, character) in "fox".chars().enumerate() {
        let key = key(20, true, index == 2);
        view.sent(KeyEffect::Shown(character), SentKey { key, first: index == 0 });
    }
    comes(&mut view, "fox", 40, 0);
    let condition = WaitCondition::Line(Pattern::new("x$").expect("a pattern"));
    assert_eq!(drawn(&mut view, Some(&condition)).last(), Some(&ScreenEvent::Answer(at(40))));
}

#[test]
fn blanks_up_to_the_cursor_can_be_looked_for() {
    let mut view = view();
    enters(&mut view, "", 20);
    comes(&mut view, "\r\nfile\r\n$ ", 30, 0);
    assert_eq!(drawn(&mut view, Some(&screen("\\$ $"))), [ScreenEvent::Answer(at(30))]);
    assert!(view.is_on_screen(Pattern::new("^\\$ $").expect("a pattern").regex()));
}
