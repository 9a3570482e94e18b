//! Barriers: where the users of a group, on all agents, wait for one another. The only lock that users share; it is not on
//! the keystroke path.
//!
//! All users go on at one instant that is still to come when it is announced, so that every agent knows it in time. It
//! depends only on the last arrival, so it is the same on any number of agents. With several agents, each reports its
//! arrivals to the engine, which says when all users have arrived.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use cuesta_record::{Stamp, record};

/// The least time from the last arrival until all go on, in which every agent is told.
const LEAD: Duration = Duration::from_millis(200);
/// All go on at a multiple of this from the start of the run, so that a response which takes a little longer does not move
/// what comes after.
const GRID: Duration = Duration::from_millis(100);

/// A barrier for users on any thread.
#[derive(Debug)]
pub(crate) struct Barrier {
    start_at: Stamp,
    /// Whether users of other agents wait here too.
    is_shared: bool,
    state: Mutex<BarrierState>,
}

#[derive(Debug, Default)]
struct BarrierState {
    arrived: u32,
    /// How many users of all agents wait here.
    parties: u32,
    /// When the last one arrived.
    last: Stamp,
    /// The number of the round, from 0.
    round: u64,
    /// When the users of the last round go on.
    go_on: Stamp,
    /// Whether the engine must be told the state.
    changed: bool,
    waiting: Vec<Waker>,
}

record! {
    /// The state of a barrier, which an agent tells the engine.
    #[derive(Copy, Eq)]
    BarrierStatus {
        /// number of the group
        group: usize = Unitless;
        /// number of the barrier in the group's script
        barrier: usize = Unitless;
        /// number of the round, from 0
        round: u64 = Unitless;
        /// users of this agent that wait there
        arrived: u32 = Number;
        /// users of all agents that the barrier is for
        parties: u32 = Number;
        /// when all go on if no user arrives later
        go_on: Stamp = Nanoseconds;
    }
}

record! {
    /// The engine's message that all users have arrived at a barrier.
    #[derive(Copy, Eq)]
    BarrierRelease: Read {
        /// number of the group
        group: usize = Unitless;
        /// number of the barrier in the group's script
        barrier: usize = Unitless;
        /// number of the round, from 0
        round: u64 = Unitless;
        /// when all go on
        go_on: Stamp = Nanoseconds;
    }
}

impl Barrier {
    pub(crate) fn new(start_at: Stamp, is_shared: bool) -> Self {
        Self { start_at, is_shared, state: Mutex::default() }
    }

    /// One more of `parties` users has arrived at an instant.
    pub(crate) fn arrive(&self, parties: u32, at: Stamp) -> BarrierWait<'_> {
        let mut state = self.state();
        let round = state.round;
        state.arrived += 1;
        state.parties = parties;
        state.last = state.last.max(at);
        state.changed = true;
        if !self.is_shared && state.arrived >= parties {
            let go_on = self.go_on_after(state.last);
            state.end_round(go_on);
        }
        BarrierWait { barrier: self, round, registered: false, is_over: false }
    }

    /// The state of a shared barrier, if it has changed since the last call.
    pub(crate) fn status_if_changed(&self, group: usize, barrier: usize) -> Option<BarrierStatus> {
        let mut state = self.state();
        let changed = std::mem::take(&mut state.changed) && self.is_shared;
        let BarrierState { arrived, parties, round, last, .. } = *state;
        changed.then(|| BarrierStatus { group, barrier, round, arrived, parties, go_on: self.go_on_after(last) })
    }

    /// Whether users of other agents wait here too.
    pub(crate) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// All have arrived, on all agents.
    pub(crate) fn release(&self, round: u64, go_on: Stamp) {
        let mut state = self.state();
        if state.round == round {
            state.end_round(go_on);
        }
    }

    fn go_on_after(&self, last: Stamp) -> Stamp {
        let grid = GRID.as_nanos() as u64;
        let earliest = (last + LEAD).since(self.start_at).as_nanos() as u64;
        self.start_at + Duration::from_nanos(earliest.div_ceil(grid) * grid)
    }

    fn state(&self) -> MutexGuard<'_, BarrierState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BarrierState {
    fn end_round(&mut self, go_on: Stamp) {
        self.arrived = 0;
        self.round += 1;
        self.go_on = go_on;
        self.changed = false;
        self.waiting.drain(..).for_each(Waker::wake);
    }
}

/// A user's wait. If it is dropped before all have arrived, the user no longer counts.
#[derive(Debug)]
pub(crate) struct BarrierWait<'a> {
    barrier: &'a Barrier,
    /// The round that the user waits in.
    round: u64,
    /// The barrier has the task's waker.
    registered: bool,
    is_over: bool,
}

impl BarrierWait<'_> {
    /// When all go on, once that is known.
    pub(crate) fn poll(&mut self, cx: &Context<'_>) -> Poll<Stamp> {
        let mut state = self.barrier.state();
        if state.round > self.round {
            self.is_over = true;
            return Poll::Ready(state.go_on);
        }
        // A task polls with the same waker however often it is woken for something else.
        if !std::mem::replace(&mut self.registered, true) {
            state.waiting.push(cx.waker().clone());
        }
        Poll::Pending
    }
}

impl Drop for BarrierWait<'_> {
    fn drop(&mut self) {
        let mut state = self.barrier.state();
        if !self.is_over && state.round == self.round {
            state.arrived -= 1;
            state.changed = true;
            if state.arrived == 0 {
                state.waiting.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn poll(wait: &mut BarrierWait<'_>) -> Poll<Stamp> {
        wait.poll(&Context::from_waker(Waker::noop()))
    }

    fn at(millis: u64) -> Stamp {
        Stamp::from_nanos(7_000_000_000) + Duration::from_millis(millis)
    }

    #[test]
    fn the_last_arrival_releases_all_at_one_later_instant() {
        let barrier = Barrier::new(at(0), false);
        let mut first = barrier.arrive(3, at(10));
        let mut second = barrier.arrive(3, at(1_010));
        assert!(poll(&mut first).is_pending());
        let mut third = barrier.arrive(3, at(1_001));
        for wait in [&mut third, &mut first, &mut second] {
            assert_eq!(poll(wait), Poll::Ready(at(1_300)));
        }
        assert!(poll(&mut barrier.arrive(3, at(1_400))).is_pending());
        assert_eq!(barrier.status_if_changed(0, 0), None, "a local barrier has no status for the engine");
    }

    #[test]
    fn users_on_several_agents_wait_for_the_engines_release() {
        let barrier = Barrier::new(at(0), true);
        let mut here = barrier.arrive(2, at(300));
        let expected = BarrierStatus { group: 4, barrier: 5, round: 0, arrived: 1, parties: 2, go_on: at(500) };
        assert_eq!(barrier.status_if_changed(4, 5), Some(expected));
        assert_eq!(barrier.status_if_changed(4, 5), None, "nothing has changed since");
        barrier.release(1, at(900));
        assert!(poll(&mut here).is_pending(), "the release was for another round");
        barrier.release(0, at(600));
        assert_eq!(poll(&mut here), Poll::Ready(at(600)));
    }

    #[test]
    fn the_engine_gets_a_status_when_a_user_leaves() {
        let barrier = Barrier::new(at(0), true);
        let here = barrier.arrive(2, at(300));
        barrier.status_if_changed(0, 0);
        drop(here);
        assert_eq!(barrier.status_if_changed(0, 0).map(|status| status.arrived), Some(0));
    }
}
