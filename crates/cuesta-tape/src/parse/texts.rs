//! Texts: `Type@1s "x" y`, `Copy "x"`.

use super::{Action, Parser, Said};
use crate::error::TapeError;
use crate::script::{Keys, Step};
use crate::text::pieces;
use crate::token::{Kind, OURS, Token};

const HINT: &str = "put in quotes what is no plain word: digits, signs, VHS's own words";

impl Parser<'_> {
    /// One text or several, which VHS joins by a blank even across rows.
    pub(super) fn texts(&mut self, word: &str) -> Result<Said, TapeError> {
        let speed = if word == "Type" { self.speed()? } else { None };
        if !self.peek().is_text() {
            let message = format!("`{word}` needs a text, not {}", self.peek().shown());
            return Err(self.error(self.peek(), message, HINT));
        }
        let mut texts = vec![self.take()];
        while self.peek().is_text() && !self.begins_ours() {
            let (before, text) = (self.last().clone(), self.take());
            self.note_swallowed(&before, &text);
            texts.push(text);
        }
        let args = texts.iter().map(|token| token.text.as_ref()).collect::<Vec<_>>().join(" ");
        let (options, gap) = speed.map_or((String::new(), None), |time| (time.text, time.means));
        let pieces = pieces(&args);
        let action = match word {
            "Copy" => Action::Copy(pieces),
            _ if pieces.is_empty() => Action::Nothing,
            _ => Action::Step(Step::Keys { keys: Keys::Text(pieces), gap }),
        };
        Ok(Said::new(options, args, action))
    }

    /// Whether a command of ours begins here. To VHS a row's end means nothing, so it would take the word for one more
    /// text to type; we take it for a command when it begins a row and what follows it has the form of that command.
    fn begins_ours(&self) -> bool {
        let (word, next) = (self.peek(), self.peek_second());
        if word.kind != Kind::Bare || word.row == self.last().row {
            return false;
        }
        let same_row = next.row == word.row && next.kind != Kind::Comment && next.kind != Kind::End;
        let letters = |token: &Token| token.is_text() && token.text.chars().all(|c| c.is_ascii_uppercase());
        match word.text.as_ref() {
            "Forever" => !same_row,
            "Repeat" => same_row && next.kind == Kind::Number,
            "Expect" => same_row && (next.kind == Kind::Regex || next.is_symbol("+")),
            "Press" => same_row && (next.is_text() || next.kind == Kind::Keyword || next.is_symbol("@")),
            "Play" => same_row && letters(next),
            "Part" => same_row && letters(next) && next.text.len() == 1,
            "Think" => same_row && (next.kind == Kind::Number || next.kind == Kind::Bare),
            "Transaction" | "Barrier" => same_row && next.is_text(),
            _ => false,
        }
    }

    /// A word of ours behind a quoted text, or a word that begins a row, is hardly meant to be typed.
    fn note_swallowed(&mut self, before: &Token, text: &Token) {
        if text.row > before.row {
            self.note(
                text,
                format!("{} is typed with the text above: in VHS's language a text may go on", text.shown()),
            );
            return;
        }
        let ours = OURS.into_iter().find(|word| *word == text.text).filter(|_| text.kind == Kind::Bare);
        self.swallowed = ours.or(self.swallowed);
        if ours.is_some() && before.kind == Kind::Quoted {
            self.note(text, format!("{} is typed here, since it does not begin a row", text.shown()));
        }
    }
}
