//! Patterns as VHS reads them (Go's RE2), compiled by Rust's `regex`, which differs little from it.
//!
//! Rust lacks `\Q…\E`, octal escapes and a bare `{`; it has set operations in classes, `\<` and
//! flags that RE2 has not. Classes such as `\w` know Unicode here, in RE2 only ASCII. A repetition straight after
//! flags (`a(?i)*`), which RE2 applies to what stands before them, is refused.

use std::fmt::Write;
use std::iter::Peekable;
use std::str::Chars;

use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind};

/// RE2's most repetitions in one `{n}`.
const MOST_REPEATS: u32 = 1000;
/// The longest pattern, in bytes.
const LONGEST: usize = 4096;

/// A compiled pattern. `^` and `$` match at the ends of any row, as on the screen that VHS matches. A clone shares the
/// program but has scratch memory of its own, so each thread should match with its own clone.
#[derive(Debug, Clone)]
pub struct Pattern(Regex);

impl Pattern {
    /// Compiles a pattern in RE2's syntax. The error says what is wrong in a few words.
    pub fn new(pattern: &str) -> Result<Self, String> {
        Self::compile(&translate(pattern)?)
    }

    /// Compiles a pattern that is in Rust's syntax.
    fn compile(pattern: &str) -> Result<Self, String> {
        RegexBuilder::new(pattern).multi_line(true).build().map(Self).map_err(|error| reason(&error))
    }

    /// The pattern in Rust's syntax.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Whether it matches one text only: it has no group, class, repetition or alternative.
    pub fn is_fixed(&self) -> bool {
        let parsed = ParserBuilder::new().utf8(false).build().parse(self.as_str());
        parsed.is_ok_and(|pattern| is_one_text(&pattern))
    }

    /// What matches with it.
    pub fn regex(&self) -> &Regex {
        &self.0
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

fn is_one_text(pattern: &Hir) -> bool {
    match pattern.kind() {
        HirKind::Empty | HirKind::Literal(_) | HirKind::Look(_) => true,
        HirKind::Concat(parts) => parts.iter().all(is_one_text),
        _ => false,
    }
}

/// Translates a pattern from RE2's syntax to Rust's.
fn translate(pattern: &str) -> Result<String, String> {
    if pattern.len() > LONGEST {
        return Err(format!("it has over {LONGEST} characters"));
    }
    let mut translator =
        Translator { rest: pattern.chars().peekable(), out: String::new(), preceding: Preceding::Atom };
    translator.translate_all()?;
    Ok(translator.out)
}

/// The last row of the regex crate's message, which tells the reason; the others draw the pattern.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    last.trim_start_matches("error: ").to_owned()
}

/// What stands directly before: a repetition cannot be repeated.
#[derive(PartialEq, Eq)]
enum Preceding {
    /// Anything else.
    Atom,
    /// `*`, `+`, `?` or `{n}`: a `?` may follow and makes it lazy.
    Repeat,
    /// `*?` and the like.
    Lazy,
}

struct Translator<'a> {
    rest: Peekable<Chars<'a>>,
    out: String,
    preceding: Preceding,
}

impl Translator<'_> {
    fn translate_all(&mut self) -> Result<(), String> {
        while let Some(c) = self.rest.next() {
            let repeats = match c {
                '*' | '+' | '?' => true,
                '{' => self.is_repeat()?,
                _ => false,
            };
            if repeats {
                self.repeat(c)?;
                continue;
            }
            self.preceding = Preceding::Atom;
            match c {
                '\\' => self.escape()?,
                '[' => self.class()?,
                '(' => self.group()?,
                '{' | '}' => self.out.extend(['\\', c]),
                _ => self.out.push(c),
            }
        }
        Ok(())
    }

    fn repeat(&mut self, c: char) -> Result<(), String> {
        self.preceding = match self.preceding {
            Preceding::Atom => Preceding::Repeat,
            Preceding::Repeat if c == '?' => Preceding::Lazy,
            _ => return Err("a repetition cannot be repeated".to_owned()),
        };
        self.out.push(c);
        if c == '{' {
            self.copy_through('}');
        }
        Ok(())
    }

    /// Whether the brace begins a repetition: `2}`, `2,}` or `2,3}` follows. Otherwise it is a plain brace.
    fn is_repeat(&self) -> Result<bool, String> {
        let rest: String = self.rest.clone().take_while(|c| *c != '}').take(16).collect();
        let closed = self.rest.clone().nth(rest.chars().count()) == Some('}');
        let (least, most) = rest.split_once(',').unwrap_or((&rest, ""));
        let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
        if !closed || least.is_empty() || !digits(least) || !digits(most) {
            return Ok(false);
        }
        let is_too_large = |text: &str| !text.is_empty() && text.parse::<u32>().map_or(true, |n| n > MOST_REPEATS);
        if is_too_large(least) || is_too_large(most) {
            return Err(format!("it repeats more than {MOST_REPEATS} times"));
        }
        Ok(true)
    }

    /// Copies up to and including `last`.
    fn copy_through(&mut self, last: char) {
        for c in self.rest.by_ref() {
            self.out.push(c);
            if c == last {
                break;
            }
        }
    }

    fn escape(&mut self) -> Result<(), String> {
        let c = self.rest.next().ok_or("it ends in a backslash")?;
        match c {
            'Q' => self.quoted(),
            '0'..='7' => self.octal(c)?,
            'x' | 'p' | 'P' => {
                self.out.extend(['\\', c]);
                if self.rest.peek() == Some(&'{') {
                    self.copy_through('}');
                }
            }
            'A' | 'b' | 'B' | 'z' | 'd' | 'D' | 's' | 'S' | 'w' | 'W' | 'a' | 'f' | 'n' | 'r' | 't' | 'v' => {
                self.out.extend(['\\', c]);
            }
            _ if c.is_ascii() && !c.is_ascii_alphanumeric() => self.out.push_str(&regex::escape(&c.to_string())),
            _ => return Err(format!("it has an unknown escape \\{c}")),
        }
        Ok(())
    }

    /// `\Q…\E`: every character for itself.
    fn quoted(&mut self) {
        let mut literal = String::new();
        while let Some(c) = self.rest.next() {
            if c == '\\' && self.rest.next_if_eq(&'E').is_some() {
                break;
            }
            literal.push(c);
        }
        self.out.push_str(&regex::escape(&literal));
    }

    /// `\0` to `\377`. A single digit other than 0 would refer back, which neither engine can.
    fn octal(&mut self, first: char) -> Result<(), String> {
        let mut digits = first.to_string();
        while let Some(digit) = self.rest.next_if(|c| digits.len() < 3 && ('0'..='7').contains(c)) {
            digits.push(digit);
        }
        let code = u32::from_str_radix(&digits, 8).unwrap_or(0);
        if digits.len() == 1 && first != '0' {
            return Err(format!("it refers back with \\{first}"));
        }
        write!(self.out, "\\x{{{code:x}}}").map_err(|error| error.to_string())
    }

    /// `(`, and what may stand behind it: `(?:`, `(?i)`, `(?is-m:`, `(?P<name>`.
    fn group(&mut self) -> Result<(), String> {
        self.out.push('(');
        if self.rest.next_if_eq(&'?').is_none() {
            return Ok(());
        }
        self.out.push('?');
        for c in self.rest.by_ref() {
            self.out.push(c);
            match c {
                ':' | ')' => return Ok(()),
                '<' => break,
                'P' | 'i' | 'm' | 's' | 'U' | '-' => {}
                _ => return Err(format!("it has an unknown group (?{c}")),
            }
        }
        self.copy_through('>');
        Ok(())
    }

    /// `[…]`. RE2 knows no sets within sets: a bracket or `&&` in a class is only a character.
    fn class(&mut self) -> Result<(), String> {
        self.out.push('[');
        if self.rest.next_if_eq(&'^').is_some() {
            self.out.push('^');
        }
        if self.rest.next_if_eq(&']').is_some() {
            self.out.push_str("\\]");
        }
        while let Some(c) = self.rest.next() {
            match c {
                ']' => {
                    self.out.push(']');
                    return Ok(());
                }
                '\\' => self.escape()?,
                '[' if self.rest.peek() == Some(&':') => {
                    self.out.push('[');
                    self.copy_through(']');
                }
                '[' | '&' | '~' => self.out.extend(['\\', c]),
                '-' if self.rest.next_if_eq(&'-').is_some() => self.out.push_str("-\\-"),
                _ => self.out.push(c),
            }
        }
        Err("a class `[` is not closed".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syntax_that_both_engines_know_is_unchanged() {
        for pattern in [
            "",
            "foo",
            r"\d+\s*$",
            r"^[a-z_]+\.txt$",
            "(?i)login:",
            "(?P<n>a|b)",
            "a{2,3}?",
            r"\x{41}\pL\p{Greek}",
            r"[[:alpha:]\]x-]",
            "(?is-m:a)",
            "π",
        ] {
            assert_eq!(translate(pattern).as_deref(), Ok(pattern));
        }
    }

    #[test]
    fn syntax_that_only_re2_knows_is_translated() {
        for (pattern, text, matches) in [
            (r"\Qa.b\E$", "a.b", true),
            (r"\Qa.b\E$", "axb", false),
            (r"\Qa.b", "a.b", true),
            ("{\"ok\"}", "{\"ok\"}", true),
            ("a{,2}", "a{,2}", true),
            ("a{,2}", "aa", false),
            (r"\012", "\n", true),
            (r"\<a\>", "<a>", true),
            (r"a\/b", "a/b", true),
            (r"a\ b", "a b", true),
            ("[[]x[]]", "[x]", true),
            ("[a&&b]", "&", true),
            ("[+--]", ",", true),
            (r"\b{start}", "a{start}", true),
        ] {
            let compiled = Pattern::new(pattern).unwrap();
            assert_eq!(compiled.regex().is_match(text.as_bytes()), matches, "{pattern} as {compiled:?} on {text}");
        }
    }

    #[test]
    fn syntax_that_re2_refuses_is_refused() {
        let long = "a".repeat(LONGEST + 1);
        for pattern in [
            "(", ")", "*a", "a**", "a+*", "a{2}{3}", "[a", r"\1", r"\C", r"\u0041", "(?x)a", "(?=a)", "a{1001}", "\\",
            "[z-a]", &long,
        ] {
            assert!(Pattern::new(pattern).is_err(), "{pattern}");
        }
    }
}
