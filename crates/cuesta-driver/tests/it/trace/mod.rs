//! Independent timing of keys: another program traces the line, and another terminal model reads the trace.
//!
//! - [`packets`]: tcpdump's trace of the network, with the kernel's time stamps.
//! - [`terminal`]: script(1)'s trace of a terminal, with its own time stamps.
//! - [`Event`], [`echoes`]: the echo times in either trace.
#![allow(dead_code, unreachable_pub, missing_docs, clippy::unwrap_used)] // Used by one test only.

pub mod packets;
pub mod terminal;

use std::collections::VecDeque;

use avt::Terminal;

/// Bytes that the user or the program sent at one instant, in ns of the trace's clock.
#[derive(Debug)]
pub struct Event {
    pub at: u64,
    pub by_user: bool,
    pub bytes: Vec<u8>,
}

/// Echo times in a trace.
#[derive(Debug, Default)]
pub struct Echoes {
    /// From each key to the first event after which the screen shows it where it was typed, in ns.
    pub times: Vec<u64>,
    /// Keys that were not shown before the next row began.
    pub missing: usize,
}

/// A key whose echo is pending.
struct PendingKey {
    at: u64,
    character: char,
    /// Row and column where the echo is expected: the cursor's cell, or the cell after the previous key of the row. In between the
    /// program may have the cursor elsewhere.
    place: (usize, usize),
}

/// Finds the echo times in a trace, from the key `first` on. Input that begins with an escape is the terminal's own reply, not
/// a key.
pub fn echoes(events: &[Event], first: u8, columns: usize, rows: usize) -> Echoes {
    let mut matcher = TraceMatcher {
        terminal: Terminal::new(columns, rows).unwrap(),
        pending: VecDeque::new(),
        last: None,
        row_ended: false,
        echoes: Echoes::default(),
    };
    let mut begun = false;
    for event in events {
        if !event.by_user {
            matcher.output(event);
        } else if event.bytes.first() != Some(&0x1b) {
            begun |= event.bytes.contains(&first);
            event.bytes.iter().filter(|_| begun).for_each(|byte| matcher.input(event.at, *byte));
        }
    }
    assert!(begun, "no key in the trace");
    matcher.echoes
}

struct TraceMatcher {
    terminal: Terminal,
    pending: VecDeque<PendingKey>,
    /// The place of the row's last key.
    last: Option<(usize, usize)>,
    /// A control character was typed after the last pending key.
    row_ended: bool,
    echoes: Echoes,
}

impl TraceMatcher {
    fn output(&mut self, event: &Event) {
        self.terminal.feed(String::from_utf8_lossy(&event.bytes).as_ref());
        while self.pending.front().is_some_and(|key| is_shown(&self.terminal, key)) {
            self.echoes.times.extend(self.pending.pop_front().map(|key| event.at - key.at));
        }
    }

    fn input(&mut self, at: u64, byte: u8) {
        if !matches!(byte, b' '..=b'~') {
            self.row_ended = true;
            return;
        }
        if std::mem::take(&mut self.row_ended) {
            self.echoes.missing += self.pending.drain(..).len();
            self.last = None;
        }
        let cursor = self.terminal.cursor();
        let place = self.last.map_or((cursor.row, cursor.col), |(row, column)| (row, column + 1));
        self.last = Some(place);
        self.pending.push_back(PendingKey { at, character: byte.into(), place });
    }
}

/// Whether the screen shows the key at its place, with the cursor behind it.
fn is_shown(terminal: &Terminal, key: &PendingKey) -> bool {
    let (row, column) = key.place;
    let cell = terminal.screen().line(row).and_then(|line| line.cells().get(column)).map(avt::Cell::char);
    let cursor = terminal.cursor();
    cell == Some(key.character) && (cursor.row, cursor.col) > key.place
}
