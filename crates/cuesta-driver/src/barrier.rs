//! Where users of a group wait for one another. Not on the keystroke path: the only lock that users share.

use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// A place to meet, for users on any thread.
#[derive(Debug, Default)]
pub(crate) struct Barrier(Mutex<Meeting>);

#[derive(Debug, Default)]
struct Meeting {
    arrived: u32,
    /// How many times all have met.
    met: u64,
    waiting: Vec<Waker>,
}

impl Barrier {
    /// Says that one more of `parties` has arrived; gives what to wait with.
    pub(crate) fn arrive(&self, parties: u32) -> Meet<'_> {
        let mut meeting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let met = meeting.met;
        meeting.arrived += 1;
        if meeting.arrived >= parties {
            meeting.arrived = 0;
            meeting.met += 1;
            meeting.waiting.drain(..).for_each(Waker::wake);
        }
        Meet { barrier: self, met, registered: false, left: false }
    }
}

/// One who waits. Dropped before all have come, it counts no more.
#[derive(Debug)]
pub(crate) struct Meet<'a> {
    barrier: &'a Barrier,
    met: u64,
    registered: bool,
    left: bool,
}

impl Meet<'_> {
    pub(crate) fn poll(&mut self, cx: &Context<'_>) -> Poll<()> {
        let mut meeting = self.barrier.0.lock().unwrap_or_else(PoisonError::into_inner);
        if meeting.met > self.met {
            self.left = true;
            return Poll::Ready(());
        }
        // A task polls with the same waker however often it is woken for something else.
        if !std::mem::replace(&mut self.registered, true) {
            meeting.waiting.push(cx.waker().clone());
        }
        Poll::Pending
    }
}

impl Drop for Meet<'_> {
    fn drop(&mut self) {
        let mut meeting = self.barrier.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.left && meeting.met == self.met {
            meeting.arrived -= 1;
            if meeting.arrived == 0 {
                meeting.waiting.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn poll(meet: &mut Meet<'_>) -> Poll<()> {
        meet.poll(&Context::from_waker(Waker::noop()))
    }

    #[test]
    fn the_last_to_come_frees_all() {
        let barrier = Barrier::default();
        let mut first = barrier.arrive(3);
        let mut second = barrier.arrive(3);
        assert!(poll(&mut first).is_pending());
        let mut third = barrier.arrive(3);
        assert!(poll(&mut third).is_ready() && poll(&mut first).is_ready() && poll(&mut second).is_ready());
        assert!(poll(&mut barrier.arrive(3)).is_pending());
    }

    #[test]
    fn one_who_leaves_counts_no_more() {
        let barrier = Barrier::default();
        drop(barrier.arrive(2));
        assert!(poll(&mut barrier.arrive(2)).is_pending());
    }
}
