//! An agent's part of a run folder: append-only, in open formats, readable even if the run was cut off.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::private::{private_folder, private_options, write_private};
use crate::{DriverCounts, Interval, Phase, Stamp, StepTimes, Timeline, UNKNOWN, UserRow, clock, record};

/// The folder `agent-K` of a run.
#[derive(Debug)]
pub struct AgentFolder {
    path: PathBuf,
    series: BufWriter<File>,
    users: BufWriter<File>,
}

record! {
    /// One interval of one agent: a row of `series.jsonl`. Only `due` is cumulative.
    SeriesRow extends counts: DriverCounts {
        /// from the start of the segment
        start: f64 = Seconds;
        /// length of the interval
        length: f64 = Seconds;
        /// the step, from 0 within the segment
        step: usize = Unitless;
        /// `settle`, `measure` or `drain`
        phase: Phase = Unitless;
    }
}

record! {
    /// The instants of a segment: `timeline.json`. Offsets are from `start_at`.
    TimelineFile {
        /// the name of the clock on which all instants of the folder are
        #[serde(skip_serializing_if = "Option::is_none")]
        clock: Option<String> = Unitless | none;
        /// the start, on the clock
        start_at: Stamp = Nanoseconds;
        /// the steps whose measurement interval is known
        steps: Vec<StepTimes> = Unitless;
        /// the longest wait for answers after the last step
        drain: u64 = Nanoseconds;
    }
}

record! {
    /// How an agent ended: `agent.json`. A folder without it was cut off.
    AgentEnd {
        /// `completed`, `interrupted` or `failed`
        ended: &'static str = Unitless;
        /// why it failed; null if it did not
        reason: Option<String> = Unitless | none;
        /// growth of the process's resident memory, divided by its number of users
        rss_per_user: Option<u64> = Bytes | none;
        /// what its users left at web terminals that could not be removed, one sentence each
        left_behind: Vec<String> = Unitless | [];
    }
}

impl AgentFolder {
    /// Makes the folder and writes `timeline.json`.
    pub fn create(path: &Path, timeline: &Timeline) -> io::Result<Self> {
        private_folder(path)?;
        Self::write_timeline(path, timeline)?;
        let open = |name| create_file(&path.join(name)).map(BufWriter::new);
        Ok(Self { path: path.to_owned(), series: open("series.jsonl")?, users: open("users.jsonl")? })
    }

    /// Writes `timeline.json`, also in place of an earlier one: a reader sees either of them whole.
    pub fn write_timeline(path: &Path, timeline: &Timeline) -> io::Result<()> {
        let part = path.join("timeline.part");
        let steps = timeline.steps.iter().filter(|step| step.end != UNKNOWN).copied().collect();
        let clock = clock::name();
        let file = TimelineFile { clock, start_at: timeline.start_at, steps, drain: timeline.drain };
        write_private(&part, &serde_json::to_vec(&file)?)?;
        fs::rename(part, path.join("timeline.json"))
    }

    /// Creates a file of the folder. Fails if it exists.
    pub fn file(&self, name: &str) -> io::Result<BufWriter<File>> {
        create_file(&self.path.join(name)).map(BufWriter::new)
    }

    /// Writes an interval and flushes it, so that a crash loses nothing.
    pub fn write_interval(&mut self, interval: &Interval, counts: &DriverCounts, users: &[UserRow]) -> io::Result<()> {
        let row = SeriesRow {
            start: interval.begin as f64 / 1e9,
            length: (interval.end - interval.begin) as f64 / 1e9,
            step: interval.step,
            phase: interval.phase,
            counts: counts.clone(),
        };
        write_row(&mut self.series, &row)?;
        users.iter().try_for_each(|user| write_row(&mut self.users, user))?;
        self.series.flush()?;
        self.users.flush()
    }

    /// Writes `agent.json`.
    pub fn write_end(&self, ending: &AgentEnd) -> io::Result<()> {
        write_private(&self.path.join("agent.json"), &serde_json::to_vec(ending)?)
    }
}

fn create_file(path: &Path) -> io::Result<File> {
    private_options().write(true).create_new(true).open(path)
}

fn write_row(file: &mut impl Write, row: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *file, row)?;
    file.write_all(b"\n")
}
