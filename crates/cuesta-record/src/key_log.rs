//! The full log of keys: every key that was echoed as a row of CSV.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use crate::transaction_log::{quoted, write_header};
use crate::{SeriesNames, Stamp, record};

record! {
    /// A row of `keys.csv`: a key that was echoed, and the frame that shows it. Columns of the frame are empty for keys that the stream times.
    KeyRow {
        /// the group of its user, in double quotes
        user_group: String = Unitless;
        /// number of the user
        user: u32 = Unitless;
        /// when the key was due
        due: Stamp = Nanoseconds;
        /// when it was sent
        sent: Stamp = Nanoseconds;
        /// when it was shown
        shown: Stamp = Nanoseconds;
        /// when the last byte came of the frame that shows it; empty if the frame has no end that is known
        whole: Option<Stamp> = Nanoseconds | none;
        /// the bytes of that frame
        frame_bytes: Option<u64> = Bytes | none;
        /// how many timed keys that frame shows
        frame_keys: Option<u64> = Number | none;
    }
}

/// A key that was echoed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EchoedKey {
    /// Number of the series of its group's echoes.
    pub series: u32,
    /// Number of the user, over all groups.
    pub user: u32,
    /// When it was due, sent and shown.
    pub due: Stamp,
    pub sent: Stamp,
    pub shown: Stamp,
    /// The frame that shows it, if the screen times it.
    pub frame: Option<KeyFrame>,
}

/// A frame that shows keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyFrame {
    /// When its last byte came, as far as it is known.
    pub last: Stamp,
    /// Otherwise more of it may have come.
    pub is_whole: bool,
    pub bytes: u64,
    /// How many timed keys it shows.
    pub keys: u64,
}

/// An open log. Stamps are in ns on the agent's clock.
pub(crate) struct KeyLog {
    file: BufWriter<File>,
    /// The names of groups, by number of a series.
    groups: Vec<String>,
}

impl KeyLog {
    pub(crate) fn create(mut file: BufWriter<File>, series_names: &SeriesNames) -> io::Result<Self> {
        write_header::<KeyRow>(&mut file)?;
        let groups = series_names.sources().iter().map(|[group, _]| quoted(group));
        Ok(Self { file, groups: groups.collect() })
    }

    /// Writes the keys of an interval and flushes them, so that a crash loses nothing.
    pub(crate) fn append(&mut self, keys: &[EchoedKey]) -> io::Result<()> {
        let cell = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
        for EchoedKey { series, user, due, sent, shown, frame } in keys {
            let group = &self.groups[*series as usize];
            let [due, sent, shown] = [due, sent, shown].map(|stamp| stamp.as_nanos());
            let whole = cell(frame.filter(|frame| frame.is_whole).map(|frame| frame.last.as_nanos()));
            let (bytes, keys) = (cell(frame.map(|frame| frame.bytes)), cell(frame.map(|frame| frame.keys)));
            writeln!(self.file, "{group},{user},{due},{sent},{shown},{whole},{bytes},{keys}")?;
        }
        self.file.flush()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_key_without_a_frame_has_empty_cells() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut names = SeriesNames::default();
        let series = names.series("night", "keys", "echo").number();
        let mut log = KeyLog::create(BufWriter::new(File::create(&path).unwrap()), &names).unwrap();
        let [due, sent, shown, last] = [1, 2, 3, 4].map(Stamp::from_nanos);
        let key = EchoedKey { series, user: 7, due, sent, shown, frame: None };
        let frame = |is_whole| Some(KeyFrame { last, is_whole, bytes: 50, keys: 2 });
        log.append(&[key, EchoedKey { frame: frame(true), ..key }, EchoedKey { frame: frame(false), ..key }]).unwrap();
        let wanted = "user_group,user,due,sent,shown,whole,frame_bytes,frame_keys\n\
            \"night\",7,1,2,3,,,\n\"night\",7,1,2,3,4,50,2\n\"night\",7,1,2,3,,50,2\n";
        assert_eq!(fs::read_to_string(&path).unwrap(), wanted);
    }
}
