//! Obscures keystroke timing as OpenSSH's client does since 9.5 (`ObscureKeystrokeTiming` in `ssh_config(5)`): keys are sent on
//! a grid of instants, with chaff between them and for a while after the last key. Pure: it only decides what to send when.

use std::time::Duration;

use cuesta_record::Stamp;
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg32;

/// Chaff is sent for this long after a key: the first time, plus a random time between zero and the second.
const CHAFF: (Duration, Duration) = (Duration::from_millis(1024), Duration::from_millis(2048));
/// Most bytes that may wait for the next grid instant: typing never needs more.
const MOST: usize = 16 * 1024;

/// The grid of one line.
#[derive(Debug)]
pub(super) struct Grid {
    width: Duration,
    /// The next grid instant, while anything is to be sent.
    next: Option<Stamp>,
    /// The end of the chaff.
    chaff_until: Stamp,
    /// Keys that wait for the next grid instant.
    keys: Vec<u8>,
    random: Pcg32,
}

/// What is sent at a grid instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GridSend {
    Keys,
    Chaff,
    Nothing,
}

impl Grid {
    pub(super) fn new(width: Duration, seed: u64) -> Self {
        Self { width, next: None, chaff_until: Stamp::ZERO, keys: Vec::new(), random: Pcg32::seed_from_u64(seed) }
    }

    /// Adds typed keys, and returns how many fit; if 0, wait until some have been sent.
    pub(super) fn type_keys(&mut self, now: Stamp, keys: &[u8]) -> usize {
        let len = keys.len().min(MOST - self.keys.len());
        self.keys.extend(&keys[..len]);
        let longer = self.random.random_range(0..=CHAFF.1.as_millis() as u64);
        self.chaff_until = now + CHAFF.0 + Duration::from_millis(longer);
        self.next.get_or_insert(now + self.width);
        len
    }

    pub(super) fn next(&self) -> Option<Stamp> {
        self.next
    }

    /// What to send at `now`, a grid instant or later.
    pub(super) fn due_now(&self, now: Stamp) -> GridSend {
        match self.next {
            Some(next) if now >= next && !self.keys.is_empty() => GridSend::Keys,
            Some(next) if now >= next && now < self.chaff_until => GridSend::Chaff,
            _ => GridSend::Nothing,
        }
    }

    pub(super) fn keys(&self) -> &[u8] {
        &self.keys
    }

    /// Forgets the first `len` keys: they were sent.
    pub(super) fn forget_sent(&mut self, len: usize) {
        self.keys.drain(..len);
    }

    /// Moves on to the next grid instant after `now`; missed ones are not made up for.
    pub(super) fn advance(&mut self, now: Stamp) {
        let Some(next) = self.next else { return };
        if self.keys.is_empty() && now >= self.chaff_until {
            self.next = None;
            return;
        }
        let missed = now.since(next).as_nanos() / self.width.as_nanos();
        self.next = Some(next + self.width * u32::try_from(missed + 1).unwrap_or(u32::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTH: Duration = Duration::from_millis(20);

    /// All sends as (ms, kind, number of keys), if one key is typed at each of `typed` ms.
    fn played(typed: &[u64]) -> Vec<(u64, GridSend, usize)> {
        let start = Stamp::ZERO + Duration::from_secs(1);
        let mut grid = Grid::new(WIDTH, 7);
        let mut sends = Vec::new();
        let mut typed = typed.iter().copied().peekable();
        for ms in 0..10_000 {
            let now = start + Duration::from_millis(ms);
            while typed.next_if_eq(&ms).is_some() {
                assert_eq!(grid.type_keys(now, b"k"), 1);
            }
            if grid.next().is_some_and(|next| now >= next) {
                let due_now = grid.due_now(now);
                sends.push((ms, due_now, grid.keys().len()));
                grid.forget_sent(grid.keys().len());
                grid.advance(now);
            }
        }
        sends
    }

    #[test]
    fn keys_go_on_the_grid_and_chaff_between_and_after_them() {
        let sends = played(&[3, 5, 29, 200]);
        assert!(sends.iter().all(|(ms, ..)| ms % 20 == 3), "{sends:?}");
        let keys: Vec<_> =
            sends.iter().filter(|(_, due_now, _)| *due_now == GridSend::Keys).map(|(ms, _, len)| (*ms, *len)).collect();
        assert_eq!(keys, [(23, 2), (43, 1), (203, 1)]);
        let chaff = sends.iter().filter(|(_, due_now, _)| *due_now == GridSend::Chaff).count() as u64;
        let last = sends.last().unwrap().0;
        assert!((200 + 1024..=200 + 1024 + 2048 + 40).contains(&last), "{last}");
        assert!(chaff >= (last - 203) / 20 - 1, "{chaff} up to {last}");
    }

    #[test]
    fn missed_grid_instants_are_skipped() {
        let start = Stamp::ZERO + Duration::from_secs(1);
        let mut grid = Grid::new(WIDTH, 7);
        grid.type_keys(start, b"k");
        let late = start + Duration::from_millis(95);
        assert_eq!(grid.due_now(late), GridSend::Keys);
        grid.forget_sent(1);
        grid.advance(late);
        assert_eq!((grid.due_now(late), grid.next()), (GridSend::Nothing, Some(start + Duration::from_millis(100))));
    }

    #[test]
    fn a_flood_of_keys_waits() {
        let mut grid = Grid::new(WIDTH, 7);
        assert_eq!(grid.type_keys(Stamp::ZERO, &vec![b'k'; MOST + 5]), MOST);
        assert_eq!(grid.type_keys(Stamp::ZERO, b"k"), 0);
    }
}
