//! Which step a user works by: it enters a step, goes on with the one that it is in, or has none and leaves.

use std::time::Duration;

use cuesta_record::{Stamp, clock};

use super::{FIRST_RETRY, Stop, User};
use crate::pacing::{Pacer, skip_missed_cycles};
use crate::schedule::Duty;
use crate::session::Session;
use crate::spec::{ArrivalKind, LoadKind};
use crate::user_state::UserState;

impl User {
    /// When the user would begin another pass: in a closed load after its think time, else now.
    fn next_pass_at(&self) -> Stamp {
        let now = clock::latest();
        if self.load == LoadKind::Closed { self.next_due.max(now) } else { now }
    }

    /// Enters the present step. A user whom the step does not have closes its line: an idle line is a load too.
    pub(super) async fn follow_steps(&mut self, session: &mut Session) -> Result<(), Stop> {
        loop {
            let (at, now) = (self.next_pass_at(), clock::latest());
            let schedule = self.shared.schedule();
            if at >= schedule.timeline.end() {
                self.stay_until_the_end(session).await?;
                continue;
            }
            // While steps may be added, a step may end before this user has thought.
            let next_look = schedule.next_look(now, at);
            match schedule.duty(self.group, self.rank, next_look) {
                Duty::Work { .. } if next_look < at => session.listen_until(next_look).await?,
                Duty::Work { step, since } => {
                    self.enter(step, since);
                    self.keys_of_pass = 0;
                    session.begin_pass(self.program);
                    return if self.opens_line_per_session() { Err(Stop::Left) } else { Ok(()) };
                }
                Duty::Rest { .. } if schedule.may_be_cut() => {
                    let leaves = schedule.leaves_by_cut(self.group, self.rank).unwrap_or(now);
                    return Err(self.leave_at(session, leaves).await);
                }
                Duty::Rest { .. } => {
                    // What this user would do next is due after it has left. It leaves after the step's last interval is counted.
                    session.listen_until(self.step_end() + Duration::from_nanos(1)).await?;
                    return Err(Stop::Left);
                }
            }
        }
    }

    /// Listens until a key is due and the line is free; returns when it is free. A user whom a cut takes away before, and who has typed
    /// nothing in this pass, leaves.
    pub(super) async fn listen_until_due(&mut self, session: &mut Session, due: Stamp) -> Result<Stamp, Stop> {
        loop {
            let schedule = self.shared.schedule();
            let leaves = schedule.leaves_by_cut(self.group, self.rank);
            if let Some(leaves) = leaves.filter(|leaves| self.keys_of_pass == 0 && *leaves <= due) {
                return Err(self.leave_at(session, leaves).await);
            }
            if due >= schedule.timeline.end() {
                self.stay_until_the_end(session).await?;
            } else {
                let free = session.free_at();
                if !session.listen_until_cut(due.max(free)).await? {
                    return Ok(free);
                }
            }
        }
    }

    /// Listens until the user leaves, whom a cut has taken away. It leaves after the cut step's last interval is counted, and may come
    /// back with another cut.
    pub(super) async fn leave_at(&mut self, session: &mut Session, at: Stamp) -> Stop {
        match session.listen_until(at + Duration::from_nanos(1)).await {
            Ok(()) => {
                self.next_due = clock::now();
                Stop::Left
            }
            Err(lost) => lost.into(),
        }
    }

    /// Enters the present step, or waits without a line until a step has this user. If one has it, it comes as if it had not been
    /// turned away before.
    pub(super) async fn wait_for_a_step(&mut self, retry: &mut Duration) -> Result<(), Stop> {
        loop {
            let at = self.next_pass_at();
            let schedule = self.shared.schedule();
            let end = schedule.timeline.end();
            if at >= end {
                clock::sleep_until(end).await;
                if self.load_has_ended() {
                    return Err(Stop::Over);
                }
                continue; // a cut has moved the end
            }
            match schedule.duty(self.group, self.rank, at) {
                Duty::Work { step, since } => {
                    self.enter(step, since);
                    return Ok(());
                }
                Duty::Rest { until } => {
                    self.step = None;
                    clock::sleep_until(until).await;
                    *retry = FIRST_RETRY;
                    self.next_due = clock::now();
                }
            }
        }
    }

    /// Takes on a step's load and program, if the step is new to it, from an instant fixed in advance. A load equal to that of the
    /// step before goes on.
    pub(super) fn enter(&mut self, step: usize, from: Stamp) {
        if self.step == Some(step) {
            return;
        }
        let schedule = self.shared.schedule();
        let entered = schedule.load(step, self.group);
        let goes_on = self.step.is_some_and(|before| schedule.load(before, self.group).is_paced_as(entered));
        self.step = Some(step);
        self.load = entered.load;
        self.program = self.shared.groups[self.group].program_of(step);
        if let (true, Pacer::Cyclic { next, cycle }) = (goes_on, &mut self.pacer) {
            skip_missed_cycles(next, *cycle, from);
        }
        if !goes_on {
            self.pacer = match self.load {
                LoadKind::Closed => Pacer::Closed,
                LoadKind::Cyclic { cycle } => {
                    Pacer::cyclic(from, Duration::from_nanos(cycle), entered.align, &mut self.rng)
                }
                LoadKind::Open { .. } => Pacer::Open(self.shared.user(self.slot, UserState::arrivals)),
            };
        }
    }

    /// Whether the load is of sessions, each of which opens a line of its own.
    pub(super) fn opens_line_per_session(&self) -> bool {
        matches!(self.load, LoadKind::Open { arrivals: ArrivalKind::Sessions, .. })
    }

    /// Until when the user works by the step that it is in.
    pub(super) fn step_end(&self) -> Stamp {
        let schedule = self.shared.schedule();
        self.step.map_or(schedule.timeline.end(), |step| schedule.works_until(step, self.group, self.rank))
    }
}
