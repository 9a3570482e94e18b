//! Splits input into keys, however the reads cut it.

use std::time::Duration;

use cuesta_tape::Key;

use crate::key_code::{Head, KeyCode, head};

/// A key with its position in the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyPress {
    pub(crate) code: KeyCode,
    /// The instant of its first character.
    pub(crate) at: Duration,
    /// The number of the input that it began in.
    pub(crate) input: usize,
    /// The number of the input that it ended in.
    pub(crate) ends: usize,
    /// Its characters as received.
    pub(crate) raw: String,
}

/// If the rest of an escape sequence does not come within this time, it was the Escape key.
const PATIENCE: Duration = Duration::from_millis(50);
/// A longer paste is cut.
const LONGEST_PASTE: usize = 256 << 10;
const PASTE_BEGINS: &str = "\x1b[200~";
const PASTE_ENDS: &str = "\x1b[201~";

/// Splits input into keys.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    /// The beginning of a sequence that is not complete yet.
    pending: String,
    /// When, and in which input, `pending` began.
    since: (Duration, usize),
    /// The number of the latest input.
    latest: usize,
    /// The text of the paste in progress.
    paste: Option<String>,
}

impl Keys {
    /// The keys that are complete after `text`, received at `at` as input number `input`.
    pub(crate) fn take(&mut self, at: Duration, input: usize, text: &str) -> Vec<KeyPress> {
        let mut presses = Vec::new();
        if !self.pending.is_empty() && self.paste.is_none() && at.saturating_sub(self.since.0) > PATIENCE {
            presses = self.give_up();
        }
        if self.pending.is_empty() && self.paste.is_none() {
            self.since = (at, input);
        }
        self.pending.push_str(text);
        self.latest = input;
        self.cut((at, input), &mut presses);
        presses
    }

    /// Whether a sequence has begun that is not complete.
    pub(crate) fn is_pending(&self) -> bool {
        !self.pending.is_empty() || self.paste.is_some()
    }

    /// Ends a lone escape, which is then the Escape key.
    pub(crate) fn end_escape(&mut self) -> Vec<KeyPress> {
        if self.pending == "\x1b" { self.give_up() } else { Vec::new() }
    }

    /// Ends the input: an incomplete sequence is taken as it is.
    pub(crate) fn finish(&mut self) -> Vec<KeyPress> {
        let mut presses = self.give_up();
        if let Some(text) = self.paste.take().filter(|text| !text.is_empty()) {
            let raw = format!("{PASTE_BEGINS}{text}");
            presses.push(self.press(KeyCode::Paste(text), raw));
        }
        presses
    }

    /// A key that ends now.
    fn press(&self, code: KeyCode, raw: String) -> KeyPress {
        KeyPress { code, at: self.since.0, input: self.since.1, ends: self.latest, raw }
    }

    fn cut(&mut self, now: (Duration, usize), presses: &mut Vec<KeyPress>) {
        let text = std::mem::take(&mut self.pending);
        let mut rest = &text[..];
        while !rest.is_empty() {
            if self.paste.is_some() {
                rest = self.take_paste(rest, presses);
                continue;
            }
            if let Some(tail) = rest.strip_prefix(PASTE_BEGINS) {
                self.paste = Some(String::new());
                rest = tail;
                continue;
            }
            let length = match head(rest) {
                Head::Key(code, length) => {
                    let raw = rest[..length].to_owned();
                    presses.push(self.press(code, raw));
                    length
                }
                Head::Nothing(length) => length,
                Head::Open => break,
            };
            rest = &rest[length..];
            self.since = now;
        }
        self.pending.push_str(rest);
    }

    /// Takes the paste up to its end, and returns the text after it.
    fn take_paste<'a>(&mut self, text: &'a str, presses: &mut Vec<KeyPress>) -> &'a str {
        let Some(paste) = &mut self.paste else { return text };
        let mut seen = paste.len().saturating_sub(PASTE_ENDS.len());
        while !paste.is_char_boundary(seen) {
            seen -= 1;
        }
        let room = LONGEST_PASTE.saturating_sub(paste.len());
        let before = paste.len();
        paste.push_str(text);
        let Some(end) = paste[seen..].find(PASTE_ENDS).map(|found| seen + found) else {
            if text.len() > room {
                paste.truncate(before);
            }
            return "";
        };
        let taken = end + PASTE_ENDS.len() - before;
        paste.truncate(end);
        let pasted = std::mem::take(paste);
        self.paste = None;
        if !pasted.is_empty() {
            let raw = format!("{PASTE_BEGINS}{pasted}{PASTE_ENDS}");
            presses.push(self.press(KeyCode::Paste(pasted), raw));
        }
        &text[taken..]
    }

    /// Gives up an incomplete sequence.
    fn give_up(&mut self) -> Vec<KeyPress> {
        let raw = std::mem::take(&mut self.pending);
        let code = match raw.as_bytes() {
            [0x1b] => KeyCode::Key(Key::Escape),
            // Nothing, or a reply whose end is lost.
            [] | [0x1b, b']' | b'P' | b'_' | b'^' | b'X', _, ..] => return Vec::new(),
            bytes => KeyCode::Key(Key::Bytes(bytes.to_vec())),
        };
        vec![self.press(code, raw)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(inputs: &[(u64, &str)]) -> Vec<KeyCode> {
        let mut keys = Keys::default();
        let mut presses = Vec::new();
        for (input, (at, text)) in inputs.iter().enumerate() {
            presses.extend(keys.take(Duration::from_millis(*at), input, text));
        }
        presses.extend(keys.finish());
        presses.into_iter().map(|press| press.code).collect()
    }

    fn key(key: Key) -> KeyCode {
        KeyCode::Key(key)
    }

    fn chord(bytes: &[u8]) -> KeyCode {
        KeyCode::Key(Key::Bytes(bytes.to_vec()))
    }

    #[test]
    fn one_input_may_be_many_keys() {
        assert_eq!(all(&[(0, "vé\r")]), [KeyCode::Char('v'), KeyCode::Char('é'), key(Key::Enter)]);
        assert_eq!(
            all(&[(0, "\x1b[A\x1bOB\x1b[15~\x1b[1;5D\x1b[Z\x1bx\x03\t\x7f")]),
            [
                key(Key::Up),
                key(Key::Down),
                key(Key::Function(5)),
                chord(b"\x1b[1;5D"),
                chord(b"\x1b[Z"),
                chord(b"\x1bx"),
                chord(b"\x03"),
                key(Key::Tab),
                key(Key::Backspace)
            ]
        );
    }

    #[test]
    fn kittys_key_numbers_are_characters() {
        let keys = [KeyCode::Char('a'), KeyCode::Char('B'), KeyCode::Char('!'), KeyCode::Char('é')];
        assert_eq!(all(&[(0, "\x1b[97u\x1b[97;1:3u\x1b[98;2u\x1b[49:33;2:1u\x1b[233;1u")]), keys);
        let chords = ["\x1b[97;5u", "\x1b[57441;2u", "\x1b[13;2u"];
        assert_eq!(all(&[(0, &chords.concat())]), chords.map(|keys| chord(keys.as_bytes())));
    }

    #[test]
    fn a_lone_escape_is_the_escape_key() {
        assert_eq!(
            all(&[(0, "a\x1b"), (300, ":q")]),
            [KeyCode::Char('a'), key(Key::Escape), KeyCode::Char(':'), KeyCode::Char('q')]
        );
        assert_eq!(all(&[(0, "\x1b"), (10, "[A")]), [key(Key::Up)]);
        assert_eq!(all(&[(0, "\x1b\x1b")]), [key(Key::Escape), key(Key::Escape)]);
        assert_eq!(all(&[(0, "\x1b["), (300, "x")]), [chord(b"\x1b["), KeyCode::Char('x')]);
    }

    #[test]
    fn replies_of_the_terminal_are_no_keys() {
        let replies = "\x1b[12;40R\x1b[?62;c\x1b[>0;276;0c\x1b[0n\x1b]11;rgb:0000/0000/0000\x07\x1b]10;rgb:f/f/f\x1b\\\
                       \x1bP1$r0m\x1b\\\x1b[?1;2$y\x1b[8;24;80t\x1b[I\x1b[O\x1b[?1u";
        assert_eq!(all(&[(0, replies), (1, "x")]), [KeyCode::Char('x')]);
        // A reply in two pieces, far apart: its rest is not taken for typed text.
        assert_eq!(all(&[(0, "\x1b]11;rgb:00"), (10, "00/0000/0000\x07y")]), [KeyCode::Char('y')]);
    }

    #[test]
    fn a_paste_is_one_key() {
        assert_eq!(
            all(&[(0, "a\x1b[200~ls\r-l\x1b[20"), (500, "1~b")]),
            [KeyCode::Char('a'), KeyCode::Paste("ls\r-l".into()), KeyCode::Char('b')]
        );
        assert_eq!(all(&[(0, "\x1b[200~é"), (1, "é")]), [KeyCode::Paste("éé".into())]);
    }

    #[test]
    fn a_key_knows_where_it_began() {
        let mut keys = Keys::default();
        assert_eq!(keys.take(Duration::from_millis(5), 0, "\x1b"), []);
        let presses = keys.take(Duration::from_millis(9), 1, "[Ab");
        let places: Vec<_> = presses.iter().map(|p| (p.at.as_millis(), p.input, p.raw.as_str())).collect();
        assert_eq!(places, [(5, 0, "\x1b[A"), (9, 1, "b")]);
    }

    proptest! {
        #[test]
        fn any_input_gives_the_same_keys_in_two_reads(text in "(\\x1b|\\[|O|\\]|[0-9;~ARM]|\\x07|é|x|\\x1b\\[200~|\\x1b\\[201~){0,30}", cut in 0_usize..60) {
            let cut = (0..=cut.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            prop_assert_eq!(all(&[(0, &text)]), all(&[(0, &text[..cut]), (1, &text[cut..])]));
        }
    }
}
