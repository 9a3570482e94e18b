//! The buffer pool: bounds the waiting output of all lines of a thread.

use std::sync::Arc;

use crate::meters::Meters;

/// Characters that each line may always hold: a line that reads continues, more slowly, even when lines that never read fill
/// the pool. Memory is bounded by the pool plus this many characters a line.
pub(crate) const OWN: usize = 64;

/// Counts the characters; the lines hold them.
#[derive(Debug)]
pub(crate) struct Pool {
    size: usize,
    meters: Arc<Meters>,
}

/// The pool's room for a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PoolRoom {
    /// How many more characters the line may hold.
    pub(crate) characters: usize,
    /// The pool, not the line's own limit, is the bound.
    pub(crate) short: bool,
}

impl Pool {
    pub(crate) fn new(size: usize, meters: Arc<Meters>) -> Self {
        meters.levels.pool_size.set(size as u64);
        meters.levels.pool_least_free.set(size as u64);
        Self { size, meters }
    }

    /// The room for a line that holds `held` characters and may hold `limit`.
    pub(crate) fn room(&self, held: usize, limit: usize) -> PoolRoom {
        let limited = limit.saturating_sub(held);
        let free = self.size.saturating_sub(self.used());
        let characters = limited.min(free.max(OWN.saturating_sub(held)));
        PoolRoom { characters, short: characters < limited }
    }

    /// A line holds `characters` more.
    pub(crate) fn take(&self, characters: usize) {
        let used = self.used() + characters;
        let levels = &self.meters.levels;
        levels.pool_used.set(used as u64);
        levels.pool_least_free.lower_to(self.size.saturating_sub(used) as u64);
    }

    /// A line holds `characters` less.
    pub(crate) fn give(&self, characters: usize) {
        self.meters.levels.pool_used.subtract(characters as u64);
    }

    fn used(&self) -> usize {
        self.meters.levels.pool_used.get() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_pool_leaves_each_line_its_own_share() {
        let meters = Arc::new(Meters::new(0, None));
        let pool = Pool::new(100, Arc::clone(&meters));
        assert_eq!(pool.room(0, 80), PoolRoom { characters: 80, short: false });
        pool.take(90);
        assert_eq!(pool.room(0, 80), PoolRoom { characters: OWN, short: true });
        assert_eq!(pool.room(60, 80), PoolRoom { characters: 10, short: true });
        pool.take(OWN);
        assert_eq!(pool.room(OWN, 80), PoolRoom { characters: 0, short: true });
        assert_eq!(meters.levels.pool_least_free.get(), 0);
        pool.give(90 + OWN);
        assert_eq!(pool.room(0, 500), PoolRoom { characters: 100, short: true });
    }
}
