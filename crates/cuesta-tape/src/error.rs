//! Errors and notes about a tape: where, what is wrong, and what to write instead.

use std::fmt;
use std::rc::Rc;

use strsim::osa_distance;

use crate::TapePlace;
use crate::lex::{Token, make_printable};

/// A tape's text and what it is called in messages.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// A range of a tape's text.
#[derive(Debug, Clone)]
pub(crate) struct SourceSpan {
    source: Rc<Source>,
    /// Byte offsets.
    start: usize,
    end: usize,
    pub(crate) row: u32,
    pub(crate) column: u32,
}

impl SourceSpan {
    pub(crate) fn new(source: &Rc<Source>, token: &Token) -> Self {
        Self { source: Rc::clone(source), start: token.start, end: token.end, row: token.row, column: token.column }
    }

    /// A range of `length` bytes that begins `by` bytes later in the same row.
    pub(crate) fn moved(mut self, by: usize, length: usize) -> Self {
        self.start += by;
        self.column += by as u32;
        self.end = self.start + length;
        self
    }

    pub(crate) fn error(&self, message: impl Into<String>, hint: impl Into<String>) -> TapeError {
        TapeError {
            tape: self.source.name.clone(),
            row: self.row,
            column: self.column,
            message: message.into(),
            hint: hint.into(),
            excerpt: Excerpt::new(&self.source.text, self.start, self.end),
        }
    }

    pub(crate) fn note(&self, message: impl Into<String>) -> Note {
        Note { row: Some(self.row), message: message.into() }
    }

    pub(crate) fn place(&self) -> TapePlace {
        TapePlace::new(&self.source.name, self.row)
    }
}

/// One error in a tape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TapeError {
    /// The tape: the one that was parsed, or one that it sources.
    pub tape: String,
    /// From 1.
    pub row: u32,
    /// From 1, in bytes, as VHS counts.
    pub column: u32,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub hint: String,
    excerpt: Excerpt,
}

impl fmt::Display for TapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Excerpt { text, from, width } = &self.excerpt;
        let carets = "^".repeat(*width);
        writeln!(f, "{}:{}:{}: {}", self.tape, self.row, self.column, self.message)?;
        writeln!(f, "{:5} │ {text}", self.row)?;
        write!(f, "      │ {:from$}{carets} {}", "", self.hint)
    }
}

impl TapeError {
    /// About a tape as a whole.
    pub(crate) fn whole(tape: &str, message: &str, hint: &str) -> Self {
        let excerpt = Excerpt { text: String::new(), from: 0, width: 1 };
        Self { tape: tape.to_owned(), row: 1, column: 1, message: message.into(), hint: hint.into(), excerpt }
    }
}

/// The row with the error, cropped, and where the carets stand under it, in characters.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Excerpt {
    text: String,
    from: usize,
    width: usize,
}

/// The longest excerpt, and how much of it stands before the error, in characters.
const CROP: usize = 100;
const BEFORE: usize = 60;

impl Excerpt {
    fn new(tape: &str, start: usize, end: usize) -> Self {
        let row_start = tape[..start].rfind('\n').map_or(0, |at| at + 1);
        let row_end = tape[start..].find('\n').map_or(tape.len(), |at| start + at);
        let before = tape[row_start..start].chars().count();
        let width = tape[start..end.clamp(start, row_end)].trim_end().chars().count();
        let cropped = before.saturating_sub(BEFORE);
        let visible = |c: char| if c.is_control() { ' ' } else { c };
        let text: String = tape[row_start..row_end].trim_end().chars().skip(cropped).take(CROP).map(visible).collect();
        let from = before - cropped;
        Self { text, from, width: width.clamp(1, CROP - from.min(CROP - 1)) }
    }
}

/// All errors of a tape; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TapeErrors(pub Vec<TapeError>);

/// At most this many errors are shown; the rest are counted.
const SHOWN: usize = 10;

impl fmt::Display for TapeErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for error in self.0.iter().take(SHOWN) {
            writeln!(f, "{error}\n")?;
        }
        match self.0.len() {
            1 => f.write_str("1 error"),
            n if n <= SHOWN => write!(f, "{n} errors"),
            n => write!(f, "{n} errors, of which {SHOWN} are shown"),
        }
    }
}

impl std::error::Error for TapeErrors {}

/// A warning or remark for the tape's author.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The row, unless the note is about the whole tape.
    pub row: Option<u32>,
    pub message: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.row {
            Some(row) => write!(f, "row {row}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// A hint with the nearest word, else `otherwise`.
pub(crate) fn did_you_mean(word: &str, words: impl Iterator<Item = &'static str>, otherwise: &str) -> String {
    nearest(word, words)
        .map_or_else(|| otherwise.to_owned(), |near| format!("did you mean `{}`?", make_printable(near)))
}

/// The word nearest to a misspelt one, if any is near: at most one slip in three letters. A slip is a letter added, left
/// out, changed, or swapped with its neighbour.
fn nearest<'a>(word: &str, words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > 40 {
        return None;
    }
    let wanted = word.to_lowercase();
    let tolerated = (wanted.chars().count() / 3).max(1);
    words
        .map(|known| (osa_distance(&wanted, &known.to_lowercase()), known))
        .filter(|(slips, known)| *slips <= tolerated && *slips < known.len())
        .min_by_key(|(slips, _)| *slips)
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_found_and_far_ones_are_not() {
        let words = ["Enter", "Escape", "Type", "Think", "Transaction"];
        for (word, near) in [
            ("enter", Some("Enter")),
            ("Entr", Some("Enter")),
            ("Tpye", Some("Type")),
            ("Typ", Some("Type")),
            ("Transcation", Some("Transaction")),
            ("Thinks", Some("Think")),
            ("Home", None),
            ("x", None),
        ] {
            assert_eq!(nearest(word, words.into_iter()), near, "{word}");
        }
    }
}
