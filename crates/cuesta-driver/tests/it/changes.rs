//! Echo times of keys that print nothing (`Set Echo change`), beside the logs of the programs that they drive.
#![allow(clippy::unwrap_used, clippy::float_cmp)] // A failed unwrap fails the test; counts are exact.

use proptest::prelude::*;

use crate::harness::RunRecords;
use crate::programs::{Action, Doing, Log, Program, assert_same, played};

/// What a program shows of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Drawing {
    /// A menu, one row of it inverse.
    Menu,
    /// Pages of text, painted anew.
    Pager,
    /// Text in which only the cursor moves.
    Cursor,
    /// A field in which the program draws the caret, and the cursor is hidden.
    Caret,
}

/// What changes without keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beside {
    Nothing,
    /// A clock, a spinner and a ball that runs to and fro.
    Clock,
    /// The caret blinks.
    Blink,
    /// Text that scrolls in the rows above the menu.
    Log {
        rows: u16,
    },
}

/// A program that is driven by arrows, Page Down and letters, and shows each of them late.
#[derive(Debug)]
pub(crate) struct Driven {
    drawing: Drawing,
    beside: Beside,
    /// How late, in ms.
    lag: u64,
    /// After how many ms more the rest of an answer comes: a status row.
    rest: Option<u64>,
    /// What it sends as soon as a key comes that changes something, of which nothing is seen but the cursor, if anything. The cursor is shown behind a frame.
    first: &'static str,
    /// Frames are marked (mode 2026), and drawn in two pieces.
    marked: bool,
    sequence: String,
    waiting: Vec<(usize, i16)>,
    position: i16,
    /// The position once all keys are shown.
    heading: i16,
    ticks: usize,
    pieces: Vec<String>,
}

const TICK: u64 = 100;
const LAST: i16 = 9;

pub(crate) fn driven(drawing: Drawing, beside: Beside, lag: u64) -> Driven {
    let (sequence, waiting, pieces) = (String::new(), Vec::new(), Vec::new());
    Driven {
        drawing,
        beside,
        lag,
        rest: None,
        first: "",
        marked: false,
        sequence,
        waiting,
        position: 0,
        heading: 0,
        ticks: 0,
        pieces,
    }
}

impl Driven {
    fn frame(&self) -> String {
        let position = self.position;
        match self.drawing {
            Drawing::Menu => {
                let item = |item| {
                    let style = if item == position { "\x1b[7m" } else { "" };
                    format!("\x1b[{};5H{style}item number {item}\x1b[m", 12 + item)
                };
                (0..=LAST).map(item).collect::<Vec<_>>().concat()
            }
            Drawing::Pager => {
                let row = |row: usize| format!("row {row} of page {position} {}\r\n", "text ".repeat(row % 7));
                format!("\x1b[3;1H\x1b[J{}", (0..20).map(row).collect::<Vec<_>>().concat())
            }
            Drawing::Cursor => format!("\x1b[12;{}H", 5 + position),
            Drawing::Caret => {
                let style = if self.beside == Beside::Blink && self.ticks / 5 % 2 == 1 { "" } else { "\x1b[7m" };
                let text = "some text here";
                let (before, caret) = text.split_at(position as usize);
                format!("\x1b[12;5H{before}{style}{}\x1b[m{}", &caret[..1], &caret[1..])
            }
        }
    }

    fn tick(&mut self) -> String {
        self.ticks += 1;
        let ticks = self.ticks;
        match self.beside {
            Beside::Nothing => String::new(),
            Beside::Blink => {
                if ticks.is_multiple_of(5) {
                    self.frame()
                } else {
                    String::new()
                }
            }
            Beside::Clock => {
                let (seconds, spinner, at) = (45 + ticks / 10, ["|", "/", "-", "\\"][ticks % 4], ticks % 8);
                let at = at.min(8 - at);
                let (minutes, seconds) = (58 + seconds / 60, seconds % 60);
                let clock = format!("{:02}:{:02}:{seconds:02}", 9 + minutes / 60, minutes % 60);
                format!("\x1b7\x1b[1;60H{clock}\x1b[1;30H{spinner}\x1b[2;40H\x1b[K\x1b[2;{}H*\x1b8", 40 + at)
            }
            Beside::Log { rows } => {
                let text = "quite a few words of a log go by".split_at(ticks * 7 % 30).1;
                format!("\x1b7\x1b[1;{rows}r\x1b[{rows};1H\n{ticks} {text} {}\x1b[r\x1b8", ticks * ticks)
            }
        }
    }

    /// Begins to draw a frame.
    fn draw(&mut self, now: &mut Doing) {
        let frame = self.frame() + if self.first.is_empty() { "" } else { "\x1b[?25h" };
        if self.marked {
            now.send("\x1b[?2026h\x1b[12;1H\x1b[J");
            self.pieces.push(format!("{frame}\x1b[?2026l"));
        } else {
            now.send(&frame);
        }
    }
}

impl Program for Driven {
    fn begin(&mut self, now: &mut Doing) {
        now.send("\x1b[?1049h\x1b[2J\x1b[1;1HTitle $\x1b[23;1HEnter opens, q quits, arrows move up and down");
        if self.drawing != Drawing::Cursor && self.first.is_empty() {
            now.send("\x1b[?25l");
        }
        let frame = self.frame();
        now.send(&frame);
        now.later(TICK, Action::Tick);
    }

    fn key(&mut self, key: char, number: usize, now: &mut Doing) {
        self.sequence.push(key);
        let step = match self.sequence.as_str() {
            "\x1b" | "\x1b[" | "\x1b[6" => return,
            "\x1b[B" | "\x1b[6~" | "j" | "\x1b[C" => 1,
            "\x1b[A" | "k" | "\x1b[D" => -1,
            _ => 0,
        };
        self.sequence.clear();
        let heading = (self.heading + step).clamp(0, LAST);
        if std::mem::replace(&mut self.heading, heading) != heading {
            now.send(self.first);
        }
        self.waiting.push((number, step));
        now.later(self.lag, Action::Draw(number));
    }

    fn due(&mut self, action: Action, now: &mut Doing) {
        match action {
            Action::Tick => {
                let text = self.tick();
                now.send(&text);
                now.later(TICK, Action::Tick);
            }
            Action::Draw(_) if !self.pieces.is_empty() => {
                let piece = self.pieces.remove(0);
                now.send(&piece);
                now.show(self.waiting.remove(0).0);
            }
            Action::Draw(_) => {
                let (number, step) = self.waiting[0];
                let position = (self.position + step).clamp(0, LAST);
                if position == self.position {
                    self.waiting.remove(0);
                    return;
                }
                self.position = position;
                if self.beside == Beside::Blink {
                    // A caret that moves is shown.
                    self.ticks -= self.ticks % 10;
                }
                self.draw(now);
                if self.marked {
                    return now.later(5, Action::Draw(number));
                }
                now.show(number);
                self.waiting.remove(0);
                if let Some(rest) = self.rest {
                    now.later(rest, Action::Answer(position as usize));
                }
            }
            Action::Answer(position) => now.send(&format!("\x1b7\x1b[24;1Hat {position}\x1b[K\x1b8")),
        }
    }
}

/// Plays keys at a program again and again, and thinks for three seconds after them.
fn plays(program: Driven, gap: u64, keys: &str) -> (RunRecords, Log) {
    let tape = format!(
        "Set TypingSpeed {gap}ms\nSet WaitTimeout 5s\nSet Echo change\nWait+Screen /\\$/\nSleep 5s\nForever\n{keys}\nSleep 3s\nEnd\n"
    );
    played(program, &tape, 60.0)
}

/// All keys have the figures of the program's log.
fn all_are_timed(what: &str, program: Driven, gap: u64, keys: &str) -> RunRecords {
    let may_lack = 1 + usize::from(program.lag > 100);
    let what = format!("{what}, {:?} beside {:?}, {} ms late", program.drawing, program.beside, program.lag);
    let (records, log) = plays(program, gap, keys);
    assert!(log.echoes.len() > 5, "{what}: {}", log.echoes.len());
    assert_eq!(records.sum("unfollowed"), 0.0, "{what}");
    assert_same(&what, records.histogram("g/keys/echo"), &log.echoes, may_lack);
    // The write that shows a key ends its frame.
    assert_same(&what, records.histogram("g/keys/whole_frame"), &log.echoes, may_lack);
    assert_eq!(records.sum("frames/keys"), records.histogram("g/keys/whole_frame").len() as f64, "{what}");
    assert!(records.errors().iter().all(|(_, count)| *count <= 1), "{what}: {:?}", records.errors());
    records
}

/// No key has a wrong figure: one that is not the program's lag. Returns how many have none, and how many one.
fn none_is_wrong(what: &str, program: Driven, gap: u64, keys: &str) -> (RunRecords, u64) {
    let lag = (program.lag + if program.marked { 5 } else { 0 }) * 1_000_000;
    let (records, log) = plays(program, gap, keys);
    assert!(log.echoes.len() > 5, "{what}: {}", log.echoes.len());
    let figures = records.histograms.get("g/keys/echo");
    for value in figures.into_iter().flat_map(|figures| figures.iter_recorded()).map(|value| value.value_iterated_to())
    {
        assert!(value.abs_diff(lag) <= lag / 500 + 100_000, "{what}: {value} ns, but {lag} ns is right");
    }
    let count = figures.map_or(0, hdrhistogram::Histogram::len);
    (records, count)
}

const ARROWS: &str = "Down 6\nUp 6";
const SIDEWAYS: &str = "Right 6\nLeft 6";

#[test]
fn a_key_is_shown_in_the_first_frame_that_differs() {
    for lag in [1, 20, 120] {
        for beside in [Beside::Nothing, Beside::Clock] {
            all_are_timed("arrows", driven(Drawing::Menu, beside, lag), 300, ARROWS);
            all_are_timed("pages", driven(Drawing::Pager, Beside::Nothing, lag), 300, "PageDown 6\nType \"kkkkkk\"");
            all_are_timed("moves", driven(Drawing::Cursor, beside, lag), 300, "Type \"jjjjkkkk\"");
            all_are_timed("caret", driven(Drawing::Caret, beside, lag), 300, SIDEWAYS);
        }
    }
}

const HIDES: &str = "\x1b[?25l";
const HOMES: &str = "\x1b[H";

#[test]
fn a_cursor_that_is_hidden_or_moved_before_the_answer_is_no_echo() {
    for (first, lag) in [(HIDES, 40), (HOMES, 1), (HOMES, 40), (HOMES, 120), (HOMES, 400), ("\x07", 40)] {
        for beside in [Beside::Nothing, Beside::Clock] {
            let begin = |drawing| Driven { first, ..driven(drawing, beside, lag) };
            all_are_timed("arrows", begin(Drawing::Menu), 700, ARROWS);
            all_are_timed("pages", begin(Drawing::Pager), 700, "PageDown 6\nType \"kkkkkk\"");
            if first != HOMES {
                all_are_timed("moves", begin(Drawing::Cursor), 700, "Type \"jjjjkkkk\"");
            }
        }
    }
    // Pressed faster than they are answered, once it was seen that the program draws behind a move.
    for gap in [30, 100, 150, 300] {
        let program = Driven { first: HOMES, ..driven(Drawing::Pager, Beside::Nothing, 120) };
        let keys = "PageDown\nSleep 2s\nPageDown 5\nSleep 2s\nType \"kkkkkk\"";
        let (records, figures) = none_is_wrong("homes", program, gap, keys);
        assert_eq!(figures as f64 > 0.9 * records.sum("keys"), gap > 120, "{gap}: {figures}");
    }
}

#[test]
fn a_cursor_that_stays_is_an_echo_whatever_is_drawn_beside_it() {
    for gap in [150, 300, 1200] {
        let program = Driven { rest: Some(80), ..driven(Drawing::Cursor, Beside::Nothing, 5) };
        let (records, figures) = none_is_wrong("rests", program, gap, "Type \"jjjjkkkk\"");
        assert_eq!((records.sum("unfollowed"), figures as f64), (0.0, records.sum("keys")), "{gap}");
    }
}

#[test]
fn a_wait_for_a_cursor_that_moves_is_not_counted_as_the_drivers_delay() {
    let tape = "Set TypingSpeed 10ms\nSet Echo change\nWait+Screen /\\$/\nSleep 5s\nForever\n\
                Type \"j\"\nWait+Echo\nType \"k\"\nWait+Echo\nEnd\n";
    let (records, log) = played(driven(Drawing::Cursor, Beside::Nothing, 5), tape, 30.0);
    assert!(log.echoes.len() > 80, "{}", log.echoes.len());
    assert_same("waits", records.histogram("g/keys/echo"), &log.echoes, 1);
    assert!(records.quantile("g/keys/lateness", 1.0) < 1e-3, "{}", records.quantile("g/keys/lateness", 1.0));
}

#[test]
fn what_changes_by_itself_is_set_aside_and_said() {
    let records = all_are_timed("arrows", driven(Drawing::Menu, Beside::Clock, 60), 300, ARROWS);
    let most = records.series.iter().filter_map(|row| row["set_aside"].as_u64()).max().unwrap();
    assert!((8..30).contains(&most), "{most} cells");
    let records = all_are_timed("arrows", driven(Drawing::Menu, Beside::Nothing, 60), 300, ARROWS);
    assert!(records.series.iter().all(|row| row["set_aside"] == 0));
}

#[test]
fn a_whole_frame_is_looked_at() {
    let program = Driven { marked: true, ..driven(Drawing::Menu, Beside::Clock, 20) };
    all_are_timed("marked frames", program, 300, ARROWS);
}

#[test]
fn a_caret_that_blinks_is_no_echo() {
    for gap in [300, 2500] {
        let (records, figures) = none_is_wrong("blinks", driven(Drawing::Caret, Beside::Blink, 80), gap, SIDEWAYS);
        assert_eq!(records.sum("keys") - records.sum("unfollowed"), figures as f64, "a key each {gap} ms");
    }
    // It blinks first in a new place just before the next key is shown.
    for (lag, gap) in [(100, 495), (113, 489), (120, 500)] {
        none_is_wrong("blinks", driven(Drawing::Caret, Beside::Blink, lag), gap, SIDEWAYS);
    }
}

#[test]
fn keys_faster_than_answers_cannot_be_told_apart() {
    for (lag, gap) in [(250, 100), (1200, 250)] {
        let (records, figures) = none_is_wrong("fast", driven(Drawing::Menu, Beside::Clock, lag), gap, ARROWS);
        assert_eq!(figures, 0);
        assert!(records.sum("unfollowed") > 0.8 * records.sum("keys"), "{}", records.sum("unfollowed"));
    }
}

#[test]
fn the_rest_of_an_answer_is_no_echo() {
    for (rest, gap, all) in [(100, 300, true), (80, 90, false), (30, 45, false), (290, 300, false)] {
        let program = Driven { rest: Some(rest), ..driven(Drawing::Menu, Beside::Nothing, 20) };
        let (records, figures) = none_is_wrong("rest", program, gap, ARROWS);
        assert!(figures > 0 && all == (records.sum("unfollowed") == 0.0), "{rest} {gap}: {figures}");
    }
}

#[test]
fn the_rest_of_an_answer_that_comes_behind_the_next_key_is_no_echo() {
    // There is no lull in the first five seconds, and `x` changes nothing.
    let program = Driven { rest: Some(500), ..driven(Drawing::Menu, Beside::Nothing, 20) };
    none_is_wrong("rest behind a key", program, 489, "Down 3\nType \"jxkj\"\nUp 4\nDown 2");
}

#[test]
fn keys_without_a_pause_are_not_kept_back_for_long() {
    let tape = "Set TypingSpeed 400ms\nSet Echo change\nWait+Screen /\\$/\nSleep 3s\nForever\nDown 6\nUp 6\nEnd\n";
    let (records, log) = played(driven(Drawing::Menu, Beside::Nothing, 120), tape, 15.0);
    assert_same("no pause", records.histogram("g/keys/echo"), &log.echoes, 1);
}

#[test]
fn a_key_that_changes_nothing_is_missing() {
    let keys = "Down\nSleep 2s\nUp\nSleep 2s\nUp\nSleep 9s";
    let (records, figures) = none_is_wrong("top", driven(Drawing::Menu, Beside::Clock, 40), 50, keys);
    let unechoed = records.errors().iter().find(|(name, _)| name == "unechoed").map_or(0, |(_, count)| *count);
    assert_eq!(records.sum("unfollowed"), 0.0);
    assert!(unechoed >= 3 && figures >= 2 * (unechoed - 1), "{figures} figures, {unechoed} missing");
    // Pressed again before it was given up, the next key's frame may show either.
    let keys = "Up\nSleep 500ms\nDown\nSleep 2s\nUp\nSleep 2s";
    let (records, figures) = none_is_wrong("top, soon", driven(Drawing::Menu, Beside::Clock, 40), 50, keys);
    assert!(figures > 5 && records.sum("unfollowed") > 10.0, "{figures}, {}", records.sum("unfollowed"));
}

#[test]
fn where_everything_changes_all_the_time_no_key_has_a_figure() {
    let (records, figures) = none_is_wrong("log", driven(Drawing::Caret, Beside::Log { rows: 24 }, 40), 300, SIDEWAYS);
    assert!(figures <= 1 && records.sum("unfollowed") > 0.8 * records.sum("keys"), "{figures} figures");
}

#[test]
fn text_that_scrolls_beside_is_set_aside() {
    all_are_timed("log", driven(Drawing::Menu, Beside::Log { rows: 3 }, 40), 300, ARROWS);
    // Where it is most of the screen, it may hide what a key changes.
    let (records, figures) = none_is_wrong("log", driven(Drawing::Menu, Beside::Log { rows: 9 }, 40), 330, ARROWS);
    assert!(figures > 50 && records.sum("unfollowed") > 10.0, "{figures} {}", records.sum("unfollowed"));
}

fn program() -> impl Strategy<Value = Driven> {
    let drawing = prop_oneof![Just(Drawing::Menu), Just(Drawing::Pager), Just(Drawing::Cursor), Just(Drawing::Caret)];
    let beside = prop_oneof![
        Just(Beside::Nothing),
        Just(Beside::Clock),
        Just(Beside::Blink),
        (3u16..11).prop_map(|rows| Beside::Log { rows })
    ];
    // Pages stand where the log would scroll.
    let both = (drawing, beside).prop_map(|both| match both {
        (Drawing::Pager, Beside::Log { .. }) => (Drawing::Pager, Beside::Clock),
        both => both,
    });
    let first = prop_oneof![Just(""), Just(HIDES), Just(HOMES)];
    (both, 1u64..400, proptest::option::of(5u64..600), any::<bool>(), first).prop_map(
        |((drawing, beside), lag, rest, marked, first)| {
            // A program with a caret of its own hides the cursor, and one that draws it again and again leaves it where it was.
            let first = if drawing == Drawing::Caret || beside == Beside::Blink { "" } else { first };
            // Where a key only moves the cursor, and moves it home first, either move may be that of another key.
            let first = if drawing == Drawing::Cursor && first == HOMES { "" } else { first };
            // The rest of an answer behind the next key's move of the cursor is told from an answer mostly, not always.
            let rest = rest.filter(|_| first != HOMES);
            Driven { rest, first, marked, ..driven(drawing, beside, lag) }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn no_key_has_a_wrong_figure(program in program(), gap in 30u64..700) {
        // Whether a program draws behind a move is seen where no key follows soon.
        let pause = if program.first == HOMES { "Sleep 2s\n" } else { "" };
        none_is_wrong("any", program, gap, &format!("Down\n{pause}Down 2\nType \"jxkj\"\nUp 4"));
    }
}
