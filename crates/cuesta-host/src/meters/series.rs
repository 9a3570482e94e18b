//! A row of figures each second, in `series.jsonl`: each row is of its second, nothing is cumulative.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cuesta_record::{Stamp, clock};

use super::Meters;
use super::sheet::Reading;
use crate::HostError;

/// The open file.
#[derive(Debug)]
pub(crate) struct Series {
    file: File,
    meters: Vec<Arc<Meters>>,
    last: Reading,
}

impl Series {
    /// Opens `folder/series.jsonl` to append to it.
    pub(crate) fn open(folder: &Path, meters: Vec<Arc<Meters>>, first: Reading) -> Result<Self, HostError> {
        let path = folder.join("series.jsonl");
        let open = || {
            fs::create_dir_all(folder)?;
            File::options().append(true).create(true).open(&path)
        };
        let file = open().map_err(|source| HostError::Meters { path: path.display().to_string(), source })?;
        Ok(Self { file, meters, last: first })
    }

    /// Writes rows until it is dropped or the disk refuses one.
    pub(crate) async fn run(mut self, started: Stamp) -> io::Result<()> {
        let mut due = started;
        loop {
            due += Duration::from_secs(1);
            clock::sleep_until(due).await;
            self.row()?;
        }
    }

    /// Whole rows only: one write each.
    fn row(&mut self) -> io::Result<()> {
        let reading = Reading::of(&self.meters);
        let row = format!("{}\n", reading.since(&self.last));
        self.last = reading;
        self.file.write_all(row.as_bytes())
    }
}

impl Drop for Series {
    /// The last, shorter row: what was counted is kept. Nobody is left to hear that the disk refused it.
    fn drop(&mut self) {
        let _ = self.row();
    }
}
