//! What is told by its look alone: a login screen, a pager, a dialog. A login prompt echoes as a shell does, and a key may answer a
//! dialog, so these are looked for before any key is pressed.

use std::sync::LazyLock;

use cuesta_screen::vt::{Attributes, Screen};
use regex::Regex;

use super::{Hindrance, HindranceKind};

/// How far a rule is to be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Certainty {
    /// It explains why a key was not shown.
    Likely,
    /// No key is to be pressed.
    Certain,
}

use Certainty::{Certain, Likely};
use HindranceKind::{Dialog, Login, Pager};

/// Where a rule looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In the text before the visible cursor.
    BeforeCursor,
    /// In the text before the visible cursor in the last row.
    BeforeCursorBelow,
    /// In the row of the visible cursor; without one, in any row.
    CursorRow,
    /// In any row of a program that hides the cursor.
    NoCursor,
}

use Place::{BeforeCursor, BeforeCursorBelow, CursorRow, NoCursor};

struct Rule {
    kind: HindranceKind,
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
    let names = "login|log in|logon|user ?name|user ?id|password|passwort|kennwort|passwd|passphrase|passcode|pin|otp";
    let codes = "(verification|authentication|security|one-time|two-factor|2fa|mfa|otp|token) code|enter (the |your )?(token|code)";
    let note = r"( \([^)]{1,40}\))?";
    let asks = format!(r"\b({names}|{codes})( or option)?{note}( (as|for|of|to|from) [^:]{{1,99}})?{note}\s*[:：]\s*$");
    [
        // `login: `, `ann@host's password: `, `[sudo] password for ann: `, `Enter passphrase for key '/home/ann/.ssh/id': `,
        // `Passcode or option (1-3): `, `One-time password (OATH) for ann: `, `Enter the code from your app: `
        (Login, BeforeCursor, Certain, asks.as_str()),
        (Login, BeforeCursor, Certain, r"^\s*user\s*[:：]\s*$"),
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

/// What a screen shows in place of a program that takes keys, if that is at least so certain.
pub(super) fn find(screen: &Screen, certainty: Certainty) -> Option<Hindrance> {
    let has_cursor = !screen.modes().hidden_cursor;
    if has_cursor && stands_behind_marked_row(screen) {
        return Some(Hindrance { kind: Pager, row: cursor_row(screen) });
    }
    let rows: Vec<String> = screen.rows().collect();
    let cursor = screen.next_cell();
    let before = screen.text_before(cursor);
    let is_last = cursor.0 + 1 == screen.size().1;
    RULES.iter().filter(|rule| rule.certainty >= certainty).find_map(|rule| {
        let is_match = |row: &&str| rule.pattern.is_match(row);
        let row = match rule.place {
            BeforeCursorBelow if !is_last => None,
            BeforeCursor | BeforeCursorBelow => Some(before.as_str()).filter(|_| has_cursor).filter(is_match),
            CursorRow if has_cursor => rows.get(usize::from(cursor.0)).map(String::as_str).filter(is_match),
            NoCursor if has_cursor => None,
            CursorRow | NoCursor => rows.iter().map(String::as_str).find(is_match),
        }?;
        Some(Hindrance { kind: rule.kind, row: row.trim().to_owned() })
    })
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
