//! Host output made fit for reports: without control functions and secrets, and cut.

use crate::text::Text;

/// How many of a host's last rows are shown, of a screen's rows, and how many characters of each.
const LAST_ROWS: usize = 5;
const SCREEN_ROWS: usize = 50;
const COLUMNS: usize = 400;
const HIDDEN: &str = "(hidden)";

/// The rows of a screen that are not blank; rows that hold a secret are hidden.
pub(crate) fn screen_rows(rows: &[String], secrets: &[&str]) -> Vec<String> {
    let rows: Vec<&str> = rows.iter().map(|row| row.trim_end()).filter(|row| !row.is_empty()).collect();
    last(SCREEN_ROWS, &rows, secrets)
}

/// The last rows that a host sent, without control functions; rows that hold a secret are hidden.
pub(crate) fn last_rows(written: &[u8], secrets: &[&str]) -> Vec<String> {
    let mut text = Text::default();
    text.push(written);
    let text = String::from_utf8_lossy(text.all()).into_owned();
    let rows: Vec<&str> = text.lines().map(str::trim_end).filter(|row| !row.is_empty()).collect();
    last(LAST_ROWS, &rows, secrets)
}

/// A row of a screen, with secrets taken out; hidden if it holds a part of one.
pub(crate) fn shown_row(row: &str, screen: &[String], secrets: &[&str]) -> String {
    let without = secrets.iter().fold(row.to_owned(), |row, secret| row.replace(secret, "…"));
    let rows: Vec<&str> = screen.iter().map(String::as_str).collect();
    let mut hidden = rows.iter().zip(hidden_rows(&rows, secrets)).filter(|(_, hidden)| *hidden);
    if without == row && hidden.any(|(hidden, _)| hidden.trim_end() == row.trim_end()) {
        return HIDDEN.to_owned();
    }
    make_printable(&without)
}

/// What stands in place of each row that holds a part of a secret; `None` for the others.
pub(crate) fn hide_secrets(rows: &[&str], secrets: &[&str]) -> Vec<Option<&'static str>> {
    hidden_rows(rows, secrets).into_iter().map(|hidden| hidden.then_some(HIDDEN)).collect()
}

fn last(number: usize, rows: &[&str], secrets: &[&str]) -> Vec<String> {
    let hidden = hide_secrets(rows, secrets).into_iter();
    let shown_rows =
        rows.iter().zip(hidden).map(|(row, hidden)| hidden.map_or_else(|| make_printable(row), str::to_owned));
    shown_rows.skip(rows.len().saturating_sub(number)).collect()
}

/// Which rows hold a part of a secret. A secret may continue in the next row, also where a blank or the border of a box is between.
fn hidden_rows(rows: &[&str], secrets: &[&str]) -> Vec<bool> {
    let rows: Vec<String> = rows.iter().map(|row| solid(row)).collect();
    let joined = rows.concat();
    let mut hidden = vec![false; rows.len()];
    for secret in secrets.iter().map(|secret| solid(secret)).filter(|secret| !secret.is_empty()) {
        for (at, _) in joined.match_indices(&secret) {
            let mut begin = 0;
            for (row, hidden) in rows.iter().zip(&mut hidden) {
                let end = begin + row.len();
                *hidden |= begin < at + secret.len() && at < end;
                begin = end;
            }
        }
    }
    hidden
}

/// A text without blanks and lines of boxes.
fn solid(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !('\u{2500}'..='\u{257f}').contains(c)).collect()
}

/// A text without characters that control a terminal, are invisible or change the direction of text; and cut.
pub(crate) fn make_printable(text: &str) -> String {
    let is_harmful = |c: char| {
        c.is_control()
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
            || matches!(c, '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
    };
    let plain = text.chars().map(|c| if is_harmful(c) { '\u{fffd}' } else { c });
    plain.take(COLUMNS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_rows_are_shown_without_control_functions() {
        let written = b"$ make\r\n\x1b[1;31mcc1: error\x1b[0m\x1b]0;title\x07\r\n\r\nmake: *** [all] Error 1\x07\r\n";
        assert_eq!(last_rows(written, &[]), ["$ make", "cc1: error", "make: *** [all] Error 1"]);
        assert_eq!(last_rows("a\u{9b}31mb".as_bytes(), &[]), ["a\u{fffd}31mb"]);
        assert_eq!(last_rows("a\u{202e}b\u{e0041}".as_bytes(), &[]), ["a\u{fffd}b\u{fffd}"]);
    }

    #[test]
    fn few_last_rows_are_shown_and_each_is_cut() {
        let written: Vec<u8> = (0..9).flat_map(|row| format!("{row}{}\n", "x".repeat(500)).into_bytes()).collect();
        let rows = last_rows(&written, &[]);
        assert_eq!((rows.len(), rows[0].len(), rows[4].as_bytes()[0]), (LAST_ROWS, COLUMNS, b'8'));
    }

    #[test]
    fn a_row_with_a_secret_is_hidden() {
        let written = b"login: ann\r\nno such user: ann/hunter2\r\nbye\r\n";
        assert_eq!(last_rows(written, &["hunter2"]), ["login: ann", "(hidden)", "bye"]);
        assert_eq!(last_rows(b"it was hun\r\nter2, no\r\nbye", &["hunter2"]), ["(hidden)", "(hidden)", "bye"]);
        assert_eq!(last_rows(b"it was hun\x1b[0mter2", &["hunter2", ""]), ["(hidden)"]);
        let rows = ["| say: correct  |", "| horse, ok     |", "> "].map(|row| row.replace('|', "\u{2502}"));
        assert_eq!(screen_rows(&rows, &["correct horse"]), ["(hidden)", "(hidden)", ">"]);
        let screen = ["word: hun".to_owned(), "ter2".to_owned()];
        assert_eq!(shown_row("ter2 ", &screen, &["hunter2"]), "(hidden)");
        assert_eq!(shown_row("hi hunter2>", &screen, &["hunter2"]), "hi …>");
    }
}
