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
                key => self.typed.type_character(&self.screen, key, key),
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
    assert_eq!(at_prompt().types("aaab").receives("aa").receives("ab").results(), "(a0) (a1) right a0 b1");
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
    assert_eq!(user.types("y").receives("\x1b[?25l\x1b[H\x1b[J1\r\n\n1234").receives("xy\x1b[?25h").results(), "y1");
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
fn a_blank_in_the_last_column_is_shown_by_the_cursor() {
    let mut user = Typist::at(10, 5, "$ ");
    user.types("abcdefg").receives("abcdefg").results();
    assert_eq!(user.types(" ").receives("\x1b[2;1H").results(), " 5");
    assert_eq!(user.types("h").receives("h").results(), "h0");
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
fn a_continuation_mark_is_not_typed() {
    let mut user = Typist::at(10, 5, "\x1b[2;1H12345678\x1b[2;9H");
    assert_eq!(user.types("a").receives("a").results(), "a0");
    // Emacs puts a mark into the last column and goes on in the next row.
    assert_eq!(user.types("bc").receives("\\\r\nb").results(), "b3");
    assert_eq!(user.receives("c").results(), "c0");
    let mut user = Typist::at(10, 5, "\x1b[2;1H12345678\x1b[2;9H");
    let drawn = "\x1b[?25l\x1b[2;10H\\\r\nbc\x1b[2;9Ha\x1b[3;3H\x1b[?25h";
    assert_eq!(user.types("abc").receives(drawn).results(), "a24 b16 c17");
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
    assert_eq!(user.types("a\r").types("b").receives("\x1b[?25l\x1b[3;1H  ya\r\n  b\x1b[?25h").results(), "a15 b20");
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
fn a_row_goes_on_behind_a_message() {
    let mut user = at_prompt();
    user.types("the").receives("the").receives("\r\na job is done\r\n").results();
    // A blank alone, and the first of two letters that are alike.
    assert_eq!(user.types(" l").receives(" ").receives("l").results(), " 0 l0");
    user.receives("\r\na job is done\r\n");
    assert_eq!(user.types("ll").receives("l").receives("l").results(), "l0 l0");
    // It was not seen when a key was shown that came with the message.
    assert_eq!(user.types("abc").receives("\r\na job is done\r\na").receives("b").results(), "?a b0");
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
    assert_eq!(user.types("x").receives("\x1b[2;1H1234x\x07").results(), "x10");
    // What stands elsewhere continues no text.
    assert_eq!(user.types("y").receives("\x1b[4;1Hy\x1b[K\x07").results(), "");
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
fn what_is_suggested_is_not_typed() {
    // All keys are sent before the first is drawn, and what is suggested is what will be typed.
    let mut user = at_prompt();
    user.types("list");
    let mut results = Vec::new();
    for (key, rest) in [("l", "ist all"), ("i", "st all"), ("s", "t all"), ("t", " all")] {
        let drawn = format!("{key}\x1b[90m{rest}\x1b[39m\x1b[{}D", rest.len());
        results.push(user.receives(drawn).results());
    }
    assert_eq!(results, ["l0", "i0", "s0", "t0"]);
    // In the same style, with the cursor before it.
    let mut user = at_prompt();
    assert_eq!(user.types("list").receives("list all\x1b[7D").receives("ist all\x1b[6D").results(), "l0 i0");
    // Under a caret that the program draws, on its first character.
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
fn all_keys_of_a_frame_are_shown_in_it() {
    let mut user = at_prompt();
    assert_eq!(user.types("list").receives("\r\x1b[2K$ list").results(), "l7 i8 s9 t10");
    // Marked by the host: when the frame ends. What was there in between does not count.
    assert_eq!(user.types(" al").receives("\x1b[?2026h\r\x1b[2K$ list al").results(), "");
    assert_eq!(user.receives("\x1b[2K\r$ list a\x1b[?2026lx").results(), " 20 a20");
}

#[test]
fn a_marked_frame_goes_on_whatever_is_typed_meanwhile_and_however_late_its_end_comes() {
    let mut user = Typist::at(20, 5, &field("", "", 1));
    user.types("l").receives("\x1b[?2026h").receives(field("l", "", 1)).types("s");
    assert_eq!(user.receives("\x1b[?2026l").results(), "l7");
    assert_eq!(user.receives(field("ls", "", 1)).results(), "s15");
}

#[test]
fn a_letter_that_is_drawn_twice_loses_its_text() {
    let mut user = at_prompt();
    assert_eq!(user.types("aab").receives("aa").results(), "(a0) (a1)");
    assert_eq!(user.receives("aa").results(), "wrong ?b");
    assert_eq!(user.types("c").receives("bbcc").results(), "?c");
    // The next row begins anew; two letters that are followed by the next are right.
    user.types("\r").receives("\r\n$ ");
    assert_eq!(user.types("aab").receives("aa").receives("b").results(), "(a0) (a1) right b0");
}

#[test]
fn text_that_is_taken_back_is_followed() {
    let mut user = at_prompt();
    assert_eq!(
        user.types("lx").receives("lx").types("\x7fs").receives("\u{8} \u{8}").receives("s").results(),
        "l0 x1 s0"
    );
    assert_eq!(user.types("y\x7f").results(), "?y");
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
