//! Keys and chords: `Enter@1s 3`, `Ctrl+Alt+C`, `Alt+x`, `Shift+Tab`.

use super::{Arguments, Parser};
use crate::command::Action;
use crate::error::TapeError;
use crate::lex::{Kind, Token};
use crate::script::Step;
use crate::{Held, Key, Keys};

/// Most presses of a key in one command.
const MOST_PRESSES: u32 = 1_000_000;

/// Most bytes that one key sends.
const LONGEST_KEY: usize = 64;

const PRESS_HINT: &str =
    "write Home, End, F1 to F12, PF1 to PF24, or what the key sends, for example \"\\e[1;5H\" or \"\\x1e\"";
const CTRL_HINT: &str = "Ctrl takes one character, Enter, Space, Backspace or an arrow; quote digits and `s` or `m`";

impl Parser<'_> {
    pub(crate) fn key(&mut self, word: &Token) -> Result<Arguments, TapeError> {
        let gap = self.at_time()?;
        let count = self.take_if(|token| token.kind == Kind::Number);
        let presses = count.as_ref().map_or(Ok(1), |count| self.presses(count))?;
        let (options, gap) = gap.map_or((String::new(), None), |time| (time.text, time.means));
        let args = count.map_or("1".to_owned(), |count| count.text.into_owned());
        let action = match Key::named(&word.text) {
            Some(key) if presses > 0 => Action::Step(Step::Keys { keys: Keys::Press { key, count: presses }, gap }),
            _ => Action::Nothing,
        };
        Ok(Arguments::new(options, args, action))
    }

    /// `Press Home`, `Press@1s F5 3`, `Press "\e[1;5H"`: keys that VHS has no word for.
    pub(crate) fn press(&mut self) -> Result<Arguments, TapeError> {
        let gap = self.at_time()?;
        let token = self.take();
        let named = if token.kind == Kind::Number { None } else { Key::named(&token.text) };
        let quoted = || (token.kind == Kind::Quoted).then(|| unescaped(&token.text)).flatten().map(Key::Bytes);
        let Some(key) = named.or_else(quoted) else {
            return Err(self.error(&token, format!("{} is no key", token.quote()), PRESS_HINT));
        };
        let count = self.take_if(|token| token.kind == Kind::Number);
        let presses = count.as_ref().map_or(Ok(1), |count| self.presses(count))?;
        let (options, gap) = gap.map_or((String::new(), None), |time| (time.text, time.means));
        let action = match presses {
            0 => Action::Nothing,
            count => Action::Step(Step::Keys { keys: Keys::Press { key, count }, gap }),
        };
        Ok(Arguments::new(options, format!("{} {presses}", token.text), action))
    }

    /// A count of presses. Like VHS, one that is no whole number presses once.
    fn presses(&mut self, count: &Token) -> Result<u32, TapeError> {
        if count.text.contains('.') {
            self.note(count, format!("{} is no whole number: the key is pressed once, as in VHS", count.quote()));
            return Ok(1);
        }
        match count.text.parse::<u32>() {
            Ok(presses) if presses <= MOST_PRESSES => Ok(presses),
            _ => Err(self.error(count, format!("{} presses are too many", count.quote()), "at most 1000000")),
        }
    }

    pub(crate) fn ctrl(&mut self) -> Result<Arguments, TapeError> {
        let mut args: Vec<String> = Vec::new();
        let mut held = Held { ctrl: true, ..Held::default() };
        let mut keys = Vec::new();
        while let Some(plus) = self.take_if(|token| token.is_symbol("+")) {
            let key = self.peek();
            // Compared by text alone, as in VHS: they are modifiers even in quotes.
            if ["Alt", "Shift"].contains(&key.text.as_ref()) {
                if !keys.is_empty() {
                    let message = format!("{} must stand before the other keys", key.quote());
                    return Err(self.error(&plus, message, "write for example Ctrl+Alt+C"));
                }
                held.alt |= key.text == "Alt";
                held.shift |= key.text == "Shift";
            } else if is_ctrl_key(key) {
                keys.extend(Key::named(&key.text).or_else(|| key.text.chars().next().map(Key::Character)));
            } else {
                return Err(self.error(&plus, format!("{} cannot be pressed with Ctrl", key.quote()), CTRL_HINT));
            }
            args.push(self.take().text.into_owned());
        }
        if args.is_empty() {
            let message = "`Ctrl` without a key";
            return Err(self.error(self.last(), message, "write for example Ctrl+C"));
        }
        let args = args.join(" ");
        if keys.is_empty() {
            let last = self.last().clone();
            self.note(&last, format!("Ctrl+{} sends nothing: it holds only modifiers", args.replace(' ', "+")));
        }
        Ok(Arguments::new("", args, chord(held, keys)))
    }

    pub(crate) fn alt_or_shift(&mut self, word: &Token) -> Result<Arguments, TapeError> {
        let word = word.text.as_ref();
        let hint = format!("{word} takes characters, Enter, Tab, [ or ]; quote digits and other signs");
        let Some(plus) = self.take_if(|token| token.is_symbol("+")) else {
            return Err(self.error(self.last(), format!("`{word}` without a key"), hint));
        };
        let key = self.peek();
        let symbol = key.is_symbol("[") || key.is_symbol("]");
        if !(key.is_text() || symbol || key.is_keyword(&["Enter", "Tab"])) {
            return Err(self.error(&plus, format!("{} cannot be pressed with {word}", key.quote()), hint));
        }
        let held = Held { alt: word == "Alt", shift: word == "Shift", ctrl: false };
        let key = self.take().text.into_owned();
        // VHS knows these two names here; any other is typed letter by letter.
        let keys = match key.as_str() {
            "Enter" => vec![Key::Enter],
            "Tab" => vec![Key::Tab],
            characters => characters.chars().map(Key::Character).collect(),
        };
        Ok(Arguments::new("", key, chord(held, keys)))
    }
}

/// What a key sends, where `\e` is an escape, `\xHH` any byte and `\\` a backslash.
pub(super) fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let (byte, length) = match (first, tail) {
            (b'\\', [b'e', ..]) => (0x1b, 2),
            (b'\\', [b'\\', ..]) => (b'\\', 2),
            (b'\\', [b'x', high, low, ..]) => (hex(*high)? << 4 | hex(*low)?, 4),
            (b'\\', _) => return None,
            (plain, _) => (plain, 1),
        };
        bytes.push(byte);
        rest = &rest[length..];
    }
    (1..=LONGEST_KEY).contains(&bytes.len()).then_some(bytes)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|digit| digit as u8)
}

fn is_ctrl_key(token: &Token) -> bool {
    const NAMED: [&str; 7] = ["Enter", "Space", "Backspace", "Left", "Right", "Up", "Down"];
    const SYMBOLS: [&str; 6] = ["-", "@", "[", "]", "^", "\\"];
    let symbol = token.kind == Kind::Symbol && SYMBOLS.contains(&token.text.as_ref());
    symbol || token.is_keyword(&NAMED) || (token.is_text() && token.text.len() == 1)
}

fn chord(held: Held, keys: Vec<Key>) -> Action {
    if keys.is_empty() {
        return Action::Nothing;
    }
    Action::Step(Step::Keys { keys: Keys::Press { key: Key::Chord { held, keys }, count: 1 }, gap: None })
}
