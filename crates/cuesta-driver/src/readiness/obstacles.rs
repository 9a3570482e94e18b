//! What is told by its look alone: a login screen, a pager, a dialog. A login prompt echoes as a shell does, and a key may answer a
//! dialog, so these are looked for before any key is pressed.

use std::sync::LazyLock;

use cuesta_screen::vt::{Attributes, Screen};
use regex::Regex;

use super::{Obstacle, ObstacleKind};

/// How far a rule is to be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Certainty {
    /// It explains why a key was not shown.
    Likely,
    /// No key is to be pressed.
    Certain,
}

use Certainty::{Certain, Likely};
use ObstacleKind::{Dialog, Login, Pager};

/// Where a rule looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In the text before the visible cursor.
    BeforeCursor,
    /// In the text before the visible cursor in the last row.
    BeforeCursorBelow,
    /// In the text before the visible cursor, below a row that speaks of a login.
    BeforeCursorAtLogin,
    /// In the last row with text above the visible cursor, `FIELD` rows at most, if no text stands before the cursor.
    Above,
    /// In the row of the visible cursor; without one, in any row.
    CursorRow,
    /// In any row of a program that hides the cursor.
    NoCursor,
}

use Place::{Above, BeforeCursor, BeforeCursorAtLogin, BeforeCursorBelow, CursorRow, NoCursor};

/// A field begins at most this far below its label: a border is between them.
const FIELD: usize = 2;

struct Rule {
    kind: ObstacleKind,
    place: Place,
    certainty: Certainty,
    pattern: Regex,
}

/// The rules; the first that matches is told.
static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let rule = |(kind, place, certainty, pattern): (_, _, _, &str)| {
        let pattern = Regex::new(&format!("(?i){pattern}")).expect("the rules compile");
        Rule { kind, place, certainty, pattern }
    };
    let buttons = "(ok|yes|no|cancel|abort|retry|ignore|continue|accept|exit|quit|close)";
    let people = "login|log in|logon|user ?name|user ?id|e-?mail( address)?";
    let secrets = "password|passwort|kennwort|passwd|passphrase|passcode|pin|otp|secret|token";
    let kinds =
        "api|access|secret|security|auth|authentication|authori[sz]ation|licen[sc]e|product|activation|registration";
    let keys = format!("({kinds})[ _-]?(key|token|code)( id)?");
    let codes = "((verification|one-time|single-use|two-factor|2fa|mfa|otp|token|\\d-digit) code|enter (the |your )?(token|code))";
    let note = r"( [(\[][^)\]]{1,40}[)\]])?";
    let asks = format!(
        r"\b({people}|{secrets}|{keys}|{codes})( or option)?{note}( (as|for|of|to|from) [^:]{{1,99}})?{note}\s*[:：]\s*$"
    );
    let asks_with_a_mark = format!(r"^\s*\? ([\p{{L}}']+ ){{0,4}}({people}|{secrets}|{keys}|{codes})\s*[?:›»]?\s*$");
    let label = format!(
        r"^[^\p{{L}}\p{{N}}]*((enter|type|your|the|please) ){{0,3}}({people}|{secrets}|{keys}|{codes})[^\p{{L}}\p{{N}}]*$"
    );
    [
        // `login: `, `ann@host's password: `, `[sudo] password for ann: `, `Enter passphrase for key '/home/ann/.ssh/id': `,
        // `Passcode or option (1-3): `, `One-time password (OATH) for ann: `, `Enter the code from your app: `, `Email address: `,
        // `Paste your API key: `, `Username [ann]: `
        (Login, BeforeCursor, Certain, asks.as_str()),
        // `? Enter your email `
        (Login, BeforeCursor, Certain, asks_with_a_mark.as_str()),
        // A field below its label.
        (Login, Above, Certain, label.as_str()),
        // Also how one that chats is asked.
        (Login, BeforeCursorAtLogin, Certain, r"^\s*user\s*[:：]\s*$"),
        (Login, BeforeCursor, Likely, r"^\s*user\s*[:：]\s*$"),
        (Login, BeforeCursor, Certain, r"continue connecting \(yes/no"),
        // A form: the label of a field for a password, with nothing else in its row.
        (Login, CursorRow, Likely, r"^[^\p{L}\p{N}]*(user ?name|user ?id|login|password|passphrase)[^\p{L}\p{N}]*$"),
        (Login, NoCursor, Certain, r"^[^\p{L}\p{N}]*(your |enter )?(password|passphrase)[^\p{L}\p{N}]*$"),
        (Pager, BeforeCursorBelow, Certain, r"^(:|.*\(END\)|.*--\s?More\s?--.*|.*\blines \d+-\d+.*|.*\(press h for help or q to quit\))\s*$"),
        // `Do you want to continue? [Y/n] `
        (Dialog, BeforeCursor, Certain, r"[\[(]\s*y(es)?\s*[/|]\s*n(o)?(\s*[/|][^\])]{1,40})?\s*[\])][^\p{L}]*$"),
        // `[O]pen Read-Only, (E)dit anyway, (Q)uit: `
        (Dialog, BeforeCursor, Certain, r"([\[(]\p{L}[\])]\p{L}+[^\[(]{0,30}){2}\s*$"),
        (Dialog, CursorRow, Certain, r"\b(press|hit|strike|type)\s+(any key\b|.{0,3}(enter|return|space)\b.{0,30}\b(to (continue|start|begin|proceed|exit)|or type command))"),
        // `<  OK  >   <Cancel>`, `[ Yes ] [ No ]`
        (Dialog, CursorRow, Certain, &format!(r"<\s{{0,4}}{buttons}\s{{0,4}}>|\[\s{{0,4}}{buttons}\s{{0,4}}\].*\[\s{{0,4}}{buttons}\s{{0,4}}\]")),
        // `❯ 1. Yes, proceed`
        (Dialog, NoCursor, Certain, r"^[^\p{L}\p{N}]*[❯›▶▸➤>]\s*1[.)]\s"),
        (Dialog, CursorRow, Likely, &format!(r"^[^\p{{L}}\p{{N}}]*{buttons}([^\p{{L}}\p{{N}}]{{2,}}{buttons})*[^\p{{L}}\p{{N}}]*$")),
        (Dialog, BeforeCursor, Likely, r"[\p{L}\p{N}]\s?\?\s*$"),
    ]
    .map(rule)
    .into()
});

/// What stands above a login prompt.
static LOGIN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b((log|sign) ?[io]n|password|passwort|authenticat|authori[sz]ed|unauthori[sz]ed|restricted|user access)",
    )
    .expect("the rule compiles")
});

/// What a screen shows in place of a program that takes keys, if that is at least so certain.
pub(super) fn find(screen: &Screen, certainty: Certainty) -> Option<Obstacle> {
    let has_cursor = !screen.modes().hidden_cursor;
    if has_cursor && stands_behind_marked_row(screen) {
        return Some(Obstacle { kind: Pager, row: cursor_row(screen) });
    }
    let rows: Vec<String> = screen.rows().collect();
    let cursor = screen.next_cell();
    let before = screen.text_before(cursor);
    let above = rows.get(..usize::from(cursor.0)).unwrap_or_default();
    let is_last = cursor.0 + 1 == screen.size().1;
    RULES.iter().filter(|rule| rule.certainty >= certainty).find_map(|rule| {
        let is_match = |row: &&str| rule.pattern.is_match(row);
        let row = match rule.place {
            BeforeCursorBelow if !is_last => None,
            BeforeCursorAtLogin if !above.iter().any(|row| LOGIN.is_match(row)) => None,
            Above => label_above(above, &before).filter(|_| has_cursor).filter(is_match),
            BeforeCursor | BeforeCursorAtLogin | BeforeCursorBelow => {
                Some(before.as_str()).filter(|_| has_cursor).filter(is_match)
            }
            CursorRow if has_cursor => rows.get(usize::from(cursor.0)).map(String::as_str).filter(is_match),
            NoCursor if has_cursor => None,
            CursorRow | NoCursor => rows.iter().map(String::as_str).find(is_match),
        }?;
        Some(Obstacle { kind: rule.kind, row: row.trim().to_owned() })
    })
}

/// The label of the field in which the cursor stands.
fn label_above<'a>(above: &'a [String], before: &str) -> Option<&'a str> {
    let has_text = |row: &str| row.chars().any(char::is_alphanumeric);
    let label = above.iter().rev().take(FIELD).map(String::as_str).find(|row| has_text(row));
    label.filter(|_| !has_text(before))
}

/// The row in which the cursor stands; without one that can be seen, or if nothing stands there, the last row with text.
pub(super) fn cursor_row(screen: &Screen) -> String {
    let row = if screen.modes().hidden_cursor { String::new() } else { screen.row(screen.cursor().0) };
    let last = || screen.rows().filter(|row| !row.trim().is_empty()).last().unwrap_or_default();
    let row = if row.trim().is_empty() { last() } else { row };
    row.trim().to_owned()
}

/// Whether the cursor stands in the last row behind text in reverse video, and nothing else stands there: so pagers mark a file's name.
fn stands_behind_marked_row(screen: &Screen) -> bool {
    let (row, column) = screen.next_cell();
    let is_marked = |column| {
        let cell = screen.cell(row, column);
        cell.is_some_and(|cell| cell.style().attributes.contains(Attributes::INVERSE))
    };
    let text = screen.row(row).chars().count();
    row + 1 == screen.size().1 && column > 0 && text > 0 && (0..column).all(is_marked) && text <= usize::from(column)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kind of obstacle on a screen that shows a text, and whether it is certain.
    fn find_on(shown: &str) -> Option<(ObstacleKind, bool)> {
        let mut screen = Screen::new(80, 24);
        screen.feed(shown.as_bytes());
        let certain = find(&screen, Certain);
        find(&screen, Likely).map(|found| (found.kind, certain.is_some()))
    }

    #[test]
    fn logins_are_found() {
        let shown = [
            "Sign in\r\nEmail address: ",
            "E-mail: ",
            "Welcome to agent! You are not signed in.\r\nPaste your API key: ",
            "AWS Access Key ID [None]: ",
            "Paste your authentication token: ",
            "Enter your PIN: ",
            "Enter the 6-digit code: ",
            "One-time code: ",
            "Username [postgres]: ",
            "Client secret: ",
            "Licence key: ",
            "? Enter your email address ",
            "? What is your e-mail? ",
            "? Paste your API key \u{203a} ",
            // dialog --inputbox 'Password:' 8 40
            "\x1b[8;22H\u{2502} Password:      \u{2502}\x1b[9;22H\u{250c}\u{2500}\u{2500}\u{2510}\x1b[10;22H\u{2502}\u{2502}    \u{2502}\x1b[10;24H",
            "Email\r\n\u{256d}\u{2500}\u{2500}\u{256e}\r\n\u{2502} > ",
            "\u{256d}\u{2500} Enter your API key \u{2500}\u{256e}\r\n\u{2502} ",
            "Password:\r\n",
            "User Access Verification\r\n\r\nUser: ",
            "Please sign in.\r\nUser: ",
        ];
        for shown in shown {
            assert_eq!(find_on(shown), Some((Login, true)), "{shown:?}");
        }
        assert_eq!(find_on("Switch 5\r\nUser: "), Some((Login, false)));
    }

    #[test]
    fn prompts_of_programs_are_no_obstacles() {
        let shown = [
            "Bot: Good morning!\r\nUser: ".replace("User", "You"),
            "To: ".to_owned(),
            "Subject: ".to_owned(),
            "psql (15.8)\r\nType \"help\" for help.\r\n\r\npostgres=# ".to_owned(),
            "Enter a number: ".to_owned(),
            "Your name: ".to_owned(),
            "Key: ".to_owned(),
            "Code: ".to_owned(),
            "Last login: Sun Nov 29 17:00:00 2026 from 10.0.0.1\r\nann@host:~$ ".to_owned(),
            "Welcome to fish, the friendly interactive shell\r\nann@host ~> ".to_owned(),
            "tokens: 0\r\n> ".to_owned(),
            "Signed in as ann@host.example\r\n> ".to_owned(),
            "Logged in with your API key\r\n\r\n> ".to_owned(),
            // A template of git, below which one types.
            "\x1b[4H# Author: Ann <ann@host.example>\r\n# Email: ann@host.example\x1b[H".to_owned(),
            "In [1]: ".to_owned(),
            "sqlite> ".to_owned(),
            ">>> ".to_owned(),
            "host (email) > ".to_owned(),
        ];
        for shown in shown {
            assert_eq!(find_on(&shown), None, "{shown:?}");
        }
    }
}
