//! What became of everything that was due in the measurement interval of a step, where the load is open.
//!
//! Each arrival belongs to the step whose measurement interval holds the instant at which it was due, whenever it is begun
//! and ended. The process counts what arrives, users count what they end, and what is left is found where it waits.

use cuesta_record::{ArrivalCounts, Interval, Stamp};

use super::ThreadState;
use crate::pacing::Arrival;
use crate::spec::LoadKind;

impl ThreadState {
    /// Something arrived for a user of this thread.
    pub(crate) fn arrives(&self, due: Stamp, arrival: Arrival) {
        let skipped = u64::from(arrival == Arrival::Skipped);
        self.tally(|tally| tally.counts.skipped += skipped);
        self.account_of(due, |account| {
            account.count += 1;
            account.skipped += skipped;
        });
    }

    /// A user begins what arrived for it.
    pub(crate) fn begins(&self, slot: usize, due: Stamp) {
        self.users.borrow_mut()[slot].arrived = Some(due);
    }

    /// A user has ended what it began; nothing is counted where that had not arrived by an open load.
    pub(crate) fn ends(&self, slot: usize, failed: bool) {
        let Some(due) = self.users.borrow_mut()[slot].arrived.take() else { return };
        self.account_of(due, |account| {
            account.done += 1;
            account.failed += u64::from(failed);
        });
    }

    fn account_of(&self, due: Stamp, count: impl FnOnce(&mut ArrivalCounts)) {
        if let Some(step) = self.timeline.measured_at(due) {
            count(&mut self.accounts.borrow_mut()[step]);
        }
    }

    /// The account up to the end of an interval; none where no load of the step is open.
    pub(super) fn account(&self, interval: Interval) -> Option<ArrivalCounts> {
        let is_open = |load: LoadKind| matches!(load, LoadKind::Open { .. });
        if !self.spec.steps[interval.step].groups.iter().any(|group| is_open(group.load)) {
            return None;
        }
        let mut account = self.accounts.borrow()[interval.step];
        let measured = self.timeline.at(self.timeline.steps[interval.step].settled)..self.timeline.at(interval.end);
        for slot in self.users.borrow().iter() {
            account.waiting += slot.arrivals.waiting(&measured);
            account.under_way += u64::from(slot.arrived.is_some_and(|due| measured.contains(&due)));
        }
        Some(account)
    }
}
