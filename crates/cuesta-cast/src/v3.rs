//! Version 3: as version 2, but each event says how long after the one before it came, and `#` begins a comment.

use serde_json::Value;

use crate::cast::{Cast, Header};
use crate::error::CastError;
use crate::v2;

/// Reads the whole of `text`, whose first row is `header`.
pub(crate) fn read(header: &Value, text: &str) -> Result<Cast, CastError> {
    let term = &header["term"];
    let (columns, rows) = v2::size(1, &term["cols"], &term["rows"])?;
    let terminal = v2::words(&term["type"]).or_else(|| v2::words(&header["env"]["TERM"]));
    let header = Header { columns, rows, terminal, ..v2::header(header) };
    let events = v2::events(text, |row| row.starts_with('#'), |interval, before| before + interval)?;
    Ok(Cast { header, events, ..Cast::default() })
}
