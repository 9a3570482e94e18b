//! Echo times at programs that draw, beside the programs' own logs.
#![allow(clippy::unwrap_used, clippy::float_cmp)] // A failed unwrap fails the test; counts are exact.

use std::time::Duration;

use proptest::prelude::*;

use crate::programs::{Action, Doing, Program, assert_same, played};

/// How a line editor draws the row that is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Drawing {
    /// Each key alone.
    Plain,
    /// Each key alone, and now and then a message of another program, behind which the row goes on.
    Interrupted,
    /// The row anew.
    Redrawn,
    /// Each key alone on the alternate screen, at its cell.
    Addressed,
    /// The key, and behind it how the row may go on, in grey or in the same style.
    Suggested { grey: bool },
    /// A field with a caret of its own. `cursor`: the column of the hidden cursor, from the caret. It is drawn again and again if it
    /// blinks.
    Field { cursor: i16, blinks: bool, suggests: bool, marked: bool },
    /// A field with another caret, far from the hidden cursor.
    Caret(&'static str),
    /// A box below text that streams; the box moves down as the text grows, and is erased and drawn anew for each word. Below it, and
    /// before the hidden cursor, stands a row that ends in a letter that is typed.
    BelowStream { hides: bool },
    /// Each key twice.
    Twice,
    /// Each key at once in a style in which it is not seen, and later in another.
    Unseen(&'static str),
}

/// A line editor that shows keys late.
pub(crate) struct Editor {
    drawing: Drawing,
    /// How late, in ms.
    pub(crate) lag: u64,
    /// Keys that come within the lag of the first are drawn with it.
    coalesces: bool,
    row: String,
    /// The row that was ended last.
    ended: String,
    waiting: Vec<(usize, char)>,
    drawn_rows: usize,
    answers: usize,
    ticks: usize,
}

const SUGGESTION: &str = "list all the files and follow";
const WORDS: [&str; 8] = ["pleasant", "list", "all", "the", "little", "files", "t", "tell"];

impl Editor {
    pub(crate) fn new(drawing: Drawing, lag: u64, coalesces: bool) -> Self {
        let (row, waiting) = (String::new(), Vec::new());
        Self { drawing, lag, coalesces, row, ended: String::new(), waiting, drawn_rows: 0, answers: 0, ticks: 0 }
    }

    /// Draws the row with all that is shown, `new` of it for the first time.
    fn draw(&mut self, new: &str) -> String {
        let rest = SUGGESTION.strip_prefix(self.row.as_str()).unwrap_or_default();
        let row = &self.row;
        match self.drawing {
            Drawing::Plain | Drawing::Interrupted => new.to_owned(),
            Drawing::Unseen(_) if new.is_empty() => String::new(),
            Drawing::Unseen(_) => format!("\x08{new}"),
            Drawing::Twice => new.chars().flat_map(|key| [key, key]).collect(),
            Drawing::Addressed => format!("\x1b[3;{}H{new}", 4 + row.len() - new.len()),
            Drawing::Redrawn => format!("\r\x1b[2K$ {row}"),
            Drawing::Suggested { .. } if rest.is_empty() => format!("{new}\x1b[K"),
            Drawing::Suggested { grey } => {
                let style = if grey { "\x1b[90m" } else { "" };
                format!("{new}{style}{rest}\x1b[m\x1b[{}D", rest.len())
            }
            Drawing::Field { cursor, suggests, marked, .. } => {
                let mut rest = if suggests { rest.chars() } else { "".chars() };
                let under_caret = rest.next().unwrap_or(' ');
                let column = (3 + row.len()).saturating_add_signed(cursor.into());
                let frame = format!(
                    "\x1b[3;1H| {row}\x1b[7m{under_caret}\x1b[0;2m{}\x1b[m\x1b[K\x1b[3;60H|\x1b[3;{column}H",
                    rest.as_str()
                );
                if marked { format!("\x1b[?2026h\x1b[3;1H\x1b[2K{frame}\x1b[?2026l") } else { frame }
            }
            Drawing::Caret(caret) => format!("\x1b[3;1H| {row}{caret}\x1b[m\x1b[K\x1b[3;60H|\x1b[20;1H"),
            Drawing::BelowStream { hides } => {
                let up =
                    if self.drawn_rows == 0 { String::new() } else { format!("\x1b[{}A\r\x1b[J", self.drawn_rows) };
                let words: Vec<_> =
                    (0..self.ticks % 9).map(|word| WORDS[(self.ticks + word * 3) % WORDS.len()]).collect();
                let ended = if self.ticks % 9 == 8 { "\r\n" } else { "" };
                let caret = if hides { "\x1b[7m \x1b[27m" } else { " " };
                self.drawn_rows = if hides { 4 } else { 2 };
                let back = if hides { String::new() } else { format!("\x1b[2A\r\x1b[{}C", 4 + row.len()) };
                let (top, bottom) = ("─".repeat(50), "─".repeat(50));
                let frame = format!(
                    "{}{ended}\r\n╭{top}╮\r\n│ > {row}{caret}\x1b[50G│\r\n╰{bottom}╯\r\n? for all",
                    words.join(" ")
                );
                up + &frame + &back
            }
        }
    }
}

impl Program for Editor {
    fn begin(&mut self, now: &mut Doing) {
        match self.drawing {
            Drawing::Field { blinks, .. } => {
                now.send("\x1b[?1049h\x1b[?25l\x1b[2J\x1b[1;1HTitle $ ");
                now.later(100, Action::Tick);
                self.ticks = usize::from(blinks);
            }
            Drawing::Caret(_) => now.send("\x1b[?1049h\x1b[?25l\x1b[2J\x1b[1;1HTitle $ "),
            Drawing::Addressed => now.send("\x1b[?1049h\x1b[2J\x1b[1;1HTitle $"),
            Drawing::Interrupted => {
                now.send("$ ");
                now.later(50, Action::Tick);
            }
            Drawing::BelowStream { hides } => {
                now.send(if hides { "$ \x1b[?25l\r\n" } else { "$ \r\n" });
                now.later(50, Action::Tick);
            }
            _ => return now.send("$ "),
        }
        let frame = self.draw("");
        now.send(&frame);
    }

    fn key(&mut self, key: char, number: usize, now: &mut Doing) {
        if !self.coalesces || self.waiting.is_empty() {
            now.later(self.lag, Action::Draw(number));
        }
        if let Drawing::Unseen(style) = self.drawing
            && key != '\r'
        {
            now.send(&format!("{style}{key}\x1b[m"));
        }
        self.waiting.push((number, key));
    }

    fn due(&mut self, action: Action, now: &mut Doing) {
        match action {
            Action::Tick if self.drawing == Drawing::Interrupted => {
                now.send("\r\na job is done\r\n");
                now.later(620, Action::Tick);
            }
            Action::Tick => {
                let next = if matches!(self.drawing, Drawing::Field { .. }) { 100 } else { 50 };
                now.later(next, Action::Tick);
                if matches!(self.drawing, Drawing::BelowStream { .. }) {
                    self.ticks += 1;
                }
                if self.ticks > 0 {
                    let frame = self.draw("");
                    now.send(&frame);
                }
            }
            Action::Draw(up_to) => {
                let count =
                    self.waiting.iter().position(|(number, key)| *key == '\r' || *number > up_to && !self.coalesces);
                let new: Vec<_> = self.waiting.drain(..count.unwrap_or(self.waiting.len())).collect();
                let text: String = new.iter().map(|(_, key)| *key).collect();
                if text == "\x7f" {
                    self.row.pop();
                    return now.send("\x08\x1b[K");
                }
                self.row.push_str(&text);
                let frame = self.draw(&text);
                now.send(&frame);
                for (number, _) in &new {
                    now.show(*number);
                }
                if self.waiting.first().is_some_and(|(number, _)| self.coalesces || *number <= up_to) {
                    self.waiting.remove(0);
                    self.ended = std::mem::take(&mut self.row);
                    now.later(50, Action::Answer(self.answers));
                    let ended = match self.drawing {
                        Drawing::Addressed => "\x1b[3;4H\x1b[K".to_owned(),
                        Drawing::Field { .. } | Drawing::Caret(_) | Drawing::BelowStream { .. } => self.draw(""),
                        _ => "\x1b[K\r\n".to_owned(),
                    };
                    now.send(&ended);
                }
            }
            Action::Answer(number) => {
                self.answers += 1;
                now.answer();
                match self.drawing {
                    Drawing::Caret(_) => {
                        let at = 5 + 2 * (number % 7);
                        now.send(&format!("\x1b[{};1Hanswer {number}\x1b[{at};1H> {}\x1b[K", at + 1, self.ended));
                    }
                    Drawing::Field { .. } | Drawing::Addressed => {
                        now.send(&format!("\x1b[{};1Hanswer {number}", 5 + number % 15));
                    }
                    Drawing::BelowStream { hides } => {
                        let rows = self.drawn_rows;
                        self.drawn_rows = 0;
                        let frame = self.draw("");
                        let to_top = if hides { rows } else { 3 };
                        now.send(&format!("\x1b[{to_top}A\r\x1b[Janswer {number}\r\n{frame}"));
                    }
                    _ => now.send(&format!("answer {number}\r\n$ ")),
                }
            }
        }
    }
}

fn tape(echo: &str, gap: u64, text: &str) -> String {
    format!(
        "Set TypingSpeed {gap}ms\nSet WaitTimeout 20s\nSet Echo {echo}\nWait+Screen /\\$/\nSleep 1s\nForever\nTransaction \"row\"\n\
         Type \"{text}\"\nEnter\nWait+Screen /answer \\d+/\nEnd\nSleep 1s\nEnd\n"
    )
}

/// Types a text at an editor; each figure must be that of the editor's log.
fn types_at(drawing: Drawing, lag: u64, gap: u64, coalesces: bool, text: &str) {
    let what = format!("{drawing:?}, {lag} ms late, a key each {gap} ms, coalesces: {coalesces}, {text:?}");
    let (records, log) = played(Editor::new(drawing, lag, coalesces), &tape("screen", gap, text), 30.0);
    assert!(log.answers.len() > 3, "{what}: {} answers", log.answers.len());
    assert_same(&what, records.histogram("g/keys/echo"), &log.echoes, text.len());
    assert_same(&what, records.histogram("g/row/response"), &log.answers, 1);
    // Keys that were under way when the run ended.
    let unfollowed = records.sum("unfollowed") as u64;
    let is_cut_off = |keys: u64| keys <= 1 + lag / gap;
    let errors = records.errors();
    assert!(errors.iter().all(|(name, keys)| name == "unechoed" && is_cut_off(*keys)), "{what}: {errors:?}");
    if drawing == Drawing::Interrupted {
        // A key that is shown in one read with a message is not seen there.
        assert!(unfollowed <= log.echoes.len() as u64 / 10, "{what}: {unfollowed}");
    } else {
        assert!(is_cut_off(unfollowed), "{what}: {unfollowed}");
        // Text that streams all the time is no part of an answer, once it is known.
        assert!(records.sum("continued_long") <= 0.1 * log.answers.len() as f64, "{what}");
    }
}

#[test]
fn every_key_is_shown_when_the_program_shows_it() {
    for lag in [15, 150] {
        for drawing in [
            Drawing::Plain,
            Drawing::Redrawn,
            Drawing::Addressed,
            Drawing::Suggested { grey: true },
            Drawing::Suggested { grey: false },
            Drawing::Field { cursor: 1, blinks: true, suggests: false, marked: false },
            Drawing::Field { cursor: 0, blinks: false, suggests: true, marked: false },
            Drawing::Field { cursor: -1, blinks: true, suggests: true, marked: true },
            Drawing::Caret("▏"),
            Drawing::Caret("█"),
            Drawing::Caret("_"),
            Drawing::Caret("\x1b[4m "),
            Drawing::Caret("\x1b[5;36m▌"),
            Drawing::BelowStream { hides: true },
            Drawing::BelowStream { hides: false },
        ] {
            types_at(drawing, lag, 83, false, "list all the");
        }
    }
}

#[test]
fn a_text_is_shown_where_the_caret_is_and_not_where_a_row_ends_alike() {
    for (lag, gap) in [(13, 71), (28, 60), (120, 83)] {
        for text in ["all the", "lla", "allall", "llllllaa"] {
            types_at(Drawing::BelowStream { hides: true }, lag, gap, false, text);
        }
    }
}

#[test]
fn a_key_is_shown_when_it_is_seen() {
    for style in ["\x1b[8m", "\x1b[30;40m", "\x1b[38;2;9;9;9;48;2;9;9;9m"] {
        types_at(Drawing::Unseen(style), 40, 83, false, "listallthe");
    }
}

#[test]
fn a_row_goes_on_behind_a_message_of_another_program() {
    for (lag, gap) in [(0, 60), (15, 83), (150, 170)] {
        types_at(Drawing::Interrupted, lag, gap, false, "list all the");
    }
}

#[test]
fn keys_that_are_drawn_at_once_are_each_shown_then() {
    for drawing in [Drawing::Redrawn, Drawing::Suggested { grey: true }] {
        types_at(drawing, 300, 83, true, "list all the");
    }
}

#[test]
fn letters_that_are_drawn_twice_get_no_figure_or_the_right_one() {
    for echo in ["screen", "timed"] {
        let (records, log) = played(Editor::new(Drawing::Twice, 250, false), &tape(echo, 83, "aabbcc"), 30.0);
        assert!(log.echoes.len() > 20);
        let figures = records.histograms.get("g/keys/echo");
        assert!(records.sum("unfollowed") > 20.0, "{echo}: {}", records.sum("unfollowed"));
        let is_right =
            |nanos: u64| Duration::from_nanos(nanos).abs_diff(Duration::from_millis(250)) < Duration::from_millis(1);
        assert!(figures.is_none_or(|echo| is_right(echo.min()) && is_right(echo.max())), "{echo}");
    }
}

#[test]
fn keys_before_a_caret_that_is_not_known_as_one_get_no_figure() {
    // Behind each answer, and the cursor, stands what was typed.
    for caret in ["»", "\x1b[32m»", "<-"] {
        let (records, log) =
            played(Editor::new(Drawing::Caret(caret), 150, false), &tape("screen", 83, "list all the"), 30.0);
        assert!(!records.histograms.contains_key("g/keys/echo"), "{caret:?}");
        assert!(records.sum("unfollowed") > 0.9 * log.echoes.len() as f64, "{caret:?}: {}", records.sum("unfollowed"));
        assert_same(caret, records.histogram("g/row/response"), &log.answers, 1);
    }
}

#[test]
fn a_stream_that_moves_the_cursor_times_no_key() {
    for drawing in
        [Drawing::Redrawn, Drawing::Addressed, Drawing::Suggested { grey: true }, Drawing::BelowStream { hides: false }]
    {
        let (records, log) = played(Editor::new(drawing, 150, false), &tape("timed", 83, "list all the"), 30.0);
        let figures = records.histograms.get("g/keys/echo").map_or(0, |echo| echo.count_between(0, 149_000_000));
        assert_eq!(figures, 0, "{drawing:?}");
        assert!(
            records.sum("unfollowed") > 0.7 * log.echoes.len() as f64,
            "{drawing:?}: {}",
            records.sum("unfollowed")
        );
    }
}

fn drawing() -> impl Strategy<Value = Drawing> {
    prop_oneof![
        Just(Drawing::Plain),
        Just(Drawing::Redrawn),
        any::<bool>().prop_map(|grey| Drawing::Suggested { grey }),
        (-2i16..3, any::<bool>(), any::<bool>(), any::<bool>())
            .prop_map(|(cursor, blinks, suggests, marked)| Drawing::Field { cursor, blinks, suggests, marked }),
        any::<bool>().prop_map(|hides| Drawing::BelowStream { hides }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn the_figures_are_those_of_any_programs_log(
        drawing in drawing(),
        lag in 1u64..400,
        gap in 20u64..300,
        text in "list all the|please tell|aabbcc|x|little files|[abl]{7}",
    ) {
        types_at(drawing, lag, gap, false, &text);
    }
}
