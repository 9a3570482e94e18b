//! A counter that one thread writes and any thread may read.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A counter with a single writer, so that adding needs no locked instruction, only a load and a store.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }

    pub(crate) fn set(&self, value: u64) {
        self.0.store(value, Relaxed);
    }

    pub(crate) fn add(&self, count: u64) {
        self.set(self.get() + count);
    }

    pub(crate) fn subtract(&self, count: u64) {
        self.set(self.get().saturating_sub(count));
    }

    /// Keeps the least value seen.
    pub(crate) fn lower_to(&self, value: u64) {
        self.set(self.get().min(value));
    }

    /// Keeps the greatest value seen.
    pub(crate) fn raise_to(&self, value: u64) {
        self.set(self.get().max(value));
    }
}
