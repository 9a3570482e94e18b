//! Our blocks and what belongs to them: `Transaction "…" … End`, `Part A … End`, `Play AB`, `Repeat 3 … End`,
//! `Forever … End`, `Barrier "…"`.

use super::{Arguments, Parser};
use crate::command::{Action, Block};
use crate::error::TapeError;
use crate::lex::{Kind, Token};
use crate::script::Step;

/// Most characters of the name of a transaction or barrier.
const LONGEST_NAME: usize = 100;
const MOST_REPEATS: u32 = 1_000_000;

/// A word that opens a block counts as open before its arguments are read: if they are wrong, its End is no error too.
impl Parser<'_> {
    pub(crate) fn transaction(&mut self, word: &Token) -> Result<Arguments, TapeError> {
        self.depth += 1;
        let name = self.name(word)?;
        Ok(Arguments::new("", name.clone(), Action::Open(Block::Transaction(name))))
    }

    pub(crate) fn part(&mut self) -> Result<Arguments, TapeError> {
        self.depth += 1;
        let letter = self.letters("`Part` needs one letter A–Z", 1)?;
        let block = Block::Part(letter.chars().next().unwrap_or('A'));
        Ok(Arguments::new("", letter, Action::Open(block)))
    }

    pub(crate) fn repeat(&mut self) -> Result<Arguments, TapeError> {
        self.depth += 1;
        let count = self.repeats()?;
        Ok(Arguments::new("", count.to_string(), Action::Open(Block::Repeat(count))))
    }

    pub(crate) fn forever(&mut self) -> Arguments {
        self.depth += 1;
        Arguments::new("", "", Action::Open(Block::Forever))
    }

    pub(crate) fn end(&mut self, word: &Token) -> Result<Arguments, TapeError> {
        if self.depth == 0 {
            let hint = "End closes Transaction, Part, Repeat and Forever; there is no key of this name";
            return Err(self.error(word, "`End` without a block", hint));
        }
        self.depth -= 1;
        Ok(Arguments::new("", "", Action::Close))
    }

    pub(crate) fn barrier(&mut self, word: &Token) -> Result<Arguments, TapeError> {
        let name = self.name(word)?;
        Ok(Arguments::new("", name.clone(), Action::Step(Step::Barrier(name))))
    }

    pub(crate) fn play(&mut self) -> Result<Arguments, TapeError> {
        let letters = self.letters("`Play` needs letters A–Z that name parts", 1000)?;
        let parts = letters.chars().collect();
        Ok(Arguments::new("", letters, Action::Step(Step::Play(parts))))
    }

    fn name(&mut self, word: &Token) -> Result<String, TapeError> {
        let token = self.peek().clone();
        let sound = !token.text.trim().is_empty() && !token.text.contains(char::is_control);
        if !token.is_text() || !sound || token.text.chars().count() > LONGEST_NAME {
            let message = format!("{} needs a name, not {}", word.quote(), token.quote());
            return Err(self.error(
                &token,
                message,
                format!("write for example {} \"log in\"; at most 100 letters", word.text),
            ));
        }
        Ok(self.take().text.into_owned())
    }

    fn letters(&mut self, message: &str, most: usize) -> Result<String, TapeError> {
        let token = self.peek().clone();
        let letters = |t: &Token| (1..=most).contains(&t.text.len()) && t.text.bytes().all(|b| b.is_ascii_uppercase());
        if !token.is_text() || !letters(&token) {
            let message = format!("{message}, not {}", token.quote());
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
                let message = format!("`Repeat` needs a count, not {}", token.quote());
                Err(self.error(&token, message, "a whole number from 1 to 1000000; without end is Forever"))
            }
        }
    }
}
