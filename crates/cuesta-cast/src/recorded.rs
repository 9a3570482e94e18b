//! Writes a tape with the recorded gaps between keys, and a wait at the end only.

use std::time::Duration;

use crate::key_code::KeyCode;
use crate::spell;
use crate::strokes::Stroke;
use crate::tape::{EchoSwitch, Session, paste};

pub(crate) fn write_rows(session: &Session) -> Vec<String> {
    // The gaps are written as pauses, so keys themselves take no time.
    let mut tape = vec!["Set KeyRate 0".to_owned()];
    let mut echo = EchoSwitch::default();
    let mut text = Text::default();
    let mut before = Duration::ZERO;
    for (stroke, echo_mode) in session.strokes.strokes.iter().zip(session.echo_modes()) {
        let gap = stroke.at().saturating_sub(before);
        before = stroke.at();
        if let Some(switch) = echo.switch_to(echo_mode) {
            text.finish(&mut tape);
            tape.push(switch);
        }
        match &stroke.press.code {
            KeyCode::Char(c) if text.gap == gap => text.characters.push(*c),
            code => {
                text.finish(&mut tape);
                press(code, gap, &mut text, &mut tape);
            }
        }
    }
    text.finish(&mut tape);
    tape.extend(last_wait(session));
    tape
}

fn press(code: &KeyCode, gap: Duration, text: &mut Text, tape: &mut Vec<String>) {
    match code {
        KeyCode::Char(c) => *text = Text { characters: c.to_string(), gap },
        KeyCode::Key(key) => tape.push(spell::key(key, Some(gap), 1)),
        KeyCode::Secret(column) => tape.push(spell::with_sleep(&spell::column(column), Some(gap))),
        KeyCode::Paste(pasted) => {
            if !gap.is_zero() {
                tape.push(format!("Sleep {}", spell::time(gap)));
            }
            tape.extend(paste(pasted));
        }
    }
}

/// Waits for the session's end; otherwise a pass would begin while the one before is still being answered.
fn last_wait(session: &Session) -> Option<String> {
    if session.closed {
        return Some("Wait+Disconnect".to_owned());
    }
    let answered = |stroke: &Stroke| stroke.answer.end().is_some();
    session.strokes.strokes.last().filter(|stroke| answered(stroke)).map(|_| "Wait+Silence 500ms".to_owned())
}

/// Characters with equal gaps.
#[derive(Debug, Default)]
struct Text {
    characters: String,
    gap: Duration,
}

impl Text {
    fn finish(&mut self, tape: &mut Vec<String>) {
        let text = std::mem::take(&mut self.characters);
        // The next text must not be joined to this one, whatever its gap.
        tape.extend(spell::typed(&text, Some(std::mem::replace(&mut self.gap, Duration::MAX))));
    }
}
