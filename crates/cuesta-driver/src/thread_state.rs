//! What the users of one thread share: settings, the tally, the buffer that every line is read into, and a `UserState` each.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Waker;

use cuesta_record::{ArrivalCounts, Interval, Phase, Stamp, Tally, WaitEnd, WaitSample, WaitSeries, clock};
use cuesta_tape::Program;

use self::glimpses::{count_doing, glimpses};
use crate::connect::Connect;
use crate::echoes::{AwaitedEcho, OutputEvent};
use crate::group::Group;
use crate::pacing::ArrivalQueue;
use crate::progress::ProgressGuard;
use crate::schedule::Schedule;
use crate::self_meter::{MemoryMeter, SelfMeter};
use crate::spec::RunSpec;
use crate::user_state::{Activity, AwaitedAnswer, UserState, WaitingFor, count_waiting, longest_wait};
use crate::watch::{Picture, Watch};

mod glimpses;
mod open_load;

/// The largest read of a line. Small, so that a user who is flooded does not keep the thread.
const BUFFER: usize = 16 * 1024;

/// What the users of a thread share.
pub(crate) struct ThreadState {
    pub(crate) spec: Arc<RunSpec>,
    schedule: RefCell<Rc<Schedule>>,
    pub(crate) groups: Vec<Group>,
    pub(crate) connect: Connect,
    memory: Arc<MemoryMeter>,
    tally: RefCell<Box<Tally>>,
    buffer: RefCell<Box<[u8]>>,
    users: RefCell<Vec<UserState>>,
    /// What became of arrivals, by step.
    arrival_counts: RefCell<Vec<ArrivalCounts>>,
    /// In a simulation only.
    pub(crate) progress: Option<ProgressGuard>,
    /// When the current measurement interval began, or else the last one.
    measuring_since: Cell<Stamp>,
    /// How many users have a screen, and the memory of all screens, in bytes.
    screens: Cell<(u64, usize)>,
    /// How many pieces of screen input have been drawn.
    drawings: Cell<u64>,
    /// Reused for its memory.
    pub(crate) event_buffer: Cell<Vec<OutputEvent>>,
    /// Likewise: echoes that one user's read has brought.
    pub(crate) echo_buffer: Cell<Vec<(AwaitedEcho, Stamp)>>,
    watch: Arc<Watch>,
    /// Whether anybody looks at a user of this thread.
    is_anyone_watched: Cell<bool>,
}

/// One drawing in this many is timed: reading the clock costs as much as a short drawing.
const DRAWINGS_PER_TIMING: u64 = 61;

impl ThreadState {
    pub(crate) fn new(
        spec: Arc<RunSpec>,
        schedule: Schedule,
        groups: Vec<Group>,
        connect: Connect,
        memory: Arc<MemoryMeter>,
    ) -> Self {
        Self {
            arrival_counts: RefCell::new(vec![ArrivalCounts::default(); schedule.steps()]),
            spec,
            schedule: RefCell::new(Rc::new(schedule)),
            groups,
            connect,
            memory,
            tally: RefCell::default(),
            buffer: RefCell::new(vec![0; BUFFER].into_boxed_slice()),
            users: RefCell::default(),
            progress: None,
            measuring_since: Cell::new(Stamp::ZERO),
            screens: Cell::default(),
            drawings: Cell::default(),
            event_buffer: Cell::default(),
            echo_buffer: Cell::default(),
            watch: Arc::default(),
            is_anyone_watched: Cell::default(),
        }
    }

    /// The same for a run at which people may look.
    pub(crate) fn watched_by(self, watch: Arc<Watch>) -> Self {
        Self { watch, ..self }
    }

    /// The same for a simulation of this number of users.
    pub(crate) fn simulated(self, users: usize) -> Self {
        Self { progress: Some(ProgressGuard::new(users)), ..self }
    }

    /// Whether people look at the run: then it reports what users wait for.
    pub(crate) fn is_watched(&self) -> bool {
        self.progress.is_none()
    }

    /// The steps as this thread knows them now; after a wait there may be more.
    pub(crate) fn schedule(&self) -> Rc<Schedule> {
        Rc::clone(&self.schedule.borrow())
    }

    /// Takes a newer schedule.
    pub(crate) fn reschedule(&self, schedule: Schedule) {
        self.arrival_counts.borrow_mut().resize(schedule.steps(), ArrivalCounts::default());
        *self.schedule.borrow_mut() = Rc::new(schedule);
    }

    /// A program of a group, by its number there.
    pub(crate) fn program(&self, group: usize, number: usize) -> &Program {
        &self.groups[group].programs[number]
    }

    /// Adds a user, which takes the next slot.
    pub(crate) fn add_user(&self, user: u32, group: usize, rank: u32) {
        self.users.borrow_mut().push(UserState::new(user, group, rank));
    }

    /// How many users this thread has.
    pub(crate) fn user_count(&self) -> usize {
        self.users.borrow().len()
    }

    /// Looks at those users' screens of this thread that were chosen.
    pub(crate) fn watch_chosen(&self) {
        let chosen = self.watch.users();
        let mut users = self.users.borrow_mut();
        users.iter_mut().for_each(|user| user.is_watched = chosen.contains(&user.user));
        self.is_anyone_watched.set(users.iter().any(|user| user.is_watched));
    }

    /// How often other users were chosen to be looked at.
    pub(crate) fn watch_changes(&self) -> u64 {
        self.watch.changes()
    }

    /// Whether users who have not started wait because somebody holds them.
    pub(crate) fn holds_starts(&self) -> bool {
        self.watch.holds_starts.load(Ordering::Relaxed)
    }

    /// Has the users show their screens at whom people look. Those that wait are woken for it.
    pub(crate) fn ask_for_screens(&self) {
        if !self.is_anyone_watched.get() {
            return;
        }
        let mut wakers = Vec::new();
        for user in self.users.borrow_mut().iter_mut().filter(|user| user.is_watched) {
            if user.connected {
                user.shows_next = true;
                wakers.extend(user.waker.clone());
            } else {
                self.watch.forget(user.user);
            }
        }
        wakers.iter().for_each(Waker::wake_by_ref);
    }

    /// Whether the user in a slot is to show its screen now; asked once each time.
    pub(crate) fn takes_showing(&self, slot: usize) -> bool {
        self.is_anyone_watched.get() && self.user(slot, |user| std::mem::take(&mut user.shows_next))
    }

    /// The screen of the user in a slot shows this.
    pub(crate) fn show_screen(&self, slot: usize, picture: Picture, at: Stamp) {
        let user = self.user(slot, |user| user.user);
        let seconds = at.since(self.schedule().timeline.start_at).as_secs_f64();
        self.watch.show(picture.show(user, seconds, &self.secrets(slot)));
    }

    /// Looks at or changes what is known of the user in a slot. It is never held over a wait.
    pub(crate) fn user<T>(&self, slot: usize, look: impl FnOnce(&mut UserState) -> T) -> T {
        look(&mut self.users.borrow_mut()[slot])
    }

    /// The arrival queues of a group's users, by rank; `None` for users of other threads.
    pub(crate) fn arrivals_of(&self, group: usize, users: u32) -> Vec<Option<Rc<ArrivalQueue>>> {
        let mut arrivals = vec![None; users as usize];
        for slot in self.users.borrow_mut().iter_mut().filter(|slot| slot.group == group && slot.rank < users) {
            arrivals[slot.rank as usize] = Some(slot.arrivals());
        }
        arrivals
    }

    /// Counts a change of a user's screen memory, in bytes. A screen of 0 bytes does not exist.
    pub(crate) fn count_screen(&self, (before, after): (usize, usize)) {
        if before == after {
            return;
        }
        let (screens, bytes) = self.screens.get();
        self.screens.set((screens + u64::from(before == 0) - u64::from(after == 0), bytes + after - before));
    }

    /// Draws on the screen of the user in a slot, and counts the time that this takes. The caller gives the buffer of events back.
    pub(crate) fn draw(&self, slot: usize, draw: impl FnOnce(&mut Vec<OutputEvent>)) -> Vec<OutputEvent> {
        let mut events = self.event_buffer.take();
        self.drawings.set(self.drawings.get() + 1);
        if !self.drawings.get().is_multiple_of(DRAWINGS_PER_TIMING) {
            draw(&mut events);
            return events;
        }
        let begin = clock::now();
        draw(&mut events);
        let took = clock::now().since(begin).as_secs_f64() * DRAWINGS_PER_TIMING as f64;
        let is_awaited = self.user(slot, |user| matches!(user.waiting_for, Some(WaitingFor::Answer(_))));
        self.tally(|tally| {
            tally.counts.screens.drawing += took;
            tally.counts.screens.awaited += if is_awaited { took } else { 0.0 };
        });
        events
    }

    /// Counts in the tally. It is never held over a wait.
    pub(crate) fn tally<T>(&self, count: impl FnOnce(&mut Tally) -> T) -> T {
        count(&mut self.tally.borrow_mut())
    }

    /// Reads into the thread's buffer. It is never held over a wait.
    pub(crate) fn with_buffer<T>(&self, read: impl FnOnce(&mut [u8]) -> T) -> T {
        read(&mut self.buffer.borrow_mut())
    }

    /// Counts the end of a wait that lasted from one instant to another.
    pub(crate) fn record_wait(&self, series: WaitSeries, end: WaitEnd, times: (Stamp, Stamp)) {
        self.tally(|tally| tally.record_wait(series, end, times, self.measuring_since.get()));
    }

    /// A user's activity changes at an instant.
    pub(crate) fn set_activity(&self, slot: usize, to: Activity, at: Stamp) {
        let slot = &mut self.users.borrow_mut()[slot];
        if slot.activity.0 == to {
            return;
        }
        slot.spend_until(at, &mut self.tally.borrow_mut().counts.sums);
        slot.activity.0 = to;
    }

    /// A transaction of a user ends without its answer.
    pub(crate) fn count_unanswered(&self, slot: usize, answer: &AwaitedAnswer, end: WaitEnd, at: Stamp) {
        let user = &mut self.users.borrow_mut()[slot];
        user.unanswered += 1;
        let series = self.groups[user.group].series.classes[answer.class];
        self.tally(|tally| {
            tally.counts.unanswered += 1;
            answer.record(tally, series, end, at, self.measuring_since.get());
        });
    }

    /// Hands an interval's counts over, at the interval's end; false if their receiver has failed.
    pub(crate) fn deliver(
        &self,
        meter: &mut SelfMeter,
        interval: Interval,
        hand_over: impl FnOnce(Interval, &mut Box<Tally>) -> bool,
    ) -> bool {
        let schedule = self.schedule();
        let end = schedule.timeline.at(interval.end);
        let is_at_work = |user: &UserState| user.rank < schedule.load(interval.step, user.group).users;
        let due = (interval.phase == Phase::Measure).then(|| self.arrival_counts(interval)).flatten();
        let mut users = self.users.borrow_mut();
        let mut tally = self.tally.borrow_mut();
        let counts = &mut tally.counts;
        users.iter_mut().for_each(|user| user.spend_until(end, &mut counts.sums));
        counts.users = users.iter().filter(|user| user.connected).count() as u64;
        counts.active = users.iter().filter(|user| user.connected && is_at_work(user)).count() as u64;
        count_waiting(&users, end, counts);
        counts.due = due;
        let (screens, bytes) = self.screens.get();
        (counts.screens.count, counts.screens.bytes) = (screens, bytes as u64);
        meter.count(counts);
        tally.long_wait = longest_wait(&users, end);
        if self.watch.changes() > 0 {
            tally.doing = count_doing(users.iter().filter(|user| is_at_work(user)));
            tally.glimpses = glimpses(users.iter().filter(|user| is_at_work(user)), &self.spec, end);
        }
        if interval.ends_step {
            self.memory.sample();
            self.end_step(&users, &mut tally, end);
            let working = users.iter_mut().filter(|user| is_at_work(user));
            tally.users =
                working.map(|user| user.row(interval.step, &self.spec.groups[user.group].name, end)).collect();
        } else if interval.phase != Phase::Measure {
            users.iter_mut().for_each(UserState::reset_counts);
        }
        if schedule.timeline.steps.iter().any(|step| step.settled == interval.end) {
            self.measuring_since.set(end);
        }
        hand_over(interval, &mut tally)
    }

    /// Counts what users wait for when a step ends.
    fn end_step(&self, users: &[UserState], tally: &mut Tally, end: Stamp) {
        for user in users {
            user.record_unfinished(tally, &self.groups[user.group].series, end);
        }
        let longest = tally.long_wait.clone();
        tally.counts.samples.extend(longest.map(|sample| ("unfinished", sample)));
    }

    /// When the current measurement interval began, or else the last one; zero before the first.
    pub(crate) fn measuring_since(&self) -> Stamp {
        self.measuring_since.get()
    }

    /// The secrets that a user types.
    pub(crate) fn secrets(&self, slot: usize) -> Vec<&str> {
        let (group, rank) = {
            let user = &self.users.borrow()[slot];
            (user.group, user.rank)
        };
        self.groups[group].secrets(rank)
    }

    /// Adds a wait that went wrong to the samples, unless there is one of its kind.
    pub(crate) fn add_sample(&self, kind: &'static str, sample: impl FnOnce() -> WaitSample) {
        if !self.tally.borrow().counts.samples.contains_key(kind) {
            let sample = sample();
            self.tally.borrow_mut().counts.samples.insert(kind, sample);
        }
    }

    /// Whether every user of a step was seen not to be ready. Each agent knows its own users only, and a search tries other loads.
    pub(crate) fn nobody_is_ready(&self, step: usize) -> bool {
        let knows_all = self.spec.agents == 1 && self.spec.most_users.is_none();
        let schedule = self.schedule();
        let loads = self.groups.iter().enumerate().map(|(number, group)| (group, schedule.load(step, number).users));
        let mut loads = loads.filter(|(_, users)| *users > 0).peekable();
        knows_all
            && loads.peek().is_some()
            && loads.all(|(group, users)| group.not_ready.load(Ordering::Relaxed) >= users)
    }

    /// Whether anyone waits for an answer or an echo, or has not said yet why the program is not ready.
    pub(crate) fn is_waiting(&self) -> bool {
        self.users.borrow().iter().any(|slot| {
            let waits = matches!(slot.waiting_for, Some(WaitingFor::Answer(_) | WaitingFor::Ready(_)));
            waits || slot.unechoed.is_some()
        })
    }
}
