//! Our blocks and what belongs to them: `Transaction "…" … End`, `Part A … End`, `Play AB`, `Repeat 3 … End`,
//! `Forever … End`, `Barrier "…"`.

use super::{Action, Block, Parser, Said};
use crate::error::TapeError;
use crate::script::Step;
use crate::token::{Kind, Token};

/// Names of transactions and barriers have at most so many characters.
const LONGEST_NAME: usize = 100;
const MOST_REPEATS: u32 = 1_000_000;

impl Parser<'_> {
    pub(super) fn open(&mut self, word: &str) -> Result<Said, TapeError> {
        // Counted even if what follows is wrong: its End is not to be blamed.
        self.depth += 1;
        let (args, block) = match word {
            "Transaction" => {
                let name = self.name(word)?;
                (name.clone(), Block::Transaction(name))
            }
            "Part" => {
                let letter = self.letters("`Part` needs one letter A–Z", 1)?;
                (letter.clone(), Block::Part(letter.chars().next().unwrap_or('A')))
            }
            "Repeat" => {
                let count = self.repeats()?;
                (count.to_string(), Block::Repeat(count))
            }
            _ => (String::new(), Block::Forever),
        };
        Ok(Said::new("", args, Action::Open(block)))
    }

    pub(super) fn end(&mut self, word: &Token) -> Result<Said, TapeError> {
        if self.depth == 0 {
            let hint = "End closes Transaction, Part, Repeat and Forever; there is no key of this name";
            return Err(self.error(word, "`End` without a block", hint));
        }
        self.depth -= 1;
        Ok(Said::new("", "", Action::Close))
    }

    pub(super) fn step(&mut self, word: &str) -> Result<Said, TapeError> {
        if word == "Barrier" {
            let name = self.name(word)?;
            return Ok(Said::new("", name.clone(), Action::Step(Step::Barrier(name))));
        }
        let letters = self.letters("`Play` needs letters A–Z that name parts", 1000)?;
        let parts = letters.chars().collect();
        Ok(Said::new("", letters, Action::Step(Step::Play(parts))))
    }

    fn name(&mut self, word: &str) -> Result<String, TapeError> {
        let token = self.peek().clone();
        let sound = !token.text.trim().is_empty() && !token.text.contains(char::is_control);
        if !token.is_text() || !sound || token.text.chars().count() > LONGEST_NAME {
            let message = format!("`{word}` needs a name, not {}", token.shown());
            return Err(self.error(
                &token,
                message,
                format!("write for example {word} \"log in\"; at most 100 letters"),
            ));
        }
        Ok(self.take().text.into_owned())
    }

    fn letters(&mut self, message: &str, most: usize) -> Result<String, TapeError> {
        let token = self.peek().clone();
        let letters = |t: &Token| (1..=most).contains(&t.text.len()) && t.text.bytes().all(|b| b.is_ascii_uppercase());
        if !token.is_text() || !letters(&token) {
            let message = format!("{message}, not {}", token.shown());
            return Err(self.error(&token, message, "write for example Part A … End, then Play AAB"));
        }
        Ok(self.take().text.into_owned())
    }

    fn repeats(&mut self) -> Result<u32, TapeError> {
        let token = self.peek().clone();
        let count = token.text.parse::<u32>().ok().filter(|n| token.kind == Kind::Number && *n > 0);
        match count {
            Some(count) if count <= MOST_REPEATS => {
                self.take();
                Ok(count)
            }
            _ => {
                let message = format!("`Repeat` needs a count, not {}", token.shown());
                Err(self.error(&token, message, "a whole number from 1 to 1000000; without end is Forever"))
            }
        }
    }
}
