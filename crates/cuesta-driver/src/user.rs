//! A virtual user: opens a line, types, waits, thinks. Straight-line code, one task.
//!
//! The user carries its *plan*: the instant up to which what it does is laid down. Each step moves the plan on from where
//! it was, never from when the step was really done; so a late driver shows as lateness and not as a slower user.

use std::convert::Infallible;
use std::rc::Rc;
use std::time::Duration;

use cuesta_distributions::SeededRng;
use cuesta_record::{Stamp, Transaction, clock};
use cuesta_tape::Program;
use tokio::task;

use crate::error::LineLoss;
use crate::opening::Opened;
use crate::pacing::{Pacer, begin_in_cycle, next_in_cycle};
use crate::session::Session;
use crate::spec::{ArrivalKind, LoadKind};
use crate::thread_state::ThreadState;
use crate::user_state::Activity;

mod arrival;
mod ending;
mod play;

/// One virtual user.
pub(crate) struct User {
    shared: Rc<ThreadState>,
    slot: usize,
    number: u32,
    group: usize,
    rank: u32,
    rng: SeededRng,
    /// The step that the user is in; none while no step wants it.
    step: Option<usize>,
    /// The load that the pacer is of.
    load: LoadKind,
    program: Rc<Program>,
    pacer: Pacer,
    /// Up to when what this user does is laid down.
    next_due: Stamp,
    /// When the host, or the user's own keying, let the user go: no key can go before, and that is not the driver's fault.
    ready: Stamp,
    /// From when to when its last answer might still have been an echo, if that kept it: what is due next is due so much later.
    kept: Option<(Stamp, Stamp)>,
    /// Up to when the user's last keys keep it at the keyboard, by the plan.
    keyed: Stamp,
    input: OpenTransaction,
    /// How long the session waited for this user to be free, until that is counted with its first transaction.
    delayed: Duration,
    /// The host has answered something in this session.
    heard: bool,
    /// The host has closed the line, as the script expected.
    hung_up: bool,
    /// Times left of each loop that the program is in.
    loops: Vec<u32>,
}

/// What the user has done since the last transaction was counted.
#[derive(Debug, Default)]
struct OpenTransaction {
    /// In a named transaction: which.
    class: Option<usize>,
    /// The last key's instants, while no answer to it has been waited for.
    key: Option<(Stamp, Stamp)>,
    /// Sums of the waits, from due and from sent.
    waited: (Duration, Duration),
    answered: Option<Transaction>,
    /// It was answered by nothing but silence: the host has sent nothing since the last key.
    silent: bool,
}

/// Why a user does not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// The run is over.
    Over,
    /// The line is gone.
    Lost(LineLoss),
    /// The session has come to its end, as it was to.
    Left,
    /// What was waited for did not come: the pass is given up, the next begins.
    GaveUp,
}

impl From<LineLoss> for Stop {
    fn from(loss: LineLoss) -> Self {
        Self::Lost(loss)
    }
}

/// How long a user waits before it tries to open a line again, at first and at most.
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LAST_RETRY: Duration = Duration::from_secs(30);

impl User {
    pub(crate) fn new(shared: Rc<ThreadState>, slot: usize) -> Self {
        let (number, group, rank) = shared.slot(slot, |slot| (slot.user, slot.group, slot.rank));
        Self {
            rng: SeededRng::new(shared.spec.seed, u64::from(number)),
            slot,
            number,
            group,
            rank,
            step: None,
            load: LoadKind::Closed,
            program: Rc::clone(&shared.groups[group].programs[0]),
            pacer: Pacer::Closed,
            next_due: shared.timeline.start_at,
            ready: shared.timeline.start_at,
            kept: None,
            keyed: shared.timeline.start_at,
            input: OpenTransaction::default(),
            delayed: Duration::ZERO,
            heard: false,
            hung_up: false,
            loops: Vec::new(),
            shared,
        }
    }

    /// Lives until the run is over: session after session.
    pub(crate) async fn live(&mut self) {
        let Some((step, offset)) = self.shared.spec.start_of(self.group, self.rank) else { return };
        self.next_due = self.begin_of(step) + offset;
        clock::sleep_until(self.next_due).await;
        self.enter(step, self.next_due);
        let mut retry = FIRST_RETRY;
        let mut first = true;
        loop {
            let Err(reason) = self.session(&mut retry, first).await;
            match reason {
                Stop::Over => break,
                Stop::Left | Stop::GaveUp => {
                    self.shared.disconnects(self.slot, None);
                    self.rest();
                }
                Stop::Lost(loss) => {
                    self.shared.tally(|tally| tally.counts.error(loss.name()));
                    self.shared.disconnects(self.slot, Some(loss.name()));
                    self.rest();
                    clock::sleep_until(clock::now() + self.back_off(loss, retry)).await;
                    retry = (retry * 2).min(LAST_RETRY);
                    self.next_due = clock::now();
                }
            }
            first = false;
        }
        self.shared.waits(self.slot, None);
    }

    /// How long to wait before the line is tried again. Users whom a host turned away together would come back together, and
    /// be turned away again: each waits between half of the time and one and a half of it, from a generator of its own, so that
    /// what it types does not hang on how often it was turned away.
    fn back_off(&self, loss: LineLoss, retry: Duration) -> Duration {
        if !matches!(loss, LineLoss::NotOpened { overload: true, .. }) {
            return retry;
        }
        // Beyond all users, who count from 0 up; another number for each further try.
        let stream = (1 << 61) + (u64::from(self.number) << 8) + retry.as_secs();
        retry.mul_f64(0.5 + SeededRng::new(self.shared.spec.seed, stream).unit())
    }

    /// From the opening of a line to its end, for which there is always a reason.
    async fn session(&mut self, retry: &mut Duration, first: bool) -> Result<Infallible, Stop> {
        self.wait_for_a_step().await?;
        if self.comes_and_goes() {
            // Boxed, so that who stays has no room set aside for it.
            return Box::pin(self.session_that_arrives(retry)).await;
        }
        let mut session = self.open().await?;
        *retry = FIRST_RETRY;
        let Err(stop) = self.work(&mut session, first).await;
        // Boxed, so that who works has no room set aside for it.
        Err(Box::pin(self.explained(stop, session)).await)
    }

    /// From the login to the end: pass after pass.
    async fn work(&mut self, session: &mut Session, first: bool) -> Result<Infallible, Stop> {
        self.login(session, first).await?;
        loop {
            self.next_pass(session).await?;
            let played = self.play(session, self.program.pass, self.program.ops.len()).await;
            self.ends(played);
            match played {
                Err(Stop::GaveUp) => self.forget_input(),
                other => other?,
            }
            if self.hung_up {
                return Err(Stop::Left);
            }
            // A program that neither waits nor pauses must not keep the thread to itself.
            task::consume_budget().await;
        }
    }

    /// Opens a line when it is planned. The time that it takes counts from then, whatever kept the user.
    async fn open(&mut self) -> Result<Session, Stop> {
        clock::sleep_until(self.next_due.min(self.shared.timeline.end())).await;
        if clock::now() >= self.shared.timeline.end() {
            return Err(Stop::Over);
        }
        let connect = Rc::clone(&self.shared.connect);
        let line = connect(self.group, self.number).await.map_err(|error| {
            self.shared.tally(|tally| {
                tally.counts.said.entry(error.name()).or_insert_with(|| error.to_string());
            });
            Stop::Lost(LineLoss::from(&error))
        })?;
        let now = clock::now();
        let opened = Opened { scheduled: self.next_due, at: now };
        self.shared.connects(self.slot);
        (self.hung_up, self.heard) = (false, false);
        self.next_due = self.next_due.max(now);
        self.ready = now;
        self.forget_input();
        Ok(Session::new(line, opened, Rc::clone(&self.shared), self.slot, self.group, &self.program))
    }

    fn rest(&mut self) {
        self.shared.turns(self.slot, Activity::Other, clock::now());
        self.shared.waits(self.slot, None);
        self.forget_input();
    }

    fn forget_input(&mut self) {
        self.input = OpenTransaction::default();
        self.loops.clear();
    }

    /// What is done once in a session.
    async fn login(&mut self, session: &mut Session, first: bool) -> Result<(), Stop> {
        match self.play(session, 0, self.program.pass).await {
            Err(Stop::GaveUp) => return Err(Stop::Lost(LineLoss::NoLogin)),
            other => other?,
        }
        if let Pacer::Paced { next, cycle } = &mut self.pacer {
            let before = begin_in_cycle(next, *cycle, self.next_due);
            if !first {
                // Fixed in advance, and the user had no line.
                self.shared.tally(|tally| tally.counts.skipped += before);
            }
        }
        Ok(())
    }

    /// Waits, listening, until the next pass is due, and moves the plan there.
    async fn next_pass(&mut self, session: &mut Session) -> Result<(), Stop> {
        loop {
            self.follow_steps(session).await?;
            let ends = self.step_end();
            match &mut self.pacer {
                Pacer::Closed => return Ok(()),
                Pacer::Paced { next, .. } if *next >= ends => session.listen_until(ends).await?,
                Pacer::Paced { next, cycle } => {
                    let now = clock::now();
                    let (due, skipped) = next_in_cycle(next, *cycle, now);
                    self.shared.tally(|tally| tally.counts.skipped += skipped);
                    self.begin_at(due);
                    if due <= now {
                        // Behind: whoever else is behind has its turn first.
                        task::yield_now().await;
                    }
                    return Ok(());
                }
                Pacer::Open(arrivals) => {
                    let arrivals = Rc::clone(arrivals);
                    let arrived = session.listen_for(&arrivals, ends).await?;
                    // None: the step ended before anything arrived.
                    if let Some(due) = arrived {
                        self.shared.begins(self.slot, due);
                        self.begin_at(due);
                        return Ok(());
                    }
                }
            }
        }
    }

    /// An input is due at an instant, whatever the user did before; who is still keying cannot begin before that is done.
    fn begin_at(&mut self, due: Stamp) {
        self.ready = self.ready.max(self.keyed);
        self.next_due = due;
    }

    /// When the user would begin another pass: a closed one when it has thought, another one now.
    fn at(&self) -> Stamp {
        match self.load {
            LoadKind::Closed => self.next_due.max(clock::now()),
            LoadKind::Paced { .. } | LoadKind::Open { .. } => clock::now(),
        }
    }

    /// Enters the step that it is now, or listens until one wants this user.
    async fn follow_steps(&mut self, session: &mut Session) -> Result<(), Stop> {
        loop {
            let at = self.at();
            if at >= self.shared.timeline.end() {
                return Err(self.until_the_end(session).await);
            }
            let step = self.shared.timeline.step_at(at);
            if self.is_wanted_in(step) {
                self.enter_if_new(step);
                session.play(&self.program);
                return if self.comes_and_goes() { Err(Stop::Left) } else { Ok(()) };
            }
            self.step = None;
            self.shared.turns(self.slot, Activity::Other, at);
            session.listen_until(self.end_of(step)).await?;
            self.next_due = clock::now();
        }
    }

    /// The same without a line.
    async fn wait_for_a_step(&mut self) -> Result<(), Stop> {
        loop {
            let at = self.at();
            if at >= self.shared.timeline.end() {
                clock::sleep_until(self.shared.timeline.end()).await;
                return Err(Stop::Over);
            }
            let step = self.shared.timeline.step_at(at);
            if self.is_wanted_in(step) {
                self.enter_if_new(step);
                return Ok(());
            }
            self.step = None;
            clock::sleep_until(self.end_of(step)).await;
            self.next_due = clock::now();
        }
    }

    fn enter_if_new(&mut self, step: usize) {
        if self.step != Some(step) {
            self.enter(step, self.begin_of(step));
        }
    }

    /// Takes on what a step wants, from an instant laid down in advance. Who comes from the step before with the same load
    /// goes on with it.
    fn enter(&mut self, step: usize, from: Stamp) {
        let load = self.shared.load(step, self.group).load;
        let goes_on = self.step.is_some() && self.load == load;
        self.step = Some(step);
        self.load = load;
        self.program = Rc::clone(&self.shared.groups[self.group].programs[step]);
        if !goes_on {
            self.pacer = match load {
                LoadKind::Closed => Pacer::Closed,
                LoadKind::Paced { cycle } => Pacer::paced(from, Duration::from_nanos(cycle), &mut self.rng),
                LoadKind::Open { .. } => Pacer::Open(self.shared.slot(self.slot, |slot| Rc::clone(&slot.arrivals))),
            };
        }
    }

    fn is_wanted_in(&self, step: usize) -> bool {
        self.rank < self.shared.load(step, self.group).users
    }

    /// Whether each session arrives by itself.
    fn comes_and_goes(&self) -> bool {
        matches!(self.load, LoadKind::Open { arrivals: ArrivalKind::Sessions, .. })
    }

    fn begin_of(&self, step: usize) -> Stamp {
        self.shared.timeline.at(self.shared.timeline.steps[step].begin)
    }

    fn end_of(&self, step: usize) -> Stamp {
        self.shared.timeline.at(self.shared.timeline.steps[step].end)
    }

    /// The end of the step that the user is in.
    fn step_end(&self) -> Stamp {
        self.step.map_or(self.shared.timeline.end(), |step| self.end_of(step))
    }

    /// Nothing more is due: keeps the line open until the measurement has ended, and then for the echoes still awaited.
    async fn until_the_end(&self, session: &mut Session) -> Stop {
        if self.hung_up {
            clock::sleep_until(self.shared.timeline.end()).await;
            return Stop::Over;
        }
        let listened = match session.listen_until(self.shared.timeline.end()).await {
            Ok(()) => session.listen_for_echoes(self.shared.timeline.drained()).await,
            lost => lost,
        };
        listened.map_or_else(Stop::from, |()| Stop::Over)
    }
}
