//! The end of a session: the run is over, or the line was lost, and then what the host said last, and how its program ended.

use std::fmt::Write;
use std::time::Duration;

use cuesta_lines::{ExitStatus, Fault, kind_of};
use cuesta_record::clock;
use cuesta_tape::Op;

use super::{Stop, User};
use crate::error::LineLoss;
use crate::session::Session;
use crate::text::Text;

/// A program ends a little after it closes its line. One that closes its line and goes on is not waited for.
const PATIENCE: Duration = Duration::from_millis(200);
/// How many of a host's last rows are shown, and how many characters of each.
const ROWS: usize = 5;
const COLUMNS: usize = 400;

impl User {
    /// Tells what the host of a lost line said last. Replaces the line's fault by how the program there ended, if that is known.
    pub(super) async fn explained(&self, stop: Stop, mut session: Session) -> Stop {
        let Stop::Lost(LineLoss::Fault(fault)) = stop else { return stop };
        let may_say_why = matches!(fault, Fault::Closed | Fault::Reset | Fault::Broken | Fault::NoProgram);
        if !may_say_why || self.load_has_ended() {
            return stop;
        }
        let ended = session.program_exit(clock::now() + PATIENCE).await;
        let loss = ended.map_or(LineLoss::Fault(fault), |status| self.loss(fault, status, session.has_sent()));
        let said = self.about(ended, &session.last_rows());
        self.shared.tally(|tally| {
            tally.counts.said.entry(loss.failure()).or_insert(said);
        });
        Stop::Lost(loss)
    }

    /// How a fault is counted, given how the program ended.
    fn loss(&self, fault: Fault, status: ExitStatus, has_sent: bool) -> LineLoss {
        let waits = self.program().ops.iter().any(|op| matches!(op, Op::Wait { .. }));
        match status {
            _ if fault == Fault::NoProgram => LineLoss::Fault(fault),
            _ if !self.host_has_answered && (waits || !has_sent) => LineLoss::ExitedAtStart,
            ExitStatus::Exited(0) => LineLoss::Fault(fault),
            _ => LineLoss::Exited,
        }
    }

    fn about(&self, ended: Option<ExitStatus>, last: &[u8]) -> String {
        let target = &self.shared.spec.groups[self.group].target;
        let is_program = kind_of(target).is_some_and(|kind| kind.starts_program);
        // A command, or an address without its settings.
        let host = match target.split_once(':') {
            Some((_, command)) if is_program => command,
            _ => target.split_once('?').map_or(target.as_str(), |(address, _)| address),
        };
        let how = ended.map_or_else(|| "closed the line".to_owned(), |status| status.to_string());
        let mut about = format!("{} {how}", shown(host));
        let rows = last_rows(last, &self.shared.groups[self.group].secrets(self.rank));
        let _ = match rows.as_slice() {
            [] => write!(about, " and had said nothing"),
            rows => write!(about, "; it said last: {}", rows.join(" | ")),
        };
        about
    }

    /// Nothing more is due: keeps the line open until the measurement ends, and then while keys wait for their echo.
    pub(super) async fn until_the_end(&self, session: &mut Session) -> Stop {
        if self.hung_up {
            clock::sleep_until(self.shared.schedule().timeline.end()).await;
            return Stop::Over;
        }
        let timeline = &self.shared.schedule().timeline;
        let listened = match session.listen_until(timeline.end()).await {
            Ok(()) => session.listen_for_echoes(timeline.drained()).await,
            lost => lost,
        };
        listened.map_or_else(Stop::from, |()| Stop::Over)
    }
}

/// The last rows that a host sent, without control functions; rows that hold a secret are hidden.
fn last_rows(written: &[u8], secrets: &[&str]) -> Vec<String> {
    let mut text = Text::default();
    text.push(written);
    let text = String::from_utf8_lossy(text.all()).into_owned();
    let rows: Vec<&str> = text.lines().map(str::trim_end).filter(|row| !row.is_empty()).collect();
    let hidden = rows_with(&rows, secrets);
    let shown_rows =
        rows.iter().zip(hidden).map(|(row, hidden)| if hidden { "(hidden)".to_owned() } else { shown(row) });
    let mut last: Vec<String> = shown_rows.rev().take(ROWS).collect();
    last.reverse();
    last
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

fn shown(text: &str) -> String {
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
        assert_eq!((rows.len(), rows[0].len(), rows[4].as_bytes()[0]), (ROWS, COLUMNS, b'8'));
    }

    #[test]
    fn a_row_with_a_secret_is_hidden() {
        let written = b"login: ann\r\nno such user: ann/hunter2\r\nbye\r\n";
        assert_eq!(last_rows(written, &["hunter2"]), ["login: ann", "(hidden)", "bye"]);
        assert_eq!(last_rows(b"it was hun\r\nter2, no\r\nbye", &["hunter2"]), ["(hidden)", "(hidden)", "bye"]);
        assert_eq!(last_rows(b"it was hun\x1b[0mter2", &["hunter2", ""]), ["(hidden)"]);
    }
}
