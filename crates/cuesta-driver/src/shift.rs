//! A thread's work from the start to the end or a stop: its users are seated and set to work, each interval's counts given away.

use std::cell::RefCell;
use std::panic;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cuesta_distributions::SeededRng;
use cuesta_record::{Interval, Phase, RecorderHandle, Stamp, clock};
use tokio::task::JoinSet;

use crate::crew::Crew;
use crate::pacing::Dealer;
use crate::self_meter::SelfMeter;
use crate::spec::LoadKind;
use crate::user::User;

/// How often a stop is looked for.
const LOOK: Duration = Duration::from_millis(50);

/// Plays all users of one thread, from the start to the end or a stop. Says whether it came to its end.
///
/// # Panics
/// When a user does: that is the driver's failure, and the run's.
pub(crate) async fn play(crew: Rc<Crew>, thread: u32, handle: RecorderHandle, stop: Arc<AtomicBool>) -> bool {
    seat_users(&crew, thread);
    let mut tasks = JoinSet::new();
    let dealers = dealers(&crew);
    for dealer in &dealers {
        tasks.spawn_local(deal(Rc::clone(&crew), Rc::clone(dealer)));
    }
    for seat in 0..crew.seated() {
        let mut user = User::new(Rc::clone(&crew), seat);
        tasks.spawn_local(async move { user.live().await });
    }
    let mut meter = SelfMeter::new();
    let intervals: Vec<_> = crew.timeline.intervals().collect();
    for interval in intervals {
        let end = crew.timeline.at(interval.end);
        let stopped = sleep_unless(&stop, end).await;
        let interval = if stopped { cut_short(&crew, interval) } else { interval };
        // What was due before the cut is counted before it, also where this thread is late.
        for dealer in &dealers {
            deal_up_to(&crew, dealer, crew.timeline.at(interval.end));
        }
        let written = crew.deliver(&handle, &mut meter, interval);
        while let Some(ended) = tasks.try_join_next() {
            ended.unwrap_or_else(|error| panic::resume_unwind(error.into_panic()));
        }
        if stopped || !written {
            return false;
        }
        if interval.phase == Phase::Drain && !crew.is_waiting() {
            break;
        }
    }
    true
}

/// Sleeps; says whether a stop was asked for meanwhile.
async fn sleep_unless(stop: &AtomicBool, until: Stamp) -> bool {
    loop {
        if stop.load(Ordering::Relaxed) {
            return true;
        }
        let now = clock::now();
        if now >= until {
            return false;
        }
        clock::sleep_until(until.min(now + LOOK)).await;
    }
}

fn cut_short(crew: &Crew, interval: Interval) -> Interval {
    let now = clock::now().since(crew.timeline.start_at).as_nanos() as u64;
    Interval { end: now.clamp(interval.begin, interval.end), ends_step: interval.phase == Phase::Measure, ..interval }
}

/// Gives this thread its users: user u of all is on agent `u % agents`, and there on thread `(u / agents) % threads`.
fn seat_users(crew: &Crew, thread: u32) {
    let spec = &crew.spec;
    let mut user = 0;
    for group in 0..spec.groups.len() {
        for rank in 0..spec.most_users(group) {
            if user % spec.agents == spec.agent && user / spec.agents % spec.threads == thread {
                crew.sits_down(user, group, rank);
            }
            user += 1;
        }
    }
}

/// The arrivals of open loads, a dealer for each group and step.
fn dealers(crew: &Crew) -> Vec<Rc<RefCell<Dealer>>> {
    let mut dealers = Vec::new();
    for (step, (times, load)) in crew.timeline.steps.iter().zip(&crew.spec.steps).enumerate() {
        for (group, load) in load.groups.iter().enumerate() {
            let LoadKind::Open { per_s, .. } = load.load else { continue };
            let number = ((step as u64) << 32) + group as u64;
            // Beyond all users, who count from 0 up.
            let rng = SeededRng::new(crew.spec.seed, (1 << 62) + number);
            let begin = crew.timeline.at(times.settled - crew.spec.steps[step].settle);
            let within = begin..crew.timeline.at(times.end);
            let dealer = Dealer::new(rng, per_s, crew.arrivals_of(group, load.users), within);
            dealers.push(Rc::new(RefCell::new(dealer)));
        }
    }
    dealers
}

/// Deals out what arrives, each when it is due.
async fn deal(crew: Rc<Crew>, dealer: Rc<RefCell<Dealer>>) {
    loop {
        let Some(due) = dealer.borrow().next_due() else { return };
        clock::sleep_until(due).await;
        deal_up_to(&crew, &dealer, due);
    }
}

fn deal_up_to(crew: &Crew, dealer: &RefCell<Dealer>, at: Stamp) {
    dealer.borrow_mut().deal(at, |due, arrival| crew.arrives(due, arrival));
}
