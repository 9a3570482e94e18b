//! Runs one thread's users from the start to the end or a stop, and hands each interval's counts to the recorder.

use std::cell::RefCell;
use std::ops::Range;
use std::panic;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cuesta_distributions::SeededRng;
use cuesta_record::{Interval, Phase, RecorderHandle, Stamp, clock};
use tokio::task::JoinSet;

use crate::pacing::ArrivalProcess;
use crate::schedule::{Announcements, Schedule};
use crate::self_meter::{SelfMeter, SpareCpu};
use crate::spec::LoadKind;
use crate::thread_state::ThreadState;
use crate::user::User;
use crate::watch::SHOW_EVERY;

/// How often a stop, and a change of the schedule, is checked for.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Runs all users of one thread. False if a stop was asked for or the recorder failed.
///
/// # Panics
/// When a user does, which is a fault of the driver.
pub(crate) async fn run_thread(
    shared: Rc<ThreadState>,
    thread: u32,
    handle: RecorderHandle,
    stop: Arc<AtomicBool>,
    announcements: Arc<Announcements>,
) -> bool {
    let mut worker = Worker::new(shared, thread, announcements);
    worker.start_steps();
    let mut meter = SelfMeter::new();
    let mut position = 0;
    while let Some(interval) = worker.shared.schedule().timeline.interval_from(position) {
        position = interval.end;
        let reason = worker.sleep_until_end(&stop, interval).await;
        let interval = if reason == WakeReason::Due { interval } else { end_now(&worker.shared, interval) };
        let written = worker.deliver(&handle, &mut meter, interval);
        if reason == WakeReason::Stopped || !written {
            return false;
        }
        if reason == WakeReason::NobodyReady || (interval.phase == Phase::Drain && !worker.shared.is_waiting()) {
            break;
        }
    }
    true
}

/// The users of one thread, as tasks, and the arrivals of open loads.
struct Worker {
    shared: Rc<ThreadState>,
    thread: u32,
    announcements: Arc<Announcements>,
    /// How many changes of the schedule have been applied.
    changes: u64,
    /// How often other users were chosen to be looked at, and when those are shown next.
    watched: (u64, Stamp),
    /// For how many steps the arrival processes were made.
    steps: usize,
    /// By group: of how many users, of all threads, it was checked whether they are this thread's.
    users_seen: Vec<u32>,
    tasks: JoinSet<()>,
    /// Whether the thread has CPU time to spare, so that it may spin.
    spare: SpareCpu,
    /// The arrival processes, each with its step.
    processes: Vec<(usize, Rc<RefCell<ArrivalProcess>>)>,
}

impl Worker {
    fn new(shared: Rc<ThreadState>, thread: u32, announcements: Arc<Announcements>) -> Self {
        let users_seen = vec![0; shared.groups.len()];
        let (tasks, processes) = (JoinSet::new(), Vec::new());
        let spare = SpareCpu::new();
        Self {
            shared,
            thread,
            announcements,
            changes: 0,
            watched: (0, Stamp::ZERO),
            steps: 0,
            users_seen,
            tasks,
            spare,
            processes,
        }
    }

    /// Applies what was announced since the last call.
    fn follow_announcements(&mut self) {
        let changes = self.announcements.changes();
        if changes != self.changes {
            self.changes = changes;
            self.shared.reschedule(self.announcements.newest());
            self.start_steps();
        }
    }

    /// Has the users that are looked at show their screens, at intervals.
    fn show_screens(&mut self, now: Stamp) {
        let (known, due) = &mut self.watched;
        let changes = self.shared.watch_changes();
        if *known == changes && now < *due {
            return;
        }
        if *known != changes {
            *known = changes;
            self.shared.watch_chosen();
        }
        *due = now + SHOW_EVERY;
        self.shared.ask_for_screens();
    }

    /// Adds the users and the arrival processes of steps that are new.
    fn start_steps(&mut self) {
        let schedule = self.shared.schedule();
        let new_users = self.add_users(&schedule);
        for (step, process) in &self.processes {
            process.borrow_mut().end_at(schedule.timeline.end_of_load(*step));
        }
        for step in self.steps..schedule.steps() {
            for process in arrival_processes(&self.shared, step) {
                self.tasks.spawn_local(run_arrivals(Rc::clone(&self.shared), Rc::clone(&process)));
                self.processes.push((step, process));
            }
        }
        self.steps = schedule.steps();
        for slot in new_users {
            let mut user = User::new(Rc::clone(&self.shared), slot);
            self.tasks.spawn_local(async move {
                user.note_waker().await;
                user.play_sessions().await;
            });
        }
    }

    /// Adds this thread's users. Returns their slots.
    fn add_users(&mut self, schedule: &Schedule) -> Range<usize> {
        let (shared, spec) = (&self.shared, &self.shared.spec);
        let before = shared.user_count();
        for (group, users_seen) in self.users_seen.iter_mut().enumerate() {
            let most = schedule.most_users(group).min(spec.most_users(group));
            let (first, players) = (spec.first_user(group), spec.players(group));
            for rank in (*users_seen..most).filter(|rank| players.agent_and_thread(*rank) == (spec.agent, self.thread))
            {
                shared.add_user(first + rank, group, rank);
            }
            *users_seen = most.max(*users_seen);
        }
        before..shared.user_count()
    }

    /// Sleeps until the end of an interval or a stop; in the drain phase until no user waits. Follows announcements
    /// meanwhile.
    async fn sleep_until_end(&mut self, stop: &AtomicBool, interval: Interval) -> WakeReason {
        let until = self.shared.schedule().timeline.at(interval.end);
        loop {
            if stop.load(Ordering::Relaxed) {
                return WakeReason::Stopped;
            }
            self.follow_announcements();
            let now = clock::now();
            self.show_screens(now);
            clock::allow_spinning(self.shared.spec.spin && self.spare.is_available(now));
            if now >= until {
                return WakeReason::Due;
            }
            if self.shared.nobody_is_ready(interval.step) {
                return WakeReason::NobodyReady;
            }
            clock::sleep_until(until.min(now + CHECK_INTERVAL)).await;
            if interval.phase == Phase::Drain && !self.shared.is_waiting() {
                return WakeReason::Drained;
            }
        }
    }

    /// Hands the counts of an interval to the recorder; false if the recorder has failed.
    fn deliver(&mut self, handle: &RecorderHandle, meter: &mut SelfMeter, interval: Interval) -> bool {
        // Arrivals due in the interval count in it, even if this thread is late.
        for (_, process) in &self.processes {
            arrive_up_to(&self.shared, process, self.shared.schedule().timeline.at(interval.end));
        }
        let written = self.shared.deliver(meter, interval, |interval, tally| handle.deliver(interval, tally));
        while let Some(ended) = self.tasks.try_join_next() {
            ended.unwrap_or_else(|error| panic::resume_unwind(error.into_panic()));
        }
        written
    }
}

/// Why the worker woke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WakeReason {
    /// The interval has ended.
    Due,
    /// A stop was asked for.
    Stopped,
    /// In the drain phase: no user waits any more.
    Drained,
    /// `Wait+Ready` has seen that no user can work.
    NobodyReady,
}

fn end_now(shared: &ThreadState, interval: Interval) -> Interval {
    let now = clock::now().since(shared.schedule().timeline.start_at).as_nanos() as u64;
    Interval { end: now.clamp(interval.begin, interval.end), ends_step: interval.phase == Phase::Measure, ..interval }
}

/// An arrival process for each group with an open load in a step.
pub(crate) fn arrival_processes(shared: &ThreadState, step: usize) -> Vec<Rc<RefCell<ArrivalProcess>>> {
    let schedule = shared.schedule();
    let mut processes = Vec::new();
    for group in 0..shared.groups.len() {
        let load = schedule.load(step, group);
        let LoadKind::Open { per_s, .. } = load.load else { continue };
        let number = ((step as u64) << 32) + group as u64;
        // Users have the random streams from 0 on.
        let rng = SeededRng::new(shared.spec.seed, (1 << 62) + number);
        let within = schedule.users_started(step)..schedule.timeline.end_of_load(step);
        let process = ArrivalProcess::new(rng, per_s, shared.arrivals_of(group, load.users), within);
        processes.push(Rc::new(RefCell::new(process)));
    }
    processes
}

/// Lets inputs arrive when they are due.
pub(crate) async fn run_arrivals(shared: Rc<ThreadState>, process: Rc<RefCell<ArrivalProcess>>) {
    let since = process.borrow().since();
    clock::sleep_until(since).await;
    process.borrow().begin(|due| shared.record_dropped_arrival(due));
    loop {
        let Some(due) = process.borrow().next_due() else { return };
        clock::sleep_until(due).await;
        arrive_up_to(&shared, &process, due);
    }
}

fn arrive_up_to(shared: &ThreadState, process: &RefCell<ArrivalProcess>, at: Stamp) {
    process.borrow_mut().advance(at, |due, arrival| shared.record_arrival(due, arrival));
}
