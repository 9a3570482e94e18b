//! A virtual user: opens a line, types, waits, thinks. Straight-line code, one task.
//!
//! The user keeps its next scheduled time (`next_due`). Each operation advances from it, never from when the operation was
//! really done, so a late driver shows as lateness and not as a slower user.
//!
//! A response, a think time of 2 s, and a key with a gap of 0.2 s (times in seconds):
//!
//! ```text
//! 10.000  the last character of the response comes   next_due 10.0, ready 10.0
//! 10.000  `Think` adds its time, without waiting      next_due 12.0
//! 10.000  the key adds its gap; the user listens      next_due 12.2 = keying_ends: the key is due then
//! 12.203  the key is sent, 0.003 late                 lateness counts from the later of due time and `ready`
//! ```
//!
//! If that response was accepted only at 10.5, because it might have been an echo, `ready` is 10.5. The think time still begins at
//! 10.0, but if it ends before 10.5 the next key's gap begins at 10.5: `response_held` keeps both instants for that.

use std::convert::Infallible;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use cuesta_distributions::SeededRng;
use cuesta_record::{Failure, SeriesId, Stamp, WaitEnd, clock};
use cuesta_tape::Program;
use tokio::task;

use answers::OpenTransaction;

use crate::opening::Opened;
use crate::pacing::{Pacer, next_in_cycle, skip_missed_cycles};
use crate::session::Session;
use crate::spec::LoadKind;
use crate::thread_state::ThreadState;
use crate::user_state::{Activity, UserState};

mod answers;
mod arrival;
mod ending;
mod play;
mod ready;
mod steps;

/// One virtual user.
pub(crate) struct User {
    shared: Rc<ThreadState>,
    slot: usize,
    number: u32,
    group: usize,
    rank: u32,
    rng: SeededRng,
    /// The step that the user takes part in.
    step: Option<usize>,
    /// The load for which the pacer was made.
    load: LoadKind,
    /// Which of the group's programs it plays.
    program: usize,
    pacer: Pacer,
    /// The next scheduled time: when the user's next operation begins.
    next_due: Stamp,
    /// When the user could type again: after its last response, the barrier and its earlier keys. Lateness counts from here if this is
    /// after the due time.
    ready: Stamp,
    /// When the last response was complete, and when it was accepted, if that was later because it might have been an echo. The
    /// next key is not due between the two.
    response_held: Option<(Stamp, Stamp)>,
    /// The last answer: its response time, the series for output that goes on behind it, and its wait.
    answered: Option<(Duration, SeriesId, u32)>,
    /// Index of the operation that is played.
    at: usize,
    /// Index of the last operation that waited, and since when.
    last_wait: (usize, Stamp),
    /// The scheduled end of the user's last keys.
    keying_ends: Stamp,
    input: OpenTransaction,
    /// How long the session's arrival waited for this user to be free; added to its first transaction.
    delayed: Duration,
    /// The host has answered a wait in this session.
    host_has_answered: bool,
    /// `Wait+Ready` has last seen that the program was not ready.
    is_not_ready: bool,
    /// The host has closed the line, as the script expected.
    hung_up: bool,
    /// How many keys it has sent in this pass.
    keys_of_pass: u32,
    /// Times left of each loop that the program is in.
    loops: Vec<u32>,
}

/// Why a user stops playing a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// The run is over.
    Over,
    /// The line is gone.
    Lost(Failure),
    /// The session has ended as the script says.
    Left,
    /// A wait has timed out: the pass is given up and the next begins.
    GaveUp,
}

impl From<Failure> for Stop {
    fn from(loss: Failure) -> Self {
        Self::Lost(loss)
    }
}

/// The first and the longest time before a line is tried again.
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LAST_RETRY: Duration = Duration::from_secs(30);
/// How often a user whose start is held looks whether it may start.
const HELD_LOOK: Duration = Duration::from_millis(100);

impl User {
    pub(crate) fn new(shared: Rc<ThreadState>, slot: usize) -> Self {
        let (number, group, rank) = shared.user(slot, |user| (user.user, user.group, user.rank));
        let start_at = shared.schedule().timeline.start_at;
        Self {
            rng: SeededRng::new(shared.spec.seed, u64::from(number)),
            slot,
            number,
            group,
            rank,
            step: None,
            load: LoadKind::Closed,
            program: shared.groups[group].program_of(0),
            pacer: Pacer::Closed,
            next_due: start_at,
            ready: start_at,
            response_held: None,
            answered: None,
            at: 0,
            last_wait: (0, start_at),
            keying_ends: start_at,
            input: OpenTransaction::default(),
            delayed: Duration::ZERO,
            host_has_answered: false,
            is_not_ready: false,
            hung_up: false,
            keys_of_pass: 0,
            loops: Vec::new(),
            shared,
        }
    }

    /// Notes how this task is woken by who looks at the user's screen.
    pub(crate) async fn note_waker(&self) {
        let waker = poll_fn(|cx| Poll::Ready(cx.waker().clone())).await;
        self.shared.user(self.slot, |user| user.waker = Some(waker));
    }

    /// Plays sessions until the run is over.
    pub(crate) async fn play_sessions(&mut self) {
        let Some((step, start)) = self.shared.schedule().start_of(self.group, self.rank) else { return };
        self.next_due = start;
        clock::sleep_until(self.next_due).await;
        self.wait_while_held().await;
        self.enter(step, self.next_due);
        let mut retry = FIRST_RETRY;
        let mut first = true;
        loop {
            let Err(reason) = self.next_session(&mut retry, first).await;
            match reason {
                Stop::Over => break,
                // Other agents may have ended, and the host may have closed what they led to.
                Stop::Lost(_) if self.load_has_ended() => break,
                Stop::Left | Stop::GaveUp => {
                    self.shared.user(self.slot, |user| user.disconnects(None));
                    self.become_idle();
                }
                Stop::Lost(loss) => {
                    let is_at_start = matches!(loss, Failure::ExitedAtStart | Failure::NoProgram);
                    if loss == Failure::NotReady || is_at_start && self.is_at_ready() {
                        self.set_not_ready(true);
                    }
                    self.shared.tally(|tally| tally.counts.count_failure(loss));
                    self.shared.user(self.slot, |user| user.disconnects(Some(loss)));
                    self.become_idle();
                    clock::sleep_until(clock::now() + self.back_off(loss, retry)).await;
                    retry = (retry * 2).min(LAST_RETRY);
                    self.next_due = clock::now();
                }
            }
            first = false;
        }
        self.shared.user(self.slot, |user| user.wait_for(None));
    }

    /// Waits while somebody holds the start of users; then the user starts as if it were due then.
    async fn wait_while_held(&mut self) {
        while self.shared.holds_starts() && !self.load_has_ended() {
            clock::sleep_until(clock::now() + HELD_LOOK).await;
            self.next_due = clock::now();
        }
    }

    fn load_has_ended(&self) -> bool {
        clock::now() >= self.shared.schedule().timeline.end()
    }

    /// How long to wait before the line is tried again. Users that were turned away together would come back together, so each
    /// waits between half of the time and one and a half of it. The draw is from a generator of its own, so that what the user
    /// types does not depend on how often it was turned away.
    fn back_off(&self, loss: Failure, retry: Duration) -> Duration {
        if loss != Failure::MaxStartups {
            return retry;
        }
        // A random stream beyond those of users, another one for each further try.
        let stream = (1 << 61) + (u64::from(self.number) << 8) + retry.as_secs();
        retry.mul_f64(0.5 + SeededRng::new(self.shared.spec.seed, stream).unit())
    }

    /// Waits for a step that has this user, and plays one session, from the opening of a line to its end.
    async fn next_session(&mut self, retry: &mut Duration, first: bool) -> Result<Infallible, Stop> {
        self.wait_for_a_step(retry).await?;
        if self.opens_line_per_session() {
            // Boxed, so that users that keep their line reserve no memory for it.
            return Box::pin(self.play_next_session(retry)).await;
        }
        let mut session = self.open().await?;
        *retry = FIRST_RETRY;
        let Err(stop) = self.play_passes(&mut session, first).await;
        // Boxed, so that users at work reserve no memory for it.
        Err(Box::pin(self.explain_loss(stop, session)).await)
    }

    /// Logs in and plays passes until the session ends.
    async fn play_passes(&mut self, session: &mut Session, first: bool) -> Result<Infallible, Stop> {
        self.login(session, first).await?;
        loop {
            self.next_pass(session).await?;
            self.refuse_endless_passes()?;
            let played = self.play(session, self.program().pass, self.program().ops.len()).await;
            self.end_arrival(played);
            match played {
                Err(Stop::GaveUp) => self.forget_input(),
                other => other?,
            }
            if self.hung_up {
                return Err(Stop::Left);
            }
            // A program that neither types nor waits must not keep the thread to itself.
            task::consume_budget().await;
        }
    }

    /// Stops a simulated user whose passes take no time.
    fn refuse_endless_passes(&self) -> Result<(), Stop> {
        let Some(progress) = &self.shared.progress else { return Ok(()) };
        let at = self.next_due.max(clock::now());
        if progress.allows_pass(self.slot, self.group, at) { Ok(()) } else { Err(Stop::Over) }
    }

    /// Opens a line when it is due. The opening counts from then, whatever delayed the user.
    async fn open(&mut self) -> Result<Session, Stop> {
        loop {
            let end = self.shared.schedule().timeline.end();
            clock::sleep_until(self.next_due.min(end)).await;
            if self.load_has_ended() {
                return Err(Stop::Over);
            }
            if self.next_due <= end {
                break;
            }
        }
        let connect = Rc::clone(&self.shared.connect);
        self.shared.user(self.slot, |user| user.opening = Some(self.next_due));
        let begun = clock::now();
        let line = connect(self.group, self.number).await.map_err(|error| {
            self.shared.tally(|tally| {
                tally.counts.said.entry(error.failure()).or_insert_with(|| self.hide_secrets(&error.to_string()));
            });
            let end = if error.failure() == Failure::Timeout { WaitEnd::TimedOut } else { WaitEnd::Lost };
            let (series, now) = (&self.shared.groups[self.group].series.line, clock::now());
            self.shared.record_wait(series.last, end, (self.next_due, now));
            for (part, times) in series.ended_parts(error.progress(), now, None) {
                self.shared.record_wait(part, WaitEnd::Answered, times);
            }
            if let Some((part, since)) = series.failed_part(error.progress()) {
                self.shared.record_wait(part, end, (since, now));
            }
            Stop::Lost(error.failure())
        })?;
        let now = clock::now();
        let opened = Opened { scheduled: self.next_due, begun, at: now };
        self.shared.user(self.slot, UserState::connects);
        (self.hung_up, self.host_has_answered, self.keys_of_pass) = (false, false, 0);
        self.next_due = self.next_due.max(now);
        self.ready = now;
        self.forget_input();
        Ok(Session::new(line, opened, Rc::clone(&self.shared), self.slot, self.group, self.program))
    }

    fn become_idle(&mut self) {
        self.shared.set_activity(self.slot, Activity::Other, clock::now());
        self.shared.user(self.slot, |user| user.wait_for(None));
        self.forget_input();
    }

    fn forget_input(&mut self) {
        self.input = OpenTransaction::default();
        self.answered = None;
        self.loops.clear();
    }

    /// Plays what is done once in a session.
    async fn login(&mut self, session: &mut Session, first: bool) -> Result<(), Stop> {
        match self.play(session, 0, self.program().pass).await {
            Err(Stop::GaveUp) => return Err(Stop::Lost(Failure::NoLogin)),
            other => other?,
        }
        if let Pacer::Cyclic { next, cycle } = &mut self.pacer {
            let before = skip_missed_cycles(next, *cycle, self.next_due);
            if !first {
                // These instants were fixed in advance, and passed while the user had no line.
                self.shared.count_left_out(before);
            }
        }
        Ok(())
    }

    /// Listens until the next pass is due, and schedules it.
    async fn next_pass(&mut self, session: &mut Session) -> Result<(), Stop> {
        loop {
            self.follow_steps(session).await?;
            let (ends, now) = (self.step_end(), clock::latest());
            let schedule = self.shared.schedule();
            match &mut self.pacer {
                Pacer::Closed => return Ok(()),
                Pacer::Cyclic { next, .. } if *next >= ends => {
                    session.listen_until_cut(ends).await?;
                }
                Pacer::Cyclic { next, .. } if *next > schedule.next_look(now, *next) => {
                    session.listen_until(schedule.next_look(now, *next)).await?;
                }
                Pacer::Cyclic { next, cycle } => {
                    let (due, left_out) = next_in_cycle(next, *cycle, now);
                    self.shared.count_left_out(left_out);
                    self.begin_at(due);
                    if due <= now {
                        // This user is behind: others that are behind take their turn first.
                        task::yield_now().await;
                    }
                    return Ok(());
                }
                Pacer::Open(arrivals) => {
                    let arrivals = Rc::clone(arrivals);
                    let arrived = session.listen_for(&arrivals, ends).await?;
                    // None: the step ended before anything arrived.
                    if let Some(due) = arrived {
                        self.shared.user(self.slot, |user| user.arrived = Some(due));
                        self.begin_at(due);
                        return Ok(());
                    }
                }
            }
        }
    }

    /// An input is due at an instant, whatever the user did before. A user that is still keying begins after that.
    fn begin_at(&mut self, due: Stamp) {
        self.ready = self.ready.max(self.keying_ends);
        self.next_due = due;
    }

    fn program(&self) -> &Program {
        self.shared.program(self.group, self.program)
    }
}
