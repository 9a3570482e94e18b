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
const BEFORE: Duration = Duration::from_micros(400);
/// Spinning ends this long after something happened.
const AFTER: Duration = Duration::from_millis(1);
/// A thread spins for a tenth of the time at most.
const SHARE: u32 = 10;
/// How much time for spinning can be saved up.
const SAVED: Duration = Duration::from_millis(5);
/// A look at the lines takes less than this. If one took longer, the thread was interrupted, and the rest of the time was not spun.
const LONGEST_LOOK: Duration = Duration::from_micros(100);

/// What a thread does before it waits for its lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// It sleeps until an instant, whatever comes.
    Turn(Stamp),
    /// It does not wait: it looks at its lines once, and at the clock again.
    Spin,
    /// It waits until something comes or is due, and wakes this long before that.
    Wait(Duration),
}

/// What is known of a thread's waits.
#[derive(Debug)]
pub(super) struct Rests {
    /// Since when the thread is watched, how long it has had nothing to do since then, and how often it has slept.
    watched: Stamp,
    idle: Duration,
    wakes: u32,
    is_busy: bool,
    is_seldom_woken: bool,
    /// When it last woke, and when it last began to wait.
    woken: Stamp,
    waiting: Stamp,
    /// What it did then.
    rest: Rest,
    /// When something last happened.
    happened: Stamp,
    may_spin: bool,
    /// Time for spinning that is left.
    left: Duration,
    /// How long it has spun in all.
    spun: Duration,
}

impl Rests {
    pub(super) const fn new(now: Stamp) -> Self {
        Self {
            watched: now,
            idle: Duration::ZERO,
            wakes: 0,
            is_busy: false,
            is_seldom_woken: true,
            woken: now,
            waiting: now,
            rest: Rest::Wait(Duration::ZERO),
            happened: now,
            may_spin: false,
            left: Duration::ZERO,
            spun: Duration::ZERO,
        }
    }

    /// Allows spinning, or forbids it.
    pub(super) fn allow_spinning(&mut self, may_spin: bool) {
        self.may_spin = may_spin;
    }

    /// How long the thread has spun in all.
    pub(super) fn spun(&self) -> Duration {
        self.spun
    }

    /// The thread has nothing to do at `now`; since it woke it has read the clock `reads` times, and something is due at `due`.
    pub(super) fn begin(&mut self, now: Stamp, reads: u32, due: Stamp) -> Rest {
        if reads > 0 {
            self.happened = now;
        } else if self.rest == Rest::Spin {
            // Between two looks at the lines nothing was done but to look again.
            self.spend(now.since(self.woken));
        }
        self.rest = self.choose(now, reads, due);
        self.waiting = now;
        self.rest
    }

    /// Whether the thread would spin before something is due.
    pub(super) fn spins(&self) -> bool {
        !self.is_busy && self.may_spin && self.is_seldom_woken && !self.left.is_zero()
    }

    fn choose(&self, now: Stamp, reads: u32, due: Stamp) -> Rest {
        let turn = self.woken + TURN;
        if self.is_busy {
            let rests = reads < LARGE && now < turn && due < turn;
            return if rests { Rest::Turn(turn) } else { Rest::Wait(Duration::ZERO) };
        }
        if !self.spins() {
            return Rest::Wait(Duration::ZERO);
        }
        if now < self.happened + AFTER || now + BEFORE >= due { Rest::Spin } else { Rest::Wait(BEFORE) }
    }

    /// The thread has spun for a part of a look.
    fn spend(&mut self, took: Duration) {
        self.idle += took;
        let spun = took.min(LONGEST_LOOK);
        self.spun += spun;
        self.left = self.left.saturating_sub(spun);
    }

    /// The wait ended at `now`.
    pub(super) fn end(&mut self, now: Stamp) {
        let took = now.since(self.waiting);
        if self.rest == Rest::Spin {
            self.spend(took);
        } else {
            self.idle += took;
            self.wakes += 1;
            self.left = SAVED.min(self.left + now.since(self.woken) / SHARE);
        }
        self.woken = now;
        let watched = now.since(self.watched);
        if watched >= WATCH {
            let worked = watched.saturating_sub(self.idle);
            self.is_busy = worked * 100 > watched * BUSY[usize::from(self.is_busy)];
            self.is_seldom_woken = WATCH * self.wakes <= watched * MOST_WAKES;
            (self.watched, self.idle, self.wakes) = (now, Duration::ZERO, 0);
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
    fn work(rests: &mut Rests, from: u64, period: u64, work: u64) -> Rest {
        let mut rest = Rest::Spin;
        for wake in (from..from + SECOND).step_by(period as usize) {
            rests.end(at(wake));
            rest = rests.begin(at(wake + work), 2, at(wake + period));
        }
        rest
    }

    #[test]
    fn a_busy_thread_wakes_once_a_turn_until_it_is_idle_again() {
        let mut rests = Rests::new(at(0));
        assert_eq!(work(&mut rests, 0, 50, 40), Rest::Turn(at(SECOND - 50) + TURN));
        // Turns save work, but it stays busy.
        assert!(matches!(work(&mut rests, SECOND, 150, 60), Rest::Turn(_)));
        assert_eq!(work(&mut rests, 2 * SECOND, 50, 5), Rest::Wait(Duration::ZERO));
    }

    #[test]
    fn a_busy_thread_with_much_to_do_looks_for_more_at_once() {
        let mut rests = Rests::new(at(0));
        work(&mut rests, 0, 50, 40);
        rests.end(at(SECOND));
        let (soon, wait) = (at(SECOND + 160), Rest::Wait(Duration::ZERO));
        assert_eq!(rests.begin(at(SECOND + 150), 1, soon), Rest::Turn(at(SECOND) + TURN));
        assert_eq!(rests.begin(at(SECOND + 150), LARGE, soon), wait);
        assert_eq!(rests.begin(at(SECOND + 210), 1, soon), wait, "the turn is over");
        assert_eq!(rests.begin(at(SECOND + 150), 1, at(SECOND + 250)), wait, "nothing is due in it");
    }

    #[test]
    fn an_idle_thread_spins_after_an_event_and_before_what_is_due() {
        let mut rests = Rests::new(at(0));
        rests.allow_spinning(true);
        rests.end(at(SECOND));
        let due = at(SECOND + 50_000);
        assert_eq!(rests.begin(at(SECOND), 1, due), Rest::Spin, "an echo may come");
        rests.end(at(SECOND + 1));
        let later = at(SECOND) + AFTER;
        assert_eq!(rests.begin(later, 0, due), Rest::Wait(BEFORE));
        rests.end(due - BEFORE);
        assert_eq!(rests.begin(due - BEFORE, 0, due), Rest::Spin);
        rests.allow_spinning(false);
        assert_eq!(rests.begin(due - BEFORE, 0, due), Rest::Wait(Duration::ZERO));
    }

    /// Spins whenever it may, with something to do every `period`; returns the share of two seconds spent so, in percent.
    fn spun(period: u64) -> u64 {
        let mut rests = Rests::new(at(0));
        rests.allow_spinning(true);
        let (mut now, mut before) = (1, 0);
        while now < 2 * SECOND {
            let next = (now / period + 1) * period;
            let reads = u32::from(now / period > before / period);
            before = now;
            let rest = rests.begin(at(now), reads, at(next));
            now = match rest {
                Rest::Spin => now + 1,
                Rest::Wait(early) => (next - early.as_micros() as u64).max(now + 1),
                Rest::Turn(until) => until.since(at(0)).as_micros() as u64,
            };
            rests.end(at(now));
            // Around a look the runtime takes as long as for it.
            now += u64::from(rest == Rest::Spin);
        }
        rests.spun().as_micros() as u64 * 100 / (2 * SECOND)
    }

    #[test]
    fn spinning_takes_a_tenth_of_the_time_at_most() {
        assert!((6..=7).contains(&spun(20_000)), "1.4 ms of 20");
        assert!((8..=10).contains(&spun(2_000)));
        assert_eq!(spun(300), 0, "it wakes too often");
    }
}
