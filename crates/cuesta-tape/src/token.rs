//! What a tape's text is cut into, and which words are keywords.

use std::borrow::Cow;

use crate::words;

/// A token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    /// Without quotes or slashes; JSON keeps its braces. `"\0"` at the end of the tape, as VHS has it.
    pub(crate) text: Cow<'a, str>,
    /// Byte offsets in the tape, quotes included.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// From 1.
    pub(crate) row: u32,
    /// From 1, in bytes, as VHS counts.
    pub(crate) column: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A word that VHS keeps for itself, outside quotes.
    Keyword,
    /// Any other word outside quotes.
    Bare,
    /// `"…"`, `'…'` or `` `…` ``.
    Quoted,
    /// Digits and dots.
    Number,
    /// `/…/`.
    Regex,
    /// `{…}`.
    Json,
    /// `#` to the end of the row.
    Comment,
    /// One of ``@ = ] [ - % ^ \ +``.
    Symbol,
    /// A character that may stand nowhere outside quotes.
    Illegal,
    /// The end of the tape.
    End,
}

impl Token<'_> {
    /// A word or a quoted text: what VHS calls a string.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self.kind, Kind::Bare | Kind::Quoted)
    }

    pub(crate) fn is_symbol(&self, symbol: &str) -> bool {
        self.kind == Kind::Symbol && self.text == symbol
    }

    pub(crate) fn is_keyword(&self, words: &[&str]) -> bool {
        self.kind == Kind::Keyword && words.contains(&self.text.as_ref())
    }

    /// The token as a message shows it.
    pub(crate) fn shown(&self) -> String {
        match self.kind {
            Kind::End => "the end of the tape".to_owned(),
            _ => format!("`{}`", shown(&self.text)),
        }
    }
}

/// Text from a tape, made harmless for a terminal and short enough for a message.
pub(crate) fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(40).map(|c| if c.is_control() { '·' } else { c }).collect();
    if text.chars().nth(40).is_some() {
        shown.push('…');
    }
    shown
}

/// Units of time.
pub(crate) const UNITS: [&str; 3] = ["ms", "s", "m"];

/// Words that are not texts although they begin no command.
const RESERVED: [&str; 4] = ["em", "false", "px", "true"];

/// Whether VHS keeps `word` for itself.
pub(crate) fn is_keyword(word: &str) -> bool {
    words::word(word).is_some_and(|word| !word.is_own())
        || words::setting(word).is_some_and(|setting| !setting.is_own())
        || UNITS.contains(&word)
        || RESERVED.contains(&word)
}
