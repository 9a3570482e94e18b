//! Compares the screen with xterm, which runs on a display in memory (Xvfb).
//!
//! `xterm.cases` holds inputs, and what xterm shows for each: [`the_screen_is_xterms`] plays them for every change. Nightly asks
//! xterm again, and plays random streams at both. `./scripts/xterm-cases` writes the file anew.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use cuesta_screen::vt::Screen;
use proptest::prelude::*;
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};
use unicode_width::UnicodeWidthChar;

/// The text of all rows without those below the last text, and what the terminal answers to "where is the cursor".
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) rows: Vec<String>,
    pub(crate) cursor: String,
}

impl Shown {
    pub(crate) fn new(rows: impl Iterator<Item = String>, cursor: &[u8]) -> Self {
        // xterm prints characters that only steer how text is laid out; no row has them here.
        let is_shown = |character: &char| character.general_category() != GeneralCategory::Format;
        let shown = |row: String| row.nfc().filter(is_shown).collect::<String>();
        let mut rows: Vec<String> = rows.map(|row| shown(row).trim_end().to_owned()).collect();
        rows.truncate(rows.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1));
        let cursor = String::from_utf8_lossy(cursor);
        Self { rows, cursor: cursor.trim_start_matches("\x1b[").trim_end_matches('R').to_owned() }
    }

    /// What a screen shows, and its answer.
    pub(crate) fn of_screen(screen: &mut Screen) -> Self {
        let answered = screen.replies().len();
        screen.feed(b"\x18\x1b[6n");
        Self::new(screen.rows(), &screen.replies()[answered..])
    }

    fn of_input((columns, rows): (u16, u16), input: &[u8]) -> Self {
        let mut screen = Screen::new(columns, rows);
        screen.feed(input);
        Self::of_screen(&mut screen)
    }
}

/// An X server without a screen.
pub(crate) struct Display {
    server: Child,
    name: String,
}

impl Display {
    pub(crate) fn start() -> Self {
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-nolisten", "tcp"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb is installed: ./scripts/setup --nightly");
        let mut name = String::new();
        BufReader::new(server.stdout.take().expect("piped")).read_line(&mut name).expect("the display's number");
        Self { server, name: format!(":{}", name.trim()) }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// An xterm that shows what is written to its line, and prints its screen into a pipe with a name.
pub(crate) struct Xterm {
    child: Child,
    pub(crate) line: File,
    print: PathBuf,
    pub(crate) size: (u16, u16),
}

impl Xterm {
    pub(crate) fn start(display: &Display, folder: &Path, size: (u16, u16)) -> Self {
        let print = folder.join(format!("{}x{}", size.0, size.1));
        rustix::fs::mkfifoat(rustix::fs::CWD, &print, rustix::fs::Mode::RWXU).expect("a pipe");
        let controller =
            rustix::pty::openpt(rustix::pty::OpenptFlags::RDWR | rustix::pty::OpenptFlags::NOCTTY).expect("a terminal");
        rustix::pty::grantpt(&controller).expect("a terminal");
        rustix::pty::unlockpt(&controller).expect("a terminal");
        let name = rustix::pty::ptsname(&controller, Vec::new()).expect("its name");
        let line = File::options().read(true).write(true).open(name.to_str().expect("a path")).expect("a terminal");
        let mut raw = tcgetattr(&line).expect("its settings");
        raw.make_raw();
        tcsetattr(&line, OptionalActions::Now, &raw).expect("raw");
        let child = Command::new("xterm")
            .env("DISPLAY", &display.name)
            .env("LC_ALL", "C.UTF-8")
            .args(["-u8", "-fn", "fixed", "-geometry", &format!("{}x{}", size.0, size.1)])
            .args(["-xrm", &format!("XTerm*printerCommand: cat > {}", print.display())])
            .args([
                "-xrm",
                "XTerm*printAttributes: 0",
                "-xrm",
                "XTerm*printerExtent: true",
                "-xrm",
                "XTerm*printerAutoClose: true",
            ])
            .arg(format!("-S0/{}", controller.as_raw_fd()))
            .stderr(Stdio::null())
            .spawn()
            .expect("xterm is installed: ./scripts/setup --nightly");
        let mut xterm = Self { child, line, print, size };
        xterm.read_up_to(b'\n'); // the window's number
        xterm
    }

    /// What it shows after an input to a reset terminal.
    pub(crate) fn shows(&mut self, input: &[u8]) -> Shown {
        self.reset();
        self.line.write_all(input).expect("xterm reads");
        self.read_screen()
    }

    /// Resets it, with its alternate screen and the modes that were saved.
    pub(crate) fn reset(&mut self) {
        self.line.write_all(b"\x18\x1bc\x1b[?47h\x1b[2J\x1b7\x1b[?6;7;47l\x1b[?6;7;47s\x1bc").expect("xterm reads");
    }

    /// What it shows now.
    pub(crate) fn read_screen(&mut self) -> Shown {
        // What was asked before is answered before this.
        self.line.write_all(b"\x18\x1b[>q\x1b[6n\x1b[i").expect("xterm reads");
        let mut answers = Vec::new();
        while !answers.ends_with(b"\x1bP>|XTerm") {
            answers.push(self.read_byte());
        }
        self.read_up_to(b'\\');
        let cursor = self.read_up_to(b'R');
        let mut printed = Vec::new();
        File::open(&self.print).and_then(|mut pipe| pipe.read_to_end(&mut printed)).expect("a printed screen");
        Shown::new(String::from_utf8_lossy(&printed).lines().take(self.size.1.into()).map(without_tails), &cursor)
    }

    fn read_byte(&mut self) -> u8 {
        let mut byte = [0];
        self.line.read_exact(&mut byte).expect("an answer of xterm");
        byte[0]
    }

    fn read_up_to(&mut self, end: u8) -> Vec<u8> {
        let mut read = vec![self.read_byte()];
        while read.last() != Some(&end) {
            read.push(self.read_byte());
        }
        read
    }
}

impl Drop for Xterm {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// xterm prints U+FFFF for the second cell of a wide character, and for one whose first cell is gone.
fn without_tails(row: &str) -> String {
    let mut text = String::new();
    for character in row.chars() {
        let follows_wide =
            text.chars().rev().find(|before| before.width() != Some(0)).is_some_and(|it| it.width() == Some(2));
        match character {
            '\u{ffff}' if follows_wide => {}
            '\u{ffff}' => text.push(' '),
            character => text.push(character),
        }
    }
    text
}

/// An input, and what xterm shows for it.
struct Case {
    size: (u16, u16),
    input: String,
    shown: Shown,
}

impl Case {
    /// The bytes of its input, in which `\e` is an escape and `\xNN` a byte.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut rest = self.input.chars();
        while let Some(character) = rest.next() {
            if character != '\\' {
                bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            bytes.push(match rest.next().expect("an escape") {
                'e' => 0x1b,
                'r' => b'\r',
                'n' => b'\n',
                't' => b'\t',
                'b' => 0x08,
                'a' => 0x07,
                'x' => u8::from_str_radix(&rest.by_ref().take(2).collect::<String>(), 16).expect("two digits"),
                other => other as u8,
            });
        }
        bytes
    }
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/xterm.cases")
}

/// The file's parts: comments, and cases, each as `COLUMNSxROWS INPUT`, then a row behind each `|`, and the cursor behind `@`.
fn parts() -> Vec<Result<Case, String>> {
    let mut parts = Vec::new();
    for row in fs::read_to_string(file()).expect("cases").lines() {
        match (row.chars().next(), parts.last_mut()) {
            (Some('|'), Some(Ok(Case { shown, .. }))) => shown.rows.push(row[1..].to_owned()),
            (Some('@'), Some(Ok(Case { shown, .. }))) => row[1..].trim().clone_into(&mut shown.cursor),
            (Some('0'..='9'), _) => {
                let (size, input) = row.split_once(' ').expect("a size and an input");
                let (columns, rows) = size.split_once('x').expect("a size");
                let size = (columns.parse().expect("columns"), rows.parse().expect("rows"));
                parts.push(Ok(Case { size, input: input.to_owned(), shown: Shown::new([].into_iter(), b"") }));
            }
            _ => parts.push(Err(row.to_owned())),
        }
    }
    parts
}

fn cases() -> impl Iterator<Item = Case> {
    parts().into_iter().filter_map(Result::ok)
}

#[test]
fn the_screen_is_xterms() {
    let mut wrong = String::new();
    let mut count = 0;
    for case in cases() {
        let ours = Shown::of_input(case.size, &case.bytes());
        count += 1;
        if ours != case.shown {
            let _ = writeln!(wrong, "{}\n  xterm {:?}\n  here  {ours:?}", case.input, case.shown);
        }
    }
    assert!(count >= 300, "only {count} cases");
    assert!(wrong.is_empty(), "{} of {count}:\n{wrong}", wrong.matches("  here").count());
}

#[test]
#[ignore = "nightly"]
fn the_cases_are_what_xterm_shows() {
    let folder = tempfile::tempdir().expect("a folder");
    let display = Display::start();
    let mut xterms = Vec::<Xterm>::new();
    let mut asked = |case: &Case| {
        let at = xterms.iter().position(|xterm| xterm.size == case.size).unwrap_or_else(|| {
            xterms.push(Xterm::start(&display, folder.path(), case.size));
            xterms.len() - 1
        });
        xterms[at].shows(&case.bytes())
    };
    if std::env::var_os("RECORD").is_none() {
        for case in cases() {
            assert_eq!(asked(&case), case.shown, "{}", case.input);
        }
        return;
    }
    let mut written = String::new();
    for part in parts() {
        match part {
            Err(row) => written += &row,
            Ok(case) => {
                let Shown { rows, cursor } = asked(&case);
                let _ = write!(written, "{}x{} {}", case.size.0, case.size.1, case.input);
                for row in rows {
                    let _ = write!(written, "\n|{row}");
                }
                let _ = write!(written, "\n@ {cursor}");
            }
        }
        written.push('\n');
    }
    fs::write(file(), written).expect("the file");
}

/// Parts of random streams: text, combining characters, control characters and functions that change the screen. None erases up to
/// the cursor, protects characters or writes wide ones: what these do depends in xterm on whether it has drawn an earlier scroll by
/// then.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z]{1,12}",
        1 => "é{1,4}",
        1 => "a\u{301}",
        2 => "[\r\n\t\u{8}]{1,2}",
        4 => "\x1b\\[[0-9]{0,2}[@-ILMPSTXZade`]",
        2 => "\x1b\\[[0-9]{1,2};[0-9]{1,2}[Hfr]",
        1 => "\x1b\\[[02]?[JK]",
        1 => "\x1b\\[[0-9]b",
        1 => "\x1b\\[\\?(6|7|47|1047|1048|1049)[hl]",
        1 => "\x1b\\[(4|20)[hl]",
        1 => "\x1b[DEMH78=>69]",
        1 => "\x1b\\[\\?(6|7|47|1048|1049)[rs]",
        1 => "\x1b[()][0AB]",
        1 => "[\x0e\x0f]",
        1 => "\x1b\\[!p|\x1bc|\x1b#8|\x1b\\[[03]g|\x1b\\[[0-9] [@A]|\x1b\\[[0-9]'[}~]",
    ]
}

#[test]
#[ignore = "nightly"]
fn random_streams_are_shown_as_by_xterm() {
    let folder = tempfile::tempdir().expect("a folder");
    let display = Display::start();
    let size = (40, 10);
    let xterm = std::cell::RefCell::new(Xterm::start(&display, folder.path(), size));
    let config = ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(pieces in prop::collection::vec(piece(), 1..40))| {
        let input = pieces.concat();
        let theirs = xterm.borrow_mut().shows(input.as_bytes());
        prop_assert_eq!(Shown::of_input(size, input.as_bytes()), theirs, "{}", input.escape_debug());
    });
}

/// Characters that became wide or combining, or came to be, after the version of Unicode that xterm 379 goes by: it gives them one
/// column.
const NEWER: &str = "5c8-5c9 897 b53-b54 ece 1acf-1af0 2630-2637 268a-268f 2ffc-2fff 31e4-31e5 31ef fa6e-fa6f fada-faff \
    10d69-10d6d 10ecb-10ecf 10ef0-10eff 11241 113bb-113e2 1171e 11b60-11b66 11df0 11f00-11f5a 13439-13455 16ff2-16ff6 187f8-187ff \
    18cd6-18cff 18d09-18d20 18d80-18df2 18e00-18fff 1b123-1b128 1b132 1b155 1b168 1d127-1d128 1d25b-1d25c 1d300-1d376 1e08f \
    1e4ec-1e4ef 1e5ee-1e5ef 1e6e3-1e6f5 1f1ae 1f6d8-1f6dc 1f7da 1fa75-1faff";

/// Asks xterm where the cursor is behind each character, beside a letter.
#[test]
#[ignore = "nightly"]
fn every_character_is_as_wide_as_in_xterm() {
    let folder = tempfile::tempdir().expect("a folder");
    let display = Display::start();
    let mut xterm = Xterm::start(&display, folder.path(), (80, 24));
    // No ideographs and syllables but the first ones of each block, which are all alike.
    let ranges = [
        0xa0..0x3500,
        0x4dc0..0x4f00,
        0xa000..0xad00,
        0xd700..0xd800,
        0xf900..0x14700,
        0x16800..0x19000,
        0x1a000..0x20100,
    ];
    let characters: Vec<char> = ranges.into_iter().flatten().filter_map(char::from_u32).collect();
    let number = |hex: &str| u32::from_str_radix(hex, 16).expect("a number");
    let newer: Vec<_> = NEWER.split(' ').map(|range| range.split_once('-').unwrap_or((range, range))).collect();
    let is_newer = |character: char| {
        newer.iter().any(|(first, last)| (number(first)..=number(last)).contains(&u32::from(character)))
    };
    let mut wrong = Vec::new();
    for some in characters.chunks(20) {
        let asked = |character: &char| format!("\r\x1b[Ka{character}\x1b[6n");
        xterm.line.write_all(some.iter().map(asked).collect::<String>().as_bytes()).expect("xterm reads");
        for character in some {
            let mut screen = Screen::new(80, 24);
            screen.feed(asked(character).as_bytes());
            if xterm.read_up_to(b'R') != screen.replies() && !is_newer(*character) {
                wrong.push(u32::from(*character));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:x?}");
}
