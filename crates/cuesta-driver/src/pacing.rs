//! When the next input is due, in a closed, a paced or an open load.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::ops::Range;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

use cuesta_distributions::SeededRng;
use cuesta_record::{Stamp, clock};

/// At most this many inputs may wait; more are left out and counted.
pub(crate) const MOST_BEHIND: u64 = 256;

/// When a user's next input is due.
#[derive(Debug)]
pub(crate) enum Pacer {
    /// When the user is ready.
    Closed,
    /// At fixed instants, one cycle apart (a paced load).
    Cyclic { next: Stamp, cycle: Duration },
    /// When it arrives.
    Open(Rc<ArrivalQueue>),
}

impl Pacer {
    /// A paced user's first instant is random within the cycle, so that users do not type in step; `align` rounds it
    /// up to a multiple of that number of ns, so that all users type at the same few instants.
    pub(crate) fn cyclic(start: Stamp, cycle: Duration, align: Option<u64>, rng: &mut SeededRng) -> Self {
        let first = start + Duration::from_nanos(rng.below(cycle.as_nanos() as u64));
        let aligned = first.as_nanos().next_multiple_of(align.unwrap_or(1).max(1));
        Self::Cyclic { next: Stamp::from_nanos(aligned), cycle }
    }
}

/// Skips the instants more than a cycle before the user logged in; returns how many were skipped.
pub(crate) fn skip_missed_cycles(next: &mut Stamp, cycle: Duration, logged_in_at: Stamp) -> u64 {
    let before = logged_in_at.since(*next).as_nanos().checked_div(cycle.as_nanos()).unwrap_or(0) as u64;
    *next += Duration::from_nanos((cycle.as_nanos() as u64).saturating_mul(before));
    before
}

/// A paced user's next instant, and how many are left out because too many had passed.
pub(crate) fn next_in_cycle(next: &mut Stamp, cycle: Duration, now: Stamp) -> (Stamp, u64) {
    let behind = now.since(*next).as_nanos().checked_div(cycle.as_nanos()).unwrap_or(0) as u64;
    let left_out = behind.saturating_sub(MOST_BEHIND);
    let due = *next + Duration::from_nanos((cycle.as_nanos() as u64).saturating_mul(left_out));
    *next = due + cycle;
    (due, left_out)
}

/// Inputs that have arrived for one user and have not begun.
#[derive(Debug, Default)]
pub(crate) struct ArrivalQueue(RefCell<QueuedInputs>);

#[derive(Debug, Default)]
struct QueuedInputs {
    due: VecDeque<Stamp>,
    waker: Option<Waker>,
}

impl ArrivalQueue {
    /// Adds an arrival; false if the queue is full.
    pub(crate) fn arrive(&self, due: Stamp) -> bool {
        let mut waiting = self.0.borrow_mut();
        if waiting.due.len() as u64 >= MOST_BEHIND {
            return false;
        }
        waiting.due.push_back(due);
        if let Some(waker) = waiting.waker.take() {
            waker.wake();
        }
        true
    }

    fn drop_before(&self, instant: Stamp, dropped: impl FnMut(Stamp)) {
        let mut waiting = self.0.borrow_mut();
        let before = waiting.due.partition_point(|due| *due < instant);
        waiting.due.drain(..before).for_each(dropped);
    }

    /// How many waiting inputs were due in a range of time.
    pub(crate) fn waiting(&self, due: &Range<Stamp>) -> u64 {
        let waiting = self.0.borrow();
        let before = |end: Stamp| waiting.due.partition_point(|due| *due < end);
        (before(due.end) - before(due.start)) as u64
    }

    /// Polls for the next to begin.
    pub(crate) fn poll_next(&self, waker: &Waker) -> Poll<Stamp> {
        let mut waiting = self.0.borrow_mut();
        let next = waiting.due.pop_front();
        if next.is_none() {
            waiting.waker = Some(waker.clone());
        }
        next.map_or(Poll::Pending, Poll::Ready)
    }

    /// Waits for the next to begin, until an instant.
    pub(crate) async fn next_before(&self, until: Stamp) -> Option<Stamp> {
        let mut alarm = clock::sleep_until(until);
        poll_fn(|cx| match self.poll_next(cx.waker()) {
            Poll::Ready(due) => Poll::Ready(Some(due)),
            Poll::Pending => Pin::new(&mut alarm).poll(cx).map(|()| None),
        })
        .await
    }
}

/// The Poisson arrivals of one group in one step. Every thread and agent draws the same sequence and keeps its own users'.
#[derive(Debug)]
pub(crate) struct ArrivalProcess {
    rng: SeededRng,
    per_s: f64,
    /// The queues of all users in turn; `None` for users of other threads.
    users: Vec<Option<Rc<ArrivalQueue>>>,
    /// The next arrival for a user of this thread, and that user's index; `None` at the end.
    next: Option<(Stamp, usize)>,
    since: Stamp,
    until: Stamp,
}

/// What became of an arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// It waits for its user.
    Queued,
    /// Too many wait.
    LeftOut,
}

impl ArrivalProcess {
    pub(crate) fn new(rng: SeededRng, per_s: f64, users: Vec<Option<Rc<ArrivalQueue>>>, within: Range<Stamp>) -> Self {
        let mut process = Self { rng, per_s, users, next: None, since: within.start, until: within.end };
        if process.users.iter().any(Option::is_some) {
            process.next = process.draw_next(within.start, 0);
        }
        process
    }

    /// When the step's load begins.
    pub(crate) fn since(&self) -> Stamp {
        self.since
    }

    /// The step's load begins: what still waits of the load before is dropped.
    pub(crate) fn begin(&self, mut dropped: impl FnMut(Stamp)) {
        self.users.iter().flatten().for_each(|arrivals| arrivals.drop_before(self.since, &mut dropped));
    }

    /// The step's load ends: what would be due from then on does not arrive.
    pub(crate) fn end_at(&mut self, until: Stamp) {
        self.until = self.until.min(until);
        self.next = self.next.filter(|(due, _)| *due < self.until);
    }

    /// When the next arrival is due; `None` at the end of the step.
    pub(crate) fn next_due(&self) -> Option<Stamp> {
        self.next.map(|(due, _)| due)
    }

    /// Lets everything due up to an instant arrive, and reports what became of each arrival.
    pub(crate) fn advance(&mut self, up_to: Stamp, mut arrived: impl FnMut(Stamp, Arrival)) {
        while let Some((due, user)) = self.next.filter(|(due, _)| *due <= up_to) {
            let has_room = self.users[user].as_ref().is_some_and(|arrivals| arrivals.arrive(due));
            arrived(due, if has_room { Arrival::Queued } else { Arrival::LeftOut });
            self.next = self.draw_next(due, user + 1);
        }
    }

    /// Draws the next arrival after an instant for a user of this thread, beginning with the user in turn.
    fn draw_next(&mut self, mut due: Stamp, turn: usize) -> Option<(Stamp, usize)> {
        let users = self.users.len();
        for user in (0..users).cycle().skip(turn % users.max(1)) {
            due += Duration::try_from_secs_f64(-self.rng.unit().ln() / self.per_s).unwrap_or(Duration::MAX);
            if due >= self.until {
                return None;
            }
            if self.users[user].is_some() {
                return Some((due, user));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paced_instants_are_fixed_in_advance() {
        let cycle = Duration::from_millis(200);
        let mut next = Stamp::from_nanos(1000);
        for n in 0..5 {
            let late = Stamp::from_nanos(1000) + cycle * 7;
            assert_eq!(next_in_cycle(&mut next, cycle, late), (Stamp::from_nanos(1000) + cycle * n, 0));
        }
    }

    #[test]
    fn a_slow_login_does_not_move_the_due_instants() {
        let cycle = Duration::from_millis(200);
        let first = Stamp::from_nanos(7);
        for (logged_in_at, expected) in [(0, 0), (199, 0), (1001, 5_u32)] {
            let mut next = first;
            let before = skip_missed_cycles(&mut next, cycle, first + Duration::from_millis(logged_in_at));
            assert_eq!(before, u64::from(expected));
            assert_eq!(next, first + cycle * expected);
        }
    }

    #[test]
    fn arrivals_are_bounded() {
        let arrivals = ArrivalQueue::default();
        let taken = (0..300).filter(|n| arrivals.arrive(Stamp::from_nanos(*n))).count() as u64;
        assert_eq!(taken, MOST_BEHIND);
        let stretch = Stamp::from_nanos(10)..Stamp::from_nanos(20);
        assert_eq!(arrivals.waiting(&stretch), 10);
        assert_eq!(arrivals.poll_next(Waker::noop()), Poll::Ready(Stamp::ZERO));
    }
}
