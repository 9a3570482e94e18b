//! A recorded session, independent of the version of its format.

use std::time::Duration;

use serde_json::Value;

use crate::error::CastError;
use crate::{rows, v1};

/// A session: the output and the input of a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cast {
    pub header: Header,
    /// The events, in order of time.
    pub events: Vec<Event>,
    /// Whether the file ended within a row, as when the recorder was killed: the end of the session is missing.
    pub cut: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The terminal's width when the session began.
    pub columns: u16,
    /// The terminal's height when the session began.
    pub rows: u16,
    /// When it began, in seconds since 1970.
    pub timestamp: Option<u64>,
    /// The command that was run.
    pub command: Option<String>,
    pub title: Option<String>,
    /// The terminal's name (`TERM`).
    pub terminal: Option<String>,
}

impl Default for Header {
    fn default() -> Self {
        Self { columns: 80, rows: 24, timestamp: None, command: None, title: None, terminal: None }
    }
}

/// An event of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Since the session began.
    pub at: Duration,
    /// What happened.
    pub kind: EventKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventKind {
    /// The host sent this (`o`).
    Output(String),
    /// This was typed (`i`): the characters of one read, which need not be one key.
    Input {
        text: String,
        /// Whether the line's other end echoed it; `None` where that is unknown. Only a live recording knows; cast files do not
        /// contain it.
        echoes: Option<bool>,
    },
    /// A secret was typed, which no file contains. A marker with the name of a column stands for it: `${password}`.
    Secret(String),
    /// The terminal was resized (`r`).
    Resize {
        /// Characters in a row.
        columns: u16,
        rows: u16,
    },
    /// Any other marker (`m`).
    Marker(String),
    /// The program ended, with this status (`x`).
    Exit(String),
}

/// The label of a marker at the end of a recording that was stopped before the host closed the line.
pub const STOPPED: &str = "stopped";

/// The longest cast that is read.
const LONGEST: usize = 64 << 20;
const TOO_LONG: &str = "cut it into parts";
const NO_CAST: &str = "give a file that asciinema or `cuesta record` wrote";

impl Cast {
    /// Reads a cast of version 1, 2 or 3. An incomplete row at the end is left out.
    pub fn read(bytes: &[u8]) -> Result<Self, CastError> {
        if bytes.len() > LONGEST {
            return Err(CastError::new(1, format!("the cast has over {} MiB", LONGEST >> 20), TOO_LONG));
        }
        let text = decode(bytes)?;
        let (whole, cut) = whole_rows(text);
        let first = text.lines().next().unwrap_or_default();
        // Version 1 is one object over all rows, so its first row need not be JSON.
        let header = serde_json::from_str::<Value>(first).ok();
        let cast = match header.as_ref().and_then(|header| header["version"].as_u64()) {
            Some(2) => rows::read_v2(header.as_ref().unwrap_or_default(), whole),
            Some(3) => rows::read_v3(header.as_ref().unwrap_or_default(), whole),
            Some(1) | None if text.trim_start().starts_with('{') => v1::read(text),
            Some(version) => {
                Err(CastError::new(1, format!("version {version} is not known"), "versions 1, 2 and 3 are"))
            }
            None => Err(CastError::new(1, "it does not begin as a cast does", NO_CAST)),
        };
        cast.map(|cast| Self { cut: cut || text.len() < bytes.len(), ..cast })
    }

    /// Whether anything was typed.
    pub fn has_input(&self) -> bool {
        self.events.iter().any(|event| matches!(event.kind, EventKind::Input { .. } | EventKind::Secret(_)))
    }

    /// Whether the recording ended before the host closed the line.
    pub fn was_stopped(&self) -> bool {
        self.cut || self.events.last().is_some_and(|event| event.kind == EventKind::Marker(STOPPED.to_owned()))
    }
}

/// The text. An incomplete character at the end belongs to the incomplete row.
fn decode(bytes: &[u8]) -> Result<&str, CastError> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) => {
            let sound = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
            let row = sound.split('\n').count();
            error.error_len().map_or(Ok(sound), |_| Err(CastError::new(row, "it is not UTF-8", NO_CAST)))
        }
    }
}

/// The text without an incomplete row at the end, and whether there was one.
fn whole_rows(text: &str) -> (&str, bool) {
    let (rows, last) = text.split_at(text.rfind('\n').map_or(0, |end| end + 1));
    let cut = !last.is_empty() && serde_json::from_str::<Value>(last).is_err_and(|error| error.is_eof());
    if cut { (rows, true) } else { (text, false) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_are_not_taken_for_casts() {
        for (text, wanted) in [
            (&b""[..], "row 1: it does not begin as a cast does"),
            (b"Type \"x\"\n", "row 1: it does not begin as a cast does"),
            (b"[1]", "row 1: it does not begin as a cast does"),
            (b"{\"version\":2}\n\xff", "row 2: it is not UTF-8"),
            (b"{\"version\":9}", "row 1: version 9 is not known"),
            (b"{\"a\":1}", "row 1: "),
            (b"{ nothing", "row 1: "),
        ] {
            let error = Cast::read(text).expect_err("no cast").to_string();
            assert!(error.starts_with(wanted), "{error}");
        }
    }
}
