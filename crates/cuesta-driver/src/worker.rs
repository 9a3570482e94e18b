//! Runs one thread's users from the start to the end or a stop, and hands each interval's counts to the recorder.

use std::cell::RefCell;
use std::panic;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cuesta_distributions::SeededRng;
use cuesta_record::{Interval, Phase, RecorderHandle, Stamp, clock};
use tokio::task::JoinSet;

use crate::pacing::ArrivalProcess;
use crate::self_meter::SelfMeter;
use crate::spec::LoadKind;
use crate::thread_state::ThreadState;
use crate::user::User;

/// How often a stop is checked for.
const LOOK: Duration = Duration::from_millis(50);

/// Runs all users of one thread. False if a stop was asked for or the recorder failed.
///
/// # Panics
/// When a user does, which is a fault of the driver.
pub(crate) async fn run_thread(
    shared: Rc<ThreadState>,
    thread: u32,
    handle: RecorderHandle,
    stop: Arc<AtomicBool>,
) -> bool {
    add_users(&shared, thread);
    let mut tasks = JoinSet::new();
    let processes = processes(&shared);
    for process in &processes {
        tasks.spawn_local(run_arrivals(Rc::clone(&shared), Rc::clone(process)));
    }
    for slot in 0..shared.user_count() {
        let mut user = User::new(Rc::clone(&shared), slot);
        tasks.spawn_local(async move { user.live().await });
    }
    let mut meter = SelfMeter::new();
    let intervals: Vec<_> = shared.timeline.intervals().collect();
    for interval in intervals {
        let end = shared.timeline.at(interval.end);
        let over = || interval.phase == Phase::Drain && !shared.is_waiting();
        let woken = sleep_unless(&stop, end, over).await;
        let stopped = woken == Woken::Stopped;
        let interval = if woken == Woken::Due { interval } else { cut_short(&shared, interval) };
        // Arrivals due in the interval count in it, even if this thread is late.
        for process in &processes {
            arrive_up_to(&shared, process, shared.timeline.at(interval.end));
        }
        let written = shared.deliver(&handle, &mut meter, interval);
        while let Some(ended) = tasks.try_join_next() {
            ended.unwrap_or_else(|error| panic::resume_unwind(error.into_panic()));
        }
        if stopped || !written {
            return false;
        }
        if interval.phase == Phase::Drain && !shared.is_waiting() {
            break;
        }
    }
    true
}

/// Why a sleep ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Woken {
    /// It was due.
    Due,
    /// A stop was asked for.
    Stopped,
    /// Nothing is left to wait for.
    Over,
}

/// Sleeps until an instant, a stop, or until `over`, which is asked after each [`LOOK`].
async fn sleep_unless(stop: &AtomicBool, until: Stamp, over: impl Fn() -> bool) -> Woken {
    loop {
        if stop.load(Ordering::Relaxed) {
            return Woken::Stopped;
        }
        let now = clock::now();
        if now >= until {
            return Woken::Due;
        }
        clock::sleep_until(until.min(now + LOOK)).await;
        if over() {
            return Woken::Over;
        }
    }
}

fn cut_short(shared: &ThreadState, interval: Interval) -> Interval {
    let now = clock::now().since(shared.timeline.start_at).as_nanos() as u64;
    Interval { end: now.clamp(interval.begin, interval.end), ends_step: interval.phase == Phase::Measure, ..interval }
}

/// Adds this thread's users: user u is on agent `u % agents`, and there on thread `(u / agents) % threads`.
fn add_users(shared: &ThreadState, thread: u32) {
    let spec = &shared.spec;
    let mut user = 0;
    for group in 0..spec.groups.len() {
        for rank in 0..spec.most_users(group) {
            if user % spec.agents == spec.agent && user / spec.agents % spec.threads == thread {
                shared.add_user(user, group, rank);
            }
            user += 1;
        }
    }
}

/// An arrival process for each group and step with an open load.
fn processes(shared: &ThreadState) -> Vec<Rc<RefCell<ArrivalProcess>>> {
    let mut processes = Vec::new();
    for (step, (times, load)) in shared.timeline.steps.iter().zip(&shared.spec.steps).enumerate() {
        for (group, load) in load.groups.iter().enumerate() {
            let LoadKind::Open { per_s, .. } = load.load else { continue };
            let number = ((step as u64) << 32) + group as u64;
            // Users take the numbers from 0; this one is beyond them.
            let rng = SeededRng::new(shared.spec.seed, (1 << 62) + number);
            let begin = shared.timeline.at(times.settled - shared.spec.steps[step].settle);
            let within = begin..shared.timeline.at(times.end);
            let process = ArrivalProcess::new(rng, per_s, shared.arrivals_of(group, load.users), within);
            processes.push(Rc::new(RefCell::new(process)));
        }
    }
    processes
}

/// Lets inputs arrive when they are due.
async fn run_arrivals(shared: Rc<ThreadState>, process: Rc<RefCell<ArrivalProcess>>) {
    loop {
        let Some(due) = process.borrow().next_due() else { return };
        clock::sleep_until(due).await;
        arrive_up_to(&shared, &process, due);
    }
}

fn arrive_up_to(shared: &ThreadState, process: &RefCell<ArrivalProcess>, at: Stamp) {
    process.borrow_mut().advance(at, |due, arrival| shared.arrives(due, arrival));
}
