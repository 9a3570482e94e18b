//! How a thread that drives users waits when it has nothing to do. Pure: instants in, decisions out.
//!
//! Most of what a key costs is no system call: it is the waking of a thread, ours and the host's, and the timer that is set before
//! each sleep. So a *busy* thread does not wake for each event. It rests until [`TURN`] after its last wake and then handles
//! together what has come and what is due. With 10,000 typists that saves an eighth of its CPU time; keys and stamps are late by
//! half a turn on average. Users that do not think have nothing due, and their threads do not rest: that would slow the users.
//!
//! A CPU that sleeps wakes tens of microseconds late. So an *idle* thread does not sleep at all shortly before something is due and
//! shortly after something happened, when an echo may come. It spins: it looks at its lines and at the clock in turn. It spins only
//! while it is allowed to, while it is seldom woken, and for a small share of the time.

use std::time::Duration;

use crate::Stamp;

/// From one wake of a busy thread to the next.
const TURN: Duration = Duration::from_micros(200);
/// A wake in which the clock was read this often had many events: more would not make each of them cheaper.
const LARGE: u32 = 64;
/// How long a thread is watched before it is called busy or idle.
const WATCH: Duration = Duration::from_millis(20);
/// A thread is busy from the first share of the time at work on, in percent, and no longer busy below the second.
const BUSY: [u32; 2] = [60, 25];
/// A thread that wakes more often while it is watched does not spin: it hardly sleeps anyway, and spinning would cost much.
const MOST_WAKES: u32 = 40;
/// Spinning begins this long before something is due.
const SPIN_BEFORE: Duration = Duration::from_micros(400);
/// Spinning ends this long after something happened.
const SPIN_AFTER: Duration = Duration::from_millis(1);
/// A thread spins for a tenth of the time at most.
const SPIN_SHARE: u32 = 10;
/// How much time for spinning can be saved up.
const MOST_SPIN_BUDGET: Duration = Duration::from_millis(5);
/// A look at the lines takes less than this. If one took longer, the thread was interrupted, and the rest of the time was not spun.
const LONGEST_LOOK: Duration = Duration::from_micros(100);

/// What a thread does before it waits for its lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WaitKind {
    /// It sleeps until an instant, whatever comes.
    Turn(Stamp),
    /// It does not wait: it looks at its lines once, and at the clock again.
    Spin,
    /// It waits until something comes or is due, and wakes this long before that.
    Wait(Duration),
}

/// Chooses how a thread waits, by its waits so far.
#[derive(Debug)]
pub(super) struct WaitPolicy {
    /// Since when the thread is watched, how long it has had nothing to do since then, and how often it has slept.
    watched_since: Stamp,
    idle: Duration,
    wakes: u32,
    is_busy: bool,
    is_seldom_woken: bool,
    /// When it last woke, and when it last began to wait.
    last_wake: Stamp,
    wait_began: Stamp,
    /// How it waited then.
    kind: WaitKind,
    /// When something last happened.
    last_event: Stamp,
    pub(super) may_spin: bool,
    /// Time for spinning that is left.
    budget: Duration,
    /// How long it has spun in all.
    pub(super) spun: Duration,
}

impl WaitPolicy {
    pub(super) const fn new(now: Stamp) -> Self {
        Self {
            watched_since: now,
            idle: Duration::ZERO,
            wakes: 0,
            is_busy: false,
            is_seldom_woken: true,
            last_wake: now,
            wait_began: now,
            kind: WaitKind::Wait(Duration::ZERO),
            last_event: now,
            may_spin: false,
            budget: Duration::ZERO,
            spun: Duration::ZERO,
        }
    }

    /// The thread has nothing to do at `now`; since it woke it has read the clock `reads` times, and something is due at `due`.
    pub(super) fn begin(&mut self, now: Stamp, reads: u32, due: Stamp) -> WaitKind {
        if reads > 0 {
            self.last_event = now;
        } else if self.kind == WaitKind::Spin {
            // Between two looks at the lines nothing was done but to look again.
            self.spend(now.since(self.last_wake));
        }
        self.kind = self.choose(now, reads, due);
        self.wait_began = now;
        self.kind
    }

    /// Whether the thread would spin before something is due.
    pub(super) fn may_spin_now(&self) -> bool {
        !self.is_busy && self.may_spin && self.is_seldom_woken && !self.budget.is_zero()
    }

    fn choose(&self, now: Stamp, reads: u32, due: Stamp) -> WaitKind {
        let turn = self.last_wake + TURN;
        if self.is_busy {
            let rests = reads < LARGE && now < turn && due < turn;
            return if rests { WaitKind::Turn(turn) } else { WaitKind::Wait(Duration::ZERO) };
        }
        if !self.may_spin_now() {
            return WaitKind::Wait(Duration::ZERO);
        }
        if now < self.last_event + SPIN_AFTER || now + SPIN_BEFORE >= due {
            WaitKind::Spin
        } else {
            WaitKind::Wait(SPIN_BEFORE)
        }
    }

    /// The thread has spun for a part of a look.
    fn spend(&mut self, took: Duration) {
        self.idle += took;
        let spun = took.min(LONGEST_LOOK);
        self.spun += spun;
        self.budget = self.budget.saturating_sub(spun);
    }

    /// The wait ended at `now`.
    pub(super) fn end(&mut self, now: Stamp) {
        let took = now.since(self.wait_began);
        if self.kind == WaitKind::Spin {
            self.spend(took);
        } else {
            self.idle += took;
            self.wakes += 1;
            self.budget = MOST_SPIN_BUDGET.min(self.budget + now.since(self.last_wake) / SPIN_SHARE);
        }
        self.last_wake = now;
        let watched = now.since(self.watched_since);
        if watched >= WATCH {
            let worked = watched.saturating_sub(self.idle);
            self.is_busy = worked * 100 > watched * BUSY[usize::from(self.is_busy)];
            self.is_seldom_woken = WATCH * self.wakes <= watched * MOST_WAKES;
            (self.watched_since, self.idle, self.wakes) = (now, Duration::ZERO, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000;

    fn at(micros: u64) -> Stamp {
        Stamp::from_nanos(1_000_000_000 + micros * 1000)
    }

    /// A thread that wakes each `period` for `work` (in microseconds), from `from` on for a second; returns its last rest.
    fn work(policy: &mut WaitPolicy, from: u64, period: u64, work: u64) -> WaitKind {
        let mut rest = WaitKind::Spin;
        for wake in (from..from + SECOND).step_by(period as usize) {
            policy.end(at(wake));
            rest = policy.begin(at(wake + work), 2, at(wake + period));
        }
        rest
    }

    #[test]
    fn a_busy_thread_wakes_once_a_turn_until_it_is_idle_again() {
        let mut policy = WaitPolicy::new(at(0));
        assert_eq!(work(&mut policy, 0, 50, 40), WaitKind::Turn(at(SECOND - 50) + TURN));
        // Turns save work, but it stays busy.
        assert!(matches!(work(&mut policy, SECOND, 150, 60), WaitKind::Turn(_)));
        assert_eq!(work(&mut policy, 2 * SECOND, 50, 5), WaitKind::Wait(Duration::ZERO));
    }

    #[test]
    fn a_busy_thread_with_much_to_do_looks_for_more_at_once() {
        let mut policy = WaitPolicy::new(at(0));
        work(&mut policy, 0, 50, 40);
        policy.end(at(SECOND));
        let (soon, wait) = (at(SECOND + 160), WaitKind::Wait(Duration::ZERO));
        assert_eq!(policy.begin(at(SECOND + 150), 1, soon), WaitKind::Turn(at(SECOND) + TURN));
        assert_eq!(policy.begin(at(SECOND + 150), LARGE, soon), wait);
        assert_eq!(policy.begin(at(SECOND + 210), 1, soon), wait, "the turn is over");
        assert_eq!(policy.begin(at(SECOND + 150), 1, at(SECOND + 250)), wait, "nothing is due in it");
    }

    #[test]
    fn an_idle_thread_spins_after_an_event_and_before_what_is_due() {
        let mut policy = WaitPolicy::new(at(0));
        policy.may_spin = true;
        policy.end(at(SECOND));
        let due = at(SECOND + 50_000);
        assert_eq!(policy.begin(at(SECOND), 1, due), WaitKind::Spin, "an echo may come");
        policy.end(at(SECOND + 1));
        let later = at(SECOND) + SPIN_AFTER;
        assert_eq!(policy.begin(later, 0, due), WaitKind::Wait(SPIN_BEFORE));
        policy.end(due - SPIN_BEFORE);
        assert_eq!(policy.begin(due - SPIN_BEFORE, 0, due), WaitKind::Spin);
        policy.may_spin = false;
        assert_eq!(policy.begin(due - SPIN_BEFORE, 0, due), WaitKind::Wait(Duration::ZERO));
    }

    /// Spins whenever it may, with something to do every `period`; returns the share of two seconds spent so, in percent.
    fn spun(period: u64) -> u64 {
        let mut policy = WaitPolicy::new(at(0));
        policy.may_spin = true;
        let (mut now, mut before) = (1, 0);
        while now < 2 * SECOND {
            let next = (now / period + 1) * period;
            let reads = u32::from(now / period > before / period);
            before = now;
            let rest = policy.begin(at(now), reads, at(next));
            now = match rest {
                WaitKind::Spin => now + 1,
                WaitKind::Wait(early) => (next - early.as_micros() as u64).max(now + 1),
                WaitKind::Turn(until) => until.since(at(0)).as_micros() as u64,
            };
            policy.end(at(now));
            // Around a look the runtime takes as long as for it.
            now += u64::from(rest == WaitKind::Spin);
        }
        policy.spun.as_micros() as u64 * 100 / (2 * SECOND)
    }

    #[test]
    fn spinning_takes_a_tenth_of_the_time_at_most() {
        assert!((6..=7).contains(&spun(20_000)), "1.4 ms of 20");
        assert!((8..=10).contains(&spun(2_000)));
        assert_eq!(spun(300), 0, "it wakes too often");
    }
}
