//! Users of one kind: their programs by step, and the series that they count in.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use cuesta_record::{SeriesId, SeriesNames};
use cuesta_tape::{Piece, Program, Script, Settings, TooLong};

use crate::barrier::Barrier;
use crate::opening::LineSeries;
use crate::spec::{GroupSpec, RunSpec};

/// A group of users.
pub(crate) struct Group {
    /// By step; steps with the same overrides share one.
    pub(crate) programs: Vec<Rc<Program>>,
    pub(crate) series: GroupSeries,
    /// By number; the same on all threads.
    pub(crate) barriers: Arc<Vec<Barrier>>,
    /// Columns and rows of the users' terminals.
    pub(crate) size: (u16, u16),
    /// Whether the host can echo.
    pub(crate) can_echo: bool,
    data: Vec<BTreeMap<String, String>>,
    /// Columns whose cells no record may show, and whose length no count may reveal.
    secret: Vec<String>,
}

/// A group's script, lowered once for all threads: each thread plays a clone.
pub(crate) struct LoweredGroup {
    distinct: Vec<Program>,
    /// Which of them each step plays.
    by_step: Vec<usize>,
}

impl LoweredGroup {
    /// Lowers a script for each step. Steps that override nothing differently share a program.
    pub(crate) fn new(spec: &RunSpec, group: usize, script: &Script) -> Result<Self, TooLong> {
        let mut overrides = Vec::new();
        let mut lowered = Self { distinct: Vec::new(), by_step: Vec::new() };
        for step in &spec.steps {
            let wanted = step.groups[group].overrides();
            let known = overrides.iter().position(|known| *known == wanted);
            if known.is_none() {
                lowered.distinct.push(Program::new(script, &wanted)?);
                overrides.push(wanted);
            }
            lowered.by_step.push(known.unwrap_or(overrides.len() - 1));
        }
        Ok(lowered)
    }

    /// The most barriers that any of the programs has.
    pub(crate) fn barriers(&self) -> usize {
        self.distinct.iter().map(|program| program.barriers.len()).max().unwrap_or(0)
    }
}

/// The numbers of a group's series.
#[derive(Debug, Clone)]
pub(crate) struct GroupSeries {
    pub(crate) echo: SeriesId,
    pub(crate) echo_from_sent: SeriesId,
    pub(crate) lateness: SeriesId,
    pub(crate) line: LineSeries,
    pub(crate) kernel_response: SeriesId,
    pub(crate) user_response: SeriesId,
    /// By number of the named transaction; the last is for those without a name.
    pub(crate) classes: Vec<ClassSeries>,
}

/// The numbers of a transaction's series.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClassSeries {
    pub(crate) response: SeriesId,
    pub(crate) response_from_sent: SeriesId,
    pub(crate) first_response: SeriesId,
}

impl GroupSeries {
    pub(crate) fn new(group: &GroupSpec, script: &Script, series_names: &mut SeriesNames) -> Self {
        let mut of = |source: &str, series: &str| series_names.series(&group.name, source, series);
        let names = script.transactions.iter().map(String::as_str).chain([script.name.as_str()]);
        Self {
            classes: names
                .map(|name| ClassSeries {
                    response: of(name, "response"),
                    response_from_sent: of(name, "response_from_sent"),
                    first_response: of(name, "first_response"),
                })
                .collect(),
            echo: of(SeriesNames::KEYS, "echo"),
            echo_from_sent: of(SeriesNames::KEYS, "echo_from_sent"),
            lateness: of(SeriesNames::KEYS, "lateness"),
            line: LineSeries {
                connect: of(SeriesNames::LINE, "connect"),
                negotiation: of(SeriesNames::LINE, "negotiation"),
                login: of(SeriesNames::LINE, "login"),
            },
            kernel_response: of(SeriesNames::STAMPED, "kernel_response"),
            user_response: of(SeriesNames::STAMPED, "user_response"),
        }
    }
}

impl Group {
    pub(crate) fn new(
        group: &GroupSpec,
        settings: &Settings,
        programs: &LoweredGroup,
        series: GroupSeries,
        barriers: Arc<Vec<Barrier>>,
    ) -> Self {
        let own: Vec<_> = programs.distinct.iter().cloned().map(Rc::new).collect();
        Self {
            programs: programs.by_step.iter().map(|index| Rc::clone(&own[*index])).collect(),
            series,
            barriers,
            size: group.size(settings),
            can_echo: !group.target.starts_with("pipe:"),
            data: group.data.clone(),
            secret: group.secret.clone(),
        }
    }

    /// Whether any of these pieces is a secret column.
    pub(crate) fn types_secret(&self, pieces: &[Piece]) -> bool {
        pieces.iter().any(|piece| matches!(piece, Piece::Column(name) if self.secret.contains(name)))
    }

    /// The cells of a user's row that no record may show.
    pub(crate) fn secrets(&self, rank: u32) -> Vec<&str> {
        let row = self.data.get(rank as usize % self.data.len().max(1));
        let secret = row.into_iter().flatten().filter(|(column, _)| self.secret.contains(*column));
        secret.map(|(_, cell)| cell.as_str()).collect()
    }

    /// The text that a user types: each `${column}` is the user's cell, or stays as it is if there is no such column.
    pub(crate) fn text<'a>(&self, pieces: &'a [Piece], rank: u32) -> Cow<'a, str> {
        if let [Piece::Literal(text)] = pieces {
            return Cow::Borrowed(text);
        }
        let row = self.data.get(rank as usize % self.data.len().max(1));
        let shown = pieces.iter().map(|piece| match piece {
            Piece::Literal(text) => text.clone(),
            Piece::Column(name) => row.and_then(|row| row.get(name)).cloned().unwrap_or_else(|| format!("${{{name}}}")),
        });
        shown.collect()
    }
}
