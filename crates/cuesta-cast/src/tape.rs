//! Makes a tape from a session, with think times or with the recorded instants.
//!
//! *Closed*: waits for each answer as the person did, then thinks as long as the person did, from the end of the output to the
//! next key. *Recorded*: sends every key at its recorded instant, whatever the host does.

use std::time::Duration;

use cuesta_tape::Key;

use crate::cast::Cast;
use crate::error::CastError;
use crate::key_code::KeyCode;
use crate::prompts::Prompts;
use crate::secrets::Secrets;
use crate::spell;
use crate::strokes::{Stroke, Strokes, split_into_strokes};
use crate::{closed, recorded};

/// The timing of a tape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timing {
    /// Waits for answers, and think times between them.
    Closed,
    /// The recorded instants.
    Recorded,
}

/// A session prepared for either timing.
pub(crate) struct Session {
    pub(crate) strokes: Strokes,
    pub(crate) prompts: Prompts,
    /// Whether the host closed the line in the end.
    pub(crate) closed: bool,
    /// The usual time from one key of a row to the next.
    pub(crate) key_gap: Option<Duration>,
}

/// A longer gap between two keys is a pause, not typing.
pub(crate) const PAUSE: Duration = Duration::from_secs(1);

/// Makes a tape without secrets. `about` is written at its head as a comment.
///
/// # Errors
/// When nothing was typed, or the input was not recorded.
pub fn tape(cast: &Cast, timing: Timing, about: &str) -> Result<String, CastError> {
    let secrets = Secrets::find(cast);
    check_input(cast).map(|()| write_tape(&secrets.hide_in(cast), timing, &secrets.redacted(about)))
}

/// Makes a tape of all input, secrets included.
///
/// # Errors
/// When nothing was typed, or the input was not recorded.
pub fn tape_with_secrets(cast: &Cast, timing: Timing, about: &str) -> Result<String, CastError> {
    check_input(cast).map(|()| write_tape(cast, timing, about))
}

fn check_input(cast: &Cast) -> Result<(), CastError> {
    let remedy = "record with the keys: cuesta record, or asciinema rec --capture-input (--stdin before version 3)";
    if cast.has_input() { Ok(()) } else { Err(CastError::new(1, "nothing that was typed is in it", remedy)) }
}

fn write_tape(cast: &Cast, timing: Timing, about: &str) -> String {
    let session = Session::new(cast);
    let mut tape: Vec<String> = about.lines().map(|row| format!("# {row}")).collect();
    tape.push(format!("Set Columns {}", cast.header.columns));
    tape.push(format!("Set Rows {}", cast.header.rows));
    tape.extend(match timing {
        Timing::Closed => closed::write_rows(&session),
        Timing::Recorded => recorded::write_rows(&session),
    });
    tape.join("\n") + "\n"
}

impl Session {
    fn new(cast: &Cast) -> Self {
        let strokes = split_into_strokes(cast);
        let prompts = Prompts::find(&strokes);
        Self { closed: !cast.was_stopped(), key_gap: key_gap(&strokes.strokes), prompts, strokes }
    }

    /// How the echo of each key can be timed.
    pub(crate) fn echo_modes(&self) -> Vec<EchoMode> {
        let rows = self.strokes.strokes.chunk_by(|before, _| !before.ends_row() && !before.answer.text.contains('\n'));
        let mut before = EchoMode::Off;
        let modes = rows.flat_map(|row| {
            let all = if is_shown(row) { EchoMode::Timed } else { EchoMode::Off };
            row.iter().map(move |stroke| (stroke, all))
        });
        modes
            .map(|(stroke, mode)| {
                before = match stroke.press.code {
                    KeyCode::Char(_) if stroke.alternate && stroke.shown => EchoMode::Screen,
                    // Arrows and the like are not timed: they end nothing.
                    KeyCode::Key(_) if stroke.alternate && before == EchoMode::Screen => EchoMode::Screen,
                    _ => mode,
                };
                before
            })
            .collect()
    }
}

/// How keys are timed to their echoes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum EchoMode {
    #[default]
    Off,
    /// In the stream: the host echoed the whole row of input that the key belongs to.
    Timed,
    /// On the screen: a full-screen program showed the key at the cursor.
    Screen,
}

/// Whether a row of input has only characters, all shown on the main screen.
fn is_shown(row: &[Stroke]) -> bool {
    let plain = |stroke: &Stroke| stroke.ends_row() || matches!(stroke.press.code, KeyCode::Char(_));
    let here = row.iter().all(|stroke| plain(stroke) && stroke.shown && !stroke.alternate);
    here && row.iter().any(|stroke| stroke.press.code.is_text())
}

/// The median gap between keys of a row that came one by one.
fn key_gap(strokes: &[Stroke]) -> Option<Duration> {
    let pairs = strokes.windows(2).filter(|pair| !pair[0].ends_row() && pair[0].press.input != pair[1].press.input);
    let mut gaps: Vec<Duration> = pairs.map(|pair| pair[1].at().saturating_sub(pair[0].at())).collect();
    gaps.retain(|gap| !gap.is_zero() && *gap <= PAUSE);
    gaps.sort_unstable();
    gaps.get(gaps.len() / 2).copied()
}

/// Writes `Set Echo` where the timing of echoes begins or ends.
#[derive(Debug, Default)]
pub(crate) struct EchoSwitch(EchoMode);

impl EchoSwitch {
    /// The setting before a key, if it changes.
    pub(crate) fn switch_to(&mut self, mode: EchoMode) -> Option<String> {
        let word = match mode {
            EchoMode::Off => "off",
            EchoMode::Timed => "timed",
            EchoMode::Screen => "screen",
        };
        (std::mem::replace(&mut self.0, mode) != mode).then(|| spell::command("Set", "Echo", word))
    }
}

/// The commands of a paste. A tape can paste one row only, so several rows are several pastes with Enter between them.
pub(crate) fn paste(text: &str) -> Vec<String> {
    let mut commands = Vec::new();
    for (number, row) in text.replace("\r\n", "\n").split(['\r', '\n']).enumerate() {
        if number > 0 {
            commands.push(spell::key(&Key::Enter, None, 1));
        }
        let row: String = row.chars().map(|c| if c == '\t' { ' ' } else { c }).filter(|c| !c.is_control()).collect();
        for piece in spell::pieces(&row) {
            commands.push(spell::command("Copy", "", piece));
            commands.push("Paste".to_owned());
        }
    }
    commands
}
