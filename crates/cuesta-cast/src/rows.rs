//! Versions 2 and 3: a header, then one event in each row, `[seconds, code, data]`. Version 2 counts the seconds from the
//! beginning, version 3 from the previous event.

use std::time::Duration;

use serde_json::Value;

use crate::cast::{Cast, Event, EventKind, Header};
use crate::error::CastError;
use crate::secrets::is_column;

/// Most events that are read.
const MOST_EVENTS: usize = 2_000_000;
/// Most bytes of input.
const MOST_TYPED: usize = 256 << 10;
/// The longest session in seconds: 30 days.
const LONGEST: f64 = 30.0 * 24.0 * 3600.0;
/// The largest terminal, in columns and in rows.
const LARGEST: u64 = 1000;

const EVENT: &str = "a row is [seconds, code, data]: take it out or mend it";
const SIZE: &str = "columns and rows run from 1 to 1000";

/// Reads a cast of version 2, whose first row is `header`.
pub(crate) fn read_v2(header: &Value, text: &str) -> Result<Cast, CastError> {
    let (columns, rows) = size(1, &header["width"], &header["height"])?;
    let header = Header { columns, rows, terminal: string(&header["env"]["TERM"]), ..common(header) };
    let events = events(text, |_| false, |at, _| at)?;
    Ok(Cast { header, events, ..Cast::default() })
}

/// Reads a cast of version 3, in which `#` begins a comment.
pub(crate) fn read_v3(header: &Value, text: &str) -> Result<Cast, CastError> {
    let term = &header["term"];
    let (columns, rows) = size(1, &term["cols"], &term["rows"])?;
    let terminal = string(&term["type"]).or_else(|| string(&header["env"]["TERM"]));
    let header = Header { columns, rows, terminal, ..common(header) };
    let events = events(text, |row| row.starts_with('#'), |interval, before| before + interval)?;
    Ok(Cast { header, events, ..Cast::default() })
}

/// The fields of the header that both versions share.
fn common(header: &Value) -> Header {
    Header {
        timestamp: header["timestamp"].as_u64(),
        command: string(&header["command"]),
        title: string(&header["title"]),
        ..Header::default()
    }
}

pub(crate) fn string(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// The terminal's size. A terminal without a size, as in a container, is written as 0 and read as 80×24.
pub(crate) fn size(row: usize, columns: &Value, rows: &Value) -> Result<(u16, u16), CastError> {
    let one = |value: &Value, usual| match value.as_u64() {
        Some(0) => Some(usual),
        Some(size @ 1..=LARGEST) => Some(size as u16),
        _ => None,
    };
    let usual = Header::default();
    one(columns, usual.columns)
        .zip(one(rows, usual.rows))
        .ok_or_else(|| CastError::new(row, format!("{columns} by {rows} is no size of a terminal"), SIZE))
}

/// The events behind the header. `skip`: rows that are not events; `at`: an event's instant from its number and the instant of
/// the event before.
fn events(
    text: &str,
    skip: impl Fn(&str) -> bool,
    at: impl Fn(Duration, Duration) -> Duration,
) -> Result<Vec<Event>, CastError> {
    let mut events = Vec::new();
    let mut before = Duration::ZERO;
    let mut typed = 0;
    let rows = text.lines().enumerate().skip(1);
    for (index, row) in rows.filter(|(_, row)| !row.trim().is_empty() && !skip(row)) {
        let row_number = index + 1;
        if events.len() >= MOST_EVENTS {
            return Err(CastError::new(row_number, format!("over {MOST_EVENTS} events"), "cut the cast into parts"));
        }
        let (number, code, data) = event(row_number, row)?;
        // Some writers swap events that are very close in time.
        before = at(number, before).max(before);
        if before.as_secs_f64() > LONGEST {
            return Err(CastError::new(row_number, "the session lasts over 30 days", "cut the cast into parts"));
        }
        let kind = kind(row_number, &code, data)?;
        if let Some(EventKind::Input { text, .. }) = &kind {
            typed += text.len();
        }
        if typed > MOST_TYPED {
            return Err(CastError::new(row_number, "over 256 KiB were typed", "cut the cast into parts"));
        }
        events.extend(kind.map(|kind| Event { at: before, kind }));
    }
    Ok(events)
}

fn event(row: usize, text: &str) -> Result<(Duration, String, Value), CastError> {
    let wrong = |message: String| CastError::new(row, message, EVENT);
    let (seconds, code, data): (f64, String, Value) =
        serde_json::from_str(text).map_err(|error| wrong(format!("it is no event ({error})")))?;
    Ok((instant(seconds).ok_or_else(|| wrong(format!("{seconds} is no time")))?, code, data))
}

/// Seconds to the nanosecond.
pub(crate) fn instant(seconds: f64) -> Option<Duration> {
    (0.0..=LONGEST * 2.0).contains(&seconds).then(|| Duration::from_nanos((seconds * 1e9).round() as u64))
}

/// A marker may stand for a secret.
fn marker(label: String) -> EventKind {
    let column = label.strip_prefix("${").and_then(|label| label.strip_suffix('}'));
    match column.filter(|column| is_column(column)) {
        Some(column) => EventKind::Secret(column.to_owned()),
        None => EventKind::Marker(label),
    }
}

/// The meaning of an event; `None` for unknown codes.
fn kind(row: usize, code: &str, data: Value) -> Result<Option<EventKind>, CastError> {
    let Value::String(text) = data else {
        return Err(CastError::new(row, "its data is no text", EVENT));
    };
    Ok(Some(match code {
        "o" => EventKind::Output(text),
        "i" => EventKind::Input { text, echoes: None },
        "m" => marker(text),
        "x" => EventKind::Exit(text),
        "r" => {
            let (columns, rows) = text.split_once('x').unwrap_or_default();
            let number = |text: &str| text.parse::<u64>().map_or(Value::Null, Value::from);
            let (columns, rows) = size(row, &number(columns), &number(rows))?;
            EventKind::Resize { columns, rows }
        }
        _ => return Ok(None),
    }))
}
