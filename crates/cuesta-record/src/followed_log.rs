//! The log of probe lines: what the driver knows of their keys that the path through the host can be joined by.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use crate::transaction_log::{quoted, write_header};
use crate::{FollowedRow, SeriesNames, Stamp};

/// What a row of the log is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FollowedKind {
    Echo,
    Answer,
    Login,
}

/// A key, an answer or a login of a probe line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FollowedKey {
    pub kind: FollowedKind,
    /// Number of the series of its group's echoes.
    pub series: u32,
    /// Number of the user, over all groups.
    pub user: u32,
    /// How the host's tracer knows the line: by one of the two.
    pub port: Option<u16>,
    pub terminal: Option<u32>,
    /// The end of the key, in the stream to the host, modulo 2³².
    pub key: u32,
    /// The part of the stream from the host, modulo 2³², that brought what was waited for: behind the first, up to the second.
    pub echo: (u32, u32),
    pub sent: Stamp,
    pub shown: Stamp,
    /// By the kernel, in ns since 1970, where it stamps the line.
    pub kernel_sent: Option<u64>,
    pub kernel_shown: Option<u64>,
    pub acknowledged: Option<Acknowledged>,
}

/// How what followed a key was acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Acknowledged {
    pub at_once: bool,
    /// Segments with data that came up to the echo, and acknowledgements without data that were sent.
    pub segments: u32,
    pub acknowledgements: u32,
    /// When the first bytes came.
    pub first: Stamp,
}

impl FollowedKind {
    fn name(self) -> &'static str {
        match self {
            Self::Echo => "echo",
            Self::Answer => "answer",
            Self::Login => "login",
        }
    }
}

/// An open log. Stamps are in ns on the agent's clock, those of the kernel since 1970.
pub(crate) struct FollowedLog {
    file: BufWriter<File>,
    /// The names of groups, by number of a series.
    groups: Vec<String>,
}

impl FollowedLog {
    pub(crate) fn create(mut file: BufWriter<File>, series_names: &SeriesNames) -> io::Result<Self> {
        write_header::<FollowedRow>(&mut file)?;
        let groups = series_names.sources().iter().map(|[group, _]| quoted(group));
        Ok(Self { file, groups: groups.collect() })
    }

    /// Writes the rows of an interval and flushes them, so that a crash loses nothing.
    pub(crate) fn append(&mut self, keys: &[FollowedKey]) -> io::Result<()> {
        for row in keys {
            let (group, kind) = (&self.groups[row.series as usize], row.kind.name());
            let FollowedKey { user, key, echo: (from, to), .. } = row;
            let [port, terminal] = [row.port.map(u64::from), row.terminal.map(u64::from)].map(cell);
            let [sent, shown] = [row.sent, row.shown].map(Stamp::as_nanos);
            let kernel = [row.kernel_sent, row.kernel_shown].map(cell).join(",");
            let acknowledged = row.acknowledged.map_or_else(
                || ",,,".to_owned(),
                |how| {
                    let Acknowledged { at_once, segments, acknowledgements, first } = how;
                    format!("{at_once},{segments},{acknowledgements},{}", first.as_nanos())
                },
            );
            let rest = [kernel, acknowledged].join(",");
            writeln!(self.file, "{group},{user},{kind},{port},{terminal},{key},{from},{to},{sent},{shown},{rest}")?;
        }
        self.file.flush()
    }
}

fn cell(value: Option<u64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_is_not_known_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut names = SeriesNames::default();
        let series = names.series("night", "keys", "echo").number();
        let mut log = FollowedLog::create(BufWriter::new(File::create(&path).unwrap()), &names).unwrap();
        let key = FollowedKey {
            kind: FollowedKind::Echo,
            series,
            user: 30,
            port: Some(20_007),
            terminal: None,
            key: 5,
            echo: (8, 9),
            sent: Stamp::from_nanos(1),
            shown: Stamp::from_nanos(2),
            kernel_sent: Some(3),
            kernel_shown: Some(4),
            acknowledged: Some(Acknowledged {
                at_once: false,
                segments: 2,
                acknowledgements: 1,
                first: Stamp::from_nanos(6),
            }),
        };
        let at_terminal = FollowedKey {
            port: None,
            terminal: Some(7),
            kernel_sent: None,
            kernel_shown: None,
            acknowledged: None,
            ..key
        };
        log.append(&[key, FollowedKey { kind: FollowedKind::Login, ..at_terminal }]).unwrap();
        let wanted = "user_group,user,what,port,terminal,key,echo_from,echo_to,sent,shown,kernel_sent,kernel_shown,quickack,\
            segments,acknowledgements,first\n\"night\",30,echo,20007,,5,8,9,1,2,3,4,false,2,1,6\n\
            \"night\",30,login,,7,5,8,9,1,2,,,,,,\n";
        assert_eq!(fs::read_to_string(&path).unwrap(), wanted);
    }
}
