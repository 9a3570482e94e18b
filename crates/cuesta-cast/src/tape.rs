//! A session → a tape, with the think times that the person had, or with the recorded instants.
//!
//! *Closed*: each input is waited for as the person waited (`waits`), then thought about as long as the person thought, from
//! the end of the output to the next key. *Recorded*: every key at the instant at which it was pressed, whatever comes back.

use std::time::Duration;

use cuesta_tape::Key;

use crate::cast::Cast;
use crate::error::CastError;
use crate::keys::Typed;
use crate::prompts::Prompts;
use crate::secrets::Secrets;
use crate::spell;
use crate::strokes::{Stroke, Strokes, strokes};
use crate::{closed, recorded};

/// Which times a tape has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timing {
    /// Waits for answers, and think times between them.
    Closed,
    /// The recorded instants.
    Recorded,
}

/// What both kinds of tapes are made from.
pub(crate) struct Session {
    pub(crate) strokes: Strokes,
    pub(crate) prompts: Prompts,
    /// Whether the host closed the line in the end.
    pub(crate) closed: bool,
    /// The usual time from one key of a row to the next.
    pub(crate) key_gap: Option<Duration>,
}

/// Longer between two keys is a pause, and no way of typing.
pub(crate) const PAUSE: Duration = Duration::from_secs(1);

/// Makes a tape of what was typed, with no secret in it. `about` is said at its head.
///
/// # Errors
/// When nothing was typed, or the input was not recorded.
pub fn tape(cast: &Cast, timing: Timing, about: &str) -> Result<String, CastError> {
    let secrets = Secrets::of(cast);
    has_input(cast).map(|()| made(&secrets.hidden(cast), timing, &secrets.redacted(about)))
}

/// Makes a tape of all that was typed, whether it was shown or not.
///
/// # Errors
/// When nothing was typed, or the input was not recorded.
pub fn tape_with_secrets(cast: &Cast, timing: Timing, about: &str) -> Result<String, CastError> {
    has_input(cast).map(|()| made(cast, timing, about))
}

fn has_input(cast: &Cast) -> Result<(), CastError> {
    let remedy = "record with the keys: cuesta record, or asciinema rec --capture-input (--stdin before version 3)";
    if cast.has_input() { Ok(()) } else { Err(CastError::new(1, "nothing that was typed is in it", remedy)) }
}

fn made(cast: &Cast, timing: Timing, about: &str) -> String {
    let session = Session::of(cast);
    let mut tape: Vec<String> = about.lines().map(|row| format!("# {row}")).collect();
    tape.push(format!("Set Columns {}", cast.header.columns));
    tape.push(format!("Set Rows {}", cast.header.rows));
    tape.extend(match timing {
        Timing::Closed => closed::rows(&session),
        Timing::Recorded => recorded::rows(&session),
    });
    tape.join("\n") + "\n"
}

impl Session {
    fn of(cast: &Cast) -> Self {
        let strokes = strokes(cast);
        let prompts = Prompts::of(&strokes);
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
                before = match stroke.pressed.typed {
                    Typed::Char(_) if stroke.alternate && stroke.shown => EchoMode::Screen,
                    // Arrows and the like are not timed: they end nothing.
                    Typed::Key(_) if stroke.alternate && before == EchoMode::Screen => EchoMode::Screen,
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
    /// By what comes: the host showed the whole row of input that the key belongs to.
    Timed,
    /// By what the screen shows: a full-screen program showed the key where the cursor was.
    Screen,
}

/// Whether every character of a row of input was shown on the main screen, and nothing but characters was pressed in it.
fn is_shown(row: &[Stroke]) -> bool {
    let plain = |stroke: &Stroke| stroke.ends_row() || matches!(stroke.pressed.typed, Typed::Char(_));
    let here = row.iter().all(|stroke| plain(stroke) && stroke.shown && !stroke.alternate);
    here && row.iter().any(|stroke| stroke.pressed.typed.is_text())
}

/// The median of the times between keys of a row, where they came one by one.
fn key_gap(strokes: &[Stroke]) -> Option<Duration> {
    let pairs = strokes.windows(2).filter(|pair| !pair[0].ends_row() && pair[0].pressed.input != pair[1].pressed.input);
    let mut gaps: Vec<Duration> = pairs.map(|pair| pair[1].at().saturating_sub(pair[0].at())).collect();
    gaps.retain(|gap| !gap.is_zero() && *gap <= PAUSE);
    gaps.sort_unstable();
    gaps.get(gaps.len() / 2).copied()
}

/// The switch that times echoes where they were shown, and only there.
#[derive(Debug, Default)]
pub(crate) struct EchoSwitch(EchoMode);

impl EchoSwitch {
    /// The setting that has to stand before a key, if it is another one than before.
    pub(crate) fn turn(&mut self, mode: EchoMode) -> Option<String> {
        let word = match mode {
            EchoMode::Off => "off",
            EchoMode::Timed => "timed",
            EchoMode::Screen => "screen",
        };
        (std::mem::replace(&mut self.0, mode) != mode).then(|| spell::command("Set", "Echo", word))
    }
}

/// A paste, which the language says in one row only: several rows are several pastes with Enter between them.
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
