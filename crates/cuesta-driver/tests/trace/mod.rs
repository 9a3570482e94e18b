//! Independent timing of keys: a trace that somebody else took of what passed, and another terminal model to read it by.
//!
//! - [`packets`]: what tcpdump saw on the network, by the kernel's instants.
//! - [`terminal`]: what script(1) saw between two terminals, by its own.
//! - [`Event`], [`echoes`]: either of them, read.
#![allow(dead_code, unreachable_pub, missing_docs, clippy::unwrap_used)] // A private room.

pub mod packets;
pub mod terminal;

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
    /// From each key to the first event after which it stood in the cell where the cursor had been, in ns.
    pub times: Vec<u64>,
    /// Keys that were still not shown when the next one came.
    pub missing: usize,
}

impl Echoes {
    /// The median in ns.
    pub fn median(&mut self) -> u64 {
        self.times.sort_unstable();
        self.times[self.times.len() / 2]
    }
}

/// Reads a trace from the first `begin` that was typed on. Every printable key that was typed alone counts.
pub fn echoes(events: &[Event], begin: u8, columns: usize, rows: usize) -> Echoes {
    let mut terminal = Terminal::new(columns, rows).unwrap();
    let mut found = Echoes::default();
    let mut begun = false;
    let mut waits: Option<(u64, char, (usize, usize))> = None;
    for event in events {
        if !event.by_user {
            terminal.feed(String::from_utf8_lossy(&event.bytes).as_ref());
            if let Some((at, key, place)) = waits
                && stands(&terminal, key, place)
            {
                found.times.push(event.at - at);
                waits = None;
            }
        } else if let [key @ b' '..=b'~'] = event.bytes[..] {
            begun |= key == begin;
            if begun {
                found.missing += usize::from(waits.is_some());
                waits = Some((event.at, key.into(), cursor(&terminal)));
            }
        }
    }
    found
}

fn cursor(terminal: &Terminal) -> (usize, usize) {
    let cursor = terminal.cursor();
    (cursor.row, cursor.col)
}

/// Whether a key stands where the cursor was, and the cursor right behind it.
fn stands(terminal: &Terminal, key: char, (row, column): (usize, usize)) -> bool {
    let cell = terminal.screen().line(row).and_then(|line| line.cells().get(column)).map(avt::Cell::char);
    cell == Some(key) && cursor(terminal) == (row, column + 1)
}
