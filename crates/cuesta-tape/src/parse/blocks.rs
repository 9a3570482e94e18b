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
    pub(super) fn block(&mut self, word: &str) -> Result<Said, TapeError> {
        match word {
            "Transaction" => {
                let name = self.name(word)?;
                Ok(Said::new("", name.clone(), Action::Open(Block::Transaction(name))))
            }
            "Barrier" => {
                let name = self.name(word)?;
                Ok(Said::new("", name.clone(), Action::Step(Step::Barrier(name))))
            }
            "Part" => {
                let letter = self.letters("`Part` needs one letter A–Z", 1)?;
                Ok(Said::new("", letter.clone(), Action::Open(Block::Part(letter.chars().next().unwrap_or('A')))))
            }
            "Play" => {
                let letters = self.letters("`Play` needs letters A–Z that name parts", 1000)?;
                let parts = letters.chars().collect();
                Ok(Said::new("", letters, Action::Step(Step::Play(parts))))
            }
            "Repeat" => {
                let count = self.repeats()?;
                Ok(Said::new("", count.to_string(), Action::Open(Block::Repeat(count))))
            }
            "Forever" => Ok(Said::new("", "", Action::Open(Block::Forever))),
            _ => Ok(Said::new("", "", Action::Close)),
        }
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
