//! The users of one thread, and what they share: the settings, the tally, the buffer that every line is read into.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::panic;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cuesta_laws::Stream;
use cuesta_lines::Line;
use cuesta_record::{Desk, Interval, Phase, Series, Stamp, Sums, Tally, Timeline, UserRow, clock};
use tokio::task::JoinSet;

use crate::group::Group;
use crate::memory::MemoryMeter;
use crate::pacing::{Arrivals, Dealer};
use crate::self_meter::SelfMeter;
use crate::spec::{self, LoadKind, Spec};
use crate::user::User;
use crate::view::Sight;

/// Opens a line for a user.
pub type Connect = Rc<dyn Fn(usize, u32) -> Pin<Box<dyn Future<Output = Result<Box<dyn Line>, Refused>>>>>;

/// Why there is no line.
#[derive(Debug, Clone)]
pub struct Refused {
    /// The name under which it is counted.
    pub name: &'static str,
    /// The same for a person, with what to do.
    pub said: String,
}

/// How often a stop is looked for.
const LOOK: Duration = Duration::from_millis(50);
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

/// What a user spends its time on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spending {
    Thinking,
    Keying,
    /// Waiting for an answer, which is counted as response when it comes; or not at work.
    Other,
}

/// What is known of one user while it works.
#[derive(Debug)]
pub(crate) struct Seat {
    pub(crate) user: u32,
    pub(crate) group: usize,
    /// Number within the group.
    pub(crate) rank: u32,
    /// What arrives for it, in an open load.
    pub(crate) arrivals: Rc<Arrivals>,
    /// What it spends its time on, and since when that is not yet counted.
    spends: (Spending, Stamp),
    /// When the transaction that it waits for was due.
    waiting: Option<Stamp>,
    /// When the first of the keys whose echo it awaits was due.
    echo: Option<Stamp>,
    /// Why it has no line.
    lost: Option<&'static str>,
    connected: bool,
    transactions: u64,
    sum: Duration,
    max: Duration,
}

impl Crew {
    pub(crate) fn new(
        spec: Arc<Spec>,
        timeline: Timeline,
        groups: Vec<Group>,
        connect: Connect,
        memory: Arc<MemoryMeter>,
    ) -> Self {
        Self {
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

    /// A user waits for an answer that was due at an instant, or no longer.
    pub(crate) fn waits(&self, seat: usize, since: Option<Stamp>) {
        self.seats.borrow_mut()[seat].waiting = since;
    }

    /// A user waits for echoes, the first of which was due at an instant, or for none.
    pub(crate) fn waits_for_echo(&self, seat: usize, since: Option<Stamp>) {
        self.seats.borrow_mut()[seat].echo = since;
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
        let seat = &mut self.seats.borrow_mut()[seat];
        seat.transactions += 1;
        seat.sum += response;
        seat.max = seat.max.max(response);
    }
}

/// Plays all users of one thread, from the start to the end or a stop. Says whether it came to its end.
///
/// # Panics
/// When a user does: that is the driver's failure, and the run's.
pub(crate) async fn play(crew: Rc<Crew>, thread: u32, desk: Desk, stop: Arc<AtomicBool>) -> bool {
    seat_users(&crew, thread);
    let mut tasks = JoinSet::new();
    deal(&crew, &mut tasks);
    for seat in 0..crew.seats.borrow().len() {
        let mut user = User::new(Rc::clone(&crew), seat);
        tasks.spawn_local(async move { user.live().await });
    }
    let mut meter = SelfMeter::new();
    let intervals: Vec<_> = crew.timeline.intervals().collect();
    for interval in intervals {
        let end = crew.timeline.at(interval.end);
        let stopped = sleep_unless(&stop, end).await;
        let interval = if stopped { cut_short(&crew, interval) } else { interval };
        let written = crew.deliver(&desk, &mut meter, interval);
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
                crew.seats.borrow_mut().push(Seat::new(user, group, rank));
            }
            user += 1;
        }
    }
}

/// Starts the arrivals of open loads.
fn deal(crew: &Rc<Crew>, tasks: &mut JoinSet<()>) {
    for (step, (times, load)) in crew.timeline.steps.iter().zip(&crew.spec.steps).enumerate() {
        for (group, load) in load.groups.iter().enumerate() {
            let LoadKind::Open { per_s, .. } = load.load else { continue };
            let number = ((step as u64) << 32) + group as u64;
            let dealer = Dealer {
                // Beyond all users, who count from 0 up.
                stream: Stream::new(crew.spec.seed, (1 << 62) + number),
                per_s,
                users: load.users,
                from: crew.timeline.at(times.settled - crew.spec.steps[step].settle),
                until: crew.timeline.at(times.end),
            };
            let mine = crew.arrivals_of(group, load.users);
            let crew = Rc::clone(crew);
            let skipped = move || crew.tally(|tally| tally.counts.skipped += 1);
            tasks.spawn_local(dealer.deal(move |rank| mine[rank as usize].clone(), skipped));
        }
    }
}

impl Seat {
    fn new(user: u32, group: usize, rank: u32) -> Self {
        Self {
            user,
            group,
            rank,
            arrivals: Rc::default(),
            spends: (Spending::Other, Stamp::ZERO),
            waiting: None,
            echo: None,
            lost: None,
            connected: false,
            transactions: 0,
            sum: Duration::ZERO,
            max: Duration::ZERO,
        }
    }

    /// Closes the user's account of a step.
    fn row(&mut self, step: usize, group: &str) -> UserRow {
        let mean = self.sum.as_secs_f64() / self.transactions.max(1) as f64;
        let row = UserRow {
            step,
            group: group.to_owned(),
            user: self.user,
            transactions: self.transactions,
            mean,
            max: self.max.as_secs_f64(),
            lost: self.lost,
        };
        self.forget();
        row
    }

    /// Counts the time up to an instant to what it was spent on. The instant may lie before one that was counted up to,
    /// because a user begins to key by its plan and says so when it sends: then the time is taken back.
    fn spend_until(&mut self, at: Stamp, sums: &mut Sums) {
        let (spending, since) = self.spends;
        let spent = (at.as_nanos() as f64 - since.as_nanos() as f64) / 1e9;
        match spending {
            Spending::Thinking => sums.think += spent,
            Spending::Keying => sums.keying += spent,
            Spending::Other => {}
        }
        self.spends.1 = at;
    }

    fn forget(&mut self) {
        (self.transactions, self.sum, self.max) = (0, Duration::ZERO, Duration::ZERO);
    }
}

impl Crew {
    /// Number, group and rank of the user at a seat, and what arrives for it.
    pub(crate) fn seat<T>(&self, seat: usize, look: impl FnOnce(&Seat) -> T) -> T {
        look(&self.seats.borrow()[seat])
    }

    /// What arrives for each user of a group, by rank; none for those of other threads.
    fn arrivals_of(&self, group: usize, users: u32) -> Vec<Option<Rc<Arrivals>>> {
        let mut arrivals = vec![None; users as usize];
        for seat in self.seats.borrow().iter().filter(|seat| seat.group == group && seat.rank < users) {
            arrivals[seat.rank as usize] = Some(Rc::clone(&seat.arrivals));
        }
        arrivals
    }

    /// How many users of a group meet at a barrier: those of this agent.
    pub(crate) fn parties(&self, step: usize, group: usize) -> u32 {
        let before: u32 = (0..group).map(|group| self.spec.most_users(group)).sum();
        let of_this_agent = |users: u32| (users + self.spec.agents - 1 - self.spec.agent) / self.spec.agents;
        of_this_agent(before + self.load(step, group).users) - of_this_agent(before)
    }

    fn is_waiting(&self) -> bool {
        self.seats.borrow().iter().any(|seat| seat.waiting.or(seat.echo).is_some())
    }

    /// Gives away what was counted in an interval; says whether it will be written.
    fn deliver(&self, desk: &Desk, meter: &mut SelfMeter, interval: Interval) -> bool {
        let end = self.timeline.at(interval.end);
        let loads = &self.spec.steps[interval.step].groups;
        let mut seats = self.seats.borrow_mut();
        let mut tally = self.tally.borrow_mut();
        let counts = &mut tally.counts;
        seats.iter_mut().for_each(|seat| seat.spend_until(end, &mut counts.sums));
        counts.users = self.open.get();
        let (screens, bytes) = self.screens.get();
        (counts.screens.count, counts.screens.bytes) = (screens, bytes as u64);
        counts.active =
            seats.iter().filter(|seat| seat.connected && seat.rank < loads[seat.group].users).count() as u64;
        let waiting: Vec<_> =
            seats.iter().flat_map(|seat| [seat.waiting, seat.echo]).flatten().filter(|since| *since < end).collect();
        counts.unfinished = waiting.len() as u64;
        counts.oldest = waiting.iter().min().map_or(0.0, |since| end.since(*since).as_secs_f64());
        let (cpu, run_wait) = meter.since_last();
        (counts.cpu, counts.run_wait, counts.threads) = (cpu.as_secs_f64(), run_wait.as_secs_f64(), 1);
        if interval.ends_step {
            self.memory.sample();
            let working = seats.iter_mut().filter(|seat| seat.rank < loads[seat.group].users);
            tally.users = working.map(|seat| seat.row(interval.step, &self.spec.groups[seat.group].name)).collect();
        } else if interval.phase != Phase::Measure {
            seats.iter_mut().for_each(Seat::forget);
        }
        desk.deliver(interval, &mut tally)
    }

    /// How a group's load stands in a step.
    pub(crate) fn load(&self, step: usize, group: usize) -> &spec::Load {
        &self.spec.steps[step].groups[group]
    }
}
