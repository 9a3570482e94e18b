//! When an answer is complete, at programs that repaint, scroll and go on, beside the programs' own logs.
#![allow(clippy::unwrap_used, clippy::float_cmp)] // A failed unwrap fails the test; counts are exact.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::programs::{Action, Doing, Program, assert_same, played};

/// A program whose output is given: at first, again and again, and the parts of its answer, each with its delay since Return in ms.
struct Given {
    begin: &'static str,
    /// Output that comes again and again, and after how many ms; `#` stands for a number, `@` for a spinner's next character.
    tick: Option<(u64, &'static str)>,
    echoes: bool,
    parts: Vec<(u64, &'static str)>,
    ticks: usize,
    returns: usize,
}

fn given(begin: &'static str, parts: &[(u64, &'static str)]) -> Given {
    Given { begin, tick: None, echoes: true, parts: parts.to_vec(), ticks: 0, returns: 0 }
}

const SPINNER: &str = "|/-\\";
/// What changes as a spinner does, but is drawn of letters.
const LETTERS: &str = "ocoC";

impl Program for Given {
    fn begin(&mut self, now: &mut Doing) {
        now.send(self.begin);
        self.due(Action::Tick, now);
    }

    fn key(&mut self, key: char, _: usize, now: &mut Doing) {
        if key == '\r' {
            self.returns += 1;
            (0..).zip(&self.parts).for_each(|(number, (ms, _))| now.later(*ms, Action::Answer(number)));
        } else if self.echoes {
            now.send(&key.to_string());
        }
    }

    fn due(&mut self, action: Action, now: &mut Doing) {
        match action {
            Action::Answer(number) => {
                now.send(&self.parts[number].1.replace('#', &self.returns.to_string()));
                if number + 1 == self.parts.len() {
                    now.answer();
                }
            }
            Action::Tick | Action::Draw(_) => {
                let Some((ms, text)) = self.tick else { return };
                self.ticks += 1;
                let [spinner, letter] = [SPINNER, LETTERS].map(|of| &of[self.ticks % 4..][..1]);
                now.send(&text.replace('#', &self.ticks.to_string()).replace('^', spinner).replace('@', letter));
                now.later(ms, Action::Tick);
            }
        }
    }
}

fn tape(wait: &str) -> String {
    format!(
        "Set TypingSpeed 50ms\nSet WaitTimeout 4s\nSleep 1s\nForever\nTransaction \"t\"\nType \"ls\"\nEnter\n{wait}\nEnd\nSleep 2s\nEnd\n"
    )
}

/// Plays a wait at a program whose answers take as long as its log says.
fn answers_with(wait: &str, program: Given) {
    let (records, log) = played(program, &tape(wait), 40.0);
    assert!(log.answers.len() > 5, "{wait}: {}", log.answers.len());
    assert_same(wait, records.histogram("g/t/response"), &log.answers, 1);
    assert!(records.errors().is_empty(), "{wait}: {:?}", records.errors());
    assert_eq!(records.sum("continued_long"), 0.0, "{wait}");
}

#[test]
fn what_is_painted_again_is_no_answer() {
    let board = "\x1b[2J\x1b[H** board **\r\n\r\nResult: none\x1b[5;1H> ";
    // The row with the result is drawn again with the clock of each tick, and changes with the answer.
    let program = given(board, &[(10, "\x1b[5;1H\x1b[K> "), (1500, "\x1b[3;1HResult: #\x1b[K\x1b[5;3H")]);
    answers_with("Wait+Screen /Result: \\d+/", Given { tick: Some((400, "\x1b7\x1b[H** board **\x1b8")), ..program });
}

#[test]
fn a_word_that_stood_there_is_no_answer_until_it_was_gone() {
    let begin = "\x1b[2J\x1b[24;1HReady\x1b[5;1H$ ";
    let clock = Some((250, "\x1b7\x1b[24;8H#\x1b8"));
    let parts: &[_] = &[(10, "\x1b7\x1b[24;1HBusy \x1b8"), (1200, "\x1b7\x1b[24;1HReady\x1b8\x1b[5;1H\x1b[K$ ")];
    answers_with("Wait+Screen /Ready/", Given { tick: clock, ..given(begin, parts) });
    // It says so all the time: then nothing is an answer.
    let parts: &[_] = &[(1200, "\x1b[3;1Hanswer #\x1b[24;1HReady\x1b[5;1H\x1b[K$ ")];
    let (records, _) = played(Given { tick: clock, ..given(begin, parts) }, &tape("Wait+Screen /Ready/"), 40.0);
    assert!(!records.histograms.contains_key("g/t/response"));
    assert!(records.errors().iter().any(|(name, _)| name == "timeout"));
}

#[test]
fn a_second_wait_behind_a_key_is_for_more_of_the_same_answer() {
    let begin = "\x1b[2J\x1b[24;1H12:0 Ready\x1b[5;1H$ ";
    let saved = (10, "\x1b[6;1Hsaved #\x1b[5;1H\x1b[K$ ");
    // The row that says Ready all the time is painted again, and later says so anew.
    let clock = (20, "\x1b7\x1b[24;4H#\x1b8");
    let parts: &[_] = &[saved, clock, (600, "\x1b7\x1b[24;6HBusy \x1b8"), (1200, "\x1b7\x1b[24;6HReady\x1b8")];
    let waits = "Wait+Screen /saved \\d+/\nWait+Screen /Ready/";
    answers_with(waits, given(begin, parts));
    // Outside of a transaction too, which then has the script's name.
    let unnamed = tape(waits).replace("Transaction \"t\"\n", "").replace("Ready/\nEnd", "Ready/");
    let (records, log) = played(given(begin, parts), &unnamed, 40.0);
    assert_same(waits, records.histogram("g/t/response"), &log.answers, 1);
    // Where the second one never comes, there is no answer.
    for tape in [tape(waits), unnamed] {
        let (records, _) = played(given(begin, &[saved, clock]), &tape, 40.0);
        assert!(!records.histograms.contains_key("g/t/response"));
        assert!(records.histogram("g/t/response_timed_out").len() > 5);
    }
}

#[test]
fn output_that_goes_on_behind_an_answer_is_counted() {
    // A row that looks like a prompt, and an answer in parts with silence between.
    let parts: &[_] = &[(1, "\r\n"), (50, "Reading: "), (800, "done\r\nContinue? "), (1500, "y\r\n5\r\n$ ")];
    let silence: &[_] = &[(50, "\r\npart one\r\n"), (450, "part two\r\n"), (850, "hello\r\n$ ")];
    for (wait, parts, first) in [("Wait+Prompt", parts, 50), ("Wait+Silence 200ms", silence, 50)] {
        let (records, _) = played(given("$ ", parts), &tape(wait), 40.0);
        let response = records.histogram("g/t/response");
        assert_eq!(response.max() / 1_000_000, first, "{wait}");
        // Behind the last one no key follows.
        assert!(records.sum("continued_long") >= records.sum("transactions") - 1.0, "{wait}");
        let last = Duration::from_nanos(records.histogram("g/t/continued").min());
        let whole = Duration::from_millis(parts.last().unwrap().0 - first);
        assert!(last.abs_diff(whole) < Duration::from_millis(2), "{wait}: {last:?}");
    }
}

#[test]
fn output_that_goes_on_while_the_next_row_is_typed_is_counted() {
    let keys = "Set TypingSpeed 100ms\nSleep 1s\nForever\nTransaction \"t\"\nType \"select all\"\nEnter\nWait+Screen /ok/\nEnd\n\
                Sleep 200ms\nEnd\n";
    let parts: &[_] = &[(100, "\r\nok\r\n"), (900, "ok\r\n$ ")];
    let (records, _) = played(given("$ ", parts), keys, 40.0);
    assert!(records.sum("continued_long") >= records.sum("transactions") - 1.0);
    assert!(records.histogram("g/t/continued").max().abs_diff(800_000_000) < 1_000_000);
    // A stream that never ends is no such output.
    let stream =
        Given { tick: Some((70, "the same row\r\n")), echoes: false, ..given("$ ", &[(1000, "\r\nok #\r\n$ ")]) };
    let (records, _) = played(stream, &keys.replace("/ok/", "/ok \\d+/").replace("200ms", "1s"), 60.0);
    assert!(records.sum("transactions") > 3.0);
    assert!(records.sum("continued_long") <= 1.0, "{}", records.sum("continued_long"));
    // Nor is text that wraps while it is typed.
    let wraps = keys.replace("select all", &"select all ".repeat(12));
    let (records, _) = played(given("$ ", &[(100, "\r\nok\r\n$ ")]), &wraps, 60.0);
    assert!(records.sum("transactions") > 3.0);
    assert_eq!(records.sum("continued_long"), 0.0);
}

#[test]
fn a_clock_or_a_spinner_makes_no_answer_longer_and_hides_no_rest() {
    let parts: &[_] = &[(300, "\x1b[5;1H\x1b[Janswer #\r\n"), (304, "$ ")];
    let with_rest: &[_] = &[(300, "\x1b[5;1H\x1b[Janswer #\r\n"), (1200, "and more\r\n$ ")];
    for drawn in
        ["12:00:#", "^ working", "working @"].map(|drawn| format!("\x1b7\x1b[1;60H{drawn}\x1b8").leak() as &str)
    {
        let play = |parts| {
            let program = Given { tick: Some((70, drawn)), ..given("\x1b[2J\x1b[5;1H$ ", parts) };
            played(program, &tape("Wait+Screen /answer \\d/"), 40.0).0
        };
        let records = play(parts);
        assert!(records.histogram("g/t/continued").len() > 5, "{drawn}");
        assert!(records.histogram("g/t/continued").max() < 10_000_000, "{drawn}");
        assert_eq!(records.sum("continued_long"), 0.0, "{drawn}");
        let records = play(with_rest);
        // The spinner is learnt in the first input, and behind the last answer no key follows.
        assert!(records.sum("continued_long") >= records.sum("transactions") - 2.0, "{drawn}");
        assert!(records.histogram("g/t/continued").max().abs_diff(900_000_000) < 2_000_000, "{drawn}");
    }
}

#[test]
fn a_spinner_is_no_rest_where_users_press_single_keys() {
    let drawn = "\x1b7\x1b[1;60Hworking @\x1b8";
    let keys = "Set WaitTimeout 4s\nSleep 1s\nForever\nTransaction \"t\"\nEnter\nWait+Screen /answer \\d/\nEnd\nSleep 2s\nEnd\n";
    let parts: &[_] = &[(300, "\x1b[5;1H\x1b[Janswer #\r\n$ ")];
    let with_rest: &[_] = &[(300, "\x1b[5;1H\x1b[Janswer #\r\n"), (1200, "and more\r\n$ ")];
    for (drawn, parts, goes_on) in [(Some(drawn), parts, false), (None, parts, false), (None, with_rest, true)] {
        let tick = drawn.map(|drawn| (70, drawn));
        let (records, _) = played(Given { tick, ..given("\x1b[2J\x1b[5;1H$ ", parts) }, keys, 40.0);
        let counted = records.sum("continued_long");
        assert!(if goes_on { counted > 5.0 } else { counted == 0.0 }, "{drawn:?}: {counted}");
    }
}

#[test]
fn the_characters_of_answers_are_counted_whatever_is_waited_for() {
    // Echoes are none of them where they are timed.
    for wait in ["Wait+Prompt", "Wait+Silence 200ms", "Wait+Characters 9"] {
        let program = given("$ ", &[(50, "\r\n\x1b[32mgr\u{fc}n\x1b[m \r\nab\r\n$ ")]);
        let (records, _) = played(program, &format!("Set Echo timed\n{}", tape(wait)), 40.0);
        let sizes = records.histogram("g/t/characters");
        assert_eq!((sizes.min(), sizes.max()), (9, 9), "{wait}");
    }
}

#[test]
fn a_prompt_below_a_region_that_scrolls_is_an_answer() {
    // As under a multiplexer with its status row at the top.
    let begin = "status\x1b[2;24r\x1b[24;1H$ ";
    for wait in ["Wait+Line /\\$ /", "Wait+Screen /done/"] {
        answers_with(wait, given(begin, &[(300, "\r\ndone\r\n$ ")]));
    }
}

#[test]
fn what_another_wait_waits_for_goes_on_behind_no_answer() {
    let parts: &[_] = &[(50, "\r\npart one\r\n"), (450, "all done\r\n$ ")];
    let (records, _) = played(given("$ ", parts), &tape("Wait+Screen /one/"), 40.0);
    assert!(records.sum("continued_long") >= records.sum("transactions") - 1.0);
    let (records, _) = played(given("$ ", parts), &tape("Wait+Screen /one/\nWait+Prompt"), 40.0);
    assert!(records.histogram("g/t/response").len() > 5);
    assert_eq!(records.sum("continued_long"), 0.0);
}

#[test]
fn what_was_waited_for_in_vain_is_kept_with_its_row_and_the_screen() {
    let parts: &[_] = &[(50, "\r\npart one\r\n"), (450, "all done\r\n$ ")];
    let another = "Wait+Screen /one/\nEnd\nSleep 1s\nTransaction \"u\"\nType \"x\"\nWait+Screen@1s /two/";
    let (records, _) = played(given("$ ", parts), &tape(another), 40.0);
    let sample = |kind: &str| records.series.iter().find_map(|row| row["samples"].get(kind)).unwrap().clone();
    let (continued, timeout) = (sample("continued"), sample("timeout"));
    let row =
        |sample: &Value| format!("{} {}", sample["condition"].as_str().unwrap(), sample["place"].as_str().unwrap());
    assert_eq!(row(&continued), "Wait+Screen /one/ row 8 of t");
    assert_eq!(row(&timeout), "Wait+Screen /two/ row 13 of t");
    assert_eq!(timeout["screen"], json!(["$ ls", "part one", "all done", "$ x"]));
    assert_eq!(timeout["seconds"].as_f64().unwrap().round(), 1.0);
}

#[test]
fn a_prompt_may_have_text_at_the_right_end_of_its_row() {
    let prompt = "\rdemo > \x1b[K\x1b[60G12:34\x1b[8G";
    let parts: &[_] = &[(100, "\r\n42\r\n\rdemo > \x1b[K\x1b[60G12:34\x1b[8G")];
    answers_with("Wait+Prompt", given(prompt, parts));
    // The clock there is no answer.
    let clock = Some((70, "\x1b7\x1b[60G12:#\x1b8"));
    answers_with("Wait+Prompt", Given { tick: clock, ..given(prompt, parts) });
}

#[test]
fn a_row_that_is_drawn_anew_is_no_prompt_while_the_cursor_passes() {
    // A shell draws its row again in two writes, and its prompt stands before the cursor in between.
    answers_with("Wait+Prompt", given("$ ", &[(50, "\r\n$ half\r\x1b[2C"), (51, "half"), (500, "\r\n$ ")]));
}

#[test]
fn what_stands_in_a_part_of_a_frame_is_no_answer() {
    let begin = "\x1b[?1049h\x1b[2J\x1b[Hstart> ";
    let marked: &[_] = &[
        (1, "\x1b[?2026h\x1b[2J\x1b[HREADY #"),
        (301, "\x1b[HBUSY  #\x1b[?2026l"),
        (1000, "\x1b[?2026h\x1b[HREADY #\x1b[?2026l"),
    ];
    answers_with("Wait+Screen /READY \\d/", given(begin, marked));
    // Without a mark, a frame is what comes until the line is quiet for a moment.
    let (records, log) = played(
        given(begin, &[(1, "\x1b[2J\x1b[HREADY #"), (2, "\x1b[HBUSY  #"), (1000, "\x1b[HREADY #")]),
        &tape("Wait+Screen /READY \\d/"),
        40.0,
    );
    assert_same("READY", records.histogram("g/t/response"), &log.answers, 1);
}

#[test]
fn an_answer_that_scrolls_away_is_not_lost() {
    // No echo, and 28 rows in each tick: the answer is gone before the host is known not to echo.
    const FLOOD: &str =
        "abcdefghij 0123456789\r\nabcdefghij 0123456789\r\nabcdefghij 0123456789\r\nabcdefghij 0123456789\r\n";
    let program = given("$ ", &[(300, "\r\nANSWER-OK\r\n")]);
    let (records, log) =
        played(Given { tick: Some((20, FLOOD)), echoes: false, ..program }, &tape("Wait+Screen /ANSWER-OK/"), 40.0);
    assert!(records.errors().is_empty(), "{:?}", records.errors());
    assert_same("ANSWER-OK", records.histogram("g/t/response"), &log.answers, 1);
}

const PART: &str = "\r\none part, not the last";
const MAY_BE_LAST: &str = "\r\nmore? ";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn an_answer_is_complete_or_is_counted_as_one_that_went_on(
        gaps in prop::collection::vec((1u64..400, prop_oneof![Just(PART), Just(MAY_BE_LAST)]), 1..4),
        last in 1u64..400,
        wait in prop_oneof![Just("Wait+Prompt"), Just("Wait+Silence 150ms"), Just("Wait+Screen /not the/"), Just("Wait+Screen /done/")],
    ) {
        let mut at = 0;
        let mut parts: Vec<_> = gaps.into_iter().map(|(gap, text)| { at += gap; (at, text) }).collect();
        parts.push((at + last, "\r\ndone\r\n$ "));
        let (records, log) = played(given("$ ", &parts), &tape(wait), 40.0);
        let Some(response) = records.histograms.get("g/t/response") else {
            // A text that never came is waited for in vain.
            assert!(wait.contains("not the") && parts.iter().all(|(_, text)| *text != PART), "{wait}");
            return Ok(());
        };
        // All happens in whole milliseconds.
        let ms = |took: f64| (took / 1e6).round();
        let took = ms(response.mean());
        let missed = ms(log.answers[0].as_nanos() as f64) - took;
        let goes_on = missed > (took / 4.0).max(20.0);
        let lacks = records.sum("transactions") - records.sum("continued_long");
        assert!(if goes_on { lacks <= 1.0 } else { records.sum("continued_long") == 0.0 }, "{missed} ms behind {took} ms");
        assert!(response.len() + 1 >= log.answers.len() as u64);
    }
}
