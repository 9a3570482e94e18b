//! Rows that are edited while what was typed is still on its way, at a field with a caret of its own and a hidden cursor.
#![allow(clippy::unwrap_used, clippy::float_cmp)] // A failed unwrap fails the test; counts are exact.

use std::collections::VecDeque;

use serde_json::json;

use crate::programs::{Action, Doing, Program, assert_same, played};

/// A field that draws each key late. It knows Left and Backspace.
struct Field {
    lag: u64,
    row: Vec<char>,
    caret: usize,
    waiting: VecDeque<(usize, char)>,
    answers: usize,
}

impl Field {
    fn draw(&self) -> String {
        let row: String = self.row.iter().chain([&' ']).enumerate().fold(String::new(), |row, (at, key)| {
            if at == self.caret { row + "\x1b[7m" + &key.to_string() + "\x1b[m" } else { row + &key.to_string() }
        });
        format!("\x1b[3;1H> {row}\x1b[K\x1b[10;1H")
    }
}

impl Program for Field {
    fn begin(&mut self, now: &mut Doing) {
        now.send(&format!("\x1b[?1049h\x1b[?25l\x1b[2J\x1b[1;1Hready{}", self.draw()));
    }

    fn key(&mut self, key: char, number: usize, now: &mut Doing) {
        self.waiting.push_back((number, key));
        now.later(self.lag, Action::Draw(number));
    }

    fn due(&mut self, action: Action, now: &mut Doing) {
        let Action::Draw(_) = action else {
            (self.row, self.caret, self.answers) = (Vec::new(), 0, self.answers + 1);
            now.answer();
            return now.send(&format!("\x1b[5;1Hanswer {}{}", self.answers, self.draw()));
        };
        let (number, key) = self.waiting.pop_front().unwrap();
        match key {
            '\r' => return now.later(50, Action::Answer(0)),
            '\x1b' | '[' => return,
            'D' => self.caret = self.caret.saturating_sub(1),
            '\x7f' => {
                self.caret -= 1;
                self.row.remove(self.caret);
            }
            key => {
                self.row.insert(self.caret, key);
                self.caret += 1;
                now.show(number);
            }
        }
        now.send(&self.draw());
    }
}

/// Plays keys as a tape presses them. Returns the keys with a figure and those that could not be followed, of a row each.
fn typed(lag: u64, keys: &str) -> (f64, f64) {
    let tape = format!(
        "Set TypingSpeed 50ms\nSet Echo screen\nWait+Screen /ready/\nSleep 1s\nForever\nTransaction \"row\"\n\
         {keys}\nEnter\nWait+Screen /answer \\d+/\nEnd\nSleep 1s\nEnd\n"
    );
    let field = Field { lag, row: Vec::new(), caret: 0, waiting: VecDeque::new(), answers: 0 };
    let (records, log) = played(field, &tape, 60.0);
    let echo = records.histogram("g/keys/echo");
    let rows = log.answers.len() as f64;
    assert!(rows > 10.0, "{keys}: {rows} rows");
    // The run may end in the middle of a row.
    let whole = &records.series[..records.series.len() - 1];
    assert!(whole.iter().all(|row| row["errors"] == json!({})), "{keys}: {:?}", records.errors());
    let all_alike = &log.echoes[..echo.len() as usize];
    assert_same(keys, echo, all_alike, 0);
    ((echo.len() as f64 / rows).round(), (records.sum("unfollowed") / rows).round())
}

#[test]
fn keys_behind_an_edit_that_is_not_drawn_yet_have_no_figure() {
    assert_eq!(typed(100, "Type \"hello worlds\"\nLeft 2\nType \"ly \""), (12.0, 3.0));
    assert_eq!(typed(100, "Type \"hello worlly\"\nSleep 400ms\nBackspace\nType \" too\""), (12.0, 4.0));
}

#[test]
fn keys_behind_an_edit_that_is_drawn_are_timed() {
    for keys in [
        "Type \"hello worlds\"\nLeft 2\nSleep 400ms\nType \"ly \"",
        "Type \"hello worlly\"\nSleep 400ms\nBackspace\nSleep 400ms\nType \" to\"",
    ] {
        assert_eq!(typed(100, keys), (15.0, 0.0), "{keys}");
    }
    assert_eq!(typed(5, "Type \"hello worlds\"\nLeft 2\nType \"ly \""), (15.0, 0.0));
}
