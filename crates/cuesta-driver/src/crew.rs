//! The users of one thread, and what they share: the settings, the tally, the buffer that every line is read into. What is
//! known of each of them is its `seat`.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use cuesta_record::{Due, Interval, Phase, RecorderHandle, Series, Stamp, Tally, Timeline, clock};

use crate::connect::Connect;
use crate::group::Group;
use crate::memory::MemoryMeter;
use crate::pacing::Arrivals;
use crate::self_meter::SelfMeter;
use crate::spec::{self, Spec};
use crate::view::Sight;

mod account;
mod seat;
mod waiting;

pub(crate) use seat::{Spending, Waits};

use seat::Seat;
use waiting::count_waiting;

/// What one read of a line can bring: not more, so that the turn of a user who is flooded is short.
const BUFFER: usize = 16 * 1024;

/// What the users of a thread share.
pub(crate) struct Crew {
    pub(crate) spec: Arc<Spec>,
    pub(crate) timeline: Timeline,
    pub(crate) groups: Vec<Group>,
    pub(crate) connect: Connect,
    memory: Arc<MemoryMeter>,
    tally: RefCell<Box<Tally>>,
    buffer: RefCell<Box<[u8]>>,
    seats: RefCell<Vec<Seat>>,
    /// By step; see `account`.
    accounts: RefCell<Vec<Due>>,
    open: Cell<u64>,
    /// Users that have a screen, and what all screens take, in bytes.
    screens: Cell<(u64, usize)>,
    /// Pieces drawn so far.
    drawn: Cell<u64>,
    /// Kept for its memory.
    sights: Cell<Vec<Sight>>,
}

/// One drawing in so many is timed: reading the clock costs as much as a short one.
const TIMED: u64 = 61;

impl Crew {
    pub(crate) fn new(
        spec: Arc<Spec>,
        timeline: Timeline,
        groups: Vec<Group>,
        connect: Connect,
        memory: Arc<MemoryMeter>,
    ) -> Self {
        Self {
            accounts: RefCell::new(vec![Due::default(); spec.steps.len()]),
            spec,
            timeline,
            groups,
            connect,
            memory,
            tally: RefCell::default(),
            buffer: RefCell::new(vec![0; BUFFER].into_boxed_slice()),
            seats: RefCell::default(),
            open: Cell::new(0),
            screens: Cell::default(),
            drawn: Cell::default(),
            sights: Cell::default(),
        }
    }

    /// A user takes the next seat.
    pub(crate) fn sits_down(&self, user: u32, group: usize, rank: u32) {
        self.seats.borrow_mut().push(Seat::new(user, group, rank));
    }

    /// How many have a seat.
    pub(crate) fn seated(&self) -> usize {
        self.seats.borrow().len()
    }

    /// Number, group and rank of the user at a seat, and what arrives for it.
    pub(crate) fn seat<T>(&self, seat: usize, look: impl FnOnce(&Seat) -> T) -> T {
        look(&self.seats.borrow()[seat])
    }

    /// What arrives for each user of a group, by rank; none for those of other threads.
    pub(crate) fn arrivals_of(&self, group: usize, users: u32) -> Vec<Option<Rc<Arrivals>>> {
        let mut arrivals = vec![None; users as usize];
        for seat in self.seats.borrow().iter().filter(|seat| seat.group == group && seat.rank < users) {
            arrivals[seat.rank as usize] = Some(Rc::clone(&seat.arrivals));
        }
        arrivals
    }

    /// What a user's screen takes in memory has changed; from nothing it is new, to nothing it is gone.
    pub(crate) fn has_screen(&self, (before, after): (usize, usize)) {
        if before == after {
            return;
        }
        let (screens, bytes) = self.screens.get();
        self.screens.set((screens + u64::from(before == 0) - u64::from(after == 0), bytes + after - before));
    }

    /// Draws on somebody's screen, and counts the time that it takes.
    pub(crate) fn draw(&self, draw: impl FnOnce(&mut Vec<Sight>)) -> Vec<Sight> {
        let mut sights = self.sights.take();
        self.drawn.set(self.drawn.get() + 1);
        if !self.drawn.get().is_multiple_of(TIMED) {
            draw(&mut sights);
            return sights;
        }
        let begun = clock::now();
        draw(&mut sights);
        let took = clock::now().since(begun).as_secs_f64() * TIMED as f64;
        self.tally(|tally| tally.counts.screens.drawing += took);
        sights
    }

    /// Gives back what [`draw`](Self::draw) gave.
    pub(crate) fn keep_sights(&self, sights: Vec<Sight>) {
        self.sights.set(sights);
    }

    /// Counts. Never held over a wait.
    pub(crate) fn tally<T>(&self, count: impl FnOnce(&mut Tally) -> T) -> T {
        count(&mut self.tally.borrow_mut())
    }

    /// Reads into the thread's buffer. Never held over a wait.
    pub(crate) fn with_buffer<T>(&self, read: impl FnOnce(&mut [u8]) -> T) -> T {
        read(&mut self.buffer.borrow_mut())
    }

    /// Counts one duration.
    pub(crate) fn record(&self, series: Series, duration: Duration) {
        self.tally(|tally| tally.record(series, duration));
    }

    /// A user has a line.
    pub(crate) fn connects(&self, seat: usize) {
        let seat = &mut self.seats.borrow_mut()[seat];
        self.open.set(self.open.get() + u64::from(!seat.connected));
        seat.connected = true;
        seat.lost = None;
    }

    /// A user has no line any more, or could have none: why, if it was not meant to.
    pub(crate) fn disconnects(&self, seat: usize, lost: Option<&'static str>) {
        let seat = &mut self.seats.borrow_mut()[seat];
        self.open.set(self.open.get() - u64::from(seat.connected));
        seat.connected = false;
        seat.lost = lost;
    }

    /// A user turns to something at an instant; nothing changes if that is what it does already.
    pub(crate) fn turns(&self, seat: usize, to: Spending, at: Stamp) {
        let seat = &mut self.seats.borrow_mut()[seat];
        if seat.spends.0 == to {
            return;
        }
        seat.spend_until(at, &mut self.tally.borrow_mut().counts.sums);
        seat.spends.0 = to;
    }

    /// A transaction of a user is complete.
    pub(crate) fn answered(&self, seat: usize, response: Duration) {
        self.seats.borrow_mut()[seat].answered(response);
    }

    /// A transaction of a user is given up.
    pub(crate) fn unanswered(&self, seat: usize) {
        self.seats.borrow_mut()[seat].unanswered += 1;
        self.tally.borrow_mut().counts.unanswered += 1;
    }

    /// Gives away what was counted in an interval; says whether it will be written.
    pub(crate) fn deliver(&self, handle: &RecorderHandle, meter: &mut SelfMeter, interval: Interval) -> bool {
        let end = self.timeline.at(interval.end);
        let loads = &self.spec.steps[interval.step].groups;
        let due = (interval.phase == Phase::Measure).then(|| self.account(interval)).flatten();
        let mut seats = self.seats.borrow_mut();
        let mut tally = self.tally.borrow_mut();
        let counts = &mut tally.counts;
        seats.iter_mut().for_each(|seat| seat.spend_until(end, &mut counts.sums));
        counts.users = self.open.get();
        let (screens, bytes) = self.screens.get();
        (counts.screens.count, counts.screens.bytes) = (screens, bytes as u64);
        counts.active =
            seats.iter().filter(|seat| seat.connected && seat.rank < loads[seat.group].users).count() as u64;
        count_waiting(&seats, end, counts);
        counts.due = due;
        let (cpu, run_wait) = meter.since_last();
        (counts.cpu, counts.run_wait, counts.threads) = (cpu.as_secs_f64(), run_wait.as_secs_f64(), 1);
        if interval.ends_step {
            self.memory.sample();
            let working = seats.iter_mut().filter(|seat| seat.rank < loads[seat.group].users);
            tally.users =
                working.map(|seat| seat.row(interval.step, &self.spec.groups[seat.group].name, end)).collect();
        } else if interval.phase != Phase::Measure {
            seats.iter_mut().for_each(Seat::forget);
        }
        handle.deliver(interval, &mut tally)
    }

    /// How a group's load stands in a step.
    pub(crate) fn load(&self, step: usize, group: usize) -> &spec::Load {
        &self.spec.steps[step].groups[group]
    }
}
