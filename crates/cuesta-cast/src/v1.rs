//! Version 1: one object with output only. `stdout` is a list of `[seconds since the previous one, text]`.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::cast::{Cast, Event, EventKind, Header};
use crate::error::CastError;
use crate::rows::{instant, size, string};

#[derive(Deserialize)]
struct Whole {
    #[serde(default)]
    width: Value,
    #[serde(default)]
    height: Value,
    #[serde(default)]
    command: Value,
    #[serde(default)]
    title: Value,
    #[serde(default)]
    env: Value,
    stdout: Vec<(f64, String)>,
}

pub(crate) fn read(text: &str) -> Result<Cast, CastError> {
    let whole: Whole = serde_json::from_str(text).map_err(|error| {
        if error.is_eof() {
            let remedy = "half an object cannot be read; casts of versions 2 and 3 can, up to the row that is cut";
            return CastError::new(error.line().max(1), "its end is missing", remedy);
        }
        let remedy = "version 1 is one object with `stdout`, a list of [seconds, text]";
        CastError::new(error.line().max(1), format!("it is no cast ({error})"), remedy)
    })?;
    let (columns, rows) = size(1, &whole.width, &whole.height)?;
    let header = Header {
        columns,
        rows,
        timestamp: None,
        command: string(&whole.command),
        title: string(&whole.title),
        terminal: string(&whole.env["TERM"]),
    };
    let mut at = Duration::ZERO;
    let events = whole.stdout.into_iter().map(|(delay, output)| {
        at += instant(delay)
            .ok_or_else(|| CastError::new(1, format!("{delay} is no delay"), "a delay is a number of seconds"))?;
        Ok(Event { at, kind: EventKind::Output(output) })
    });
    Ok(Cast { header, events: events.collect::<Result<_, _>>()?, ..Cast::default() })
}
