//! `Wait+Ready` at programs that are ready, late, or not what the tape expects. In virtual time.
#![allow(clippy::unwrap_used, clippy::float_cmp)] // A failed unwrap fails the test; counts are exact.

use std::collections::VecDeque;
use std::ops::Range;

use serde_json::json;

use crate::echoes::{Drawing, Editor};
use crate::harness::{RunRecords, spec};
use crate::programs::{Action, Doing, Program, played, played_by_all};

/// How a program treats keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Echo {
    /// As a terminal driver does, before a program that reads.
    Tty,
    /// As a terminal driver does, before a program that does not read.
    Unread,
    /// As a line editor does.
    Editor,
    /// Not at all.
    Off,
    /// In a box, behind a caret that it draws.
    Box,
    /// It scrolls a text: `B` is the last letter of Down, `A` of Up.
    Scroll,
    /// In the corner.
    Corner,
    /// As a line editor, and Backspace is another key to it.
    NoErase,
}

/// A program that draws at given times, treats keys in a way that changes then, and may have a spinner.
struct Scripted {
    /// When it draws what, and how it treats keys from then on.
    scenes: VecDeque<(u64, &'static str, Echo)>,
    echo: Echo,
    typed: String,
    row: i32,
    spins: bool,
    /// How often, in ms.
    turns_every: u64,
    turn: usize,
    /// The line knows whether it reads.
    is_local: bool,
    /// What it draws once the terminal has answered a query.
    answered: Option<&'static str>,
}

const DRAW: Action = Action::Answer(0);

impl Scripted {
    fn new(scenes: &[(u64, &'static str, Echo)]) -> Self {
        let scenes = scenes.iter().copied().collect();
        Self {
            scenes,
            echo: Echo::Unread,
            typed: String::new(),
            row: 0,
            spins: false,
            turns_every: 100,
            turn: 0,
            is_local: false,
            answered: None,
        }
    }

    /// On a terminal of this machine.
    fn local(scenes: &[(u64, &'static str, Echo)]) -> Self {
        Self { is_local: true, ..Self::new(scenes) }
    }
}

impl Program for Scripted {
    fn begin(&mut self, now: &mut Doing) {
        self.scenes.iter().for_each(|(at, _, _)| now.later(*at, DRAW));
        if self.spins {
            now.later(self.turns_every, Action::Tick);
        }
    }

    fn is_awaited(&self) -> Option<bool> {
        let is_echoed = matches!(self.echo, Echo::Tty | Echo::Unread);
        (self.is_local && is_echoed).then_some(self.echo == Echo::Tty)
    }

    fn key(&mut self, key: char, _: usize, now: &mut Doing) {
        if let (Some(text), 'c') = (self.answered, key) {
            self.answered = None;
            return now.send(text);
        }
        let is_erase = key == '\x7f';
        let is_empty = self.typed.is_empty();
        if is_erase {
            self.typed.pop();
        } else if self.echo != Echo::Off {
            self.typed.push(key);
        }
        match self.echo {
            Echo::Off => {}
            Echo::Tty | Echo::Unread | Echo::Editor if is_erase && is_empty => {}
            Echo::Tty | Echo::Unread if is_erase => now.send("\x08 \x08"),
            Echo::Editor if is_erase => now.send("\x08\x1b[K"),
            Echo::NoErase if is_erase => now.send("^?"),
            Echo::Tty | Echo::Unread | Echo::Editor | Echo::NoErase => now.send(&key.to_string()),
            Echo::Box => now.send(&format!("\x1b[20;3H> {}\x1b[7m \x1b[m ", self.typed)),
            Echo::Corner if is_erase => now.send("\x1b7\x1b[24;70H \x1b8"),
            Echo::Corner => now.send(&format!("\x1b7\x1b[24;70H{key}\x1b8")),
            Echo::Scroll if !matches!(key, 'A' | 'B') => {}
            Echo::Scroll => {
                self.row += i32::from(key == 'B') - i32::from(key == 'A');
                now.send(&format!("\x1b[Hrow {}  \x1b[24;2H", self.row));
            }
        }
    }

    fn due(&mut self, action: Action, now: &mut Doing) {
        if action == Action::Tick {
            self.turn += 1;
            now.send(&format!("\x1b7\x1b[1;70H{}\x1b8", ["|", "/", "-", "\\"][self.turn % 4]));
            return now.later(self.turns_every, Action::Tick);
        }
        let (_, text, echo) = self.scenes.pop_front().unwrap();
        self.echo = echo;
        now.send(text);
    }
}

/// What became of `Wait+Ready`: since when a program was ready, in ms, or what was said of it; and the records.
fn waited(program: Scripted, wait: &str) -> (Result<u64, String>, RunRecords) {
    let tape = format!("{wait}\nSet Echo screen\nType@100ms \"abc\"\nSleep 60s\n");
    let (records, log) = played(program, &tape, 30.0);
    let said = records.series.iter().find_map(|row| row["said"]["not-ready"].as_str().map(str::to_owned));
    let first_key = log.came.len().checked_sub(3).map(|first| log.came[first].since(log.begun.unwrap()));
    let result = said.map_or_else(|| Ok(first_key.unwrap().as_millis() as u64 - 100), Err);
    (result, records)
}

fn ready_at(program: Scripted) -> Result<u64, String> {
    waited(program, "Wait+Ready").0
}

fn assert_ready(what: &str, program: Scripted, within: Range<u64>) {
    let ready = ready_at(program);
    assert!(ready.as_ref().is_ok_and(|at| within.contains(at)), "{what}: {ready:?}");
}

const PROMPT: &str = "ann@host:~$ ";

#[test]
fn a_ready_program_is_seen_so_and_its_probe_is_no_key() {
    let (ready, records) = waited(Scripted::new(&[(50, PROMPT, Echo::Editor)]), "Wait+Ready");
    assert!(ready.as_ref().is_ok_and(|at| *at <= 1000), "{ready:?}");
    let keys: u64 = records.series.iter().map(|row| row["keys"].as_u64().unwrap()).sum();
    assert_eq!((keys, records.errors()), (3, Vec::new()));
    assert_eq!(records.histogram("g/keys/echo").len(), 3);
}

/// Each program is ready between these two instants, in ms; its last scene begins just before the first.
#[test]
fn no_program_is_taken_for_ready_too_early() {
    let spinner = |scenes| Scripted { spins: true, ..Scripted::new(scenes) };
    let form = "\x1b[?1049h\x1b[?25l\x1b[1;1HNotes\x1b[20;3H> \x1b[7m \x1b[m ";
    let asks = |query| Scripted { answered: Some(PROMPT), ..Scripted::new(&[(50, query, Echo::Editor)]) };
    let cases = [
        (
            "a splash screen, then a prompt",
            Scripted::new(&[(50, "\x1b[5;30HVersion 1.4", Echo::Off), (2500, PROMPT, Echo::Editor)]),
            2500,
            9000,
        ),
        (
            "bursts",
            Scripted::new(&[
                (50, "one\r\n", Echo::Tty),
                (450, "two\r\n", Echo::Tty),
                (850, "three\r\n", Echo::Tty),
                (1250, PROMPT, Echo::Editor),
            ]),
            1250,
            3000,
        ),
        ("a profile that takes its time", Scripted::new(&[(1100, PROMPT, Echo::Editor)]), 1100, 2000),
        (
            "a profile that takes more time than a blank screen is waited for",
            Scripted::new(&[(4000, PROMPT, Echo::Editor)]),
            4000,
            6000,
        ),
        (
            "a message before that",
            Scripted::new(&[(50, "Welcome\r\n", Echo::Tty), (4000, PROMPT, Echo::Editor)]),
            4000,
            6000,
        ),
        (
            "a message without its end of row",
            Scripted::new(&[(50, "Starting... ", Echo::Tty), (1800, "done\r\n$ ", Echo::Editor)]),
            1800,
            4000,
        ),
        ("a shell without a line editor", Scripted::new(&[(50, "$ ", Echo::Tty)]), 2000, 4000),
        ("a program without a prompt", Scripted::new(&[]), 6000, 9000),
        ("a spinner beside a prompt", spinner(&[(50, PROMPT, Echo::Editor)]), 1000, 4000),
        (
            "a prompt in Chinese",
            Scripted::new(&[(50, "\u{6b22}\u{8fce}\r\n\u{4f60}\u{597d}\u{ff1a} ", Echo::Editor)]),
            50,
            1500,
        ),
        ("a caret that the program draws", Scripted::new(&[(50, form, Echo::Box)]), 50, 1500),
        ("a program that asks for the terminal's kind", asks("\x1b[c"), 50, 1500),
        (
            "a text box below a question to the terminal and a spinner",
            Scripted { spins: true, ..asks("\x1b[0c") },
            1000,
            4000,
        ),
    ];
    for (what, program, least, most) in cases {
        assert_ready(what, program, least..most);
    }
}

#[test]
fn a_program_behind_the_echo_of_its_terminal_is_ready_once_it_reads() {
    let spinner = |scenes| Scripted { spins: true, ..Scripted::new(scenes) };
    let cases = [
        ("a program without a prompt that is known to read", Scripted::local(&[(50, "", Echo::Tty)]), 4000, 5000),
        (
            "a program that reads nothing at first",
            Scripted::local(&[(50, "Loading\r\n> ", Echo::Unread), (9000, "\x1b[2J\x1b[H> ", Echo::Editor)]),
            9000,
            11_000,
        ),
        (
            "a program that reads nothing at first, and draws nothing later",
            Scripted::local(&[(50, "Loading\r\n> ", Echo::Unread), (9000, "", Echo::Tty)]),
            9000,
            10_000,
        ),
        ("a spinner beside a shell without a line editor", spinner(&[(50, "$ ", Echo::Tty)]), 2000, 6000),
        (
            "a clock beside a shell without a line editor",
            Scripted { turns_every: 1000, ..spinner(&[(50, "$ ", Echo::Tty)]) },
            2000,
            12_000,
        ),
    ];
    for (what, program, least, most) in cases {
        assert_ready(what, program, least..most);
    }
}

#[test]
fn a_program_that_reads_nothing_is_told() {
    let says = "the program reads nothing: its terminal echoes what is typed";
    assert_eq!(ready_at(Scripted::local(&[(50, "Loading\r\n> ", Echo::Unread)])), Err(format!("{says}: `>`")));
    assert_eq!(ready_at(Scripted::local(&[])), Err(says.to_owned()));
}

#[test]
fn prompts_of_several_words_are_told() {
    let one = |text, echo| Scripted::new(&[(50, text, echo)]);
    let cases = [
        (
            "a second factor",
            one("(ann@host) One-time password (OATH) for `ann': ", Echo::Off),
            "the program shows a login screen: `(ann@host) One-time password (OATH) for `ann':`",
        ),
        (
            "a choice of second factors",
            one("1. Push to XXX-1234\r\n2. Phone call\r\n\r\nPasscode or option (1-2): ", Echo::Tty),
            "the program shows a login screen: `Passcode or option (1-2):`",
        ),
        (
            "a code",
            one("Enter the code from your authenticator app: ", Echo::Tty),
            "the program shows a login screen: `Enter the code from your authenticator app:`",
        ),
        (
            "a key's PIN",
            one("Enter PIN for 'YubiKey': ", Echo::Off),
            "the program shows a login screen: `Enter PIN for 'YubiKey':`",
        ),
        (
            "a file that another editor has open",
            one("\x1b[24;1H[O]pen Read-Only, (E)dit anyway, (R)ecover, (Q)uit, (A)bort: ", Echo::Off),
            "the program asks a question: `[O]pen Read-Only, (E)dit anyway, (R)ecover, (Q)uit, (A)bort:`",
        ),
    ];
    for (what, program, said) in cases {
        assert_eq!(ready_at(program), Err(said.to_owned()), "{what}");
    }
}

#[test]
fn what_is_not_ready_is_told() {
    let whiptail = "\x1b[?1049h\x1b[?25l\x1b[10;20H\u{2502} Install it? \u{2502}\x1b[12;24H<Yes>      <No>";
    let restless = Scripted::new(
        &(1..=300).map(|n| (n * 90, "x\r\n\x1b[31mone and two and three\r\n", Echo::Tty)).collect::<Vec<_>>(),
    );
    let one = |text, echo| Scripted::new(&[(50, text, echo)]);
    let cases = [
        (
            "a login prompt",
            one("Debian 12\r\n\r\nbuster login: ", Echo::Tty),
            "the program shows a login screen: `buster login:`",
        ),
        (
            "a password",
            one("ann@host's password: ", Echo::Off),
            "the program shows a login screen: `ann@host's password:`",
        ),
        (
            "a form",
            one("\x1b[?25l\x1b[5;5H\u{2502} Username \u{2502}\x1b[6;5H\u{2502} Password \u{2502}", Echo::Off),
            "the program shows a login screen: `\u{2502} Password \u{2502}`",
        ),
        (
            "an unknown host",
            one("Are you sure you want to continue connecting (yes/no/[fingerprint])? ", Echo::Tty),
            "the program shows a login screen: `Are you sure you want to continue connecting (yes/no/[fingerprint])?`",
        ),
        ("less", one("text\x1b[24;1H:", Echo::Off), "the program shows a pager: `:`"),
        (
            "less at a file",
            one("text\x1b[24;1H\x1b[7mnotes.txt\x1b[m", Echo::Off),
            "the program shows a pager: `notes.txt`",
        ),
        (
            "more",
            one("text\x1b[24;1H\x1b[7m--More--(8%)\x1b[m", Echo::Off),
            "the program shows a pager: `--More--(8%)`",
        ),
        ("buttons", one(whiptail, Echo::Off), "the program asks a question: `<Yes>      <No>`"),
        (
            "apt",
            one("Do you want to continue? [Y/n] ", Echo::Tty),
            "the program asks a question: `Do you want to continue? [Y/n]`",
        ),
        (
            "any key",
            one("Press any key to continue...", Echo::Off),
            "the program asks a question: `Press any key to continue...`",
        ),
        (
            "a list of answers",
            one("\x1b[?25lTrust this folder?\r\n \u{276f} 1. Yes\r\n   2. No", Echo::Off),
            "the program asks a question: `\u{276f} 1. Yes`",
        ),
        (
            "a question of an editor",
            one("\x1b[23;1HFile notes.txt is being edited; open anyway? ", Echo::Off),
            "the program asks a question: `File notes.txt is being edited; open anyway?`",
        ),
        ("no echo", one(PROMPT, Echo::Off), "the program does not show what is typed: `ann@host:~$`"),
        (
            "an echo elsewhere",
            one("text\x1b[H", Echo::Corner),
            "the program shows what is typed in row 24, column 70, and not at the cursor: `j`",
        ),
        (
            "no Backspace",
            one(PROMPT, Echo::NoErase),
            "the program shows what is typed, and does not delete it: `ann@host:~$ j^?`",
        ),
        ("nothing drawn", one("", Echo::Off), "the program has drawn nothing"),
        ("no end", restless, "the program does not stop drawing: `one and two and three`"),
    ];
    for (what, program, said) in cases {
        assert_eq!(ready_at(program), Err(said.to_owned()), "{what}");
    }
}

#[test]
fn the_tape_names_the_keys_of_a_program_where_letters_are_commands() {
    let pager = || Scripted::new(&[(50, "\x1b[Hrow 0\x1b[24;1H:", Echo::Scroll)]);
    assert!(waited(pager(), "Wait+Ready Down Up").0.is_ok());
    let (ready, _) = waited(pager(), "Wait+Ready Down Down");
    assert_eq!(ready, Err("the program shows a pager: `:`".to_owned()), "it is not taken back");
    assert!(waited(Scripted::new(&[(50, PROMPT, Echo::Editor)]), "Wait+Ready \"x\"").0.is_ok());
}

#[test]
fn a_run_ends_early_only_if_no_user_is_ready() {
    let seconds = |users: u32, ready: u32| {
        let program = move |user| {
            let text = if user < ready { PROMPT } else { "login: " };
            Scripted::new(&[(50, text, Echo::Editor)])
        };
        let tape = "Wait+Ready\nSet Echo screen\nForever\nType@100ms \"abc\"\nBackspace@100ms 3\nEnd\n";
        let records = played_by_all(spec(users, 0.0, 20.0, &json!({})), tape, program);
        let not_ready = records.errors().iter().find(|(name, _)| name == "not-ready").map_or(0, |(_, count)| *count);
        assert!(not_ready >= u64::from(users - ready), "{not_ready} of {users}, {ready} are ready");
        records.seconds()
    };
    for users in [1, 3] {
        let ended = seconds(users, 0);
        assert!((2.0..3.0).contains(&ended), "{users} users: {ended} s");
    }
    let whole = seconds(3, 1);
    assert!((whole - 20.0).abs() < 1e-6, "{whole} s");
}

#[test]
fn what_is_seen_is_told_also_if_the_run_ends_first() {
    let (records, _) = played(Scripted::new(&[(50, PROMPT, Echo::Off)]), "Wait+Ready\nType \"abc\"\n", 5.0);
    let said: Vec<_> = records.series.iter().filter_map(|row| row["said"]["not-ready"].as_str()).collect();
    assert_eq!(said, ["the program does not show what is typed: `ann@host:~$`"]);
    assert_eq!(records.errors(), []);
}

#[test]
fn a_wait_between_passes_is_a_pause_and_continues_no_answer() {
    let tape = "Set TypingSpeed 50ms\nSet Echo screen\nWait+Screen /\\$/\nForever\nWait+Ready\nType \"list\"\nEnter\n\
                Wait+Screen /answer \\d+/\nSleep 1s\nEnd\n";
    let (records, log) = played(Editor::new(Drawing::Plain, 15, false), tape, 60.0);
    assert!(log.answers.len() > 10, "{} answers", log.answers.len());
    assert!(records.errors().is_empty(), "{:?}", records.errors());
    let spent = ["think", "keying", "response_from_sent"].map(|sum| records.sum(&format!("sums/{sum}")));
    let cycles = spent.iter().sum::<f64>();
    assert!((cycles - 60.0).abs() < 2.0, "{spent:?} of 60 s");
    assert_eq!(records.sum("continued_long"), 0.0);
}
