//! Splits input into keys. One read need not be one key: a paste brings many, an arrow key is three characters, and a reply of
//! the terminal (cursor position, device attributes) is not a key at all.

use std::time::Duration;

use cuesta_tape::Key;

/// A key, as it was pressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Typed {
    /// A printable character.
    Char(char),
    /// A named key or a chord.
    Key(Key),
    /// A text that the terminal said was pasted.
    Paste(String),
    /// A secret; the column that stands for it.
    Secret(String),
}

impl Typed {
    /// Whether it types characters.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self, Self::Char(_) | Self::Paste(_))
    }

    /// The characters that it types.
    pub(crate) fn characters(&self) -> Vec<char> {
        match self {
            Self::Char(c) => vec![*c],
            Self::Paste(text) => text.chars().collect(),
            Self::Key(_) | Self::Secret(_) => Vec::new(),
        }
    }
}

/// A key with its position in the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pressed {
    pub(crate) typed: Typed,
    /// When its first character came.
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
/// The longest sequence of a key and the longest reply of a terminal, in bytes.
const LONGEST_KEY: usize = 32;
const LONGEST_REPLY: usize = 4096;
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
    /// The input that came last.
    latest: usize,
    /// The text of the paste in progress.
    paste: Option<String>,
}

/// The head of some input.
enum Head {
    /// A key of so many bytes.
    Key(Typed, usize),
    /// This many bytes that are not a key.
    Nothing(usize),
    /// The beginning of a sequence that is not complete.
    Open,
}

impl Keys {
    /// The keys that are complete after `text`, which came at `at` in input number `input`.
    pub(crate) fn take(&mut self, at: Duration, input: usize, text: &str) -> Vec<Pressed> {
        let mut pressed = Vec::new();
        if !self.pending.is_empty() && self.paste.is_none() && at.saturating_sub(self.since.0) > PATIENCE {
            pressed = self.give_up();
        }
        if self.pending.is_empty() && self.paste.is_none() {
            self.since = (at, input);
        }
        self.pending.push_str(text);
        self.latest = input;
        self.cut((at, input), &mut pressed);
        pressed
    }

    /// Whether a sequence has begun that is not complete.
    pub(crate) fn is_pending(&self) -> bool {
        !self.pending.is_empty() || self.paste.is_some()
    }

    /// Ends a lone escape, which is then the Escape key.
    pub(crate) fn end_escape(&mut self) -> Vec<Pressed> {
        if self.pending == "\x1b" { self.give_up() } else { Vec::new() }
    }

    /// Ends the input: an incomplete sequence is taken as it is.
    pub(crate) fn finish(&mut self) -> Vec<Pressed> {
        let mut pressed = self.give_up();
        if let Some(text) = self.paste.take().filter(|text| !text.is_empty()) {
            let raw = format!("{PASTE_BEGINS}{text}");
            pressed.push(self.pressed(Typed::Paste(text), raw));
        }
        pressed
    }

    /// A key that ends now.
    fn pressed(&self, typed: Typed, raw: String) -> Pressed {
        Pressed { typed, at: self.since.0, input: self.since.1, ends: self.latest, raw }
    }

    fn cut(&mut self, now: (Duration, usize), pressed: &mut Vec<Pressed>) {
        let text = std::mem::take(&mut self.pending);
        let mut rest = &text[..];
        while !rest.is_empty() {
            if self.paste.is_some() {
                rest = self.pasted(rest, pressed);
                continue;
            }
            if let Some(tail) = rest.strip_prefix(PASTE_BEGINS) {
                self.paste = Some(String::new());
                rest = tail;
                continue;
            }
            let length = match head(rest) {
                Head::Key(typed, length) => {
                    let raw = rest[..length].to_owned();
                    pressed.push(self.pressed(typed, raw));
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

    /// Takes the paste up to its end; gives what follows it.
    fn pasted<'a>(&mut self, text: &'a str, pressed: &mut Vec<Pressed>) -> &'a str {
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
        let text_pasted = std::mem::take(paste);
        self.paste = None;
        if !text_pasted.is_empty() {
            let raw = format!("{PASTE_BEGINS}{text_pasted}{PASTE_ENDS}");
            pressed.push(self.pressed(Typed::Paste(text_pasted), raw));
        }
        &text[taken..]
    }

    /// Gives up an incomplete sequence.
    fn give_up(&mut self) -> Vec<Pressed> {
        let raw = std::mem::take(&mut self.pending);
        let typed = match raw.as_bytes() {
            [0x1b] => Typed::Key(Key::Escape),
            // Nothing, or a reply whose end is lost.
            [] | [0x1b, b']' | b'P' | b'_' | b'^' | b'X', _, ..] => return Vec::new(),
            bytes => Typed::Key(Key::Chord(bytes.to_vec())),
        };
        vec![self.pressed(typed, raw)]
    }
}

/// What stands at the head of `text`, which is not empty.
fn head(text: &str) -> Head {
    let mut characters = text.chars();
    match characters.next() {
        Some('\x1b') => escape(text, characters.next()),
        Some(c) => Head::Key(character(c), c.len_utf8()),
        None => Head::Nothing(0),
    }
}

fn character(c: char) -> Typed {
    match c {
        '\r' => Typed::Key(Key::Enter),
        '\t' => Typed::Key(Key::Tab),
        '\x7f' => Typed::Key(Key::Backspace),
        '\0'..='\x1f' => Typed::Key(Key::Chord(vec![c as u8])),
        _ => Typed::Char(c),
    }
}

fn escape(text: &str, second: Option<char>) -> Head {
    match second {
        None => Head::Open,
        Some('[') => control(text),
        Some('O') => match text.chars().nth(2) {
            None => Head::Open,
            Some(c @ ' '..='~') => {
                named(&text[..3]).map_or_else(|| chord(text, 2 + c.len_utf8()), |key| Head::Key(key, 3))
            }
            Some(_) => chord(text, 2),
        },
        Some(']' | 'P' | '_' | '^' | 'X') => reply(text),
        // Escape twice: the first is a key by itself.
        Some('\x1b') => Head::Key(Typed::Key(Key::Escape), 1),
        // Alt sends an escape before the key.
        Some(c) => chord(text, 1 + c.len_utf8()),
    }
}

fn chord(text: &str, length: usize) -> Head {
    Head::Key(Typed::Key(Key::Chord(text.as_bytes()[..length].to_vec())), length)
}

/// A control sequence (ECMA-48 §5.4): `ESC [`, parameters, intermediates, a final character.
fn control(text: &str) -> Head {
    let body = &text.as_bytes()[2..];
    let parameters = body.iter().take_while(|byte| (0x20..=0x3f).contains(*byte)).count();
    if parameters > LONGEST_KEY {
        return Head::Nothing(2 + parameters);
    }
    let Some(last) = body.get(parameters).copied() else { return Head::Open };
    if !(0x40..=0x7e).contains(&last) {
        return chord(text, 2);
    }
    let length = 2 + parameters + 1;
    let parameters = &text[2..2 + parameters];
    match (parameters, last) {
        // Replies: cursor position, device attributes, status, modes, window, focus.
        (_, b'c' | b'n' | b't' | b'R' | b'y') | ("", b'I' | b'O') => Head::Nothing(length),
        (_, b'u') if parameters.starts_with('?') => Head::Nothing(length),
        (_, b'u') => match numbered(parameters) {
            Some((c, false)) => Head::Key(Typed::Char(c), length),
            Some((_, true)) => Head::Nothing(length),
            None => chord(text, length),
        },
        // A mouse event in the X10 encoding: three more characters.
        ("", b'M') => match text[length..].char_indices().map(|(at, c)| at + c.len_utf8()).nth(2) {
            Some(more) => chord(text, length + more),
            None => Head::Open,
        },
        _ => named(&text[..length]).map_or_else(|| chord(text, length), |key| Head::Key(key, length)),
    }
}

/// The character of a key in kitty's keyboard protocol (`code:shifted:base`, then `modifiers:event`), and whether the key is
/// released. A key with other modifiers than Shift is a chord.
fn numbered(parameters: &str) -> Option<(char, bool)> {
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<u32>().ok());
    let mut fields = parameters.split(';').map(|field| field.split(':'));
    let mut codes = fields.next()?;
    let mut held = fields.next().into_iter().flatten();
    let (plain, shifted) = (number(codes.next())?, number(codes.next()));
    let (modifiers, event) = (number(held.next()).unwrap_or(1), number(held.next()));
    let shift = match modifiers {
        1 => false,
        2 => true,
        _ => return None,
    };
    let c = char::from_u32(shifted.filter(|_| shift).unwrap_or(plain)).filter(|c| !c.is_control())?;
    // Keys without a character have numbers of the private use area.
    let is_text = !('\u{e000}'..='\u{f8ff}').contains(&c);
    let c = if shift && shifted.is_none() { c.to_ascii_uppercase() } else { c };
    is_text.then_some((c, event == Some(3)))
}

/// A reply that ends with BEL or `ESC \`.
fn reply(text: &str) -> Head {
    let bell = text.find('\x07').map(|at| at + 1);
    let terminator = text[1..].find("\x1b\\").map(|at| at + 3);
    match (bell, terminator) {
        (Some(end), Some(other)) => Head::Nothing(end.min(other)),
        (Some(end), None) | (None, Some(end)) => Head::Nothing(end),
        (None, None) if text.len() > LONGEST_REPLY => Head::Nothing(text.len()),
        (None, None) => Head::Open,
    }
}

/// The key that sends a sequence, in either mode of the cursor keys.
fn named(sequence: &str) -> Option<Typed> {
    let key = match sequence {
        "\x1b[A" | "\x1bOA" => Key::Up,
        "\x1b[B" | "\x1bOB" => Key::Down,
        "\x1b[C" | "\x1bOC" => Key::Right,
        "\x1b[D" | "\x1bOD" => Key::Left,
        "\x1b[H" | "\x1bOH" => Key::Home,
        "\x1b[F" | "\x1bOF" => Key::End,
        "\x1b[2~" => Key::Insert,
        "\x1b[3~" => Key::Delete,
        "\x1b[5~" => Key::PageUp,
        "\x1b[6~" => Key::PageDown,
        _ => {
            let sent = |number: &u8| Key::Function(*number).bytes(cuesta_tape::Modes::default()) == sequence.as_bytes();
            Key::Function((1..=12).find(sent)?)
        }
    };
    Some(Typed::Key(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(inputs: &[(u64, &str)]) -> Vec<Typed> {
        let mut keys = Keys::default();
        let mut pressed = Vec::new();
        for (input, (at, text)) in inputs.iter().enumerate() {
            pressed.extend(keys.take(Duration::from_millis(*at), input, text));
        }
        pressed.extend(keys.finish());
        pressed.into_iter().map(|pressed| pressed.typed).collect()
    }

    fn key(key: Key) -> Typed {
        Typed::Key(key)
    }

    fn chord(bytes: &[u8]) -> Typed {
        Typed::Key(Key::Chord(bytes.to_vec()))
    }

    #[test]
    fn one_input_may_be_many_keys() {
        assert_eq!(all(&[(0, "vé\r")]), [Typed::Char('v'), Typed::Char('é'), key(Key::Enter)]);
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
    fn a_character_may_come_as_the_number_of_its_key() {
        let keys = [Typed::Char('a'), Typed::Char('B'), Typed::Char('!'), Typed::Char('é')];
        assert_eq!(all(&[(0, "\x1b[97u\x1b[97;1:3u\x1b[98;2u\x1b[49:33;2:1u\x1b[233;1u")]), keys);
        let chords = ["\x1b[97;5u", "\x1b[57441;2u", "\x1b[13;2u"];
        assert_eq!(all(&[(0, &chords.concat())]), chords.map(|keys| chord(keys.as_bytes())));
    }

    #[test]
    fn an_escape_that_stays_alone_is_the_key() {
        assert_eq!(
            all(&[(0, "a\x1b"), (300, ":q")]),
            [Typed::Char('a'), key(Key::Escape), Typed::Char(':'), Typed::Char('q')]
        );
        assert_eq!(all(&[(0, "\x1b"), (10, "[A")]), [key(Key::Up)]);
        assert_eq!(all(&[(0, "\x1b\x1b")]), [key(Key::Escape), key(Key::Escape)]);
        assert_eq!(all(&[(0, "\x1b["), (300, "x")]), [chord(b"\x1b["), Typed::Char('x')]);
    }

    #[test]
    fn what_the_terminal_answers_is_no_key() {
        let replies = "\x1b[12;40R\x1b[?62;c\x1b[>0;276;0c\x1b[0n\x1b]11;rgb:0000/0000/0000\x07\x1b]10;rgb:f/f/f\x1b\\\
                       \x1bP1$r0m\x1b\\\x1b[?1;2$y\x1b[8;24;80t\x1b[I\x1b[O\x1b[?1u";
        assert_eq!(all(&[(0, replies), (1, "x")]), [Typed::Char('x')]);
        // In two pieces, far apart: the rest of the answer is not typed either way.
        assert_eq!(all(&[(0, "\x1b]11;rgb:00"), (10, "00/0000/0000\x07y")]), [Typed::Char('y')]);
    }

    #[test]
    fn a_paste_is_one_key() {
        assert_eq!(
            all(&[(0, "a\x1b[200~ls\r-l\x1b[20"), (500, "1~b")]),
            [Typed::Char('a'), Typed::Paste("ls\r-l".into()), Typed::Char('b')]
        );
        assert_eq!(all(&[(0, "\x1b[200~é"), (1, "é")]), [Typed::Paste("éé".into())]);
    }

    #[test]
    fn a_key_knows_where_it_began() {
        let mut keys = Keys::default();
        assert_eq!(keys.take(Duration::from_millis(5), 0, "\x1b"), []);
        let pressed = keys.take(Duration::from_millis(9), 1, "[Ab");
        let places: Vec<_> = pressed.iter().map(|p| (p.at.as_millis(), p.input, p.raw.as_str())).collect();
        assert_eq!(places, [(5, 0, "\x1b[A"), (9, 1, "b")]);
    }

    proptest! {
        #[test]
        fn any_input_is_cut_alike_however_it_comes(text in "(\\x1b|\\[|O|\\]|[0-9;~ARM]|\\x07|é|x|\\x1b\\[200~|\\x1b\\[201~){0,30}", cut in 0_usize..60) {
            let cut = (0..=cut.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            prop_assert_eq!(all(&[(0, &text)]), all(&[(0, &text[..cut]), (1, &text[cut..])]));
        }
    }
}
