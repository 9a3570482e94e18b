//! Finds typed keys on the screen, for the ways in which programs show keys or do not show them.

use cuesta_screen::vt::{ControlKey, KeyMatch, Screen, TypedText};
use proptest::prelude::*;

/// A user with a screen. [`Typist::results`] lists each shown key with the index of the byte that showed it, one that is doubtful in
/// parentheses, each missed key after a `-` and each lost one after a `?`.
struct Typist {
    screen: Screen,
    typed: TypedText<char, usize>,
    results: String,
    /// The keys that were shown.
    shown: String,
}

impl Typist {
    fn at(columns: u16, rows: u16, before: &str) -> Self {
        let mut screen = Screen::new(columns, rows);
        screen.feed(before.as_bytes());
        Self { screen, typed: TypedText::default(), results: String::new(), shown: String::new() }
    }

    fn types(&mut self, keys: &str) -> &mut Self {
        for key in keys.chars() {
            let lost = match key {
                '\r' => self.typed.control_key(ControlKey::Return).map(KeyMatch::Lost),
                '\x7f' => self.typed.control_key(ControlKey::Erase).map(KeyMatch::Lost),
                key if key.is_ascii_control() => self.typed.control_key(ControlKey::Other).map(KeyMatch::Lost),
                key => self.typed.type_character(&self.screen, key, false, key),
            };
            self.results.extend(lost.map(result));
        }
        self
    }

    /// Receives one read.
    fn receives(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        let bytes = bytes.as_ref();
        let (results, shown) = (&mut self.results, &mut self.shown);
        let mut report = |found| {
            results.push_str(&result(found));
            if let KeyMatch::Shown { key, .. } = found {
                shown.push(key);
            }
        };
        self.typed.begin_frame(&self.screen);
        let mut from = 0;
        while from < bytes.len() {
            from += self.typed.draw(&mut self.screen, &bytes[from..], |index| from + index);
            if !self.screen.is_in_frame() {
                self.typed.end_frame(&self.screen, from - 1, &mut report);
            }
        }
        self
    }

    fn results(&mut self) -> String {
        std::mem::take(&mut self.results).trim_end().to_owned()
    }
}

fn result(found: KeyMatch<char, usize>) -> String {
    match found {
        KeyMatch::Shown { key, since, is_doubtful: false, .. } => format!("{key}{since} "),
        KeyMatch::Shown { key, since, .. } => format!("({key}{since}) "),
        KeyMatch::Settled { is_right } => (if is_right { "right " } else { "wrong " }).to_owned(),
        KeyMatch::Missed(key) => format!("-{key} "),
        KeyMatch::Lost(key) => format!("?{key} "),
    }
}

fn at_prompt() -> Typist {
    Typist::at(20, 5, PROMPT)
}

const PROMPT: &str = "$ ";

/// What is typed, the reads that come then, and what becomes of keys.
type Step = (&'static str, &'static [&'static str], &'static str);
/// What is tested, the size of the screen, what it shows at first, and the steps.
type Case = (&'static str, (u16, u16), &'static str, &'static [Step]);

const CASES: [Case; 38] = [
    ("a plain echo", (20, 5), PROMPT, &[("l", &["l"], "l0"), ("s", &["\x1b[32ms\x1b[0m"], "s5")]),
    ("keys typed ahead", (20, 5), PROMPT, &[("aaab", &["aa", "ab"], "(a0) (a1) right a0 b1")]),
    ("the answer comes with the echoes", (20, 5), PROMPT, &[("ls\r", &["ls\r\nfile\r\n$ "], "l0 s1")]),
    ("inserted", (20, 5), "$ acd\x1b[4G", &[("b", &["bcd\x08\x08"], "b0"), ("x", &["\x1b[1@x"], "x4")]),
    ("over the same letter", (20, 5), "$ aaa\x1b[3G", &[("aa", &["\x1b[C"], "a2"), ("", &["\x1b[C"], "a2")]),
    (
        "a status line, within which a read ends",
        (20, 5),
        "\x1b[5;1H-- ab ab --\x1b[1;1H",
        &[
            ("ab", &["\x1b[5;1H-- ab \x1b[1;1H"], ""),
            ("", &["\x1b[?25l\x1b[5;1H-- a", "b ab --\x1b[1;1H\x1b[?25h"], ""),
            ("", &["ab\x1b[5;18Hx2\x1b[1;3H"], "a0 b1"),
        ],
    ),
    (
        "keys drawn under a hidden cursor, and a screen redrawn in two reads, one row lower",
        (20, 5),
        "\x1b[2;5H",
        &[
            ("x", &["\x1b[?25l\x1b[2;1H1234x\x1b[5;1Hstatus\x1b[2;6H\x1b[?25h"], "x16"),
            ("y", &["\x1b[?25l\x1b[H\x1b[J1\r\n\n1234", "xy\x1b[?25h"], "y1"),
        ],
    ),
    (
        "in a field whose edges are drawn by q and x",
        (20, 5),
        "\x1b(0lqqqk\r\nx   x\r\nmqqqj\x1b(B\x1b[2;2H",
        &[
            ("q", &["\x1b(0q\x1b(B"], ""),
            ("", &["\u{8}q"], "q1"),
            ("x", &["\x1b7\x1b[1;4H\x1b(0x\x1b(B\x1b8"], ""),
            ("", &["x"], "x0"),
        ],
    ),
    ("a full row goes on in the next", (10, 3), "$ 123456", &[("890", &["8", "9\x1b[m", "0"], "80 90 00")]),
    (
        "a blank in the last column",
        (10, 5),
        PROMPT,
        &[("abcdefg", &["abcdefg"], "a0 b1 c2 d3 e4 f5 g6"), (" ", &["\x1b[2;1H"], " 5"), ("h", &["h"], "h0")],
    ),
    (
        "emacs' blank, by a tab and a backspace, between which a read ends",
        (20, 5),
        "plain of",
        &[("s", &["s"], "s0"), (" ", &["\t", "\x08\x08\x08\x08\x08\x08"], " 5"), ("r", &["r"], "r0")],
    ),
    (
        "no blank where the cursor goes away and comes back",
        (20, 5),
        "a ",
        &[(" ", &["\x1b[5;1Hstatus", "\x1b[1;3H"], ""), ("b", &["b"], "?  b0")],
    ),
    ("a full row at the bottom scrolls", (10, 2), "\r\n$ 1234567", &[("ab", &["a", "b"], "a0 b0")]),
    ("readline adds a blank and a return", (10, 2), "\r\n$ 1234567", &[("ab", &["a \r", "b"], "a0 b0")]),
    (
        "emacs' mark in the last column",
        (10, 5),
        "\x1b[2;1H12345678\x1b[2;9H",
        &[("a", &["a"], "a0"), ("bc", &["\\\r\nb"], "b3"), ("", &["c"], "c0")],
    ),
    (
        "emacs' mark, drawn at once",
        (10, 5),
        "\x1b[2;1H12345678\x1b[2;9H",
        &[("abc", &["\x1b[?25l\x1b[2;10H\\\r\nbc\x1b[2;9Ha\x1b[3;3H\x1b[?25h"], "a24 b16 c17")],
    ),
    ("a word moves to the next row", (10, 5), "the quick", &[("d", &["\x1b[1;4H\x1b[K\r\nquickd"], "d16")]),
    ("a row shifted sideways", (10, 5), "> 1234567\x1b[1;10H", &[("x", &["\x1b[1;1H<4567x\x1b[K"], "x11")]),
    (
        "behind indentation, and two rows of a slow program at once",
        (20, 5),
        "\x1b[1;1H",
        &[
            ("if\r", &["if\r\n  "], "i0 f1"),
            ("x\ry", &["x\r\n", "  y"], "x0 y2"),
            ("a\rb", &["\x1b[?25l\x1b[3;1H  ya\r\n  b\x1b[?25h"], "a15 b20"),
        ],
    ),
    ("wide characters", (20, 5), PROMPT, &[("漢é", &["漢é"], "漢2 é4")]),
    ("joined characters", (20, 5), PROMPT, &[("e\u{301}x", &["e", "\u{301}", "x"], "e0 \u{301}1 x0")]),
    ("a wide character without room", (6, 3), "$ 123", &[("漢x", &["漢", "x"], "漢2 x0")]),
    ("a blank", (20, 5), PROMPT, &[("a b", &["a b"], "a0  1 b2")]),
    ("a blank by the cursor alone", (20, 5), PROMPT, &[(" ", &["\x1b[C"], " 2")]),
    (
        "a command of vi, then inserted text",
        (20, 5),
        "\x1b[1;1H",
        &[("i", &["\x1b[5;1H-- INSERT --\x1b[1;1H"], ""), ("ab", &["a"], "-i a0"), ("", &["b"], "b0")],
    ),
    ("q leaves a pager", (20, 5), "\x1b[5;1H(END)", &[("q", &["\r\x1b[K$ "], ""), ("ls", &["l", "s"], "-q l0 s0")]),
    (
        "a message, behind which the row goes on; a key that came with it was not seen",
        (20, 5),
        PROMPT,
        &[
            ("the", &["the", "\r\na job is done\r\n"], "t0 h1 e2"),
            (" l", &[" ", "l"], " 0 l0"),
            ("", &["\r\na job is done\r\n"], ""),
            ("ll", &["l", "l"], "l0 l0"),
            ("abc", &["\r\na job is done\r\na", "b"], "?a b0"),
        ],
    ),
    (
        "a password",
        (20, 5),
        "Password: ",
        &[("secret\r", &["\r\nLast login: today\r\n"], ""), ("", &["$ "], ""), ("ls", &["l"], "-s -e -c -r -e -t l0")],
    ),
    ("a prompt and an echo in one read", (20, 5), "Password: ", &[("pw\rls", &["\r\n$ l"], "-p -w l4")]),
    ("a slow prompt ends with a blank", (20, 5), "", &[("ls -l", &["\r\n$ "], "")]),
    ("a slow prompt behind text", (20, 5), "", &[("ls -l", &["ok\r\n$ ", "ls -l"], "l0 s1  2 -3 l4")]),
    (
        "the letter before the cursor is the awaited one by chance",
        (20, 5),
        "a",
        &[("a", &["\x1b7\x1b[5;1Hclock\x1b8"], ""), ("", &["a"], "a0")],
    ),
    (
        "a paced line; what stands elsewhere continues no text",
        (20, 5),
        "\x1b[2;5H",
        &[("x", &["\x1b[2;1H1234x\x07"], "x10"), ("y", &["\x1b[4;1Hy\x1b[K\x07"], "")],
    ),
    (
        "a frame; one that the host marks is shown at its end",
        (20, 5),
        PROMPT,
        &[
            ("list", &["\r\x1b[2K$ list"], "l7 i8 s9 t10"),
            (" al", &["\x1b[?2026h\r\x1b[2K$ list al"], ""),
            ("", &["\x1b[2K\r$ list a\x1b[?2026lx"], " 20 a20"),
        ],
    ),
    (
        "a letter drawn twice loses its text; the next row begins anew",
        (20, 5),
        PROMPT,
        &[
            ("aab", &["aa"], "(a0) (a1)"),
            ("", &["aa"], "wrong ?b"),
            ("c", &["bbcc"], "?c"),
            ("\r", &["\r\n$ "], ""),
            ("aab", &["aa", "b"], "(a0) (a1) right b0"),
        ],
    ),
    (
        "suggested in grey, which will be typed",
        (20, 5),
        PROMPT,
        &[("li", &["l\x1b[90mist all\x1b[39m\x1b[7D"], "l0"), ("", &["i\x1b[90mst all\x1b[39m\x1b[6D"], "i0")],
    ),
    ("suggested in the same style", (20, 5), PROMPT, &[("list", &["list all\x1b[7D", "ist all\x1b[6D"], "l0 i0")]),
    (
        "taken back once it is shown, and before",
        (20, 5),
        PROMPT,
        &[("lx", &["lx"], "l0 x1"), ("\x7fs", &["\u{8} \u{8}", "s"], "s0"), ("y\x7f", &[], "?y")],
    ),
];

#[test]
fn keys_are_found_however_programs_show_them() {
    for (what, (columns, rows), before, steps) in CASES {
        let mut user = Typist::at(columns, rows, before);
        for (keys, reads, results) in steps {
            user.types(keys);
            reads.iter().for_each(|read| _ = user.receives(read));
            assert_eq!(user.results(), *results, "{what}: {keys:?} {reads:?}");
        }
    }
}

#[test]
fn keys_can_be_given_up() {
    let mut user = at_prompt();
    user.types("ab");
    assert_eq!(user.typed.waiting().collect::<String>(), "ab");
    assert_eq!(user.typed.give_up(), Some(KeyMatch::Missed('a')));
    assert_eq!(user.receives("b").results(), "b0");
    assert!(!user.typed.is_waiting());
}

/// A field of a full-screen program, with a caret of its own behind the text. `cursor`: where the program leaves the hidden cursor,
/// from the caret. `beyond`: what it suggests behind the text, in grey, with the caret on its first character.
fn field(text: &str, beyond: &str, cursor: i16) -> String {
    let column = (3 + text.len()).saturating_add_signed(cursor.into());
    let mut characters = beyond.chars();
    let under_caret = characters.next().unwrap_or(' ');
    let rest = characters.as_str();
    let filler = " ".repeat(15 - text.len() - rest.len());
    format!("\x1b[?25l\x1b[3;1H| {text}\x1b[7m{under_caret}\x1b[0;90m{rest}\x1b[m{filler}|\x1b[3;{column}H")
}

#[test]
fn a_program_may_draw_its_own_caret_and_leave_the_hidden_cursor_anywhere() {
    for cursor in [-2, -1, 0, 1, 2, 9] {
        let mut user = Typist::at(20, 5, &("Title".to_owned() + &field("", "", cursor)));
        assert_eq!(user.types("l").receives(field("", "", cursor)).results(), "", "{cursor}");
        assert_eq!(user.receives(field("l", "", cursor)).results(), "l14", "{cursor}");
        // The frame is drawn again, as a caret that blinks demands.
        user.types("s").receives(field("l", "", cursor));
        assert_eq!(user.receives(field("ls", "", cursor)).results(), "s15", "{cursor}");
        assert_eq!(user.types(" ").receives(field("ls", "", cursor)).results(), "", "{cursor}");
        assert_eq!(user.receives(field("ls ", "", cursor)).results(), " 16", "{cursor}");
    }
    // A visible cursor stands beside the caret.
    let shown = |text: &str| field(text, "", 1) + "\x1b[?25h";
    let mut user = Typist::at(20, 5, &shown(""));
    assert_eq!(user.types("l").receives(shown("")).receives(shown("l")).results(), "l14");
}

#[test]
fn a_status_row_before_the_hidden_cursor_is_not_typed() {
    let frame = |text: &str| format!("\x1b[2J\x1b[2;1H> {text}\x1b[7m \x1b[m\x1b[4;1H? for shortcuts");
    let mut user = Typist::at(40, 5, &format!("\x1b[?25l{}", frame("")));
    assert_eq!(user.types("s").receives(frame("")).results(), "");
    assert_eq!(user.receives(frame("s")).shown, "s");
    assert_eq!(user.types("h").receives(frame("s")).receives(frame("sh")).shown, "sh");
    assert!(!user.results().contains(['-', '?']));
}

#[test]
fn the_inside_of_a_box_is_not_typed() {
    // The row is full, and the caret stands in the next one.
    let full = "\x1b[1;1H│ one two │\x1b[2;1H│ \x1b[7m \x1b[m       │\x1b[5;1H";
    let mut user = Typist::at(20, 5, "\x1b[?25l\x1b[1;1H│ \x1b[7m \x1b[m       │\x1b[5;1H");
    user.types("one two").receives(full);
    assert!(!user.results().contains('?'));
    assert_eq!(user.shown, "one two");
    // Whether a blank was shown can not be told there; what follows it can.
    assert_eq!(user.types(" ").receives(full).results(), "?");
    let more = "\x1b[1;1H│ one two │\x1b[2;1H│  x\x1b[7m \x1b[m     │\x1b[5;1H";
    user.types("x").receives(more);
    assert_eq!(user.shown, "one twox");
}

#[test]
fn what_is_suggested_under_a_drawn_caret_is_not_typed() {
    let mut user = Typist::at(20, 5, &field("", "list all", 0));
    user.types("list");
    assert_eq!(user.receives(field("l", "ist all", 0)).receives(field("li", "st all", 0)).results(), "l14 i15");
}

#[test]
fn text_that_streams_meanwhile_is_not_typed() {
    // The box moves down by a row, or is drawn where it was, while text with the awaited letters comes above it.
    let frame = |above: &str, text: &str, up: u8| {
        let caret = "\x1b[7m \x1b[27m";
        format!(
            "\x1b[{up}A\r\x1b[J{above}\r\n╭────────╮\r\n│ > {text}{caret}{}│\r\n╰────────╯",
            " ".repeat(5 - text.len())
        )
    };
    let mut user = Typist::at(20, 12, "\x1b[?25l\r\n\r\n\r\n");
    user.receives(frame("the", "", 3));
    user.types("ple");
    let mut results = |above: &str, text: &str| user.receives(frame(above, text, 3)).results().len();
    assert_eq!(results("the people", ""), 0);
    assert_eq!(results("the people leap\r\nple", ""), 0);
    assert_eq!(results("ple p", "p"), "p57".len());
    assert_eq!(results("p\r\np", "p"), 0);
    assert_eq!(results("p pl pl", "ple"), "l61 e62".len());
}

#[test]
fn a_marked_frame_goes_on_whatever_is_typed_meanwhile_and_however_late_its_end_comes() {
    let mut user = Typist::at(20, 5, &field("", "", 1));
    user.types("l").receives("\x1b[?2026h").receives(field("l", "", 1)).types("s");
    assert_eq!(user.receives("\x1b[?2026l").results(), "l7");
    assert_eq!(user.receives(field("ls", "", 1)).results(), "s15");
}

#[test]
fn text_wrapped_in_a_box_is_followed_behind_its_border() {
    let frame = |rows: [&str; 2]| {
        let rows = rows.map(|row| format!("│ {row:<8} │"));
        format!("\x1b[?25l\x1b[2;1H{}\r\n{}\x1b[?25h", rows[0], rows[1])
    };
    let mut user = Typist::at(12, 5, &(frame(["", ""]) + "\x1b[2;3H"));
    assert_eq!(
        user.types("see you").receives(frame(["see you", ""]) + "\x1b[2;10H").results(),
        "(s16) (e17) (e18) ( 19) (y20) (o21) (u22)"
    );
    // The word moves to the next row, and the blank before it is not drawn.
    assert_eq!(user.types("rs").receives(frame(["see", "yours"]) + "\x1b[3;8H").results(), "right r37 s38");
    assert_eq!(user.types("!").receives(frame(["see", "yours!"]) + "\x1b[3;9H").results(), "!39");
}

proptest! {
    /// Any text on a small screen, cut anywhere: an echo shows each key in order. With fewer columns, rows go before they are known.
    #[test]
    fn every_key_of_a_plain_echo_is_shown(
        columns in 4u16..30,
        rows in 2u16..4,
        text in "[a-c \u{e9}\u{6f22}]{1,40}",
        ahead in 1usize..8,
        cut in 1usize..9,
    ) {
        let mut user = Typist::at(columns, rows, "");
        let keys: Vec<char> = text.chars().collect();
        for keys in keys.chunks(ahead) {
            let keys: String = keys.iter().collect();
            user.types(&keys);
            keys.as_bytes().chunks(cut).for_each(|read| _ = user.receives(read));
            prop_assert_eq!(std::mem::take(&mut user.shown), keys);
            prop_assert!(!user.typed.is_waiting());
        }
    }

    /// No output loses a key.
    #[test]
    fn no_key_is_ever_lost(
        reads in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..40), "[a-e\r\x1b]{0,4}"), 1..20),
    ) {
        let mut user = Typist::at(7, 3, "");
        let (mut typed, mut results) = (0, String::new());
        for (bytes, keys) in reads {
            typed += keys.chars().filter(|key| !key.is_ascii_control()).count();
            results.push_str(&user.types(&keys).receives(&bytes).results());
            results.push(' ');
        }
        let settled = results.matches("right").count() + results.matches("wrong").count();
        let told = results.split_whitespace().count() - settled;
        prop_assert_eq!(told + user.typed.waiting().count(), typed);
    }
}
