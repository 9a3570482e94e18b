//! Pauses and waits: `Sleep`, `Think DISTRIBUTION`, `Wait…`, `Expect /…/`.

use cuesta_distributions::Distribution;

use super::set::LARGEST_TERMINAL;
use super::{Action, Parser, Said, Time};
use crate::error::{TapeError, did_you_mean};
use crate::pattern::translate;
use crate::script::{ExpectSource, Step, WaitCondition};
use crate::token::{Kind, Token, shown};

/// What can be waited for.
const RULES: [&str; 8] = ["Line", "Screen", "Echo", "Bytes", "Silence", "Prompt", "Cursor", "Disconnect"];
const RULES_HINT: &str = "write Line, Screen, Echo, Bytes, Silence, Prompt, Cursor or Disconnect";

/// No answer has more characters.
const MOST_BYTES: u64 = 1_000_000_000;

impl Parser<'_> {
    pub(super) fn sleep(&mut self) -> Result<Said, TapeError> {
        let time = self.time()?;
        let action = time.means.map_or(Action::Nothing, |pause| Action::Step(Step::Sleep(pause)));
        Ok(Said::new("", time.text, action))
    }

    /// The distribution is the rest of the row.
    pub(super) fn think(&mut self, word: &Token) -> Result<Said, TapeError> {
        let load = self.load;
        let (text, distribution) = self.rest_of_row(word, |text| Distribution::parse(text, load))?;
        Ok(Said::new("", text, Action::Step(Step::Think(distribution))))
    }

    /// What follows `word` in its row up to a comment, read by one of the distributions' own parsers.
    pub(super) fn rest_of_row<T>(
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
        let skipped = text.len() - text.trim_start().len();
        let text = text.trim();
        let value = read(text).map_err(|error| {
            let at = text[error.at.min(text.len())..].split_whitespace().next().unwrap_or_default();
            let place = self.place(word);
            let moved =
                if text.is_empty() { place } else { place.moved(start - word.start + skipped + error.at, at.len()) };
            moved.error(error.message, error.hint)
        })?;
        Ok((text.to_owned(), value))
    }

    pub(super) fn wait(&mut self) -> Result<Said, TapeError> {
        let name = match self.take_if(|token| token.is_symbol("+")) {
            Some(_) => self.rule_name()?,
            None => "Line",
        };
        let timeout = self.speed()?;
        if timeout.as_ref().is_some_and(|time| time.means.is_none_or(|means| means.is_zero())) {
            let message = "the time to wait before this must be more than 0";
            return Err(self.error(self.peek(), message, "write for example Wait@5s"));
        }
        let begins = self.last().end;
        let (amount, rule) = self.rule(name)?;
        if self.peek().is_symbol("@") {
            return Err(self.limit_behind(name, begins));
        }
        let (options, timeout) = timeout.map_or((String::new(), None), |time| (time.text, time.means));
        Ok(Said::new(options, format!("{name}{amount}"), Action::Step(Step::Wait { rule, timeout })))
    }

    /// `Wait+Bytes 4@1s`; what is waited for begins at `begins`.
    fn limit_behind(&mut self, name: &str, begins: usize) -> TapeError {
        let at = self.take();
        let amount = self.source.text[begins..at.start].trim_end();
        let time = self.time().map_or_else(|_| "5s".to_owned(), |time| time.text);
        let message = "how long to wait at most stands before what is waited for";
        self.error(&at, message, format!("write Wait+{name}@{time}{amount}"))
    }

    fn rule_name(&mut self) -> Result<&'static str, TapeError> {
        let known = RULES.iter().find(|rule| self.peek().is_text() && **rule == self.peek().text);
        let Some(name) = known else {
            let message = format!("{} cannot be waited for", self.peek().shown());
            return Err(self.error(self.peek(), message, did_you_mean(&self.peek().text, &[&RULES], RULES_HINT)));
        };
        self.take();
        Ok(name)
    }

    /// The rule of that name, with what follows it as VHS would write it behind the name.
    fn rule(&mut self, name: &str) -> Result<(String, WaitCondition), TapeError> {
        let alone = |rule| Ok((String::new(), rule));
        match name {
            "Echo" => alone(WaitCondition::Echo),
            "Prompt" => alone(WaitCondition::Prompt),
            "Disconnect" => alone(WaitCondition::Disconnect),
            "Bytes" => self.bytes(),
            "Silence" => self.silence(),
            "Cursor" => self.cursor(),
            "Screen" => self.optional_pattern().map(|(text, pattern)| (text, WaitCondition::Screen(pattern))),
            _ => self.optional_pattern().map(|(text, pattern)| (text, WaitCondition::Line(pattern))),
        }
    }

    fn bytes(&mut self) -> Result<(String, WaitCondition), TapeError> {
        let number = self.peek();
        let bytes = number.text.parse::<u64>().ok().filter(|n| number.kind == Kind::Number && *n > 0);
        match bytes {
            Some(bytes) if bytes <= MOST_BYTES => {
                self.take();
                Ok((format!(" {bytes}"), WaitCondition::Bytes(bytes)))
            }
            _ => {
                let message = format!("`Wait+Bytes` needs a number of characters, not {}", number.shown());
                Err(self.error(number, message, "a whole number from 1 to 1000000000, for example Wait+Bytes 150"))
            }
        }
    }

    fn silence(&mut self) -> Result<(String, WaitCondition), TapeError> {
        match self.time()? {
            Time { text, means: Some(length) } if !length.is_zero() => {
                Ok((format!(" {text}"), WaitCondition::Silence(length)))
            }
            time => {
                let message = format!("a silence of `{}` says nothing", shown(&time.text));
                Err(self.error(self.last(), message, "write for example Wait+Silence 200ms"))
            }
        }
    }

    /// `12,40`: row and column, from 1.
    fn cursor(&mut self) -> Result<(String, WaitCondition), TapeError> {
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

    fn optional_pattern(&mut self) -> Result<(String, Option<String>), TapeError> {
        let Some(token) = self.take_if(|token| token.kind == Kind::Regex) else {
            return Ok((String::new(), None));
        };
        let pattern = self.pattern(&token)?;
        Ok((format!(" {}", token.text), Some(pattern)))
    }

    /// `Expect /re/`, `Expect+Screen /re/`.
    pub(super) fn expect(&mut self) -> Result<Said, TapeError> {
        let of = self.sight()?;
        let token = self.peek().clone();
        if token.kind != Kind::Regex {
            let message = format!("`Expect` needs a pattern, not {}", token.shown());
            return Err(self.error(&token, message, "a pattern stands between slashes: Expect /text/"));
        }
        self.take();
        let pattern = self.pattern(&token)?;
        let options = if of == ExpectSource::Screen { "Screen" } else { "" };
        Ok(Said::new(options, token.text, Action::Step(Step::Expect { pattern, of })))
    }

    fn sight(&mut self) -> Result<ExpectSource, TapeError> {
        if self.take_if(|token| token.is_symbol("+")).is_none() {
            return Ok(ExpectSource::Response);
        }
        if self.take_if(|token| token.is_text() && token.text == "Screen").is_none() {
            let message = format!("{} is nothing to look at", self.peek().shown());
            return Err(self.error(self.peek(), message, "write Expect+Screen /text/, or Expect /text/"));
        }
        Ok(ExpectSource::Screen)
    }

    /// A pattern in the syntax that the driver uses.
    pub(super) fn pattern(&self, token: &Token) -> Result<String, TapeError> {
        translate(&token.text).map_err(|why| {
            let message = format!("{} is no pattern: {why}", token.shown());
            self.error(token, message, "signs such as ( [ * + ? stand for themselves after a backslash")
        })
    }
}
