//! Writes a tape with waits and think times.
//!
//! After a key that ends a row of input, the answer is complete at a prompt, if the cursor ends in a row that is a prompt and
//! was not there earlier in the answer. Otherwise, if the person waited, it is complete at a silence. After any other key, only a
//! pause counts as waiting. A silence in the tape is longer than any pause within the recorded answer, and never longer than the
//! person waited.

use std::time::Duration;

use crate::key_code::KeyCode;
use crate::spell;
use crate::strokes::{Answer, Stroke};
use crate::tape::{EchoSwitch, PAUSE, Session, paste};

/// A person who types sooner than this after an answer did not wait for it.
const WAITED: Duration = Duration::from_millis(300);
/// Bounds of the silence that completes an answer.
const LEAST_SILENCE: Duration = Duration::from_millis(200);
const MOST_SILENCE: Duration = Duration::from_secs(2);
/// A prompt that appeared longer than this before the end of the answer was not its end.
const SETTLED: Duration = Duration::from_millis(100);
/// VHS's own timeout, and the factor by which an answer may take longer than recorded.
const TIMEOUT: Duration = Duration::from_secs(15);
const PATIENCE: u32 = 4;
/// Shorter pauses are not written as think times.
const LEAST_THOUGHT: Duration = Duration::from_millis(10);
/// Bounds of transactions' names: each name has histograms, so not every typed row may have its own.
const MOST_NAMES: usize = 100;
const LONGEST_NAME: usize = 24;

pub(crate) fn write_rows(session: &Session) -> Vec<String> {
    let rate = session.key_gap.map(|gap| (10.0 / gap.as_secs_f64()).round().clamp(1.0, 100_000.0) / 10.0);
    let mut writer = Writer {
        session,
        key_gap: rate.map_or(Duration::from_millis(50), |rate| Duration::from_secs_f64(rate.recip())),
        tape: Vec::new(),
        input: Vec::new(),
        text: String::new(),
        presses: None,
        names: Vec::new(),
        echo: EchoSwitch::default(),
    };
    writer.tape.extend(rate.map(|rate| format!("Set KeyRate {rate}cps")));
    writer.tape.extend(session.prompts.pattern().map(|pattern| spell::command("Set", "Prompt", &pattern)));
    writer.tape.extend(timeout(session).map(|timeout| format!("Set WaitTimeout {}", spell::time(timeout))));
    writer.write_strokes();
    writer.tape
}

/// How long answers may take, where one took longer than usual.
fn timeout(session: &Session) -> Option<Duration> {
    let took = |stroke: &Stroke| stroke.answer.end().map(|end| end.saturating_sub(stroke.at()));
    let longest = session.strokes.strokes.iter().filter_map(took).max()? * PATIENCE;
    (longest > TIMEOUT).then(|| Duration::from_secs(longest.as_secs() + 1))
}

/// A wait, and the instant at which the person saw its condition met.
struct Wait {
    rule: String,
    knows: Duration,
}

struct Writer<'a> {
    session: &'a Session,
    key_gap: Duration,
    tape: Vec<String>,
    /// The commands since the last wait.
    input: Vec<String>,
    /// Typed characters that are not written yet.
    text: String,
    /// A key that is not written yet, and its number of presses.
    presses: Option<(cuesta_tape::Key, usize)>,
    names: Vec<String>,
    echo: EchoSwitch,
}

impl Writer<'_> {
    fn write_strokes(&mut self) {
        let session = self.session;
        let strokes = &session.strokes.strokes;
        let first = strokes.first().map_or(Duration::ZERO, Stroke::at);
        let mut knew = Duration::ZERO;
        if let Some(wait) = self.wait_for(&session.strokes.greeting, first, true) {
            self.tape.push(wait.rule);
            knew = wait.knows;
        }
        let mut began = 0;
        let echo_modes = session.echo_modes();
        for (at, stroke) in strokes.iter().enumerate() {
            self.pause(stroke.at().saturating_sub(knew), at == began);
            if let Some(switch) = self.echo.switch_to(echo_modes[at]) {
                self.flush();
                self.input.push(switch);
            }
            self.press(&stroke.press.code);
            knew = stroke.at();
            let next = strokes.get(at + 1);
            if let Some(wait) = self.wait_after(stroke, next) {
                self.transaction(&strokes[began..=at], &wait.rule);
                knew = wait.knows;
                began = at + 1;
            }
        }
        self.flush();
        let rest = std::mem::take(&mut self.input);
        self.tape.extend(rest);
    }

    fn wait_after(&self, stroke: &Stroke, next: Option<&Stroke>) -> Option<Wait> {
        let Some(next) = next else {
            return if self.session.closed {
                Some(Wait { rule: "Wait+Disconnect".to_owned(), knows: stroke.at() })
            } else {
                self.wait_for(&stroke.answer, Duration::MAX, stroke.ends_row())
            };
        };
        let ends = stroke.ends_row() || matches!(stroke.press.code, KeyCode::Key(_));
        self.wait_for(&stroke.answer, next.at(), ends)
    }

    /// The wait for an answer, if the person, who typed the next key at `until`, waited. `ends`: the key before it ends an input.
    fn wait_for(&self, answer: &Answer, until: Duration, ends: bool) -> Option<Wait> {
        let end = answer.end()?;
        let waited = until.saturating_sub(end);
        if ends && self.is_at_prompt(answer, end) {
            return Some(Wait { rule: "Wait+Prompt".to_owned(), knows: end });
        }
        if waited < if ends { WAITED } else { PAUSE } {
            return None;
        }
        let silence = (answer.longest_gap * 2).clamp(LEAST_SILENCE, MOST_SILENCE).min(waited);
        Some(Wait { rule: format!("Wait+Silence {}", spell::time(silence)), knows: end + silence })
    }

    /// Whether an answer ended with a prompt that was not there earlier.
    fn is_at_prompt(&self, answer: &Answer, end: Duration) -> bool {
        let mut prompts = answer.rows.iter().filter(|(_, row)| self.session.prompts.contains(row)).map(|(at, _)| *at);
        let last_is_one = answer.last_row().is_some_and(|row| self.session.prompts.contains(row));
        last_is_one && prompts.next().is_some_and(|first| end.saturating_sub(first) <= SETTLED)
    }

    /// Writes the time before a key beyond a key's usual gap: a think time before an input, a pause within one.
    fn pause(&mut self, gap: Duration, begins: bool) {
        let pause = gap.saturating_sub(self.key_gap);
        if begins && pause >= LEAST_THOUGHT {
            self.tape.push(format!("Think {}", spell::time(Duration::from_millis(pause.as_millis() as u64))));
        } else if !begins && gap > PAUSE {
            self.flush();
            self.input.push(format!("Sleep {}", spell::time(Duration::from_millis(pause.as_millis() as u64))));
        }
    }

    fn press(&mut self, code: &KeyCode) {
        match (code, &mut self.presses) {
            (KeyCode::Char(c), None) => self.text.push(*c),
            (KeyCode::Key(key), Some((before, count))) if key == before => *count += 1,
            (code, _) => {
                self.flush();
                match code {
                    KeyCode::Char(c) => self.text.push(*c),
                    KeyCode::Key(key @ cuesta_tape::Key::Bytes(_)) => self.input.push(spell::key(key, None, 1)),
                    KeyCode::Key(key) => self.presses = Some((key.clone(), 1)),
                    KeyCode::Secret(column) => self.input.push(spell::column(column)),
                    KeyCode::Paste(text) => self.input.extend(paste(text)),
                }
            }
        }
    }

    fn flush(&mut self) {
        let text = std::mem::take(&mut self.text);
        self.input.extend(spell::typed(&text, None));
        if let Some((key, count)) = self.presses.take() {
            self.input.push(spell::key(&key, None, count));
        }
    }

    fn transaction(&mut self, strokes: &[Stroke], wait: &str) {
        self.flush();
        // A transaction must begin with a key, and an empty paste presses none.
        if self.input.iter().all(|command| command.starts_with("Set ") || command.starts_with("Sleep ")) {
            self.tape.append(&mut self.input);
            self.tape.push(wait.to_owned());
            return;
        }
        let mut name = name(strokes);
        if !self.names.contains(&name) {
            if self.names.len() >= MOST_NAMES {
                "other".clone_into(&mut name);
            }
            self.names.push(name.clone());
        }
        self.tape.push(spell::command("Transaction", "", &name));
        self.tape.extend(self.input.drain(..).map(|command| format!("  {command}")));
        self.tape.extend([format!("  {wait}"), "End".to_owned()]);
    }
}

/// The name of an input: the column of a secret, its first word, or its last key.
fn name(strokes: &[Stroke]) -> String {
    let secret = strokes.iter().find_map(|stroke| match &stroke.press.code {
        KeyCode::Secret(column) => Some(column.clone()),
        _ => None,
    });
    if let Some(column) = secret {
        return column;
    }
    let text: String = strokes
        .iter()
        .map(|stroke| match stroke.press.code {
            KeyCode::Char(c) => c,
            _ => ' ',
        })
        .collect();
    let word = text.split_whitespace().next().unwrap_or_default();
    let word: String =
        word.chars().filter(|c| c.is_alphanumeric() || "._-/:".contains(*c)).take(LONGEST_NAME).collect();
    match strokes.last().map(|stroke| &stroke.press.code) {
        _ if !word.is_empty() => word,
        Some(KeyCode::Key(key)) => spell::key(key, None, 1).replace(['"', '\\'], ""),
        Some(KeyCode::Paste(_)) => "paste".to_owned(),
        _ => "input".to_owned(),
    }
}
