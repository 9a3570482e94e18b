//! Users of one kind: their programs by step, and the series that they count in.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use cuesta_lines::{Options, TerminalKind, TerminalSettings, kind_of, shared_token};
use cuesta_record::{SeriesId, SeriesNames, Stamp, WaitSeries};
use cuesta_screen::vt::{Modes, Widths, key_bytes};
use cuesta_tape::{Key, Keys, Op, Piece, Program, Script, TooLong};

use crate::barrier::Barrier;
use crate::error::RunError;
use crate::opening::{LineSeries, PARTS, PHASES};
use crate::secret_columns::{SecretCells, SecretColumns};
use crate::spec::{GroupSpec, RunSpec};
use crate::terminal::{find_mismatch, missing_character};

/// A group of users. Each thread has a clone, whose patterns have scratch memory of their own.
#[derive(Clone)]
pub(crate) struct Group {
    /// The script, lowered; steps with the same overrides share one.
    pub(crate) programs: Vec<Program>,
    /// By step of the plan, the index of the program that it plays.
    by_step: Vec<usize>,
    pub(crate) series: GroupSeries,
    /// By number; the same on all threads.
    pub(crate) barriers: Arc<Vec<Barrier>>,
    /// How many of its users, of all threads, were last seen not to be ready.
    pub(crate) not_ready: Arc<AtomicU32>,
    /// The plan's settings of its lines, else the tape's, else those of any line.
    pub(crate) line: Options,
    /// What its users sit at.
    pub(crate) terminal: TerminalKind,
    /// How the host counts columns.
    pub(crate) widths: Widths,
    /// Whether the host can echo.
    pub(crate) can_echo: bool,
    data: Arc<Vec<BTreeMap<String, String>>>,
    secret_columns: Arc<SecretColumns>,
}

/// The numbers of a group's series.
#[derive(Debug, Clone)]
pub(crate) struct GroupSeries {
    pub(crate) echo: WaitSeries,
    pub(crate) echo_from_sent: WaitSeries,
    /// Until the frame that shows a key has ended.
    pub(crate) frame: WaitSeries,
    pub(crate) lateness: SeriesId,
    pub(crate) line: LineSeries,
    pub(crate) kernel_response: SeriesId,
    pub(crate) user_response: SeriesId,
    pub(crate) own: SeriesId,
    /// By number of the named transaction; the last is for those without a name.
    pub(crate) classes: Vec<ClassSeries>,
}

/// The numbers of a transaction's series.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClassSeries {
    pub(crate) response: WaitSeries,
    pub(crate) response_from_sent: WaitSeries,
    pub(crate) first_response: WaitSeries,
    /// How long output went on behind the answer.
    pub(crate) continued: SeriesId,
    /// Characters of an answer, not durations.
    pub(crate) characters: SeriesId,
}

impl GroupSeries {
    fn new(group: &GroupSpec, script: &Script, series_names: &mut SeriesNames) -> Self {
        let names = script.transactions.iter().map(String::as_str).chain([script.name.as_str()]);
        let classes = names.map(|name| ClassSeries {
            response: series_names.wait_series(&group.name, name, "response"),
            response_from_sent: series_names.wait_series(&group.name, name, "response_from_sent"),
            first_response: series_names.wait_series(&group.name, name, "first_response"),
            continued: series_names.series(&group.name, name, "continued"),
            characters: series_names.series(&group.name, name, "characters"),
        });
        let classes = classes.collect();
        let mut wait = |source: &str, figure: &str| series_names.wait_series(&group.name, source, figure);
        let [echo, echo_from_sent, frame] =
            ["echo", "echo_from_sent", "whole_frame"].map(|name| wait(SeriesNames::KEYS, name));
        let phases = PHASES.map(|phase| wait(SeriesNames::LINE, phase));
        let last = kind_of(&group.target).map_or("connect", |kind| kind.last_phase);
        let last = PHASES.iter().position(|phase| *phase == last).unwrap_or(0);
        let parts = PARTS.map(|part| wait(SeriesNames::LINE, part));
        let line = LineSeries { phases, parts, last: phases[last] };
        let mut series = |source: &str, name: &str| series_names.series(&group.name, source, name);
        Self {
            classes,
            echo,
            echo_from_sent,
            frame,
            lateness: series(SeriesNames::KEYS, "lateness"),
            line,
            kernel_response: series(SeriesNames::STAMPED, "kernel_response"),
            user_response: series(SeriesNames::STAMPED, "user_response"),
            own: series(SeriesNames::STAMPED, "own"),
        }
    }
}

impl Group {
    /// The group with this number, whose users play a script.
    pub(crate) fn new(
        spec: &RunSpec,
        number: usize,
        script: &Script,
        start_at: Stamp,
        series_names: &mut SeriesNames,
    ) -> Result<Self, RunError> {
        let group = &spec.groups[number];
        let kind = kind_of(&group.target);
        let TerminalSettings { has_wide_emoji, charset, name } = TerminalSettings::from_target(&group.target);
        let (programs, by_step) = lower(spec, number, script)?;
        let missing = |program| missing_character(&group.target, program, &group.data);
        if let Some(why) =
            programs.iter().find_map(|program| find_mismatch(&group.target, program).or_else(|| missing(program)))
        {
            return Err(RunError::Plan(format!("{}, at {}: {why}", script.name, group.target)));
        }
        let barriers = programs.iter().map(|program| program.barriers.len()).max().unwrap_or(0);
        let is_shared = spec.agents_of(number).len() > 1;
        let (plain, tape) = (Options::default(), &script.settings);
        Ok(Self {
            programs,
            by_step,
            series: GroupSeries::new(group, script, series_names),
            barriers: Arc::new((0..barriers).map(|_| Barrier::new(start_at, is_shared)).collect()),
            not_ready: Arc::default(),
            line: Options {
                line_speed: group.line_speed.or(tape.line_speed).unwrap_or(plain.line_speed),
                columns: group.columns.or(tape.columns).unwrap_or(plain.columns),
                rows: group.rows.or(tape.rows).unwrap_or(plain.rows),
                terminal: name.or_else(|| tape.terminal.clone()).unwrap_or(plain.terminal),
                charset,
                ..Options::default()
            },
            terminal: kind.map_or(TerminalKind::Vt, |kind| kind.terminal),
            widths: if has_wide_emoji == Some(true) { Widths::Wcwidth } else { Widths::Xterm },
            can_echo: kind.is_none_or(|kind| kind.can_echo),
            data: Arc::new(group.data.clone()),
            secret_columns: Arc::new(SecretColumns::new(
                group.data.first().into_iter().flat_map(BTreeMap::keys),
                &group.secret,
                shared_token(&group.target),
            )),
        })
    }

    /// Which program a step plays. A step that is added while the run goes on plays that of the last step of the plan.
    pub(crate) fn program_of(&self, step: usize) -> usize {
        self.by_step[step.min(self.by_step.len() - 1)]
    }

    /// The same users at a simulated host, which has no screens: a key that only a 3270 has becomes Enter.
    pub(crate) fn for_simulated_host(mut self) -> Self {
        self.programs = self.programs.into_iter().map(Program::for_simulated_host).collect();
        for op in self.programs.iter_mut().flat_map(|program| &mut program.ops) {
            if let Op::Keys { keys: Keys::Press { key, .. }, .. } = op
                && key_bytes(key, Modes::default()).is_none()
            {
                *key = Key::Enter;
            }
        }
        self.terminal = TerminalKind::Vt;
        self
    }

    /// Whether a text contains a column that the plan names as secret.
    pub(crate) fn types_secret(&self, pieces: &[Piece]) -> bool {
        columns(pieces).any(|name| self.secret_columns.is_named(name))
    }

    /// These pieces were typed, and the host echoed nothing meanwhile: no record may show their columns.
    pub(crate) fn add_unechoed(&self, pieces: &[Piece]) {
        columns(pieces).for_each(|name| self.secret_columns.add_unechoed(name));
    }

    /// The cells of a user's row that no record may show now; later they may be more.
    pub(crate) fn secrets(&self, rank: u32) -> Vec<&str> {
        self.secret_columns.cells(self.row(rank))
    }

    /// A handle on these cells, for another thread.
    pub(crate) fn secret_cells(&self, rank: u32) -> SecretCells {
        SecretCells { columns: Arc::clone(&self.secret_columns), row: self.row(rank).cloned().unwrap_or_default() }
    }

    /// A user's row of the users' table, if there is one.
    pub(crate) fn row(&self, rank: u32) -> Option<&BTreeMap<String, String>> {
        self.data.get(rank as usize % self.data.len().max(1))
    }
}

/// The columns that a text is made of.
fn columns(pieces: &[Piece]) -> impl Iterator<Item = &str> {
    pieces.iter().filter_map(|piece| if let Piece::Column(name) = piece { Some(name.as_str()) } else { None })
}

/// Lowers a group's script, and says which of the programs each step plays.
fn lower(spec: &RunSpec, group: usize, script: &Script) -> Result<(Vec<Program>, Vec<usize>), TooLong> {
    let (mut programs, mut by_step) = (Vec::new(), Vec::new());
    let mut overrides = Vec::new();
    for step in &spec.steps {
        let wanted = step.groups[group].overrides();
        let known = overrides.iter().position(|known| *known == wanted);
        if known.is_none() {
            programs.push(Program::new(script, &wanted)?);
            overrides.push(wanted);
        }
        by_step.push(known.unwrap_or(overrides.len() - 1));
    }
    Ok((programs, by_step))
}
