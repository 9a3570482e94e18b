//! Keys that are not timed (`Set Echo off`, a probe of `Wait+Ready`) beside keys that are: no echo of one is taken for that of the other.
#![allow(clippy::unwrap_used, clippy::float_cmp)] // A failed unwrap fails the test; counts are exact.

use std::time::Duration;

use crate::changes::{Beside, Drawing as Shape, driven};
use crate::echoes::{Drawing, Editor};
use proptest::prelude::*;

use crate::programs::{Action, Doing, Log, Program, assert_same, played};

/// Keys that may lack when the run ends.
const MOST_LACKING: usize = 12;

/// The echoes of the keys behind the first `untimed` ones of each row of `keys`.
fn timed(log: &Log, untimed: usize, keys: usize) -> Vec<Duration> {
    log.echoes.iter().enumerate().filter(|(index, _)| index % keys >= untimed).map(|(_, took)| *took).collect()
}

fn tape(start: &str, keys: &str) -> String {
    format!(
        "Set TypingSpeed 50ms\nSet WaitTimeout 20s\nWait+Screen /\\$/\nSleep 1s\n{start}\nForever\n{keys}\nEnter\n\
         Wait+Screen /answer \\d+/\nSleep 1s\nEnd\n"
    )
}

const DRAWINGS: [Drawing; 6] = [
    Drawing::Plain,
    Drawing::Redrawn,
    Drawing::Addressed,
    Drawing::Suggested { grey: true },
    Drawing::Field { cursor: 0, blinks: false, suggests: true, marked: false },
    Drawing::BelowStream { hides: true },
];

#[test]
fn letters_typed_before_echoes_are_looked_for_on_the_screen_take_no_later_keys_echo() {
    for drawing in DRAWINGS {
        for (lag, coalesces) in [(15, false), (150, false), (400, false), (300, true)] {
            // It draws and erases the last letters in one write.
            if coalesces && drawing == Drawing::Addressed {
                continue;
            }
            let what = format!("{drawing:?}, {lag} ms late, coalesces: {coalesces}");
            let keys = "Set Echo off\nType \"lis\"\nSet Echo screen\nType \"t on the way\"";
            let (records, log) = played(Editor::new(drawing, lag, coalesces), &tape("", keys), 30.0);
            assert!(log.answers.len() > 3, "{what}: {} answers", log.answers.len());
            assert_same(&what, records.histogram("g/keys/echo"), &timed(&log, 3, 15), MOST_LACKING);
            // Keys that were under way when the run ended.
            assert!(records.sum("unfollowed") <= 12.0, "{what}: {}", records.sum("unfollowed"));
        }
    }
}

/// An editor to which the first keys of each row are commands, which it does not show.
struct Commands {
    editor: Editor,
    not_shown: usize,
    /// How many keys of the row have come.
    keys: usize,
}

impl Program for Commands {
    fn begin(&mut self, now: &mut Doing) {
        self.editor.begin(now);
    }

    fn key(&mut self, key: char, number: usize, now: &mut Doing) {
        self.keys += 1;
        if self.keys > self.not_shown {
            self.editor.key(key, number, now);
        }
        if key == '\r' {
            self.keys = 0;
        }
    }

    fn due(&mut self, action: Action, now: &mut Doing) {
        self.editor.due(action, now);
    }
}

/// Types letters without and with a figure at an editor that does not show the first ones. No figure is wrong, and no key counts as
/// unechoed that was echoed; returns how many keys have no figure, and how many were echoed.
fn none_is_wrong(drawing: Drawing, lag: u64, gap: u64, [commands, untimed]: [usize; 2], text: &str) -> (u64, u64) {
    let what =
        format!("{drawing:?}, {lag} ms late, a key each {gap} ms, {untimed} untimed, {commands} not shown: {text:?}");
    let editor = Editor::new(drawing, lag, false);
    let (off, on) = text.split_at(untimed);
    let keys = format!("Set TypingSpeed {gap}ms\nSet Echo off\nType \"{off}\"\nSet Echo screen\nType \"{on}\"");
    let (records, log) = played(Commands { editor, not_shown: commands, keys: 0 }, &tape("", &keys), 30.0);
    assert!(log.answers.len() > 3, "{what}: {} answers", log.answers.len());
    let figures = records.histograms.get("g/keys/echo");
    for value in figures.into_iter().flat_map(|figures| figures.iter_recorded()) {
        let found = Duration::from_nanos(value.value_iterated_to());
        assert!(found.abs_diff(Duration::from_millis(lag)) < Duration::from_millis(1), "{what}: {found:?}");
    }
    let unfollowed = records.sum("unfollowed") as u64;
    let unechoed: u64 = records.errors().iter().map(|(_, count)| count).sum();
    assert!(unechoed <= 1 + lag / gap, "{what}: {:?}", records.errors());
    let shown = timed(&log, untimed - commands, text.len() - commands).len() as u64;
    let count = figures.map_or(0, hdrhistogram::Histogram::len);
    assert!(
        count + unfollowed + unechoed + text.len() as u64 >= shown,
        "{what}: {count} {unfollowed} {unechoed} of {shown}"
    );
    (unfollowed, shown)
}

#[test]
fn commands_that_are_not_shown_delay_no_letter_after_them() {
    for drawing in DRAWINGS {
        for lag in [15, 150] {
            let (unfollowed, shown) = none_is_wrong(drawing, lag, 50, [3, 3], "wbxlist all the");
            assert!(unfollowed <= 3 && shown > 40, "{drawing:?} {lag}: {unfollowed} of {shown}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_letter_after_untimed_ones_has_a_wrong_figure(
        drawing in proptest::sample::select(&DRAWINGS),
        lag in 1u64..400,
        gap in 20u64..200,
        commands in 0usize..4,
        untimed in 0usize..4,
        text in "[abl]{8}",
    ) {
        none_is_wrong(drawing, lag, gap, [commands.min(untimed), untimed], &text);
    }
}

/// Plays keys under `Set Echo change` at an editor on the alternate screen, behind what `start` does before each row. Each figure is that
/// of the editor's log; returns how many keys have no figure, and how many were shown.
fn changes_behind(what: &str, editor: Editor, start: &str, untimed: usize) -> (f64, usize) {
    let lag = Duration::from_millis(editor.lag);
    let tape = format!(
        "Set WaitTimeout 20s\nWait+Screen /\\$/\nSleep 1s\nForever\n{start}\nSet Echo change\nType@400ms \"all the\"\n\
         Sleep 1s\nSet Echo off\nBackspace@500ms {}\nSleep 3s\nEnd\n",
        untimed + 7
    );
    let (records, log) = played(editor, &tape, 60.0);
    let figures = records.histograms.get("g/keys/echo");
    for value in figures.into_iter().flat_map(|figures| figures.iter_recorded()) {
        let found = Duration::from_nanos(value.value_iterated_to());
        assert!(found.abs_diff(lag) < Duration::from_millis(1), "{what}: {found:?}");
    }
    let count = figures.map_or(0, hdrhistogram::Histogram::len) as f64;
    let unfollowed = records.sum("unfollowed");
    assert!(count + unfollowed > 20.0, "{what}: {count} {unfollowed} of {}", log.echoes.len());
    (unfollowed, log.echoes.len())
}

#[test]
fn letters_typed_before_changes_are_timed_leave_the_keys_after_them_followed() {
    for lag in [15, 150, 300] {
        for drawing in [Drawing::Plain, Drawing::Addressed] {
            let what = format!("{drawing:?}, {lag} ms late");
            let start = format!("Set Echo off\nType@50ms \"list\"\nSleep {}ms", lag + 50);
            let (unfollowed, _) = changes_behind(&what, Editor::new(drawing, lag, false), &start, 4);
            assert_eq!(unfollowed, 0.0, "{what}");
        }
    }
}

#[test]
fn a_probe_leaves_the_keys_after_it_followed() {
    for lag in [15, 150] {
        let what = format!("{lag} ms late");
        let (unfollowed, _) = changes_behind(&what, Editor::new(Drawing::Plain, lag, false), "Wait+Ready", 0);
        assert_eq!(unfollowed, 0.0, "{what}");
    }
}

#[test]
fn keys_that_change_nothing_leave_later_ones_followed() {
    // The first three are no keys of the menu.
    let keys = "Set Echo off\nType@50ms \"xyz\"\nSleep 1500ms\nSet Echo change\nDown@400ms 5\nUp@400ms 5\nSleep 2s";
    let tape = format!("Set WaitTimeout 20s\nWait+Screen /\\$/\nSleep 3s\nForever\n{keys}\nEnd\n");
    let (records, log) = played(driven(Shape::Menu, Beside::Nothing, 60), &tape, 60.0);
    assert_eq!(records.sum("unfollowed"), 0.0);
    assert_same("menu", records.histogram("g/keys/echo"), &log.echoes, 1);
}
