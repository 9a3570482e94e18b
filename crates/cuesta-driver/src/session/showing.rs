//! What the user sees, for people who look at the run.

use cuesta_lines::Transcript;
use cuesta_record::clock;

use super::Session;

impl Session {
    /// Shows the user's screen, if somebody looks at it and it is time.
    pub(super) fn show_if_due(&mut self) {
        if !self.shared.takes_showing(self.slot) {
            return;
        }
        let line = &self.line;
        let picture = self.terminal.picture(&|| line.transcript().map_or_else(Vec::new, Transcript::rows));
        self.shared.show_screen(self.slot, picture, clock::latest());
    }
}
