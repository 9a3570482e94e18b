//! Pauses and waits: `Sleep`, `Think DISTRIBUTION`, `Wait…`, `Expect /…/`.

use cuesta_distributions::Distribution;

use super::keys::unescaped;
use super::set::LARGEST_TERMINAL;
use super::{Arguments, Parser, Time};
use crate::command::Action;
use crate::error::{TapeError, did_you_mean};
use crate::lex::{Kind, Token, make_printable};
use crate::script::Step;
use crate::{ExpectSource, Key, Op, Pattern, Probe, TapePlace, WaitCondition, command};

/// A condition as a tape writes it.
type Condition = WaitCondition<Option<Pattern>>;

/// The wait for a program that takes keys.
const READY: &str = "Ready";
/// What can be waited for.
const CONDITIONS: [&str; 12] = [
    "Line",
    "Screen",
    "Echo",
    "Bytes",
    "Characters",
    "Silence",
    "Prompt",
    "Cursor",
    "Unlock",
    "Delivered",
    "Disconnect",
    READY,
];
const CONDITIONS_HINT: &str =
    "write Line, Screen, Echo, Bytes, Characters, Silence, Prompt, Cursor, Unlock, Delivered, Disconnect or Ready";

/// Most bytes or characters of a response.
const MOST_COUNTED: u64 = 1_000_000_000;

impl Parser<'_> {
    pub(crate) fn sleep(&mut self) -> Result<Arguments, TapeError> {
        let time = self.time()?;
        let action = time.means.map_or(Action::Nothing, |pause| Action::Step(Step::Op(Op::Pause(pause))));
        Ok(Arguments::new("", time.text, action))
    }

    /// The distribution is the rest of the row.
    pub(crate) fn think(&mut self, word: &Token) -> Result<Arguments, TapeError> {
        let load = self.load;
        let (text, distribution) = self.rest_of_row(word, |text| Distribution::parse(text, load))?;
        Ok(Arguments::new("", text, Action::Step(Step::Think(distribution))))
    }

    /// The rest of the row behind `word`, up to a comment, read by a parser of the distributions' crate.
    pub(crate) fn rest_of_row<T>(
        &mut self,
        word: &Token,
        read: impl Fn(&str) -> Result<T, cuesta_distributions::DistributionError>,
    ) -> Result<(String, T), TapeError> {
        let (start, row) = (word.end, word.row);
        let mut end = start;
        while let Some(token) = self.take_if(|t| t.row == row && !matches!(t.kind, Kind::Comment | Kind::End)) {
            end = token.end;
        }
        let text = &self.source.text[start..end];
        let blanks = text.len() - text.trim_start().len();
        let text = text.trim();
        let value = read(text).map_err(|error| {
            let at = text[error.at.min(text.len())..].split_whitespace().next().unwrap_or_default();
            let place = self.place(word);
            let moved =
                if text.is_empty() { place } else { place.moved(start - word.start + blanks + error.at, at.len()) };
            moved.error(error.message, error.hint)
        })?;
        Ok((text.to_owned(), value))
    }

    pub(crate) fn wait(&mut self) -> Result<Arguments, TapeError> {
        let place = self.place(self.last()).place();
        let name = match self.take_if(|token| token.is_symbol("+")) {
            Some(_) => self.condition_name()?,
            None => "Line",
        };
        let timeout = self.at_time()?;
        if timeout.as_ref().is_some_and(|time| time.means.is_none_or(|means| means.is_zero())) {
            let message = "the time to wait before this must be more than 0";
            return Err(self.error(self.peek(), message, "write for example Wait@5s"));
        }
        let amount_start = self.last().end;
        if name == READY {
            return self.ready(timeout, amount_start, place);
        }
        let (amount, condition) = self.condition(name)?;
        if self.peek().is_symbol("@") {
            return Err(self.misplaced_limit(name, amount_start));
        }
        let (options, timeout) = timeout.map_or((String::new(), None), |time| (time.text, time.means));
        Ok(Arguments::new(options, format!("{name}{amount}"), Action::Step(Step::Wait { condition, timeout, place })))
    }

    /// `Wait+Ready`, `Wait+Ready "x"`, `Wait+Ready Down Up`: the keys of the probe stand in the same row.
    fn ready(&mut self, timeout: Option<Time>, keys_start: usize, place: TapePlace) -> Result<Arguments, TapeError> {
        let row = self.last().row;
        let first = self.probe_key(row)?;
        let second = if first.is_some() { self.probe_key(row)? } else { None };
        if self.peek().is_symbol("@") {
            return Err(self.misplaced_limit(READY, keys_start));
        }
        let args = [&first, &second].into_iter().flatten().fold(READY.to_owned(), |args, (text, _)| args + " " + text);
        let probe = match (first.map(|(_, key)| key), second.map(|(_, key)| key)) {
            (None, _) => Probe::DEFAULT,
            (Some(Key::Character(character)), None | Some(Key::Backspace)) => Probe::Character(character),
            (Some(key), Some(undo)) => Probe::Keys { key, undo },
            (Some(_), None) => {
                let message = format!("`Wait+Ready` needs the key that takes {} back", self.last().quote());
                let hint = "write both, for example Wait+Ready Down Up, or a letter that Backspace deletes";
                return Err(self.error(self.last(), message, hint));
            }
        };
        let (options, timeout) = timeout.map_or((String::new(), None), |time| (time.text, time.means));
        Ok(Arguments::new(options, args, Action::Step(Step::Ready { probe, timeout, place })))
    }

    /// A key of a probe, if the next token in the row is one: a name, or what it sends, in quotes. With its text as a tape writes it.
    fn probe_key(&mut self, row: u32) -> Result<Option<(String, Key)>, TapeError> {
        let token = self.peek().clone();
        if token.row != row {
            return Ok(None);
        }
        if token.kind != Kind::Quoted {
            let key = Key::named(&token.text).filter(|_| matches!(token.kind, Kind::Keyword | Kind::Bare));
            let named = key.map(|key| (token.text.clone().into_owned(), key));
            return Ok(named.inspect(|_| drop(self.take())));
        }
        self.take();
        let mut characters = token.text.chars();
        let key = match (characters.next(), characters.next()) {
            (Some(only), None) if !only.is_control() && !only.is_whitespace() => Some(Key::Character(only)),
            _ => unescaped(&token.text).map(Key::Bytes),
        };
        let Some(key) = key else {
            let hint = "write one character, or what the key sends, for example \"\\e[1;5H\"";
            return Err(self.error(&token, format!("{} is no key", token.quote()), hint));
        };
        Ok(Some((command::texts(&token.text), key)))
    }

    /// The error for a time limit behind the amount, as in `Wait+Bytes 4@1s`; the amount begins at byte `amount_start`.
    fn misplaced_limit(&mut self, name: &str, amount_start: usize) -> TapeError {
        let at = self.take();
        let amount = self.source.text[amount_start..at.start].trim_end();
        let time = self.time().map_or_else(|_| "5s".to_owned(), |time| time.text);
        let message = "how long to wait at most stands before what is waited for";
        self.error(&at, message, format!("write Wait+{name}@{time}{amount}"))
    }

    fn condition_name(&mut self) -> Result<&'static str, TapeError> {
        let known = CONDITIONS.iter().find(|name| self.peek().is_text() && **name == self.peek().text);
        let Some(name) = known else {
            let message = format!("{} cannot be waited for", self.peek().quote());
            return Err(self.error(
                self.peek(),
                message,
                did_you_mean(&self.peek().text, CONDITIONS.into_iter(), CONDITIONS_HINT),
            ));
        };
        self.take();
        Ok(name)
    }

    /// The condition of that name, and the text of what follows the name.
    fn condition(&mut self, name: &str) -> Result<(String, Condition), TapeError> {
        let alone = |condition| Ok((String::new(), condition));
        match name {
            "Echo" => alone(WaitCondition::Echo),
            "Prompt" => alone(WaitCondition::Prompt(None)),
            "Unlock" => alone(WaitCondition::Unlock),
            "Delivered" => alone(WaitCondition::Delivered),
            "Disconnect" => alone(WaitCondition::Disconnect),
            "Bytes" => self.count(name, "bytes").map(|(text, count)| (text, WaitCondition::Bytes(count))),
            "Characters" => {
                self.count(name, "characters").map(|(text, count)| (text, WaitCondition::Characters(count)))
            }
            "Silence" => self.silence(),
            "Cursor" => self.cursor(),
            "Screen" => self.optional_pattern().map(|(text, pattern)| (text, WaitCondition::Screen(pattern))),
            _ => self.optional_pattern().map(|(text, pattern)| (text, WaitCondition::Line(pattern))),
        }
    }

    /// How many bytes or characters.
    fn count(&mut self, name: &str, what: &str) -> Result<(String, u64), TapeError> {
        let number = self.peek();
        let count = number.text.parse::<u64>().ok().filter(|n| number.kind == Kind::Number && *n > 0);
        match count {
            Some(count) if count <= MOST_COUNTED => {
                self.take();
                Ok((format!(" {count}"), count))
            }
            _ => {
                let message = format!("`Wait+{name}` needs a number of {what}, not {}", number.quote());
                let hint = format!("a whole number from 1 to {MOST_COUNTED}, for example Wait+{name} 150");
                Err(self.error(number, message, hint))
            }
        }
    }

    fn silence(&mut self) -> Result<(String, Condition), TapeError> {
        match self.time()? {
            Time { text, means: Some(length) } if !length.is_zero() => {
                Ok((format!(" {text}"), WaitCondition::Silence(length)))
            }
            time => {
                let message = format!("a silence of `{}` says nothing", make_printable(&time.text));
                Err(self.error(self.last(), message, "write for example Wait+Silence 200ms"))
            }
        }
    }

    /// `12,40`: row and column, from 1.
    fn cursor(&mut self) -> Result<(String, Condition), TapeError> {
        let first = self.peek().clone();
        let row = self.place_on_screen();
        let comma = self.take_if(|token| token.text == ",").is_some();
        if let (Some(row), true, Some(column)) = (row, comma, self.place_on_screen()) {
            return Ok((format!(" {row},{column}"), WaitCondition::Cursor { row, column }));
        }
        let message = "`Wait+Cursor` needs a row and a column";
        let hint = "whole numbers from 1 to 1000 with a comma between them, for example Wait+Cursor 12,40";
        Err(self.error(&first, message, hint))
    }

    fn place_on_screen(&mut self) -> Option<u16> {
        let number = self.take_if(|token| token.kind == Kind::Number)?;
        number.text.parse().ok().filter(|place| (1..=LARGEST_TERMINAL).contains(place))
    }

    fn optional_pattern(&mut self) -> Result<(String, Option<Pattern>), TapeError> {
        let Some(token) = self.take_if(|token| token.kind == Kind::Regex) else {
            return Ok((String::new(), None));
        };
        let pattern = self.pattern(&token)?;
        Ok((format!(" {}", token.text), Some(pattern)))
    }

    /// `Expect /re/`, `Expect+Screen /re/`.
    pub(crate) fn expect(&mut self) -> Result<Arguments, TapeError> {
        let place = self.place(self.last()).place();
        let source = self.expect_source()?;
        let token = self.peek().clone();
        if token.kind != Kind::Regex {
            let message = format!("`Expect` needs a pattern, not {}", token.quote());
            return Err(self.error(&token, message, "a pattern stands between slashes: Expect /text/"));
        }
        self.take();
        let pattern = self.pattern(&token)?;
        let options = if source == ExpectSource::Screen { "Screen" } else { "" };
        Ok(Arguments::new(options, token.text, Action::Step(Step::Op(Op::Expect { pattern, source, place }))))
    }

    fn expect_source(&mut self) -> Result<ExpectSource, TapeError> {
        if self.take_if(|token| token.is_symbol("+")).is_none() {
            return Ok(ExpectSource::Response);
        }
        if self.take_if(|token| token.is_text() && token.text == "Screen").is_none() {
            let message = format!("{} is nothing to look at", self.peek().quote());
            return Err(self.error(self.peek(), message, "write Expect+Screen /text/, or Expect /text/"));
        }
        Ok(ExpectSource::Screen)
    }

    pub(crate) fn pattern(&self, token: &Token) -> Result<Pattern, TapeError> {
        Pattern::new(&token.text).map_err(|why| {
            let message = format!("{} is no pattern: {why}", token.quote());
            self.error(token, message, "signs such as ( [ * + ? stand for themselves after a backslash")
        })
    }
}
