//! Tokens → commands, each with what it does. The table in `words` says which function reads a word's arguments; there is
//! one file per family of words. This file holds the place in the tape and goes on after errors.

mod blocks;
mod files;
mod keys;
mod set;
mod stray;
mod texts;
mod waits;

use std::borrow::Cow;
use std::rc::Rc;
use std::time::Duration;

use cuesta_distributions::duration::{self, DurationError};

pub(crate) use self::files::LONGEST_TAPE;
use crate::command::{Action, Command};
use crate::error::{Note, Source, SourceSpan, TapeError};
use crate::lex::{Kind, Token, UNITS, is_unclosed, lex};
use crate::words::{Word, word};

/// Reads a file named in a tape; returns its text, or why it cannot be read.
pub(crate) type Load<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// After this many errors the rest of a tape is not parsed.
const MOST_ERRORS: usize = 100;

/// A command and where it stands.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) command: Command,
    pub(crate) place: SourceSpan,
}

/// A whole tape as commands, with everything that is wrong or worth a note.
#[derive(Debug, Default)]
pub(crate) struct ParsedTape {
    pub(crate) items: Vec<Item>,
    pub(crate) errors: Vec<TapeError>,
    pub(crate) notes: Vec<Note>,
}

/// Parses a tape. A sourced one may not source others.
pub(crate) fn tape(source: &Rc<Source>, load: Load, sourced: bool) -> ParsedTape {
    let mut parser = Parser {
        source,
        tokens: lex(&source.text),
        next: 0,
        taken: 0,
        load,
        sourced,
        sources: 0,
        depth: 0,
        swallowed: None,
        parsed: ParsedTape::default(),
    };
    parser.note_unclosed();
    parser.all();
    parser.parsed
}

/// What follows a command's word, and what that means.
pub(crate) struct Arguments {
    options: String,
    args: String,
    action: Action,
}

impl Arguments {
    /// Of a word without options and arguments.
    pub(crate) fn only(action: Action) -> Self {
        Self::new("", "", action)
    }

    fn new(options: impl Into<String>, args: impl Into<String>, action: Action) -> Self {
        Self { options: options.into(), args: args.into(), action }
    }
}

/// A time as it is written, with its unit, and what it means. `None`: VHS accepts it and fails when it runs (`1.2.3s`).
struct Time {
    text: String,
    means: Option<Duration>,
}

pub(crate) struct Parser<'a> {
    source: &'a Rc<Source>,
    tokens: Vec<Token<'a>>,
    /// Index of the next token.
    next: usize,
    /// Index of the token that was taken last.
    taken: usize,
    load: Load<'a>,
    sourced: bool,
    /// How many tapes were sourced.
    sources: usize,
    /// How many blocks are open.
    depth: usize,
    /// A word of ours that the last command took for text, because it did not begin a row.
    swallowed: Option<&'static str>,
    parsed: ParsedTape,
}

impl<'a> Parser<'a> {
    fn all(&mut self) {
        while self.peek().kind != Kind::End && self.parsed.errors.len() < MOST_ERRORS {
            if self.peek().kind == Kind::Comment {
                self.take();
            } else if let Err(error) = self.command() {
                self.skip_row(error.row);
                self.parsed.errors.push(error);
            }
        }
    }

    /// Skips the row of an error, where more errors would only follow from it.
    fn skip_row(&mut self, row: u32) {
        while self.peek().kind != Kind::End && self.peek().row <= row {
            self.take();
        }
    }

    fn command(&mut self) -> Result<(), TapeError> {
        let first = self.take();
        let Some(word) = command_word(&first) else {
            return Err(self.stray(&first));
        };
        self.swallowed = None;
        let arguments = (word.parse)(self, &first)?;
        self.push(&first, word.name, arguments);
        Ok(())
    }

    fn push(&mut self, first: &Token, word: &'static str, arguments: Arguments) {
        let Arguments { options, args, action } = arguments;
        if action == Action::Source {
            return;
        }
        let command = Command {
            word,
            options,
            args,
            action,
            source: self.sourced.then(|| self.source.name.clone()),
            row: first.row,
            column: first.column,
        };
        let place = self.place(first);
        self.parsed.items.push(Item { command, place });
    }

    fn peek(&self) -> &Token<'a> {
        &self.tokens[self.next]
    }

    /// The token after the next.
    fn peek_second(&self) -> &Token<'a> {
        &self.tokens[(self.next + 1).min(self.tokens.len() - 1)]
    }

    /// Takes the next token; the end of the tape can be taken again and again.
    fn take(&mut self) -> Token<'a> {
        let token = self.peek().clone();
        self.taken = self.next;
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    /// Takes the next token, whatever it is, as VHS does for most values. Letters beyond ASCII are several tokens to it.
    fn value(&mut self) -> Result<Token<'a>, TapeError> {
        let value = self.take();
        match value.kind {
            Kind::Illegal if !value.text.is_ascii() => {
                Err(self.error(&value, format!("{} stands without quotes", value.quote()), "put it in quotes"))
            }
            Kind::End => {
                self.note(&value, "the last value is missing: its command is ignored");
                Ok(value)
            }
            _ => Ok(value),
        }
    }

    fn take_if(&mut self, wanted: impl Fn(&Token) -> bool) -> Option<Token<'a>> {
        wanted(self.peek()).then(|| self.take())
    }

    /// The token that was taken last. VHS places many errors there.
    fn last(&self) -> &Token<'a> {
        &self.tokens[self.taken]
    }

    fn place(&self, token: &Token) -> SourceSpan {
        SourceSpan::new(self.source, token)
    }

    fn error(&self, token: &Token, message: impl Into<String>, hint: impl Into<String>) -> TapeError {
        self.place(token).error(message, hint)
    }

    fn note(&mut self, token: &Token, message: impl Into<String>) {
        let note = self.place(token).note(message);
        self.parsed.notes.push(note);
    }

    /// `NUMBER [ms|s|m]`, in seconds without a unit.
    fn time(&mut self) -> Result<Time, TapeError> {
        let Some(number) = self.take_if(|token| token.kind == Kind::Number) else {
            let last = self.last();
            let message = format!("a time must follow {}, not {}", last.quote(), self.peek().quote());
            return Err(self.error(last, message, "write for example 500ms, 2s or 1m"));
        };
        let unit = self.take_if(|token| token.is_keyword(&UNITS)).map_or(Cow::Borrowed("s"), |unit| unit.text);
        let text = format!("{}{unit}", number.text);
        Ok(Time { means: self.duration(&number, &text)?, text })
    }

    /// `@time`, if it is there: the time between keys, or the timeout of a `Wait`.
    fn at_time(&mut self) -> Result<Option<Time>, TapeError> {
        if self.take_if(|token| token.is_symbol("@")).is_none() {
            return Ok(None);
        }
        self.time().map(Some)
    }

    /// The duration of a time. Nonsense that VHS's parser accepts is accepted with a note.
    fn duration(&mut self, at: &Token, text: &str) -> Result<Option<Duration>, TapeError> {
        match duration::parse(text) {
            Ok(duration) => Ok(Some(duration)),
            Err(error @ DurationError::TooLong(_)) => {
                Err(self.error(at, error.to_string(), "times run from 0 to a year"))
            }
            Err(_) => {
                self.note(at, format!("`{}` is no time: it is left out", crate::lex::make_printable(text)));
                Ok(None)
            }
        }
    }

    /// Notes texts and patterns without a closing quote: they end with their row, as in VHS, which is rarely meant.
    fn note_unclosed(&mut self) {
        let unclosed: Vec<Token> = self.tokens.iter().filter(|token| is_unclosed(token)).cloned().collect();
        for token in unclosed {
            self.note(&token, format!("{} has no closing quote or slash: its row ends it", token.quote()));
        }
        if self.tokens.last().is_some_and(|end| end.end < self.source.text.len()) {
            let end = self.tokens[self.tokens.len() - 1].clone();
            self.note(&end, "a NUL character ends the tape here, as in VHS");
        }
    }
}

/// The word of a command, if the token is one.
fn command_word(token: &Token) -> Option<&'static Word> {
    let own = token.kind == Kind::Bare;
    word(&token.text).filter(|word| (own || token.kind == Kind::Keyword) && word.is_own() == own)
}
