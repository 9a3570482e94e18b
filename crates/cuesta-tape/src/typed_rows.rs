//! Warns of a wait whose pattern matches the echo of what is typed before it, which is no response, or one text only.

use crate::program::WAIT_PATTERN;
use crate::script::{Settings, Step};
use crate::{Key, Keys, Pattern, Piece, WaitCondition};

/// At most this many rows between two waits are checked.
const MOST_ROWS: usize = 16;

/// What has been typed since the last wait.
#[derive(Debug, Default)]
pub(crate) struct TypedRows {
    /// Row by row. A `${column}` ends a row, because its value is not known.
    rows: Vec<String>,
    /// The last key is shown as itself, so that its own echo may be waited for.
    ends_shown: bool,
    wait_pattern: Option<Pattern>,
    prompt: Option<Pattern>,
}

impl TypedRows {
    pub(crate) fn set(&mut self, settings: &Settings) {
        self.wait_pattern = settings.wait_pattern.clone().or(self.wait_pattern.take());
        self.prompt = settings.prompt.clone().or(self.prompt.take());
    }

    /// Forgets what was typed, because a block begins or ends.
    pub(crate) fn forget(&mut self) {
        self.rows.clear();
    }

    /// Notes a step; returns a warning if it waits for what was typed before it.
    pub(crate) fn step(&mut self, step: &Step) -> Option<String> {
        match step {
            Step::Keys { keys: Keys::Text(pieces) | Keys::Paste(pieces), .. } => self.text(pieces),
            Step::Keys { keys: Keys::Press { key, count }, .. } => (0..*count).for_each(|_| self.press(key)),
            Step::Wait { condition, .. } => {
                let note = self.pattern(condition).and_then(|pattern| self.note_typed_text(&pattern));
                let note = note.or_else(|| self.note_fixed_text(condition));
                self.forget();
                return note;
            }
            Step::Play(_) | Step::Ready { .. } => self.forget(),
            _ => {}
        }
        None
    }

    fn text(&mut self, pieces: &[Piece]) {
        for piece in pieces {
            match piece {
                Piece::Literal(text) => self.row().push_str(text),
                Piece::Column(_) => self.rows.push(String::new()),
            }
            self.ends_shown = true;
        }
    }

    fn press(&mut self, key: &Key) {
        self.ends_shown = matches!(key, Key::Space);
        match key {
            Key::Space => self.row().push(' '),
            Key::Backspace => drop(self.row().pop()),
            _ => self.rows.push(String::new()),
        }
        self.rows.drain(..self.rows.len().saturating_sub(MOST_ROWS));
    }

    fn row(&mut self) -> &mut String {
        if self.rows.is_empty() {
            self.rows.push(String::new());
        }
        let last = self.rows.len() - 1;
        &mut self.rows[last]
    }

    fn pattern(&self, condition: &WaitCondition<Option<Pattern>>) -> Option<Pattern> {
        match condition {
            WaitCondition::Line(own) | WaitCondition::Screen(own) => {
                own.clone().or(self.wait_pattern.clone()).or_else(|| Pattern::new(WAIT_PATTERN).ok())
            }
            WaitCondition::Prompt(_) => self.prompt.clone(),
            _ => None,
        }
    }

    /// Warns of a pattern that matches one text only: that may stand on the screen already, as on a status row.
    fn note_fixed_text(&self, condition: &WaitCondition<Option<Pattern>>) -> Option<String> {
        let WaitCondition::Screen(Some(pattern)) = condition else { return None };
        (pattern.is_fixed() && !self.rows.is_empty()).then(|| {
            format!(
                "/{}/ matches one text only: if that stands on the screen when the last key is sent, it is no answer until it \
                 was gone; if it stays there, wait for what changes with each answer, such as /Result: \\d+/",
                pattern.as_str()
            )
        })
    }

    /// Warns of a pattern that matches what is typed before the wait.
    fn note_typed_text(&self, pattern: &Pattern) -> Option<String> {
        let last = self.rows.len().checked_sub(1)?;
        let shown = self.rows.iter().enumerate().find(|(index, row)| {
            let mut matches = pattern.regex().find_iter(row.as_bytes()).filter(|part| !part.is_empty());
            matches.any(|part| !(self.ends_shown && *index == last && part.end() == row.len()))
        });
        let (_, row) = shown?;
        let row = crate::lex::make_printable(row);
        let pattern = pattern.as_str();
        Some(format!(
            "/{pattern}/ also matches what is typed before it, `{row}`: an echo is no answer, so only what the host shows \
             besides it counts; better wait for what only the answer shows"
        ))
    }
}

#[cfg(test)]
mod tests {
    /// Whether the parser warns of a pattern that an echo satisfies.
    fn warns(tape: &str) -> bool {
        let no_files = |_: &str| Err("no files here".to_owned());
        let tape = crate::parse(tape, "t", &no_files).unwrap_or_else(|errors| panic!("{errors}"));
        tape.notes.iter().any(|note| note.message.contains("an echo is no answer"))
    }

    #[test]
    fn a_pattern_that_its_own_command_satisfies_gives_a_warning() {
        for tape in [
            "Type \"echo DONE\" Enter Wait+Screen /DONE/",
            "Type \"echo DONE\" Enter Wait+Line@5s /DONE$/",
            "Repeat 2 Transaction \"a\" Type \"cat > f\" Enter Wait+Screen / > / End End",
            "Set WaitPattern /DONE/\nType \"echo DONE\" Enter Wait+Screen",
            "Set Prompt /[?] *$/\nType \"what?\" Enter Wait+Prompt",
            "Type \"hello\" Wait+Screen /hell/",
            "Copy \"echo DONE\" Paste Enter Wait /DONE/",
            "Type \"DOM\" Backspace Wait /DO/",
        ] {
            assert!(warns(tape), "{tape}");
        }
    }

    #[test]
    fn other_patterns_give_no_warning() {
        for tape in [
            "Type \"echo DONE\" Enter Wait+Screen /^DONE$/",
            "Type \"echo DONE\" Enter Wait+Prompt",
            "Type \"hello\" Wait+Screen /hello/",
            "Type \"DONE\" Enter Wait+Bytes 1 Enter Wait+Screen /DONE/",
            "Type \"abcd\" Enter Wait+Line /^$/",
            "Type \"DOM\" Backspace Type \"NE\" Enter Wait /DOM/",
        ] {
            assert!(!warns(tape), "{tape}");
        }
    }

    #[test]
    fn a_pattern_of_one_text_gives_a_warning_behind_keys() {
        let notes = |tape: &str| {
            let tape =
                crate::parse(tape, "t", &|_: &str| Err(String::new())).unwrap_or_else(|errors| panic!("{errors}"));
            tape.notes.iter().filter(|note| note.message.contains("one text only")).count()
        };
        for tape in
            ["Enter Wait+Screen /Ready/", "Type \"x\" Wait+Screen@2s /^a\\.b$/", "Enter Wait+Screen /\\bdone\\x21/"]
        {
            assert_eq!(notes(tape), 1, "{tape}");
        }
        for tape in
            ["Wait+Screen /Ready/", "Enter Wait /Ready/", "Enter Wait+Screen /Result: \\d+/", "Enter Wait+Screen /a.b/"]
        {
            assert_eq!(notes(tape), 0, "{tape}");
        }
    }
}
