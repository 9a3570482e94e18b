//! Writes version 2, to the microsecond. (Version 3 has milliseconds only, too coarse for an echo.)

use std::collections::VecDeque;
use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;

use crate::cast::{Cast, EventKind, Header};
use crate::printed::Stars;
use crate::utf8::Utf8Decoder;

/// The first row.
#[derive(Serialize)]
struct Head<'a> {
    version: u8,
    width: u16,
    height: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    env: Option<Environment<'a>>,
}

#[derive(Serialize)]
struct Environment<'a> {
    #[serde(rename = "TERM")]
    terminal: &'a str,
}

/// Writes a cast row by row.
#[derive(Debug)]
pub struct Writer<W> {
    to: W,
    /// Decodes the output, which may cut characters.
    characters: Utf8Decoder,
    /// Hides texts in the output.
    stars: Stars,
    /// Output that is not written yet: its instant, and the number of characters.
    held: VecDeque<(Duration, usize)>,
}

impl<W: Write> Writer<W> {
    /// Writes the header.
    pub fn new(mut to: W, header: &Header) -> io::Result<Self> {
        let head = Head {
            version: 2,
            width: header.columns,
            height: header.rows,
            timestamp: header.timestamp,
            command: header.command.as_deref(),
            title: header.title.as_deref(),
            env: header.terminal.as_deref().map(|terminal| Environment { terminal }),
        };
        writeln!(to, "{}", serde_json::to_string(&head)?)?;
        Ok(Self { to, characters: Utf8Decoder::default(), stars: Stars::default(), held: VecDeque::new() })
    }

    /// Writes stars in place of this text, wherever the host prints it from now on.
    pub fn hide(&mut self, text: &str) {
        self.stars.hide(text);
    }

    /// Writes output of the host. An incomplete character waits for its rest, and the beginning of a hidden text for its end.
    pub fn output(&mut self, at: Duration, bytes: &[u8]) -> io::Result<()> {
        let text = self.characters.take(bytes);
        self.held.push_back((at, text.chars().count()));
        self.stars.push(&text);
        let ready = self.stars.ready();
        self.outputs(ready.chars())
    }

    /// Writes output that was held, each character with its instant.
    fn outputs(&mut self, mut ready: impl Iterator<Item = char>) -> io::Result<()> {
        while let Some((at, length)) = self.held.pop_front() {
            let text: String = ready.by_ref().take(length).collect();
            let left = length - text.chars().count();
            if !text.is_empty() {
                self.row(at, "o", &text)?;
            }
            if left > 0 {
                self.held.push_front((at, left));
                break;
            }
        }
        Ok(())
    }

    /// Writes any event.
    pub fn event(&mut self, at: Duration, kind: &EventKind) -> io::Result<()> {
        let held = self.stars.finish();
        self.outputs(held.into_iter())?;
        match kind {
            EventKind::Output(text) => self.row(at, "o", text),
            EventKind::Input { text, .. } => self.row(at, "i", text),
            EventKind::Secret(column) => self.row(at, "m", &format!("${{{column}}}")),
            EventKind::Resize { columns, rows } => self.row(at, "r", &format!("{columns}x{rows}")),
            EventKind::Marker(label) => self.row(at, "m", label),
            EventKind::Exit(status) => self.row(at, "x", status),
        }
    }

    /// Flushes the writer.
    pub fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }

    /// Ends the cast.
    pub fn finish(mut self, at: Duration) -> io::Result<()> {
        let rest = self.characters.finish();
        self.output(at, rest.as_bytes())?;
        let held = self.stars.finish();
        self.outputs(held.into_iter())?;
        self.to.flush()
    }

    fn row(&mut self, at: Duration, code: &str, data: &str) -> io::Result<()> {
        let data = serde_json::Value::from(data);
        writeln!(self.to, "[{}.{:06}, \"{code}\", {data}]", at.as_secs(), at.subsec_micros())
    }
}

impl Cast {
    /// Writes the whole cast.
    pub fn write(&self, to: impl Write) -> io::Result<()> {
        let mut writer = Writer::new(to, &self.header)?;
        for event in &self.events {
            writer.event(event.at, &event.kind)?;
        }
        writer.finish(self.events.last().map_or(Duration::ZERO, |last| last.at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Event;

    #[test]
    fn a_written_cast_reads_back() {
        let at = Duration::from_micros;
        let header = Header {
            timestamp: Some(1_795_200_207),
            command: Some("bash".into()),
            terminal: Some("xterm".into()),
            ..Header::default()
        };
        let events = [
            (0, EventKind::Output("$ \u{1b}[m\"é\"\u{7}".into())),
            (1_000_001, EventKind::Input { text: "ls\r".into(), echoes: None }),
            (1_000_002, EventKind::Secret("secret_2".into())),
            (1_000_003, EventKind::Resize { columns: 132, rows: 50 }),
            (61_000_003, EventKind::Marker("here".into())),
            (61_000_004, EventKind::Exit("0".into())),
        ];
        let events = events.map(|(us, kind)| Event { at: at(us), kind }).to_vec();
        let cast = Cast { header, events, ..Cast::default() };
        let mut written = Vec::new();
        cast.write(&mut written).expect("writes");
        assert_eq!(Cast::read(&written), Ok(cast));
    }

    #[test]
    fn a_character_in_two_pieces_is_one_event() {
        let mut written = Vec::new();
        let mut writer = Writer::new(&mut written, &Header::default()).expect("writes");
        writer.output(Duration::from_millis(1), b"\xc3").expect("writes");
        writer.output(Duration::from_millis(2), b"\xa9\xe2").expect("writes");
        writer.finish(Duration::from_millis(3)).expect("writes");
        let cast = Cast::read(&written).expect("reads");
        let texts: Vec<_> = cast.events.iter().map(|event| (event.at.as_millis(), event.kind.clone())).collect();
        assert_eq!(texts, [(2, EventKind::Output("é".into())), (3, EventKind::Output("\u{fffd}".into()))]);
    }
}
