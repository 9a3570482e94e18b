//! Texts with `${column}` places: `Type@1s "x" y`, `Copy "x"`.

use super::{Arguments, Parser};
use crate::command::Action;
use crate::error::TapeError;
use crate::lex::{Kind, Token};
use crate::script::Step;
use crate::words::word;
use crate::{Keys, Piece};

/// Most characters of a column's name.
const LONGEST_NAME: usize = 64;
const HINT: &str = "put in quotes what is no plain word: digits, signs, VHS's own words";

impl Parser<'_> {
    /// One text or several, which VHS joins by a blank even across rows.
    pub(crate) fn texts(&mut self, word: &Token) -> Result<Arguments, TapeError> {
        let word = word.text.as_ref();
        let gap = if word == "Type" { self.at_time()? } else { None };
        if !self.peek().is_text() {
            let message = format!("`{word}` needs a text, not {}", self.peek().quote());
            return Err(self.error(self.peek(), message, HINT));
        }
        let mut texts = vec![self.take()];
        while self.peek().is_text() && !self.begins_own_command() {
            let (before, text) = (self.last().clone(), self.take());
            self.note_swallowed(&before, &text);
            texts.push(text);
        }
        let args = texts.iter().map(|token| token.text.as_ref()).collect::<Vec<_>>().join(" ");
        let (options, gap) = gap.map_or((String::new(), None), |time| (time.text, time.means));
        let pieces = pieces(&args);
        let action = match word {
            "Copy" => Action::Copy(pieces),
            _ if pieces.is_empty() => Action::Nothing,
            _ => Action::Step(Step::Keys { keys: Keys::Text(pieces), gap }),
        };
        Ok(Arguments::new(options, args, action))
    }

    /// Whether a command of ours begins here. To VHS the end of a row means nothing: it would type the word. It is a
    /// command if it begins a row and what follows has the command's form.
    fn begins_own_command(&self) -> bool {
        let (token, next) = (self.peek(), self.peek_second());
        if token.kind != Kind::Bare || token.row == self.last().row {
            return false;
        }
        let same_row = next.row == token.row && !matches!(next.kind, Kind::Comment | Kind::End);
        word(&token.text).is_some_and(|word| word.is_command_before(same_row.then_some(next)))
    }

    /// Notes one of our words behind a quoted text, and a word that begins a row: they are rarely meant to be typed.
    fn note_swallowed(&mut self, before: &Token, text: &Token) {
        if text.row > before.row {
            self.note(
                text,
                format!("{} is typed with the text above: in VHS's language a text may go on", text.quote()),
            );
            return;
        }
        let ours = word(&text.text).filter(|word| word.is_own() && text.kind == Kind::Bare);
        self.swallowed = ours.map(|word| word.name).or(self.swallowed);
        if ours.is_some() && before.kind == Kind::Quoted {
            self.note(text, format!("{} is typed here, since it does not begin a row", text.quote()));
        }
    }
}

/// Cuts a text at each `${column}`; everything else is typed as it stands.
pub(crate) fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut literal = 0;
    let mut at = 0;
    while let Some(open) = text[at..].find("${").map(|found| at + found) {
        at = open + 2;
        let Some(name) = name(&text[at..]) else { continue };
        if literal < open {
            pieces.push(Piece::Literal(text[literal..open].to_owned()));
        }
        pieces.push(Piece::Column(name.to_owned()));
        at += name.len() + 1;
        literal = at;
    }
    if literal < text.len() {
        pieces.push(Piece::Literal(text[literal..].to_owned()));
    }
    pieces
}

/// The name before the closing brace, if it is one.
fn name(text: &str) -> Option<&str> {
    let (name, _) = text.split_once('}')?;
    let sound = !name.is_empty() && name.len() <= LONGEST_NAME && !name.contains(['$', '{']);
    (sound && !name.contains(char::is_control)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::pieces;
    use crate::Piece;

    #[test]
    fn a_text_is_cut_at_its_columns() {
        let literal = |text: &str| Piece::Literal(text.to_owned());
        let column = |text: &str| Piece::Column(text.to_owned());
        for (text, wanted) in [
            ("", vec![]),
            ("plain", vec![literal("plain")]),
            ("${user}", vec![column("user")]),
            ("a${user}b${pass word}", vec![literal("a"), column("user"), literal("b"), column("pass word")]),
            ("$user ${} ${open", vec![literal("$user ${} ${open")]),
            ("${${x}}", vec![literal("${"), column("x"), literal("}")]),
            ("é${ü}é", vec![literal("é"), column("ü"), literal("é")]),
        ] {
            assert_eq!(pieces(text), wanted, "{text}");
        }
    }
}
