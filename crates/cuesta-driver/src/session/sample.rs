//! A wait that went wrong, for reports.

use std::time::Duration;

use cuesta_lines::Transcript;
use cuesta_record::WaitSample;
use cuesta_tape::TapePlace;

use super::Session;
use crate::shown::{last_rows, screen_rows, shown_row};

impl Session {
    /// What is waited for, where that stands in the tape, and what the user sees after a time.
    pub(crate) fn sample(&self, condition: String, place: &TapePlace, time: Duration) -> WaitSample {
        let secrets = self.shared.secrets(self.slot);
        let row = self.terminal.cursor_row().map(|row| self.write_row(&row));
        let screen = match self.terminal.rows() {
            Some(rows) => screen_rows(&rows, &secrets),
            None => last_rows(&self.line.transcript().map_or_else(Vec::new, Transcript::rows), &secrets),
        };
        WaitSample { users: 1, seconds: time.as_secs_f64(), condition, place: place.to_string(), row, screen }
    }

    /// A row as a sample has it.
    pub(crate) fn write_row(&self, row: &str) -> String {
        shown_row(row, &self.terminal.rows().unwrap_or_default(), &self.shared.secrets(self.slot))
    }
}
