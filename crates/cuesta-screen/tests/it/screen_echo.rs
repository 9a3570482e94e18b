//! Finds typed keys on the screen, for the ways in which programs show keys or do not show them.

use cuesta_screen::vt::{KeyMatch, Screen, ScreenEcho};
use proptest::prelude::*;

/// A user with a screen. [`Typist::results`] lists each shown key with the index of the character that showed it, and each
/// overtaken key after a `-`.
struct Typist {
    screen: Screen,
    screen_echo: ScreenEcho<char>,
    results: String,
    exactly: bool,
}

impl Typist {
    fn at(columns: u16, rows: u16, before: &str) -> Self {
        let mut screen = Screen::new(columns, rows);
        screen.feed(before.as_bytes());
        Self { screen, screen_echo: ScreenEcho::default(), results: String::new(), exactly: false }
    }

    fn types(&mut self, keys: &str) -> &mut Self {
        for key in keys.chars() {
            match key {
                '\r' => self.screen_echo.control_key(true),
                key if key.is_ascii_control() => self.screen_echo.control_key(false),
                key => self.screen_echo.await_key(&self.screen, key, key),
            }
        }
        self
    }

    /// Receives one read.
    fn receives(&mut self, bytes: &str) -> &mut Self {
        let results = &mut self.results;
        let mut report = |found: KeyMatch<char>| match found {
            KeyMatch::Shown(key, at, _) => results.extend([key.to_string(), at.to_string(), " ".into()]),
            KeyMatch::Overtaken(key) => results.extend(['-', key, ' ']),
        };
        self.screen_echo.feed(&mut self.screen, bytes.as_bytes(), 0, self.exactly, &mut report);
        self.screen_echo.rest(&self.screen, bytes.len(), &mut report);
        self
    }

    fn results(&mut self) -> String {
        std::mem::take(&mut self.results).trim_end().to_owned()
    }
}

fn at_prompt() -> Typist {
    Typist::at(20, 5, "$ ")
}

#[test]
fn a_plain_echo_is_shown_by_its_own_character() {
    let mut user = at_prompt();
    assert_eq!(user.types("l").receives("l").results(), "l0");
    assert_eq!(user.types("s").receives("\x1b[32ms\x1b[0m").results(), "s5");
}

#[test]
fn keys_typed_ahead_are_each_shown_by_their_own() {
    assert_eq!(at_prompt().types("aaab").receives("aa").receives("ab").results(), "a0 a1 a0 b1");
    // The answer to the Return arrives with the echoes before it.
    assert_eq!(at_prompt().types("ls\r").receives("ls\r\nfile\r\n$ ").results(), "l0 s1");
}

#[test]
fn a_key_inserted_before_other_text_is_shown() {
    let mut user = at_prompt();
    user.receives("acd\x1b[4G");
    assert_eq!(user.types("b").receives("bcd\x08\x08").results(), "b0");
    assert_eq!(user.types("x").receives("\x1b[1@x").results(), "x4");
    assert_eq!(user.screen.row(0), "$ abxcd");
}

#[test]
fn a_key_over_the_same_character_is_shown_by_the_cursor() {
    let mut user = at_prompt();
    user.receives("aaa\x1b[3G");
    assert_eq!(user.types("aa").receives("\x1b[C").results(), "a2");
    assert_eq!(user.receives("\x1b[C").results(), "a2");
}

#[test]
fn a_status_line_drawn_meanwhile_shows_nothing() {
    let mut user = Typist::at(20, 5, "\x1b[5;1H-- ab ab --\x1b[1;1H");
    assert_eq!(user.types("ab").receives("\x1b[5;1H-- ab \x1b[1;1H").results(), "");
    // The read ends within the status line, while the cursor is hidden.
    assert_eq!(user.receives("\x1b[?25l\x1b[5;1H-- a").receives("b ab --\x1b[1;1H\x1b[?25h").results(), "");
    assert_eq!(user.receives("ab\x1b[5;18Hx2\x1b[1;3H").results(), "a0 b1");
}

#[test]
fn keys_drawn_under_a_hidden_cursor_are_shown_when_it_returns() {
    let mut user = Typist::at(20, 5, "\x1b[2;5H");
    let drawn = "\x1b[?25l\x1b[2;1H1234x\x1b[5;1Hstatus\x1b[2;6H\x1b[?25h";
    assert_eq!(user.types("x").receives(drawn).results(), "x16");
    // The screen is redrawn in two reads, and the text moves down one row.
    assert_eq!(user.types("y").receives("\x1b[?25l\x1b[H\x1b[J1\r\n\n1234").receives("xy\x1b[?25h").results(), "y7");
}

#[test]
fn a_drawn_line_is_no_echo_of_its_letter() {
    // A field in a frame: q and x draw its edges.
    let frame = "\x1b(0lqqqk\r\nx   x\r\nmqqqj\x1b(B\x1b[2;2H";
    let mut user = Typist::at(20, 5, frame);
    assert_eq!(user.types("q").receives("\x1b(0q\x1b(B").results(), "");
    assert_eq!(user.receives("\u{8}q").results(), "q1");
    assert_eq!(user.types("x").receives("\x1b7\x1b[1;4H\x1b(0x\x1b(B\x1b8").results(), "");
    assert_eq!(user.receives("x").results(), "x0");
    assert_eq!(user.screen.row(1), "│qx │");
}

#[test]
fn a_full_row_continues_in_the_next() {
    let mut user = Typist::at(10, 3, "$ 123456");
    assert_eq!(user.types("890").receives("8").receives("9\x1b[m").receives("0").results(), "80 90 00");
    assert_eq!(user.screen.cursor(), (1, 1));
}

#[test]
fn a_full_row_at_the_bottom_scrolls() {
    let mut user = Typist::at(10, 2, "\r\n$ 1234567");
    assert_eq!(user.types("ab").receives("a").receives("b").results(), "a0 b0");
    // readline adds a blank and a carriage return.
    let mut user = Typist::at(10, 2, "\r\n$ 1234567");
    assert_eq!(user.types("ab").receives("a \r").receives("b").results(), "a0 b0");
}

#[test]
fn a_continuation_mark_is_skipped() {
    let mut user = Typist::at(10, 5, "\x1b[2;1H12345678\x1b[2;9H");
    assert_eq!(user.types("a").receives("a").results(), "a0");
    // Emacs puts a mark into the last column and goes on in the next row.
    assert_eq!(user.types("bc").receives("\\\r\nb").results(), "b3");
    assert_eq!(user.receives("c").results(), "c0");
    let mut user = Typist::at(10, 5, "\x1b[2;1H12345678\x1b[2;9H");
    let drawn = "\x1b[?25l\x1b[2;10H\\\r\nbc\x1b[2;9Ha\x1b[3;3H\x1b[?25h";
    assert_eq!(user.types("abc").receives(drawn).results(), "a24 b36 c36");
}

#[test]
fn a_word_that_moves_to_the_next_row_is_shown_there() {
    let mut user = Typist::at(10, 5, "the quick");
    assert_eq!(user.types("d").receives("\x1b[1;4H\x1b[K\r\nquickd").results(), "d16");
}

#[test]
fn keys_of_a_row_shifted_sideways_are_found_before_the_cursor() {
    let mut user = Typist::at(10, 5, "> 1234567\x1b[1;10H");
    assert_eq!(user.types("x").receives("\x1b[1;1H<4567x\x1b[K").results(), "x11");
}

#[test]
fn keys_are_found_behind_indentation_after_a_return() {
    let mut user = Typist::at(20, 5, "\x1b[1;1H");
    assert_eq!(user.types("if\r").receives("if\r\n  ").results(), "i0 f1");
    assert_eq!(user.types("x\ry").receives("x\r\n").receives("  y").results(), "x0 y2");
    // A slow program shows both rows at once.
    assert_eq!(user.types("a\r").types("b").receives("\x1b[?25l\x1b[3;1H  ya\r\n  b\x1b[?25h").results(), "a15 b26");
}

#[test]
fn wide_and_joined_characters_are_one_key_each() {
    assert_eq!(at_prompt().types("漢é").receives("漢é").results(), "漢2 é4");
    let mut user = at_prompt();
    assert_eq!(user.types("e\u{301}x").receives("e").receives("\u{301}").receives("x").results(), "e0 \u{301}1 x0");
    // A wide character without room moves to the next row.
    assert_eq!(Typist::at(6, 3, "$ 123").types("漢x").receives("漢").receives("x").results(), "漢2 x0");
}

#[test]
fn blanks_are_shown_too() {
    assert_eq!(at_prompt().types("a b").receives("a b").results(), "a0  1 b2");
    assert_eq!(at_prompt().types(" ").receives("\x1b[C").results(), " 2");
}

#[test]
fn keys_that_are_never_shown_are_overtaken() {
    // A command of vi, then inserted text.
    let mut user = Typist::at(20, 5, "\x1b[1;1H");
    user.types("i").receives("\x1b[5;1H-- INSERT --\x1b[1;1H");
    assert_eq!(user.types("ab").receives("a").results(), "-i a0");
    assert_eq!(user.receives("b").results(), "b0");
    // `q` leaves a pager; then keys are typed in the shell.
    let mut user = Typist::at(20, 5, "\x1b[5;1H(END)");
    user.types("q").receives("\r\x1b[K$ ");
    assert_eq!(user.types("ls").receives("l").receives("s").results(), "-q l0 s0");
}

#[test]
fn a_password_is_overtaken_by_later_keys() {
    let mut user = Typist::at(20, 5, "Password: ");
    user.types("secret\r");
    assert_eq!(user.receives("\r\nLast login: today\r\n").results(), "");
    assert_eq!(user.receives("$ ").types("ls").receives("l").results(), "-s -e -c -r -e -t l0");
    // The prompt and the echo arrive in one read.
    let mut user = Typist::at(20, 5, "Password: ");
    assert_eq!(user.types("pw\r").types("ls").receives("\r\n$ l").results(), "-p -w l4");
}

#[test]
fn a_slow_prompt_overtakes_nothing() {
    // The prompt ends with a blank, and one of the keys is a blank.
    assert_eq!(Typist::at(20, 5, "").types("ls -l").receives("\r\n$ ").results(), "");
    assert_eq!(Typist::at(20, 5, "").types("ls -l").receives("ok\r\n$ ").receives("ls -l").results(), "l0 s1  2 -3 l4");
}

#[test]
fn a_cursor_that_returns_to_its_rest_position_shows_no_key() {
    // The character before the cursor is the awaited one by chance.
    let mut user = Typist::at(20, 5, "a");
    assert_eq!(user.types("a").receives("\x1b7\x1b[5;1Hclock\x1b8").results(), "");
    assert_eq!(user.receives("a").results(), "a0");
}

#[test]
fn on_a_paced_line_the_completing_character_is_reported() {
    let mut user = Typist::at(20, 5, "\x1b[2;5H");
    user.exactly = true;
    assert_eq!(user.types("x").receives("\x1b[2;1H1234x\x07").results(), "x10");
    // Elsewhere: the character since which the cursor rests there.
    assert_eq!(user.types("y").receives("\x1b[4;1Hy\x1b[K\x07").results(), "y6");
}

#[test]
fn keys_can_be_given_up() {
    let mut user = at_prompt();
    user.types("ab");
    assert_eq!((user.screen_echo.len(), user.screen_echo.front().copied()), (2, Some('a')));
    assert_eq!(user.screen_echo.give_up(), Some('a'));
    assert_eq!(user.receives("b").results(), "b0");
    assert!(user.screen_echo.is_empty());
}

proptest! {
    /// Any text on a screen of any size, cut anywhere: an echo shows each key in order.
    #[test]
    fn every_key_of_a_plain_echo_is_shown(
        columns in 2u16..30,
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
            let mut results = String::new();
            for read in keys.as_bytes().chunks(cut) {
                let mut report = |found| match found {
                    KeyMatch::Shown(key, _, _) => results.push(key),
                    KeyMatch::Overtaken(_) => results.push('!'),
                };
                user.screen_echo.feed(&mut user.screen, read, 0, false, &mut report);
                user.screen_echo.rest(&user.screen, read.len(), &mut report);
            }
            prop_assert_eq!(results, keys);
        }
    }

    /// No output loses a key.
    #[test]
    fn no_key_is_ever_lost(
        reads in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..40), "[a-e\r\x1b]{0,4}"), 1..20),
    ) {
        let mut user = Typist::at(7, 3, "");
        let (mut typed, mut results) = (0, 0);
        for (bytes, keys) in reads {
            typed += keys.chars().filter(|key| !key.is_ascii_control()).count();
            user.types(&keys);
            user.screen_echo.feed(&mut user.screen, &bytes, 0, true, |_| results += 1);
            user.screen_echo.rest(&user.screen, bytes.len(), |_| results += 1);
        }
        prop_assert_eq!(results + user.screen_echo.len(), typed);
    }
}
