//! Independent timing of keys: a trace that somebody else took of what passed, and another terminal model to read it by.
//!
//! - [`packets`]: what tcpdump saw on the network, by the kernel's instants.
//! - [`terminal`]: what script(1) saw between two terminals, by its own.
//! - [`Event`], [`echoes`]: either of them, read.
#![allow(dead_code, unreachable_pub, missing_docs, clippy::unwrap_used)] // A private room.

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

/// Reads a trace from the first `begin` that was typed on. Every printable key that was typed alone counts.
pub fn echoes(events: &[Event], begin: u8, columns: usize, rows: usize) -> Echoes {
    let mut terminal = Terminal::new(columns, rows).unwrap();
    let mut found = Echoes::default();
    let mut waiting: VecDeque<Key> = VecDeque::new();
    let mut entered = false;
    let typed = events.iter().position(|event| event.by_user && event.bytes == [begin]).expect("somebody typed");
    for (number, event) in events.iter().enumerate() {
        match event.bytes[..] {
            _ if !event.by_user => {
                terminal.feed(String::from_utf8_lossy(&event.bytes).as_ref());
                while waiting.front().is_some_and(|key| stands(&terminal, key)) {
                    found.times.extend(waiting.pop_front().map(|key| event.at - key.at));
                }
            }
            [key @ b' '..=b'~'] if number >= typed => {
                if std::mem::take(&mut entered) {
                    found.missing += waiting.drain(..).len();
                }
                let cursor = terminal.cursor();
                let behind = waiting.back().map(|before| (before.place.0, before.place.1 + 1));
                let place = behind.unwrap_or((cursor.row, cursor.col));
                waiting.push_back(Key { at: event.at, character: key.into(), place });
            }
            _ => entered = true,
        }
    }
    found
}

/// Whether a key stands where it was typed, and the cursor behind it.
fn stands(terminal: &Terminal, key: &Key) -> bool {
    let (row, column) = key.place;
    let cell = terminal.screen().line(row).and_then(|line| line.cells().get(column)).map(avt::Cell::char);
    let cursor = terminal.cursor();
    cell == Some(key.character) && (cursor.row, cursor.col) > key.place
}
