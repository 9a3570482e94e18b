//! Which load applies when: the steps of a run, and steps that are added while it goes on. Pure: instants in, instants out.
//!
//! The engine announces each change to all threads of all agents some time before it applies, so that all apply it at one
//! instant. A thread works with a copy of the schedule, and takes a new one when the [`Announcements`] have changed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use cuesta_record::{Stamp, StepTimes, Timeline, UNKNOWN, record};

use crate::error::RunError;
use crate::spec::{Load, RunSpec};

/// The steps known so far, and the loads of their groups.
#[derive(Debug, Clone)]
pub(crate) struct Schedule {
    pub(crate) timeline: Timeline,
    /// By step and group.
    loads: Vec<Vec<Load>>,
    /// Whether the last step may be cut, so that another one follows.
    may_be_cut: bool,
}

record! {
    /// A change of the schedule, one of these. Instants are offsets from the start of the segment, and must be ahead of all threads.
    Announcement: Read {
        /// another step follows
        step: Option<NextStep> = Unitless | none;
        /// the measurement interval of the last step
        measure: Option<Measurement> = Unitless | none;
        /// no step follows
        end: Option<LoadEnd> = Unitless | none;
        /// the last step ends early, and another one follows
        cut: Option<Cut> = Unitless | none;
    }
}

record! {
    /// A step of load that follows.
    NextStep: Read {
        /// when its load begins to apply
        begin: u64 = Nanoseconds;
        /// by group
        groups: Vec<Load> = Unitless;
    }
}

record! {
    /// A measurement interval.
    Measurement: Read {
        /// its begin
        settled: u64 = Nanoseconds;
        /// its end
        end: u64 = Nanoseconds;
    }
}

record! {
    /// The end of a segment's load.
    LoadEnd: Read {
        /// when the load of the last step ends
        at: u64 = Nanoseconds;
    }
}

record! {
    /// An early end of the last step, with which another one begins. A step that has not settled by then is not measured.
    Cut: Read {
        /// when its load ends, and the next one begins to apply
        at: u64 = Nanoseconds;
        /// by group, the next load
        groups: Vec<Load> = Unitless;
        /// the begin of the next step's measurement interval
        settled: u64 = Nanoseconds;
        /// its end, with which the load ends
        end: u64 = Nanoseconds;
    }
}

/// What a user does at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Duty {
    /// It plays by the load of a step, from an instant on.
    Work { step: usize, since: Stamp },
    /// It has no line until an instant; then it looks again.
    Rest { until: Stamp },
}

/// How often a user who rests, or thinks, looks for new steps while steps may be added.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

impl Schedule {
    pub(crate) fn new(spec: &RunSpec, start_at: Stamp) -> Self {
        let loads: Vec<_> = spec.steps.iter().map(|step| step.groups.clone()).collect();
        let mut timeline = Timeline { start_at, steps: Vec::new(), load_end: 0, drain: spec.drain };
        for (number, step) in spec.steps.iter().enumerate() {
            let begin = timeline.load_end;
            let settled = begin + ramp(&loads[..number], &step.groups) + step.settle;
            let end = settled + step.measure;
            timeline.steps.push(StepTimes { begin, settled, end });
            timeline.load_end = end;
        }
        Self { timeline, loads, may_be_cut: spec.may_be_cut }
    }

    /// A schedule of which only the first step's load is known: its measurement interval and further steps are announced.
    pub(crate) fn open(spec: &RunSpec, start_at: Stamp) -> Self {
        let mut schedule = Self::new(spec, start_at);
        schedule.timeline.steps = vec![StepTimes { begin: 0, settled: UNKNOWN, end: UNKNOWN }];
        schedule.timeline.load_end = UNKNOWN;
        schedule
    }

    /// Whether steps may be added.
    pub(crate) fn is_open(&self) -> bool {
        self.timeline.load_end == UNKNOWN
    }

    /// Whether the last step may be cut.
    pub(crate) fn may_be_cut(&self) -> bool {
        self.may_be_cut
    }

    fn apply(&mut self, announcement: Announcement) -> Result<(), RunError> {
        if let Announcement { step: None, measure: None, end: None, cut: Some(cut) } = announcement {
            return self.cut(cut);
        }
        let wrong = |what: &str| Err(RunError::Plan(what.into()));
        let steps = &mut self.timeline.steps;
        let Some(last) = steps.last_mut().filter(|_| self.timeline.load_end == UNKNOWN) else {
            return wrong("no step can be added to a run whose end is known");
        };
        match (announcement.step, announcement.measure, announcement.end) {
            (Some(NextStep { begin, groups }), None, None)
                if last.end <= begin && groups.len() == self.loads[0].len() =>
            {
                steps.push(StepTimes { begin, settled: UNKNOWN, end: UNKNOWN });
                self.loads.push(groups);
            }
            (None, Some(Measurement { settled, end }), None)
                if last.settled == UNKNOWN && last.begin <= settled && settled < end =>
            {
                (last.settled, last.end) = (settled, end);
            }
            (None, None, Some(LoadEnd { at })) if last.begin <= at => self.timeline.load_end = at,
            _ => return wrong("a step follows the measurement interval of the one before, and has one interval"),
        }
        Ok(())
    }

    /// Ends the last step early, and adds one.
    fn cut(&mut self, Cut { at, groups, settled, end }: Cut) -> Result<(), RunError> {
        let started = self.users_started(self.loads.len() - 1).since(self.timeline.start_at).as_nanos() as u64;
        let load_end = self.timeline.load_end;
        let follows = started <= at && at <= load_end && at <= settled && settled < end && load_end <= end;
        let last = self.timeline.steps.last_mut().filter(|_| self.may_be_cut && groups.len() == self.loads[0].len());
        let Some(last) = last.filter(|_| follows) else {
            return Err(RunError::Plan("a step is cut between the start of its last user and its end".into()));
        };
        (last.settled, last.end) = (last.settled.min(at), at);
        self.timeline.steps.push(StepTimes { begin: at, settled, end });
        self.timeline.load_end = end;
        self.loads.push(groups);
        Ok(())
    }

    pub(crate) fn steps(&self) -> usize {
        self.loads.len()
    }

    /// A group's load in a step; of the last step in the time after it.
    pub(crate) fn load(&self, step: usize, group: usize) -> &Load {
        &self.loads[step.min(self.loads.len() - 1)][group]
    }

    /// The most users that a group has in any step so far.
    pub(crate) fn most_users(&self, group: usize) -> u32 {
        self.loads.iter().map(|step| step[group].users).max().unwrap_or(0)
    }

    /// The users of one agent, of all groups.
    pub(crate) fn users_of_agent(&self, spec: &RunSpec) -> u64 {
        let of_group = |group: usize| {
            let players = spec.players(group);
            (0..self.most_users(group)).filter(|rank| players.agent_and_thread(*rank).0 == spec.agent).count() as u64
        };
        (0..spec.groups.len()).map(of_group).sum()
    }

    fn users_before(&self, step: usize, group: usize) -> u32 {
        step.checked_sub(1).map_or(0, |before| self.loads[before][group].users)
    }

    /// The step in which a user of a group first works, and when it starts.
    pub(crate) fn start_of(&self, group: usize, rank: u32) -> Option<(usize, Stamp)> {
        let step = self.loads.iter().position(|step| rank < step[group].users)?;
        Some((step, self.joins_at(step, group, rank)))
    }

    /// When a user starts to work in a step that has it: those that it adds start one after another.
    fn joins_at(&self, step: usize, group: usize, rank: u32) -> Stamp {
        let turn = rank.saturating_sub(self.users_before(step, group));
        self.begin_of(step) + self.stagger(step, group) * turn
    }

    /// When a user leaves at a step that does not have it, unlike the step before: the last one first.
    fn leaves_at(&self, step: usize, group: usize, rank: u32) -> Stamp {
        let turn = self.users_before(step, group).saturating_sub(rank + 1);
        self.begin_of(step) + self.stagger(step, group) * turn
    }

    fn stagger(&self, step: usize, group: usize) -> Duration {
        Duration::from_nanos(self.load(step, group).stagger)
    }

    /// When the users that a step adds have started, and those that it removes have left.
    pub(crate) fn users_started(&self, step: usize) -> Stamp {
        self.begin_of(step) + Duration::from_nanos(ramp(&self.loads[..step], &self.loads[step]))
    }

    fn begin_of(&self, step: usize) -> Stamp {
        self.timeline.at(self.timeline.steps[step].begin)
    }

    /// What a user does at an instant.
    pub(crate) fn duty(&self, group: usize, rank: u32, at: Stamp) -> Duty {
        let step = self.timeline.step_at(at);
        if rank < self.load(step, group).users {
            let since = self.joins_at(step, group, rank);
            return if since <= at { Duty::Work { step, since } } else { Duty::Rest { until: since } };
        }
        if rank < self.users_before(step, group) && at < self.leaves_at(step, group, rank) {
            let step = step - 1;
            return Duty::Work { step, since: self.joins_at(step, group, rank) };
        }
        let next = self.timeline.end_of_load(step);
        let may_change = next == Stamp::FAR || self.may_be_cut;
        Duty::Rest { until: if may_change { next.min(at + LOOK_AGAIN) } else { next } }
    }

    /// When a user leaves whom the last cut takes away.
    pub(crate) fn leaves_by_cut(&self, group: usize, rank: u32) -> Option<Stamp> {
        let last = self.loads.len() - 1;
        let is_taken = (self.load(last, group).users..self.users_before(last, group)).contains(&rank);
        (self.may_be_cut && is_taken).then(|| self.leaves_at(last, group, rank))
    }

    /// Until when a user works by the load of a step.
    pub(crate) fn works_until(&self, step: usize, group: usize, rank: u32) -> Stamp {
        match self.loads.get(step + 1) {
            Some(next) if rank >= next[group].users => self.leaves_at(step + 1, group, rank),
            _ => self.timeline.end_of_load(step),
        }
    }

    /// When a user who has nothing to do before an instant looks for new steps.
    pub(crate) fn next_look(&self, now: Stamp, until: Stamp) -> Stamp {
        if self.is_open() { until.min(now + LOOK_AGAIN) } else { until }
    }
}

/// How long it takes until the users that a step adds have started, and those that it removes have left, in ns.
fn ramp(before: &[Vec<Load>], groups: &[Load]) -> u64 {
    let so_far = |group: usize| before.last().map_or(0, |step| step[group].users);
    let of_group = |(group, load): (usize, &Load)| u64::from(load.users.abs_diff(so_far(group))) * load.stagger;
    groups.iter().enumerate().map(of_group).max().unwrap_or(0)
}

/// The newest schedule, for all threads of a run.
#[derive(Debug)]
pub(crate) struct Announcements {
    schedule: Mutex<Schedule>,
    changes: AtomicU64,
}

impl Announcements {
    pub(crate) fn new(schedule: Schedule) -> Self {
        Self { schedule: Mutex::new(schedule), changes: AtomicU64::new(0) }
    }

    /// Changes the schedule; returns the new one.
    pub(crate) fn announce(&self, announcement: Announcement) -> Result<Schedule, RunError> {
        let mut schedule = self.schedule.lock().unwrap_or_else(PoisonError::into_inner);
        schedule.apply(announcement)?;
        self.changes.fetch_add(1, Ordering::Release);
        Ok(schedule.clone())
    }

    /// How often the schedule has changed.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    pub(crate) fn newest(&self) -> Schedule {
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(users: u32) -> serde_json::Value {
        serde_json::json!({"users": users, "stagger": 10, "load": {"kind": "closed"}})
    }

    fn spec(users: &[u32]) -> RunSpec {
        let steps: Vec<_> = users
            .iter()
            .map(|users| serde_json::json!({"settle": 5, "measure": 100, "groups": [load(*users)]}))
            .collect();
        let groups = serde_json::json!([{"name": "g", "script": "s", "target": "tcp://h:1"}]);
        let spec = serde_json::json!({"seed": 1, "drain": 7, "groups": groups, "steps": steps});
        serde_json::from_value(spec).expect("a spec")
    }

    fn at(nanos: u64) -> Stamp {
        Stamp::from_nanos(nanos)
    }

    fn announce(schedule: &mut Schedule, text: &serde_json::Value) -> Result<(), RunError> {
        schedule.apply(serde_json::from_value(text.clone()).expect("an announcement"))
    }

    #[test]
    fn users_that_a_step_adds_start_one_after_another_and_those_that_it_removes_leave_so() {
        let schedule = Schedule::new(&spec(&[2, 5, 3, 6]), Stamp::ZERO);
        let times: Vec<_> = schedule.timeline.steps.iter().map(|step| (step.begin, step.settled, step.end)).collect();
        assert_eq!(times, [(0, 25, 125), (125, 160, 260), (260, 285, 385), (385, 420, 520)]);
        assert_eq!(schedule.start_of(0, 1), Some((0, at(10))));
        assert_eq!(schedule.start_of(0, 4), Some((1, at(145))));
        assert_eq!(schedule.start_of(0, 5), Some((3, at(405))));
        assert_eq!(schedule.start_of(0, 6), None);
        assert_eq!(schedule.duty(0, 4, at(259)), Duty::Work { step: 1, since: at(145) });
        assert_eq!(schedule.duty(0, 4, at(260)), Duty::Rest { until: at(385) });
        assert_eq!(schedule.duty(0, 3, at(269)), Duty::Work { step: 1, since: at(135) });
        assert_eq!(schedule.works_until(1, 0, 3), at(270));
        assert_eq!(schedule.duty(0, 4, at(390)), Duty::Rest { until: at(395) });
        assert_eq!(schedule.duty(0, 4, at(395)), Duty::Work { step: 3, since: at(395) });
        assert_eq!(schedule.most_users(0), 6);
    }

    #[test]
    fn steps_are_added_while_a_run_goes_on() {
        let mut schedule = Schedule::open(&spec(&[2]), Stamp::ZERO);
        let second = LOOK_AGAIN.as_nanos() as u64;
        assert_eq!(schedule.duty(0, 4, at(50)), Duty::Rest { until: at(50 + second) });
        assert_eq!(schedule.works_until(0, 0, 1), Stamp::FAR);
        let step = serde_json::json!({"step": {"begin": 300, "groups": [load(5)]}});
        assert!(announce(&mut schedule, &step).is_err(), "the first step is not measured yet");
        announce(&mut schedule, &serde_json::json!({"measure": {"settled": 100, "end": 200}})).expect("it follows");
        announce(&mut schedule, &step).expect("it follows");
        assert_eq!(schedule.duty(0, 4, at(299)), Duty::Rest { until: at(300) });
        assert_eq!(schedule.duty(0, 4, at(320)), Duty::Work { step: 1, since: at(320) });
        assert!(announce(&mut schedule, &serde_json::json!({"end": {"at": 299}})).is_err());
        announce(&mut schedule, &serde_json::json!({"end": {"at": 400}})).expect("it follows");
        assert_eq!(schedule.timeline.end(), at(400));
        assert!(announce(&mut schedule, &serde_json::json!({"end": {"at": 500}})).is_err());
    }

    #[test]
    fn a_step_is_cut_once_its_users_have_started() {
        let mut schedule = Schedule::new(&RunSpec { may_be_cut: true, ..spec(&[2]) }, Stamp::ZERO);
        let cut = |at, users, settled, end| {
            let groups = [load(users)];
            serde_json::json!({"cut": {"at": at, "groups": groups, "settled": settled, "end": end}})
        };
        assert!(announce(&mut schedule, &cut(19, 5, 55, 125)).is_err(), "users are still starting");
        assert!(announce(&mut schedule, &cut(126, 5, 161, 170)).is_err(), "the run has ended");
        assert!(announce(&mut schedule, &cut(50, 5, 85, 124)).is_err(), "the run ends before it was to end");
        announce(&mut schedule, &cut(24, 5, 59, 125)).expect("it has not settled");
        announce(&mut schedule, &cut(100, 1, 145, 155)).expect("it is measured");
        let times: Vec<_> = schedule.timeline.steps.iter().map(|step| (step.begin, step.settled, step.end)).collect();
        assert_eq!(times, [(0, 24, 24), (24, 59, 100), (100, 145, 155)]);
        assert_eq!(schedule.timeline.end(), at(155));
        assert_eq!([0, 1, 4].map(|rank| schedule.leaves_by_cut(0, rank)), [None, Some(at(130)), Some(at(100))]);
        assert!(announce(&mut Schedule::new(&spec(&[2]), Stamp::ZERO), &cut(24, 5, 59, 125)).is_err());
    }
}
