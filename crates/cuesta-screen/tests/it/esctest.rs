//! Plays esctest, a test suite for terminals, at the screen, where a checkout of its repository is at hand: `ESCTEST` names the folder.
//!
//! The suite looks at cells by their checksums (DECRQCRA) and changes the window's size, which no terminal here offers to hosts: both
//! are added for it.

use std::io::{Read, Write};

use cuesta_screen::vt::{Cell, Screen};

use crate::recordings::Session;

/// The least number of tests that pass. xterm passes 512 of them; left and right margins, rectangles, reverse wrap, titles and a
/// VT420's own reports are not for this screen.
const LEAST: usize = 350;

/// The suite wants to be at a VT420.
const KINDS: [(&str, &str); 5] = [
    ("\x1b[c", "\x1b[?64;1;2;6;9;15;16;17;18;21;22;28c"),
    ("\x1b[0c", "\x1b[?64;1;2;6;9;15;16;17;18;21;22;28c"),
    ("\x1bZ", "\x1b[?64;1;2;6;9;15;16;17;18;21;22;28c"),
    ("\x1b[>c", "\x1b[>41;379;0c"),
    ("\x1b[>0c", "\x1b[>41;379;0c"),
];

/// Splits what the suite sends at the functions that are added for it.
struct Suite {
    screen: Screen,
    /// What has come and is not drawn: perhaps the beginning of such a function.
    rest: Vec<u8>,
}

impl Suite {
    /// Draws what has come, and returns what to answer.
    fn take(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.rest.extend_from_slice(bytes);
        let mut answers = Vec::new();
        while let Some(escape) = self.rest.iter().position(|byte| *byte == 0x1b) {
            let is_part = |byte: &u8| matches!(byte, b'0'..=b';' | b'>' | b'*');
            let sequence = &self.rest[escape..];
            let end = match sequence.get(1) {
                Some(b'[') => sequence[2..].iter().position(|byte| !is_part(byte)).map(|end| end + 2),
                Some(_) => Some(1),
                None => None,
            };
            let Some(end) = end else {
                // The function is not complete.
                self.draw(escape, &mut answers);
                return answers;
            };
            let function = String::from_utf8_lossy(&sequence[..=end]).into_owned();
            let numbers: Vec<u16> = function
                .trim_matches(|character: char| !character.is_ascii_digit())
                .split(';')
                .map(|number| number.parse().unwrap_or(0))
                .collect();
            if function.ends_with("*y") {
                self.draw(escape, &mut answers);
                let [id, _, top, left, ..] = numbers[..] else { panic!("{function}: no rectangle") };
                let character = self.screen.cell(top - 1, left - 1).and_then(Cell::character).unwrap_or(' ');
                answers.extend(format!("\x1bP{id}!~{:04X}\x1b\\", u32::from(character)).into_bytes());
                self.rest.drain(..function.len());
            } else if function.starts_with("\x1b[8;") && function.ends_with('t') {
                self.draw(escape, &mut answers);
                let of =
                    |index: usize, now: u16| numbers.get(index).copied().filter(|number| *number > 0).unwrap_or(now);
                let (columns, rows) = self.screen.size();
                self.screen.resize(of(2, columns), of(1, rows));
                self.rest.drain(..function.len());
            } else if let Some((_, answer)) = KINDS.iter().find(|(asked, _)| function == *asked) {
                self.draw(escape, &mut answers);
                answers.extend_from_slice(answer.as_bytes());
                self.rest.drain(..function.len());
            } else {
                self.draw(escape + 1, &mut answers);
            }
        }
        self.draw(self.rest.len(), &mut answers);
        answers
    }

    /// Draws the first `len` bytes.
    fn draw(&mut self, len: usize, answers: &mut Vec<u8>) {
        self.screen.feed(&self.rest[..len]);
        self.rest.drain(..len);
        answers.extend_from_slice(self.screen.replies());
        self.screen.forget_replies(usize::MAX);
    }
}

#[test]
#[ignore = "nightly"]
fn esctest_passes_as_far_as_it_is_for_this_screen() {
    let Some(folder) = std::env::var_os("ESCTEST") else { return println!("ESCTEST names no checkout: not played") };
    let log = tempfile::NamedTempFile::new().expect("a file");
    let suite = std::path::Path::new(&folder).join("esctest/esctest.py");
    // Colours of bold and of blinking text are not here, and these tests leave answers unread when they fail, which spoils all that follow.
    let command = format!(
        "python3 -B {} --max-vt-level 4 --xterm-checksum 334 --timeout 1 --no-print-logs --include ^(?!ChangeSpecial) --logfile {}",
        suite.display(),
        log.path().display()
    );
    let mut session = Session::start(&command, "xterm", (80, 25));
    let mut played = Suite { screen: Screen::new(80, 25), rest: Vec::new() };
    let mut bytes = [0; 4096];
    // On Linux a terminal that no program has open any more fails.
    while let Ok(len @ 1..) = session.terminal.read(&mut bytes) {
        let answers = played.take(&bytes[..len]);
        session.terminal.write_all(&answers).expect("the suite reads");
    }
    let said = std::fs::read_to_string(log.path()).expect("a log");
    let passed = said.matches("Passed.").count();
    println!("{passed} passed\n{}", said.rsplit_once("*** ").map_or(said.as_str(), |(_, end)| end));
    assert!(passed >= LEAST, "only {passed} passed");
}
