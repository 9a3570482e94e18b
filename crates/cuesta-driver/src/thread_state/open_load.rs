//! Counts of an open load: what became of the inputs or sessions that were due in a step's measurement interval.
//!
//! An arrival belongs to the step whose measurement interval holds its due time, even if its user begins or ends it later. The
//! arrival process counts arrivals, users count what they have done; what is waiting or under way is counted at the end of an
//! interval.

use cuesta_record::{ArrivalCounts, Interval, Stamp};

use super::ThreadState;
use crate::pacing::Arrival;
use crate::spec::LoadKind;

impl ThreadState {
    /// Some keys or inputs that were due will not be sent.
    pub(crate) fn count_left_out(&self, actions: u64) {
        self.tally(|tally| tally.counts.skipped += actions);
    }

    /// An input or session arrived for a user of this thread.
    pub(crate) fn record_arrival(&self, due: Stamp, arrival: Arrival) {
        let left_out = u64::from(arrival == Arrival::LeftOut);
        self.count_left_out(left_out);
        self.count_in_step(due, |counts| {
            counts.count += 1;
            counts.skipped += left_out;
        });
    }

    /// What waited for a user is dropped, because its step's load has ended. It stays counted as waiting in its step.
    pub(crate) fn record_dropped_arrival(&self, due: Stamp) {
        self.count_in_step(due, |counts| counts.waiting += 1);
    }

    /// A user has ended a pass or a session; if it had arrived by an open load, its arrival is done.
    pub(crate) fn end_arrival(&self, slot: usize, failed: bool) {
        self.tally(|tally| tally.counts.passes += 1);
        let Some(due) = self.users.borrow_mut()[slot].arrived.take() else { return };
        self.count_in_step(due, |counts| {
            counts.done += 1;
            counts.failed += u64::from(failed);
        });
    }

    fn count_in_step(&self, due: Stamp, count: impl FnOnce(&mut ArrivalCounts)) {
        if let Some(step) = self.schedule().timeline.measured_at(due) {
            count(&mut self.arrival_counts.borrow_mut()[step]);
        }
    }

    /// The counts up to the end of an interval; `None` if no load of the step is open.
    pub(super) fn arrival_counts(&self, interval: Interval) -> Option<ArrivalCounts> {
        let is_open = |load: LoadKind| matches!(load, LoadKind::Open { .. });
        let schedule = self.schedule();
        if !(0..self.groups.len()).any(|group| is_open(schedule.load(interval.step, group).load)) {
            return None;
        }
        let mut counts = self.arrival_counts.borrow()[interval.step];
        let timeline = &schedule.timeline;
        let measured = timeline.at(timeline.steps[interval.step].settled)..timeline.at(interval.end);
        for slot in self.users.borrow().iter() {
            counts.waiting += slot.waiting_arrivals(&measured);
            counts.under_way += u64::from(slot.arrived.is_some_and(|due| measured.contains(&due)));
        }
        Some(counts)
    }
}
