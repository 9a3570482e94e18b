//! Cuts a tape's text into tokens, byte by byte exactly as VHS does, and knows which words are keywords.

use std::borrow::Cow;

use crate::words;

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
    pub(crate) fn quote(&self) -> String {
        match self.kind {
            Kind::End => "the end of the tape".to_owned(),
            _ => format!("`{}`", make_printable(&self.text)),
        }
    }
}

/// Text from a tape, made harmless for a terminal and short enough for a message.
pub(crate) fn make_printable(text: &str) -> String {
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

/// Cuts a whole tape. The last token is [`Kind::End`].
pub(crate) fn lex(text: &str) -> Vec<Token<'_>> {
    let mut lexer = Lexer { text, at: 0, row: 1, row_start: 0 };
    let mut tokens = Vec::new();
    loop {
        let token = lexer.next();
        let last = token.kind == Kind::End;
        tokens.push(token);
        if last {
            return tokens;
        }
    }
}

/// Whether the token is a text or pattern that its row ends, or the tape, instead of its quote.
pub(crate) fn is_unclosed(token: &Token) -> bool {
    matches!(token.kind, Kind::Quoted | Kind::Regex) && token.end - token.start < token.text.len() + 2
}

struct Lexer<'a> {
    text: &'a str,
    /// Byte offset of the next token.
    at: usize,
    row: u32,
    /// Byte offset of the row's first character.
    row_start: usize,
}

impl<'a> Lexer<'a> {
    /// The byte there; 0 beyond the end, and a NUL within the text ends it too.
    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    fn next(&mut self) -> Token<'a> {
        self.advance_to(self.end_of_run(self.at, |b| matches!(b, b' ' | b'\t' | b'\r' | b'\n')));
        let start = self.at;
        let (kind, text, end) = self.cut(start);
        let column = (start - self.row_start) as u32 + 1;
        let token = Token { kind, text, start, end, row: self.row, column };
        self.advance_to(end);
        token
    }

    /// Moves on to `end` and keeps count of rows.
    fn advance_to(&mut self, end: usize) {
        for at in self.at..end {
            if self.byte(at) == b'\n' {
                self.row += 1;
                self.row_start = at + 1;
            }
        }
        self.at = end;
    }

    /// The end of the run of bytes from `at` on for which `within` holds.
    fn end_of_run(&self, at: usize, within: impl Fn(u8) -> bool) -> usize {
        (at..self.text.len()).find(|&i| !within(self.byte(i))).unwrap_or(self.text.len())
    }

    /// The token that begins at `start`: its kind, its text, its end.
    fn cut(&self, start: usize) -> (Kind, Cow<'a, str>, usize) {
        match self.byte(start) {
            0 => (Kind::End, Cow::Borrowed("\0"), start),
            b'@' | b'=' | b']' | b'[' | b'-' | b'%' | b'^' | b'\\' | b'+' => self.slice(Kind::Symbol, start, start + 1),
            b'#' => {
                let end = self.end_of_run(start, |b| !is_row_end(b));
                (Kind::Comment, Cow::Borrowed(&self.text[start + 1..end]), end)
            }
            b'{' => self.json(start),
            quote @ (b'`' | b'\'' | b'"') => {
                let end = self.end_of_run(start + 1, |b| b != quote && !is_row_end(b));
                (Kind::Quoted, Cow::Borrowed(&self.text[start + 1..end]), self.after_quote(end))
            }
            b'/' => {
                let end = self.regex_end(start + 1);
                (Kind::Regex, Cow::Borrowed(&self.text[start + 1..end]), self.after_quote(end))
            }
            byte if is_digit(byte) || (byte == b'.' && is_digit(self.byte(start + 1))) => {
                self.slice(Kind::Number, start, self.end_of_run(start, |b| is_digit(b) || b == b'.'))
            }
            byte if byte.is_ascii_alphabetic() || byte == b'.' => self.word(start),
            _ => {
                let length = self.text[start..].chars().next().map_or(1, char::len_utf8);
                self.slice(Kind::Illegal, start, start + length)
            }
        }
    }

    fn slice(&self, kind: Kind, start: usize, end: usize) -> (Kind, Cow<'a, str>, usize) {
        (kind, Cow::Borrowed(&self.text[start..end]), end)
    }

    /// The end of a quoted text: behind the closing quote (or a NUL), but before the end of a row, which is counted.
    fn after_quote(&self, end: usize) -> usize {
        let row_ends = end < self.text.len() && matches!(self.byte(end), b'\r' | b'\n');
        if end == self.text.len() || row_ends { end } else { end + 1 }
    }

    /// To the first `}`: braces do not nest.
    fn json(&self, start: usize) -> (Kind, Cow<'a, str>, usize) {
        let end = self.end_of_run(start, |b| b != b'}' && b != 0);
        if self.byte(end) == b'}' {
            return self.slice(Kind::Json, start, end + 1);
        }
        (Kind::Json, Cow::Owned(format!("{}}}", &self.text[start..end])), self.after_quote(end))
    }

    /// The slash that is not escaped, or the end of the row. VHS looks at no character that follows a backslash, not
    /// even at the end of a row.
    fn regex_end(&self, mut at: usize) -> usize {
        while at < self.text.len() {
            match self.byte(at) {
                b'/' | b'\r' | b'\n' | 0 => return at,
                b'\\' => {
                    let next = self.end_of_run(at, |b| b == b'\\');
                    let escaped = (next - at) % 2 == 1;
                    if self.byte(next) == b'/' && !escaped {
                        return next;
                    }
                    at = next + 1;
                }
                _ => at += 1,
            }
        }
        self.text.len()
    }

    fn word(&self, start: usize) -> (Kind, Cow<'a, str>, usize) {
        let within = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b'/' | b'%');
        let end = self.end_of_run(start, within);
        let kind = if is_keyword(&self.text[start..end]) { Kind::Keyword } else { Kind::Bare };
        self.slice(kind, start, end)
    }
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_digit()
}

fn is_row_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n' | 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<(Kind, String)> {
        let mut tokens = lex(text);
        tokens.pop();
        tokens.into_iter().map(|token| (token.kind, token.text.into_owned())).collect()
    }

    fn one(text: &str) -> (Kind, String) {
        let tokens = cut(text);
        assert_eq!(tokens.len(), 1, "{text}: {tokens:?}");
        tokens.into_iter().next().unwrap()
    }

    #[test]
    fn a_text_has_no_escapes() {
        assert_eq!(
            cut(r#""a\"b""#),
            [(Kind::Quoted, r"a\".into()), (Kind::Bare, "b".into()), (Kind::Quoted, String::new())]
        );
    }

    #[test]
    fn backslashes_before_a_slash_count_in_pairs() {
        assert_eq!(one(r"/a\/b/"), (Kind::Regex, r"a\/b".into()));
        assert_eq!(one(r"/a\\/"), (Kind::Regex, r"a\\".into()));
        assert_eq!(one(r"/a\\\/b/"), (Kind::Regex, r"a\\\/b".into()));
        assert_eq!(one("/a\\\nb/"), (Kind::Regex, "a\\\nb".into()));
        assert_eq!(one(r"/a\"), (Kind::Regex, r"a\".into()));
    }

    #[test]
    fn numbers_and_words_are_told_apart_by_their_first_letters() {
        assert_eq!(one(".5"), (Kind::Number, ".5".into()));
        assert_eq!(one("1.2.3"), (Kind::Number, "1.2.3".into()));
        assert_eq!(one("./x-y_z%/9"), (Kind::Bare, "./x-y_z%/9".into()));
        assert_eq!(one("Enter"), (Kind::Keyword, "Enter".into()));
        assert_eq!(one("Think"), (Kind::Bare, "Think".into()));
        assert_eq!(cut("2cps"), [(Kind::Number, "2".into()), (Kind::Bare, "cps".into())]);
    }

    #[test]
    fn json_ends_at_its_first_brace() {
        assert_eq!(one("{ \"a\":\n1 }"), (Kind::Json, "{ \"a\":\n1 }".into()));
        assert_eq!(one("{ a"), (Kind::Json, "{ a}".into()));
    }

    #[test]
    fn rows_are_counted_through_everything() {
        let tape = "Type \"open\nSet Theme { \n }\r\n  Enter";
        let enter = lex(tape).into_iter().find(|token| token.text == "Enter").unwrap();
        assert_eq!((enter.row, enter.column), (4, 3));
    }

    #[test]
    fn a_nul_ends_the_tape_except_within_quotes() {
        assert_eq!(cut("Enter\0Tab"), [(Kind::Keyword, "Enter".into())]);
        assert_eq!(cut("\"a\0Tab"), [(Kind::Quoted, "a".into()), (Kind::Keyword, "Tab".into())]);
    }

    #[test]
    fn an_unclosed_quote_is_detected() {
        for (tape, unclosed) in [("\"a\"", false), ("\"a", true), ("\"", true), ("/a\n", true), ("//", false)] {
            assert_eq!(is_unclosed(&lex(tape)[0]), unclosed, "{tape}");
        }
    }
}
