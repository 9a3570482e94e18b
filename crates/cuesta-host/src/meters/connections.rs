//! The connection table: how many lines are connected, for how long, and how they ended.

use std::collections::BTreeMap;

use cuesta_record::{Stamp, record};

/// The lines of one thread, or of all.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConnectionTable {
    /// Lines connected now.
    pub(crate) connected: u64,
    /// Most lines at one time.
    pub(crate) peak: u64,
    /// Lines opened so far.
    pub(crate) opened: u64,
    /// Lines refused: no descriptor, or an address that is not allowed.
    pub(crate) refused: u64,
    /// Ended lines by cause: the names of failures of lines, `closed` by the terminal, `ended` by the service,
    /// `stopped` with the host, `panicked`.
    pub(crate) closes: BTreeMap<&'static str, u64>,
    /// The largest totals of any ended line.
    pub(crate) busiest: LineTotals,
    /// Lines that took the in-kernel path.
    pub(crate) in_kernel: u64,
    /// Lines that wanted to and could not, by reason.
    pub(crate) not_in_kernel: BTreeMap<&'static str, u64>,
    /// Time that lines were connected up to `changed`, summed over lines.
    line_nanos: u64,
    changed: Stamp,
}

record! {
    /// What services have exchanged with lines.
    #[derive(Copy, Default)]
    LineTotals {
        /// messages that services took
        messages: u64 = Number;
        /// characters that services took
        characters_in: u64 = Number;
        /// characters that services wrote
        characters_out: u64 = Number;
    }
}

impl ConnectionTable {
    pub(crate) fn open(&mut self, now: Stamp) {
        self.advance(now);
        self.connected += 1;
        self.opened += 1;
        self.peak = self.peak.max(self.connected);
    }

    pub(crate) fn close(&mut self, now: Stamp, how: &'static str, totals: LineTotals) {
        self.advance(now);
        self.connected -= 1;
        *self.closes.entry(how).or_default() += 1;
        self.busiest = self.busiest.max(totals);
    }

    /// A line took the in-kernel path, or could not for a reason.
    pub(crate) fn join_kernel_path(&mut self, obstacle: Option<&'static str>) {
        match obstacle {
            Some(reason) => *self.not_in_kernel.entry(reason).or_default() += 1,
            None => self.in_kernel += 1,
        }
    }

    /// Time that lines have been connected, summed over lines; nanoseconds.
    pub(crate) fn line_nanos(&self, now: Stamp) -> u64 {
        self.line_nanos + self.connected * now.since(self.changed).as_nanos() as u64
    }

    /// Adds another thread's lines. The peaks of threads are not at the same time: their sum is an upper bound.
    pub(crate) fn add(&mut self, other: &Self, now: Stamp) {
        self.line_nanos = self.line_nanos(now) + other.line_nanos(now);
        self.changed = now;
        self.connected += other.connected;
        self.peak += other.peak;
        self.opened += other.opened;
        self.refused += other.refused;
        self.in_kernel += other.in_kernel;
        for (sums, counts) in [(&mut self.closes, &other.closes), (&mut self.not_in_kernel, &other.not_in_kernel)] {
            for (name, count) in counts {
                *sums.entry(name).or_default() += count;
            }
        }
        self.busiest = self.busiest.max(other.busiest);
    }

    fn advance(&mut self, now: Stamp) {
        self.line_nanos = self.line_nanos(now);
        self.changed = now;
    }
}

impl LineTotals {
    fn max(self, other: Self) -> Self {
        Self {
            messages: self.messages.max(other.messages),
            characters_in: self.characters_in.max(other.characters_in),
            characters_out: self.characters_out.max(other.characters_out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(seconds: u64) -> Stamp {
        Stamp::from_nanos(seconds * 1_000_000_000)
    }

    #[test]
    fn terminal_time_is_the_sum_over_lines() {
        let mut connections = ConnectionTable::default();
        connections.open(s(10));
        connections.open(s(12));
        connections.close(s(15), "closed", LineTotals { messages: 7, ..LineTotals::default() });
        assert_eq!(connections.line_nanos(s(20)), 13_000_000_000);
        let mut all = ConnectionTable::default();
        all.add(&connections, s(20));
        all.add(&connections, s(21));
        assert_eq!(all.line_nanos(s(22)), 2 * 15_000_000_000);
        assert_eq!((all.connected, all.peak, all.opened, all.closes["closed"]), (2, 4, 4, 2));
        assert_eq!(all.busiest.messages, 7);
    }
}
