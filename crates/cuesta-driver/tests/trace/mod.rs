//! Independent timing of keys: a trace of the line by another program, read by another terminal model.
//!
//! - [`apart`]: which process runs on which CPU.
//! - [`hops`]: how long a wake-up takes, which lies between the trace and the driver.
//! - [`packets`]: what tcpdump saw on the network, by the kernel's instants.
//! - [`terminal`]: what script(1) saw between two terminals, by its own.
//! - [`Event`], [`echoes`]: what either trace shows.
#![allow(dead_code, unreachable_pub, missing_docs, clippy::unwrap_used)] // A private room.

pub mod apart;
pub mod hops;
pub mod packets;
pub mod terminal;

use std::collections::VecDeque;

use avt::Terminal;

/// Who sent what, and when, in ns of the trace's own clock.
#[derive(Debug)]
pub struct Event {
    pub at: u64,
    pub by_user: bool,
    pub bytes: Vec<u8>,
}

/// What a trace says of keys that are to be shown.
#[derive(Debug, Default)]
pub struct Echoes {
    /// From each key to the first event after which it stood where it was typed, in ns.
    pub times: Vec<u64>,
    /// Keys that were not shown before the next row was typed.
    pub missing: usize,
}

impl Echoes {
    /// The median in ns.
    pub fn median(&mut self) -> u64 {
        self.times.sort_unstable();
        self.times[self.times.len() / 2]
    }
}

/// A key that waits to be shown.
struct Key {
    at: u64,
    character: char,
    /// The row and the column where it was typed: the cursor's, or behind the key that waits before it.
    place: (usize, usize),
}

/// Reads a trace from the key `first` on. What a terminal answers by itself begins with an escape, and
/// does not count as typed.
pub fn echoes(events: &[Event], first: u8, columns: usize, rows: usize) -> Echoes {
    let mut reading = Reading {
        terminal: Terminal::new(columns, rows).unwrap(),
        waiting: VecDeque::new(),
        entered: false,
        found: Echoes::default(),
    };
    let mut begun = false;
    for event in events {
        if !event.by_user {
            reading.came(event);
        } else if event.bytes.first() != Some(&0x1b) {
            begun |= event.bytes.contains(&first);
            event.bytes.iter().filter(|_| begun).for_each(|byte| reading.typed(event.at, *byte));
        }
    }
    assert!(begun, "nobody typed");
    reading.found
}

struct Reading {
    terminal: Terminal,
    waiting: VecDeque<Key>,
    /// Something else was typed since the last of them.
    entered: bool,
    found: Echoes,
}

impl Reading {
    fn came(&mut self, event: &Event) {
        self.terminal.feed(String::from_utf8_lossy(&event.bytes).as_ref());
        while self.waiting.front().is_some_and(|key| stands(&self.terminal, key)) {
            self.found.times.extend(self.waiting.pop_front().map(|key| event.at - key.at));
        }
    }

    fn typed(&mut self, at: u64, byte: u8) {
        if !matches!(byte, b' '..=b'~') {
            self.entered = true;
            return;
        }
        if std::mem::take(&mut self.entered) {
            self.found.missing += self.waiting.drain(..).len();
        }
        let cursor = self.terminal.cursor();
        let behind = self.waiting.back().map(|before| (before.place.0, before.place.1 + 1));
        let place = behind.unwrap_or((cursor.row, cursor.col));
        self.waiting.push_back(Key { at, character: byte.into(), place });
    }
}

/// Whether a key stands where it was typed, and the cursor behind it.
fn stands(terminal: &Terminal, key: &Key) -> bool {
    let (row, column) = key.place;
    let cell = terminal.screen().line(row).and_then(|line| line.cells().get(column)).map(avt::Cell::char);
    let cursor = terminal.cursor();
    cell == Some(key.character) && (cursor.row, cursor.col) > key.place
}
