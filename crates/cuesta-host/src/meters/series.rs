//! Writes a row of figures to `series.jsonl` each second. A row counts its own time only; nothing is cumulative. A caller can end
//! a row early, so that the sums of its own interval are sums of whole rows.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use cuesta_record::{Stamp, clock, private_folder, private_options};

use super::Meters;
use super::snapshot::CounterSnapshot;
use crate::HostError;

/// The open file.
#[derive(Debug)]
pub(crate) struct Series {
    file: File,
    meters: Vec<Arc<Meters>>,
    last: CounterSnapshot,
}

impl Series {
    /// Opens `folder/series.jsonl` to append to it.
    pub(crate) fn open(folder: &Path, meters: Vec<Arc<Meters>>, first: CounterSnapshot) -> Result<Self, HostError> {
        let path = folder.join("series.jsonl");
        let open = || {
            private_folder(folder)?;
            private_options().append(true).create(true).open(&path)
        };
        let file = open().map_err(|source| HostError::Meters { path: path.display().to_string(), source })?;
        Ok(Self { file, meters, last: first })
    }

    /// Writes the counts since the last row in one write, so that the file has whole rows only.
    pub(crate) fn write_row(&mut self) -> io::Result<()> {
        let snapshot = CounterSnapshot::read(&self.meters);
        let mut row = serde_json::to_vec(&snapshot.since(&self.last))?;
        row.push(b'\n');
        self.last = snapshot;
        self.file.write_all(&row)
    }
}

/// Writes rows until it is dropped or the disk refuses one.
pub(crate) async fn write_each_second(series: Arc<Mutex<Series>>, started: Stamp) -> io::Result<()> {
    let mut due = started;
    loop {
        due += Duration::from_secs(1);
        clock::sleep_until(due).await;
        locked(&series).write_row()?;
    }
}

pub(crate) fn locked(series: &Mutex<Series>) -> MutexGuard<'_, Series> {
    series.lock().expect("no panic while it is held")
}

impl Drop for Series {
    /// Writes the last, shorter row. An error cannot be reported any more.
    fn drop(&mut self) {
        let _ = self.write_row();
    }
}
