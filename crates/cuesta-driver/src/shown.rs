//! What a host shows, as reports may have it: no control functions, no secrets, and not too much.

use crate::text::Text;

/// How many of a host's last rows are shown, of a screen's rows, and how many characters of each.
const LAST_ROWS: usize = 5;
const SCREEN_ROWS: usize = 50;
const COLUMNS: usize = 400;

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

/// One row, with secrets taken out.
pub(crate) fn shown_row(row: &str, secrets: &[&str]) -> String {
    shown(&secrets.iter().fold(row.to_owned(), |row, secret| row.replace(secret, "…")))
}

fn last(number: usize, rows: &[&str], secrets: &[&str]) -> Vec<String> {
    let hidden = rows_with(rows, secrets);
    let shown_rows =
        rows.iter().zip(hidden).map(|(row, hidden)| if hidden { "(hidden)".to_owned() } else { shown(row) });
    shown_rows.skip(rows.len().saturating_sub(number)).collect()
}

/// Which rows hold a part of a secret. A secret may continue in the next row.
fn rows_with(rows: &[&str], secrets: &[&str]) -> Vec<bool> {
    let joined = rows.concat();
    let mut hidden = vec![false; rows.len()];
    for secret in secrets {
        for (found, _) in joined.match_indices(secret) {
            let mut begin = 0;
            for (row, hidden) in rows.iter().zip(&mut hidden) {
                let end = begin + row.len();
                *hidden |= begin < found + secret.len() && found < end;
                begin = end;
            }
        }
    }
    hidden
}

/// A text without control characters, cut.
pub(crate) fn shown(text: &str) -> String {
    let plain = text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c });
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
    }
}
