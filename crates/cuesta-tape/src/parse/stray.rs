//! Errors for a token where a command must stand, with a hint at what was probably meant.

use super::Parser;
use crate::error::{TapeError, did_you_mean};
use crate::lex::{Kind, Token};
use crate::words;

impl Parser<'_> {
    /// A token where only a command may stand.
    pub(super) fn stray(&self, token: &Token) -> TapeError {
        self.error(token, format!("{} is not a command", token.quote()), self.stray_hint(token))
    }

    fn stray_hint(&self, token: &Token) -> String {
        let before = self.parsed.items.last().filter(|item| item.place.row == token.row);
        let before = before.map_or("", |item| item.command.word);
        if let Some(word) = self.swallowed.filter(|_| matches!(before, "Type" | "Copy")) {
            return format!("`{word}` was taken for text to type: write it at the beginning of a row");
        }
        match (token.kind, before) {
            (Kind::Number, "Ctrl" | "Alt" | "Shift" | "Paste") => {
                format!("`{before}` takes no number: use Repeat {} … End", token.text)
            }
            (Kind::Number, word) if words::is_key(word) => "write the speed first, then the count: Enter@1s 3".into(),
            (_, "Sleep" | "Set") if ["h", "m"].contains(&token.text.as_ref()) => "times end in ms, s or m here".into(),
            (Kind::Quoted, "Wait") => "a pattern stands between slashes: Wait /text/".into(),
            (Kind::Symbol, "Type" | "Copy") if token.text == "\\" => {
                "a text has no escapes: use another kind of quotes, \" or ' or `".into()
            }
            (Kind::Illegal | Kind::Symbol | Kind::Json | Kind::Number, "Type" | "Copy") => {
                "put the text in quotes: Type \"…\"".into()
            }
            (Kind::Regex, _) => "put a path or text with slashes in quotes".into(),
            (Kind::Bare | Kind::Keyword, _) => bare_hint(&token.text),
            (Kind::Quoted, _) => "to type a text write Type \"…\"".into(),
            _ => "put texts in quotes".into(),
        }
    }
}

/// Words that other tools have, and what is written here.
const ELSEWHERE: [(&str, &str); 12] = [
    ("loop", "Forever … End, or Repeat 3 … End"),
    ("while", "Forever … End"),
    ("for", "Repeat 3 … End"),
    ("goto", "Forever … End"),
    ("send", "Type \"…\""),
    ("sendkey", "the key by its name: Enter, Ctrl+C"),
    ("return", "Enter"),
    ("delay", "Think 2s between two inputs, Sleep 2s within one"),
    ("pause", "Think 2s between two inputs, Sleep 2s within one"),
    ("waitfor", "Wait /pattern/"),
    ("assert", "Expect /pattern/"),
    ("spawn", "nothing: the program is the target, --target pty:COMMAND"),
];

fn bare_hint(text: &str) -> String {
    if let Some((_, here)) = ELSEWHERE.iter().find(|(word, _)| word.eq_ignore_ascii_case(text)) {
        return format!("here one writes {here}");
    }
    let function_key = text.len() <= 3 && text.starts_with('F') && text[1..].parse::<u8>().is_ok();
    if function_key || ["Home", "End"].contains(&text) {
        return format!("write Press {text}");
    }
    did_you_mean(text, words::names(), "to type a text write Type \"…\"")
}

#[cfg(test)]
mod tests {
    use super::bare_hint;

    #[test]
    fn words_of_other_tools_are_known() {
        assert_eq!(bare_hint("Loop"), "here one writes Forever … End, or Repeat 3 … End");
        assert_eq!(bare_hint("Thnik"), "did you mean `Think`?");
    }
}
