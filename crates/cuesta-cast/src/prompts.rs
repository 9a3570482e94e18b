//! Finds the host's prompts. A prompt is the cursor's row at the end of the greeting or of an answer to a typed row, if that row
//! occurs at least twice, or ends with a character that usually ends a prompt (`$`, `>`, `:`).

use std::collections::BTreeMap;

use crate::strokes::{CursorRow, Strokes};

/// Most prompts of a tape, and the longest one in characters.
const MOST: usize = 8;
const LONGEST: usize = 100;
/// How prompts end.
const ENDS: [char; 8] = ['$', '#', '%', '>', ':', '?', '❯', '»'];
/// Placeholder for a number in a prompt, such as a clock or a counter.
const NUMBER: char = '\0';

/// The prompts of a session.
#[derive(Debug, Default)]
pub(crate) struct Prompts {
    /// With placeholders for numbers; the most frequent first.
    known: Vec<String>,
}

impl Prompts {
    pub(crate) fn find(session: &Strokes) -> Self {
        let answers = session.strokes.iter().filter(|stroke| stroke.ends_row() && !stroke.alternate);
        let outputs = [&session.greeting].into_iter().chain(answers.map(|stroke| &stroke.answer));
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for row in outputs.filter_map(|answer| answer.last_row()).filter(|row| is_candidate(row)) {
            *seen.entry(without_numbers(&row.text)).or_default() += 1;
        }
        let mut known: Vec<_> = seen.into_iter().filter(|(row, count)| *count > 1 || row.ends_with(ENDS)).collect();
        known.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        Self { known: known.into_iter().map(|(row, _)| row).take(MOST).collect() }
    }

    /// Whether a row is a prompt.
    pub(crate) fn contains(&self, row: &CursorRow) -> bool {
        is_candidate(row) && self.known.contains(&without_numbers(&row.text))
    }

    /// A pattern that matches all prompts; none if there are none.
    pub(crate) fn pattern(&self) -> Option<String> {
        let one = |row: &String| {
            let parts: Vec<String> = row.split(NUMBER).map(escaped).collect();
            parts.join(r"\d+")
        };
        let all: Vec<String> = self.known.iter().map(one).collect();
        match &all[..] {
            [] => None,
            [only] => Some(format!("^{only} ?$")),
            several => Some(format!("^({}) ?$", several.join("|"))),
        }
    }
}

/// A pattern that matches exactly a text.
fn escaped(text: &str) -> String {
    let mut pattern = String::new();
    for c in text.chars() {
        if r"\.+*?()|[]{}^$/".contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

fn is_candidate(row: &CursorRow) -> bool {
    row.at_end && !row.text.is_empty() && row.text.chars().count() <= LONGEST && !row.text.contains(char::is_control)
}

fn without_numbers(row: &str) -> String {
    let mut text = String::new();
    for c in row.chars() {
        match c {
            '0'..='9' if text.ends_with(NUMBER) => {}
            '0'..='9' => text.push(NUMBER),
            c => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(text: &str) -> CursorRow {
        CursorRow { text: text.into(), at_end: true }
    }

    #[test]
    fn a_pattern_fits_prompts_whose_numbers_change() {
        let known = ["ann@host:~/x$", "In [1]:"].map(without_numbers).to_vec();
        let prompts = Prompts { known };
        assert!(prompts.contains(&row("In [12]:")));
        assert!(!prompts.contains(&row("Out[12]:")));
        assert!(!prompts.contains(&CursorRow { at_end: false, ..row("In [12]:") }));
        assert_eq!(prompts.pattern().as_deref(), Some(r"^(ann@host:~\/x\$|In \[\d+\]:) ?$"));
        assert_eq!(Prompts::default().pattern(), None);
    }
}
